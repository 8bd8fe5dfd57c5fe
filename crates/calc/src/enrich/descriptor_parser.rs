//! Parses a bank's descriptor into the key of its merchant: removes channels, processors, places, dates and references.

use super::descriptors::{DESCRIPTORS, Descriptors, Hint, Processor, Role, Roles, Terminator};
use super::fold::fold;
use super::name::{MOST_WORDS, Mark, Name};
use super::shapes::Kind;
use super::tokens::{Separator, Token, split};

/// The key of a descriptor that names no merchant.
pub const UNKNOWN: &str = "UNKNOWN";

/// The key and the processor of a descriptor, without regard to known merchants: the table of merchants is built with it.
pub(super) fn first_pass(parser: &DescriptorParser<'_>) -> (String, Option<Processor>) {
    final_key(parser, false)
}

/// The key without the wrapping of an unknown bank.
pub(super) fn second_pass(parser: &DescriptorParser<'_>) -> String {
    final_key(parser, true).0
}

fn final_key(parser: &DescriptorParser<'_>, is_strict: bool) -> (String, Option<Processor>) {
    let (mut key, processor) = repeated(parser.find(), is_strict);
    end_at_pay(&mut key);
    shorten(&mut key);
    (key, processor)
}

/// Repeats parsing until nothing changes: a shortened key may again end in a city or start with a channel. Each round
/// shortens the key, or finds a merchant family or nothing, whose keys are final, so it ends.
fn repeated(found: ParsedKey, is_strict: bool) -> (String, Option<Processor>) {
    let ParsedKey { mut key, processor, mut is_final } = found;
    while !is_final {
        let tokens = split(&key);
        let parser = DescriptorParser::new(&tokens, &DESCRIPTORS);
        let again = DescriptorParser { is_strict, ..parser }.find();
        is_final = again.is_final || again.key == key;
        key = again.key;
    }
    (key, processor)
}

/// The key of a name in a table. Most names contain no word of a bank and are their own keys.
pub(super) fn key_of_name(name: &str) -> String {
    let folded = fold(name);
    let is_plain = |word: &str| {
        let is_word = !word.is_empty() && word.bytes().all(|it| it.is_ascii_alphabetic());
        is_word && DESCRIPTORS.roles(word).is_none()
    };
    let mut words = folded.split(' ');
    let is_short = words.clone().count() <= MOST_WORDS;
    if is_short && words.all(is_plain) {
        return folded;
    }
    first_pass(&DescriptorParser::new(&split(&folded), &DESCRIPTORS)).0
}

/// Keys are in database indexes, which limits their length.
fn shorten(key: &mut String) {
    const KEY_BYTES_MAX: usize = 200;
    if key.len() > KEY_BYTES_MAX {
        let end = (0..=KEY_BYTES_MAX).rev().find(|it| key.is_char_boundary(*it)).unwrap_or(0);
        key.truncate(end);
        key.truncate(key.trim_end().len());
    }
}

/// Cuts the key after the word for pay, which is followed by a date, a reference or the employee's name.
fn end_at_pay(key: &mut String) {
    for word in [" PAYROLL ", " SALARY ", " DIR DEP "] {
        // A key has few spaces, so checking after each is cheaper than a text search.
        let mut spaces = key.match_indices(' ').map(|it| it.0);
        if let Some(at) = spaces.find(|at| key[*at..].starts_with(word)) {
            key.truncate(at + word.len() - 1);
        }
    }
}

/// The words of any text in the spelling of `CleanedDescriptor::text`.
pub(super) fn normalized_words(text: &str) -> String {
    let folded = fold(text);
    let words: Vec<&str> = split(&folded).iter().map(|it| it.text).collect();
    spaced(&words)
}

fn spaced(words: &[&str]) -> String {
    let mut joined = String::with_capacity(words.iter().map(|it| it.len() + 1).sum());
    for word in words.iter().filter(|it| !it.is_empty()) {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    joined
}

struct ParsedKey {
    key: String,
    processor: Option<Processor>,
    /// Whether the key is final: cleaning it again changes nothing.
    is_final: bool,
}

/// One reading of a descriptor's tokens.
pub(super) struct DescriptorParser<'a> {
    tokens: &'a [Token<'a>],
    words: Vec<&'a str>,
    roles: Vec<Roles>,
    table: &'static Descriptors,
    /// In the second pass: whatever follows a name and looks like the bank's own ends it.
    is_strict: bool,
}

