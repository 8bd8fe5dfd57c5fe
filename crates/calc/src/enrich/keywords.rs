//! Keywords that imply a category, `data/keywords.txt`.

use std::sync::LazyLock;

use base::category::Category;
use base::draft::AccountKind;

use super::phrases::Phrases;

/// The category of a phrase, and the rows it applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Keyword {
    pub(super) category: Option<Category>,
    inflow: Option<bool>,
    accounts: Vec<AccountKind>,
    /// The phrase is a word of the bank itself, so there is no counterparty.
    pub(super) is_bank: bool,
}

impl Keyword {
    pub(super) fn fits(&self, inflow: bool, account: AccountKind) -> bool {
        self.inflow.is_none_or(|it| it == inflow)
            && (self.accounts.is_empty() || self.accounts.contains(&account))
    }

    /// Whether it applies to money out.
    pub(super) fn is_for_outflows(&self) -> bool {
        self.inflow != Some(true)
    }

    /// Whether it states a fact for this kind of account rather than a guess.
    pub(super) fn is_structural(&self) -> bool {
        self.is_bank && !self.accounts.is_empty()
    }
}

/// Phrases with the index of their keyword: one keyword has hundreds.
struct Keywords {
    keywords: Vec<Keyword>,
    phrases: Phrases<usize>,
    /// Phrases found at the end of longer words: the last part of compounds.
    endings: Phrases<usize>,
    /// Words for a trade, sorted, so that the ones that start alike are neighbors.
    trades: Vec<(&'static str, Category)>,
}

impl Keywords {
    /// The keywords that the words start with, longest phrase first, with their number of words.
    fn at<'a>(
        &'static self,
        phrases: &'static Phrases<usize>,
        words: &'a [&'a str],
    ) -> impl Iterator<Item = (usize, &'static Keyword)> + use<'a> {
        phrases.at(words).map(|(length, index)| (length, &self.keywords[*index]))
    }
}

static KEYWORDS: LazyLock<Keywords> = LazyLock::new(read);

pub(super) const TEXT: &str = include_str!("../../../../data/keywords.txt");
/// A shorter word is not a compound.
const SHORTEST_COMPOUND: usize = 7;
/// The letters that are left of a word that was cut off.
const SHORTEST_CUT: usize = 5;
/// The letters of a trade's word that is written together with another.
const SHORTEST_JOINED: usize = 7;

/// The longest phrase that the words start with and that applies to the row.
pub(super) fn leading(
    words: &[&str],
    inflow: bool,
    account: AccountKind,
) -> Option<&'static Keyword> {
    let mut found = KEYWORDS.at(&KEYWORDS.phrases, words).map(|(_, it)| it);
    found.find(|it| it.fits(inflow, account))
}

/// Whether the key starts with words of the bank itself that say what it is, on any account.
pub(super) fn is_banks_own(key: &str) -> bool {
    let words: Vec<&str> = key.split(' ').collect();
    KEYWORDS.at(&KEYWORDS.phrases, &words).any(|(_, it)| it.is_bank && it.category.is_some())
}

/// Whether the key is a phrase of the table and nothing else.
pub(super) fn is_phrase(key: &str) -> bool {
    let words: Vec<&str> = key.split(' ').collect();
    KEYWORDS.at(&KEYWORDS.phrases, &words).any(|(length, _)| length == words.len())
}

/// The category of pay, if a phrase for it is anywhere in the words of money in.
pub(super) fn pay(words: &[&str], account: AccountKind) -> Option<Category> {
    let is_pay = |it: &Category| it.detailed() == "INCOME_SALARY";
    let mut found = (0..words.len()).flat_map(|at| KEYWORDS.at(&KEYWORDS.phrases, &words[at..]));
    found.find_map(|(_, it)| it.category.filter(|of| it.fits(true, account) && is_pay(of)))
}

/// The longest phrase anywhere in the words that fits and has a category, the first of equals; else the longest ending of
/// a compound.
pub(super) fn anywhere(
    words: &[&str],
    fits: &impl Fn(&Keyword) -> bool,
) -> Option<&'static Keyword> {
    let mut best: Option<(usize, &'static Keyword)> = None;
    for at in 0..words.len() {
        let mut found = KEYWORDS.at(&KEYWORDS.phrases, &words[at..]);
        // A single word of the bank, such as DEPOSIT, names the channel and not the purpose.
        let is_distinctive = |(length, it): &(usize, &Keyword)| {
            it.category.is_some() && !(it.is_bank && *length == 1) && fits(it)
        };
        let Some((length, keyword)) = found.find(is_distinctive) else { continue };
        let letters = words[at..at + length].iter().map(|it| it.len()).sum();
        if best.is_none_or(|(most, _)| most < letters) {
            best = Some((letters, keyword));
        }
    }
    best.map(|(_, it)| it).or_else(|| compound(words, fits))
}

