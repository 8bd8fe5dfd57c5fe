//! A folded descriptor as words, told apart from dates, phones and reference numbers.

use super::shapes::{
    Mixed, host, is_date, is_mask, is_sepa_field, is_unsayable, longest_name, mixed, number,
};

const LONGEST_WORD: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    /// One or two digits: part of a name, as in MOTEL 6, unless a marker stands before it.
    Small,
    /// A store number, a reference, a card mask, an amount.
    Number,
    Date,
    Phone,
    /// The name in a web address.
    Host,
    /// What follows is another part of the text.
    Break,
}

impl Kind {
    /// Whether a name may be made of it.
    pub(super) fn is_name(self) -> bool {
        matches!(self, Kind::Word | Kind::Small | Kind::Host)
    }
}

/// What the bank wrote before a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Glue {
    Space,
    /// Two spaces or more: the next column.
    Gap,
    Star,
    Hash,
    Colon,
    Other,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    pub(super) glue: Glue,
    pub(super) kind: Kind,
}

/// Splits folded text into words.
pub(super) fn split(folded: &str) -> Vec<Token<'_>> {
    let mut splitter = Splitter { tokens: Vec::with_capacity(16), glue: Glue::Space };
    for word in folded.split(' ') {
        if word.is_empty() {
            splitter.space(Glue::Gap);
        } else {
            splitter.word(word);
            splitter.space(Glue::Space);
        }
    }
    splitter.tokens
}

struct Splitter<'a> {
    tokens: Vec<Token<'a>>,
    /// What stands before the next word.
    glue: Glue,
}

impl<'a> Splitter<'a> {
    /// A space does not part a star, a hash or a colon from what follows.
    fn space(&mut self, space: Glue) {
        if !matches!(self.glue, Glue::Star | Glue::Hash | Glue::Colon) {
            self.glue = space;
        }
    }

    fn push(&mut self, text: &'a str, kind: Kind) {
        let text = match text.char_indices().nth(LONGEST_WORD) {
            Some((end, _)) => &text[..end],
            None => text,
        };
        self.tokens.push(Token { text, glue: self.glue, kind });
        self.glue = Glue::Other;
    }

    fn word(&mut self, word: &'a str) {
        // Most words are letters alone or have no slash, and looking closer at each costs more than all else here.
        if word.bytes().all(|it| it.is_ascii_alphabetic()) {
            return self.piece(word);
        }
        if !word.contains('/') {
            return self.parts(word);
        }
        for (index, part) in word.split("//").enumerate() {
            if matches!(part, "HTTP:" | "HTTPS:") {
                continue;
            }
            // REWE MARKT//BERLIN/DE: the place comes behind the merchant.
            if index > 0 && !word.starts_with("HTTP") {
                self.push("", Kind::Break);
            }
            self.parts(part);
        }
    }

    fn parts(&mut self, text: &'a str) {
        let mut start = 0;
        for (at, separator) in text.char_indices() {
            let glue = match separator {
                '*' => Glue::Star,
                '#' => Glue::Hash,
                '.' | ',' | '/' | ':' | '-' | '+' | '&' => continue,
                c if c.is_alphanumeric() => continue,
                _ => Glue::Other,
            };
            self.part(&text[start..at]);
            self.glue = glue;
            start = at + separator.len_utf8();
        }
        self.part(&text[start..]);
    }

    /// A part may still hold dots, commas, slashes, colons and dashes: dates, phones and hosts do.
    fn part(&mut self, part: &'a str) {
        let ends_in_colon = part.ends_with(':');
        let text = part.trim_start_matches(['-', '.', '/', ':', '+', ',', '&']);
        let text = text.trim_end_matches(['-', '.', '/', ':', ',', '&']);
        if !text.is_empty() {
            self.classified(text);
        }
        if ends_in_colon {
            self.glue = Glue::Colon;
        }
    }

