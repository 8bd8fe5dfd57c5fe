//! Limits on the size of files, so that a small file cannot exhaust memory.

/// The limits that an operator can set. A file beyond one of them is refused as a whole, because half an import would
/// look complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The total unpacked size of the parts of a zip file.
    pub unpacked_bytes: u64,
    /// Rows of one kind, such as transactions or balances.
    pub rows: usize,
}

impl Limits {
    pub const DEFAULT: Limits = Limits { unpacked_bytes: 64 * MIB, rows: 250_000 };
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}

pub(super) const MIB: u64 = 1_024 * 1_024;
/// More accounts than anyone has.
pub(super) const ACCOUNTS_MAX: usize = 1_000;
/// Longer reasons are cut.
pub(super) const REASON_CHARS_MAX: usize = 300;

/// The first `most` characters of a text.
pub(super) fn head(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// A count with thousands separators, such as 1,000,000.
pub(super) fn counted(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{counted, head};

    #[test]
    fn counts_have_a_comma_at_every_thousand() {
        for (count, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (250_000, "250,000")] {
            assert_eq!(counted(count), text);
        }
        assert_eq!(counted(1_234_567), "1,234,567");
    }

    #[test]
    fn a_head_ends_between_two_characters() {
        assert_eq!((head("Zoë", 3), head("Zoë", 2), head("", 2)), ("Zoë", "Zo", ""));
    }
}
