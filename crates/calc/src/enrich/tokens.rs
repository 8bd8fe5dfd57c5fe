//! Splits a folded descriptor into words, dates, phone numbers and reference numbers.

use super::shapes::{
    Kind, Mixed, host, is_date, is_mask, is_sepa_field, is_unpronounceable, longest_name, mixed,
    number,
};

const LONGEST_WORD: usize = 32;

/// The separator before a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
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
    pub(super) separator: Separator,
    pub(super) kind: Kind,
}

/// Splits folded text into tokens.
pub(super) fn split(folded: &str) -> Vec<Token<'_>> {
    let mut splitter = Splitter { tokens: Vec::with_capacity(16), separator: Separator::Space };
    for word in folded.split(' ') {
        if word.is_empty() {
            splitter.space(Separator::Gap);
        } else {
            splitter.word(word);
            splitter.space(Separator::Space);
        }
    }
    splitter.tokens
}

struct Splitter<'a> {
    tokens: Vec<Token<'a>>,
    /// The separator before the next word.
    separator: Separator,
}

impl<'a> Splitter<'a> {
    /// A space after a star, hash or colon does not replace it.
    fn space(&mut self, space: Separator) {
        if !matches!(self.separator, Separator::Star | Separator::Hash | Separator::Colon) {
            self.separator = space;
        }
    }

    fn push(&mut self, text: &'a str, kind: Kind) {
        let text = match text.char_indices().nth(LONGEST_WORD) {
            Some((end, _)) => &text[..end],
            None => text,
        };
        self.tokens.push(Token { text, separator: self.separator, kind });
        self.separator = Separator::Other;
    }

    fn word(&mut self, word: &'a str) {
        // Most words are only letters or have no slash; a closer look at each would dominate the cost.
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
            // REWE MARKT//BERLIN/DE: the place follows the merchant.
            if index > 0 && !word.starts_with("HTTP") {
                self.push("", Kind::Break);
            }
            self.parts(part);
        }
    }

    fn parts(&mut self, text: &'a str) {
        let mut start = 0;
        for (at, character) in text.char_indices() {
            let separator = match character {
                '*' => Separator::Star,
                '#' => Separator::Hash,
                '.' | ',' | '/' | ':' | '-' | '+' | '&' => continue,
                c if c.is_alphanumeric() => continue,
                _ => Separator::Other,
            };
            self.part(&text[start..at]);
            self.separator = separator;
            start = at + character.len_utf8();
        }
        self.part(&text[start..]);
    }

    /// Classifies a part, which may contain dots, commas, slashes, colons and dashes: dates, phone numbers and hosts
    /// do.
    fn part(&mut self, part: &'a str) {
        let ends_in_colon = part.ends_with(':');
        let text = part.trim_start_matches(['-', '.', '/', ':', '+', ',', '&']);
        let text = text.trim_end_matches(['-', '.', '/', ':', ',', '&']);
        if !text.is_empty() {
            self.classified(text);
        }
        if ends_in_colon {
            self.separator = Separator::Colon;
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
            // APPLE.COM/BILL is the billing service, not the shop.
            if path == "BILL" {
                self.push(path, Kind::Word);
            }
            return;
        }
        for chunk in text.split_inclusive(['.', '/', ':', ',']) {
            let piece = chunk.trim_matches(['-', '&', '.', '/', ':', ',']);
            self.piece(piece.trim_start_matches('+'));
            if chunk.ends_with(':') {
                self.separator = Separator::Colon;
            }
        }
    }

    /// Classifies text without a letter.
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
            let is_marked = matches!(self.separator, Separator::Hash | Separator::Star);
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
        if self.separator == Separator::Hash || (self.separator == Separator::Star && is_short()) {
            return self.push(piece, Kind::Number);
        }
        if piece.contains('-') {
            return self.dashed(piece);
        }
        let is_first =
            self.tokens.is_empty() || matches!(self.separator, Separator::Star | Separator::Colon);
        match mixed(piece) {
            Mixed::Name if is_unpronounceable(piece) => self.push(piece, Kind::Number),
            Mixed::Name => self.push(piece, Kind::Word),
            Mixed::NameAndNumber(end) if is_first => self.push(&piece[..end], Kind::Word),
            Mixed::NameAndNumber(_) | Mixed::Reference => self.push(piece, Kind::Number),
            Mixed::Figures => self.push(piece, number(piece)),
        }
    }

    /// Classifies letters and digits around dashes: 7-ELEVEN is a name, T-1234 a number, KROGER-0339 both.
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