    fn classified(&mut self, text: &'a str) {
        if is_date(text) {
            return self.push(text, Kind::Date);
        }
        if !text.chars().any(char::is_alphabetic) {
            return self.figures(text);
        }
        if let Some((field, value)) = text.split_once('+')
            && is_sepa_field(field)
        {
            self.push("", Kind::Break);
            match field {
                "SVWZ" => self.part(value),
                _ if value.is_empty() => {}
                _ => self.push(value, Kind::Number),
            }
            return;
        }
        // PP.1234.PP
        if text.split('.').count() > 2 && text.chars().any(char::is_numeric) {
            return self.push(text, Kind::Number);
        }
        if let Some((name, path)) = host(text) {
            self.push(name, Kind::Host);
            // APPLE.COM/BILL is not the shop.
            if path == "BILL" {
                self.push(path, Kind::Word);
            }
            return;
        }
        for chunk in text.split_inclusive(['.', '/', ':', ',']) {
            let piece = chunk.trim_matches(['-', '&', '.', '/', ':', ',']);
            self.piece(piece.trim_start_matches('+'));
            if chunk.ends_with(':') {
                self.glue = Glue::Colon;
            }
        }
    }

    /// Text without a letter.
    fn figures(&mut self, text: &'a str) {
        let digits = text.chars().filter(|it| it.is_numeric()).count();
        if digits == 0 {
            return;
        }
        // 1&1
        if text.contains(['&', '+']) && !text.contains(['.', ',', '/', ':']) {
            return self.push(text, Kind::Word);
        }
        if digits == text.chars().count() {
            let is_marked = matches!(self.glue, Glue::Hash | Glue::Star);
            return self.push(text, if is_marked { Kind::Number } else { number(text) });
        }
        if digits >= 7 {
            return self.push(text, Kind::Phone);
        }
        if text.contains(['.', ',']) {
            return self.push(text, Kind::Number);
        }
        for piece in text.split(['/', ':', '-']).filter(|it| !it.is_empty()) {
            self.push(piece, number(piece));
        }
    }

    fn piece(&mut self, piece: &'a str) {
        if !piece.chars().any(char::is_alphanumeric) {
            return;
        }
        let has_digit = piece.chars().any(char::is_numeric);
        if !has_digit {
            let kind = if is_mask(piece) { Kind::Number } else { Kind::Word };
            return self.push(piece, kind);
        }
        let is_short = || longest_name(piece) < 4 && piece.len() >= 4;
        if self.glue == Glue::Hash || (self.glue == Glue::Star && is_short()) {
            return self.push(piece, Kind::Number);
        }
        if piece.contains('-') {
            return self.dashed(piece);
        }
        let is_first = self.tokens.is_empty() || matches!(self.glue, Glue::Star | Glue::Colon);
        match mixed(piece) {
            Mixed::Name if is_unsayable(piece) => self.push(piece, Kind::Number),
            Mixed::Name => self.push(piece, Kind::Word),
            Mixed::NameAndNumber(end) if is_first => self.push(&piece[..end], Kind::Word),
            Mixed::NameAndNumber(_) | Mixed::Reference => self.push(piece, Kind::Number),
            Mixed::Figures => self.push(piece, number(piece)),
        }
    }

    /// Letters and digits around dashes: 7-ELEVEN is a name, T-1234 a number, KROGER-0339 both.
    fn dashed(&mut self, piece: &'a str) {
        let holds_digit = |it: &&str| it.chars().any(char::is_numeric);
        let parts = || piece.split('-').filter(|it| !it.is_empty());
        let named = parts().any(|it| it.len() >= 4 && it.chars().all(char::is_alphabetic));
        let numbered = parts().filter(holds_digit).any(|it| it.len() >= 3);
        let is_lone = !numbered && parts().filter(holds_digit).count() == 1;
        if named && numbered {
            parts().for_each(|it| self.piece(it));
        } else {
            self.push(piece, if named || is_lone { Kind::Word } else { Kind::Number });
        }
    }
}
