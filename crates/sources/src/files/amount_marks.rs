//! The decimal mark that the amounts of a file have, for amounts such as `1,234` and `1.234`, which do not tell.

use std::borrow::Cow;

use memchr::{memchr, memmem};

/// Which decimal marks the other amounts of a file have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct AmountMarks {
    has_points: bool,
    has_commas: bool,
}

const OFX_TAG: &[u8] = b"TRNAMT>";

impl AmountMarks {
    /// The marks of an OFX file.
    pub(super) fn of_ofx(text: &str) -> AmountMarks {
        let mut marks = AmountMarks::default();
        let bytes = text.as_bytes();
        for tag in memmem::find_iter(bytes, OFX_TAG) {
            let rest = &bytes[tag + OFX_TAG.len()..];
            let is_amount = |it: &&u8| matches!(it, b'0'..=b'9' | b'+' | b'-' | b'.' | b',' | b' ');
            let length = rest.iter().take_while(is_amount).count();
            marks.count(rest[..length].trim_ascii_end());
        }
        marks
    }

    /// Takes the last mark of an amount as the decimal mark, unless three digits follow it.
    pub(super) fn count(&mut self, amount: &[u8]) {
        let mark = amount.iter().rposition(|it| matches!(it, b'.' | b','));
        if let Some(at) = mark.filter(|it| amount.len() - it != 4) {
            self.has_points |= amount[at] == b'.';
            self.has_commas |= amount[at] == b',';
        }
    }

    /// Whether the amounts of the file agree on a decimal mark.
    pub(super) fn is_known(self) -> bool {
        self.has_points != self.has_commas
    }

    /// The amount with the mark that the other amounts of the file say: `1,234` is 1234 beside `12.50`, and 1.234 beside
    /// `12,50`.
    pub(super) fn settle<'a>(self, amount: Cow<'a, str>) -> Cow<'a, str> {
        if !self.has_commas && memchr(b',', amount.as_bytes()).is_none() {
            return amount;
        }
        let is_comma = amount.contains(',');
        match (self.has_points, self.has_commas) {
            _ if !is_open(&amount) => amount,
            (true, false) if is_comma => Cow::Owned(amount.replace(',', "")),
            (false, true) if is_comma => Cow::Owned(amount.replace(',', ".")),
            (false, true) => Cow::Owned(amount.replace('.', "")),
            _ => amount,
        }
    }
}

/// Whether the only mark of an amount may be a decimal mark or separate thousands.
pub(super) fn is_open(amount: &str) -> bool {
    let unsigned = amount.trim_start_matches(['+', '-']);
    let Some((whole, fraction)) = unsigned.split_once([',', '.']) else { return false };
    let is_digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    (1..=3).contains(&whole.len())
        && fraction.len() == 3
        && !whole.starts_with('0')
        && is_digits(whole)
        && is_digits(fraction)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::{AmountMarks, is_open};

    #[test]
    fn other_amounts_tell_whether_a_mark_separates_thousands() {
        let settled = |others: &str, text: &str| {
            AmountMarks::of_ofx(others).settle(Cow::Borrowed(text)).into_owned()
        };
        let (points, commas) = ("<TRNAMT>-12.50<NAME>A", "<TRNAMT>-12,50</TRNAMT>");
        assert_eq!(settled(points, "-1,234"), "-1234");
        assert_eq!(settled(points, "1.234"), "1.234");
        assert_eq!(settled(commas, "1,234"), "1.234");
        assert_eq!(settled(commas, "1.234"), "1234");
        assert_eq!(settled("<TRNAMT>7,500", "1,234"), "1,234");
        assert_eq!(settled(&format!("{points}{commas}"), "1,234"), "1,234");
        for text in ["", ",", "0,123", "1,234.50", "1234,567", "12,3é4"] {
            assert_eq!(settled(points, text), text);
        }
    }

    #[test]
    fn marks_are_known_if_the_amounts_agree() {
        let known = |amounts: &[&str]| {
            let mut marks = AmountMarks::default();
            amounts.iter().for_each(|it| marks.count(it.as_bytes()));
            marks.is_known()
        };
        assert!(known(&["1.50", "1,234.50"]) && known(&["1,5"]));
        assert!(!known(&["1.234", "7"]) && !known(&["1.50", "1,50"]) && !known(&[]));
        assert!(is_open("-1.234") && !is_open("1234.567") && !is_open("0.123"));
    }
}