/// The longest compound ending of any word, the first of equals.
fn compound(words: &[&str], fits: &impl Fn(&Keyword) -> bool) -> Option<&'static Keyword> {
    let mut best: Option<(usize, &'static Keyword)> = None;
    for word in words.iter().filter(|it| it.len() >= SHORTEST_COMPOUND) {
        let found = word.char_indices().find_map(|(at, _)| {
            let ending = &word[at..];
            let mut found = KEYWORDS.at(&KEYWORDS.endings, std::slice::from_ref(&ending));
            let (_, keyword) = found.find(|(_, it)| fits(it))?;
            Some((ending.len(), keyword))
        });
        if let Some((letters, keyword)) = found
            && best.is_none_or(|(most, _)| most < letters)
        {
            best = Some((letters, keyword));
        }
    }
    best.map(|(_, it)| it)
}

/// The category of a trade whose word a bank cut off at the end of the text (RESTAURAN), or wrote together with the next
/// one (PHARMACYPLUS).
pub(super) fn word_part(words: &[&str]) -> Option<Category> {
    let cut = || words.last().filter(|_| words.len() > 1).and_then(|it| cut_trade(it));
    cut().or_else(|| words.iter().find_map(|it| joined_trade(it)))
}

/// The category of all trades that start with the letters, if they agree in the primary one.
fn cut_trade(word: &str) -> Option<Category> {
    let trades = &KEYWORDS.trades;
    let start = trades.partition_point(|it| it.0 < word);
    let mut alike = trades[start..].iter().take_while(|it| it.0.starts_with(word)).map(|it| it.1);
    let first = alike.next().filter(|_| word.len() >= SHORTEST_CUT)?;
    alike.all(|it| it.primary() == first.primary()).then_some(first)
}

/// The category of the longest trade that the word starts with.
fn joined_trade(word: &str) -> Option<Category> {
    let trades = &KEYWORDS.trades;
    let ends = word.char_indices().map(|it| it.0).rev();
    ends.take_while(|it| *it >= SHORTEST_JOINED).find_map(|end| {
        let found = trades.binary_search_by_key(&&word[..end], |it| it.0).ok()?;
        Some(trades[found].1)
    })
}

/// Each section's keyword with its phrases, as written in the table.
pub(super) fn sections() -> Vec<(Keyword, Vec<&'static str>)> {
    let mut sections: Vec<(Keyword, Vec<&'static str>)> = Vec::new();
    for line in TEXT.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(head) = line.strip_prefix('[') {
            sections.push((section(head), Vec::new()));
        } else if let Some((_, phrases)) = sections.last_mut() {
            phrases.extend(line.split(',').map(str::trim).filter(|it| !it.is_empty()));
        }
    }
    sections
}

fn section(head: &str) -> Keyword {
    let (code, rest) = head.split_once(']').unwrap_or((head, ""));
    let mut keyword = Keyword {
        category: Category::parse(code),
        inflow: None,
        accounts: Vec::new(),
        is_bank: false,
    };
    for word in rest.split_whitespace() {
        match word {
            "in" => keyword.inflow = Some(true),
            "out" => keyword.inflow = Some(false),
            "bank" => keyword.is_bank = true,
            kind => keyword.accounts.extend(AccountKind::parse(kind)),
        }
    }
    keyword
}

fn read() -> Keywords {
    let (keywords, phrases): (Vec<Keyword>, Vec<Vec<&'static str>>) =
        sections().into_iter().unzip();
    let all = || {
        let indexed = phrases.iter().enumerate();
        indexed.flat_map(|(index, phrases)| phrases.iter().map(move |phrase| (*phrase, index)))
    };
    // A starred word also matches as a whole word.
    let whole = all().map(|(it, index)| (it.trim_start_matches('*'), index));
    let endings = all().filter_map(|(it, index)| Some((it.strip_prefix('*')?, index)));
    let mut trades: Vec<_> = whole
        .clone()
        .filter(|(it, _)| it.len() >= SHORTEST_CUT && !it.contains([' ', '-']))
        .map(|(it, index)| (it, &keywords[index]))
        .filter(|(_, it)| it.inflow.is_none() && it.accounts.is_empty() && !it.is_bank)
        .filter_map(|(it, keyword)| Some((it, keyword.category?)))
        .collect();
    trades.sort_unstable_by_key(|it| it.0);
    Keywords { phrases: Phrases::new(whole), endings: Phrases::new(endings), trades, keywords }
}