impl<'a> DescriptorParser<'a> {
    pub(super) fn new(
        tokens: &'a [Token<'a>],
        table: &'static Descriptors,
    ) -> DescriptorParser<'a> {
        let words: Vec<&str> = tokens.iter().map(|it| it.text).collect();
        let roles = words.iter().map(|it| table.roles(it)).collect();
        DescriptorParser { tokens, words, roles, table, is_strict: false }
    }

    /// The same reading for the second pass.
    pub(super) fn into_strict(self) -> DescriptorParser<'a> {
        DescriptorParser { is_strict: true, ..self }
    }

    /// All words of the descriptor, with single spaces.
    pub(super) fn text(&self) -> String {
        spaced(&self.words)
    }

    fn find(&self) -> ParsedKey {
        let (start, processor) = self.peel();
        if let Some(family) = self.family(start) {
            return ParsedKey { key: family.to_owned(), processor, is_final: true };
        }
        let mut name = self.name(start);
        name.trim(self.table);
        let key = match name.words.is_empty() {
            true => self.reference().unwrap_or(UNKNOWN).to_owned(),
            false => spaced(&name.words),
        };
        ParsedKey { key, processor, is_final: name.is_inert() }
    }

    /// Whether the text has words typical of transfers between own accounts, and of refunds.
    pub(super) fn hints(&self) -> (bool, bool) {
        let (mut transfer, mut refund) = (false, false);
        let mut at = 0;
        while at < self.words.len() {
            let mut length = 1;
            if self.roles[at].has(Role::Hint)
                && let Some((words, hint)) = self.table.hints.at(&self.words[at..]).next()
            {
                transfer |= *hint == Hint::Transfer;
                refund |= *hint == Hint::Refund;
                length = words;
            }
            at += length;
        }
        (transfer, refund)
    }

    /// The index where the merchant starts after channels and processors, and the processor.
    pub(super) fn peel(&self) -> (usize, Option<Processor>) {
        let (mut start, mut processor) = (self.name_field(), None);
        loop {
            start = self.next_name(start);
            start += if self.is_strict { self.place_in_front(start) } else { 0 };
            let Some((length, peeled)) = self.prefix(start) else { return (start, processor) };
            if self.family(start).is_some() || !self.is_named(start + length) {
                return (start, processor);
            }
            processor = processor.or(peeled);
            start += length;
        }
    }

    /// The index of the name field in a text with several fields; the start for any other text.
    fn name_field(&self) -> usize {
        let is_field = |at: &usize| self.roles[*at].has(Role::NameField);
        let name_start = |at: usize| {
            let mut found = self.table.name_fields.at(&self.words[at..]);
            let (length, _) = found.find(|(length, mark)| self.is_behind(**mark, at + length))?;
            self.is_named(at + length).then_some(at + length)
        };
        let found = (0..self.words.len()).filter(is_field).find_map(name_start);
        found.or_else(|| self.named_id().filter(|_| self.is_strict)).unwrap_or(0)
    }

    /// The shop in the id that a wallet writes: PAYPAL DES:INST XFER ID:BLUE INDN:SAM.
    fn named_id(&self) -> Option<usize> {
        const FEWEST_LETTERS: usize = 4;
        let (_, processor) = self.prefix(0)?;
        let at = self.words.windows(2).position(|it| it[0] == "ID" && it[1] != "INDN")? + 1;
        let token = self.tokens.get(at)?;
        let is_name = token.separator == Separator::Colon
            && token.kind.is_name()
            && token.text.len() >= FEWEST_LETTERS
            && token.text.bytes().all(|it| it.is_ascii_alphabetic());
        (processor.is_some() && self.words[..at].contains(&"DES") && is_name).then_some(at)
    }

    fn prefix(&self, start: usize) -> Option<(usize, Option<Processor>)> {
        if !self.roles.get(start)?.has(Role::Prefix) {
            return None;
        }
        let mut found = self.table.prefixes.at(&self.words[start..]);
        let fits =
            |(length, (mark, _)): &(usize, &(Terminator, _))| self.is_behind(*mark, start + length);
        found.find(fits).map(|(length, (_, processor))| (length, *processor))
    }

    fn family(&self, start: usize) -> Option<&'static str> {
        if !self.roles.get(start)?.has(Role::Family) {
            return None;
        }
        let mut found = self.table.families.at(&self.words[start..]);
        let fits =
            |(length, (mark, _)): &(usize, &(Terminator, _))| self.is_behind(*mark, start + length);
        found.find(fits).map(|(_, (_, key))| *key)
    }

    fn is_behind(&self, mark: Terminator, at: usize) -> bool {
        let separator = self.tokens.get(at).map(|it| it.separator);
        match mark {
            Terminator::Anything => true,
            Terminator::Star => separator == Some(Separator::Star),
            Terminator::Colon => separator == Some(Separator::Colon),
            Terminator::Slash => separator == Some(Separator::Other),
        }
    }

    /// Skips numbers and dates, but not a merchant family: BET365 looks like a reference.
    fn next_name(&self, start: usize) -> usize {
        let is_name = |at: &usize| self.tokens[*at].kind.is_name() || self.family(*at).is_some();
        (start..self.tokens.len()).find(is_name).unwrap_or(self.tokens.len())
    }

    /// Whether the words from `start` on are more than a place. After a star even PARIS is a name.
    fn is_named(&self, start: usize) -> bool {
        let start = self.next_name(start);
        if self.family(start).is_some() {
            return true;
        }
        let name = self.name(start);
        let by_star = self.tokens.get(start).is_some_and(|it| it.separator == Separator::Star);
        !name.words.is_empty() && (by_star || !name.is_place(self.table))
    }

    /// The words of the name, up to the first reference.
    fn name(&self, start: usize) -> Name<'a> {
        let mut name = Name::default();
        let (mut contact, mut dated) = (false, false);
        let mut at = start;
        while let Some(token) = self.tokens.get(at) {
            let roles = self.roles[at];
            let is_year = std::mem::take(&mut dated) && token.kind == Kind::Small;
            let mut length = 1;
            match token.kind {
                _ if is_year => {}
                _ if self.is_strict && !name.words.is_empty() && self.is_wrapping(at) => {
                    name.drop_markers();
                    break;
                }
                Kind::Break if name.words.is_empty() => {}
                Kind::Break => break,
                Kind::Date => {}
                Kind::Phone => contact = true,
                Kind::Host if !name.words.is_empty() => {
                    contact = true;
                    length += usize::from(self.is_path(at + 1));
                }
                Kind::Number | Kind::Small if name.drop_markers() => {}
                Kind::Number => {}
                Kind::Word | Kind::Small | Kind::Host => {
                    if let Some(words) = self.cut(at) {
                        if !name.words.is_empty() {
                            break;
                        }
                        length = words;
                    } else if roles.has(Role::Month) && name.drop_day() {
                        dated = true;
                    } else {
                        let gap = token.separator == Separator::Gap;
                        name.push(token.text, Mark { roles, gap, contact, kind: token.kind });
                        contact = false;
                    }
                }
            }
            at += length;
        }
        name
    }

    /// Whether a date, a long number, a contact or a channel is here, behind the name.
    fn is_wrapping(&self, at: usize) -> bool {
        match self.tokens[at].kind {
            Kind::Date | Kind::Phone | Kind::Number | Kind::Host => true,
            Kind::Word => self.prefix(at).is_some_and(|(length, by)| length > 1 && by.is_none()),
            Kind::Small | Kind::Break => false,
        }
    }

    /// The length of a state, with its city, between a channel's number and the name: 4411 KY LEXINGTON BLUE BARN.
    fn place_in_front(&self, start: usize) -> usize {
        let is_numbered = start > 0 && !self.tokens[start - 1].kind.is_name();
        let is_state = self.roles.get(start).is_some_and(|it| it.has(Role::State));
        if !is_numbered || !is_state {
            return 0;
        }
        let words = &self.words[start + 1..];
        let mut cities = self.table.cities.at(words).chain(self.table.cities_ahead.at(words));
        let city = cities.next().map_or(0, |it| it.0);
        let place = [1 + city, 1].into_iter().find(|it| self.is_named(start + it));
        place.map_or(0, |it| self.next_name(start + it) - start)
    }

    /// The words from `start` on that may belong to a name.
    pub(super) fn names(&self, start: usize) -> impl Iterator<Item = &'a str> {
        let tokens = self.tokens.get(start..).unwrap_or_default();
        tokens.iter().filter(|it| it.kind.is_name()).map(|it| it.text)
    }

    /// Whether the word is the path of a web address: the BILL in SHOP.COM/BILL.
    fn is_path(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|it| it.separator == Separator::Other && it.text == "BILL")
    }

    fn cut(&self, at: usize) -> Option<usize> {
        if !self.roles[at].has(Role::Cut) {
            return None;
        }
        let mut found = self.table.cuts.at(&self.words[at..]);
        found.find(|(length, mark)| self.is_behind(**mark, at + length)).map(|it| it.0)
    }

    /// A word of letters and digits is a reference; without any other text it is the name.
    fn reference(&self) -> Option<&'a str> {
        let is_plain = |it: &&str| it.chars().all(char::is_alphanumeric);
        let is_name = |it: &&str| it.contains(char::is_alphabetic) && !it.starts_with("XX");
        let numbers = self.tokens.iter().filter(|it| it.kind == Kind::Number).map(|it| it.text);
        numbers.filter(is_plain).find(is_name)
    }
}
