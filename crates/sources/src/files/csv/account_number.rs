//! The account number that a file states above its rows: an IBAN, or a number behind a label such as "Account number". A
//! number of which a part is hidden is kept as it is written, so that nobody takes it for the whole number.

use base::Date;

use super::kinds;
use super::sample::Row;
use super::words::has_word;
use crate::files::dates;

/// Words behind which a number is that of an account or a card.
const LABELS: &[&str] = &[
    "a c",
    "account",
    "acct",
    "card",
    "compte",
    "conta",
    "conto",
    "cuenta",
    "karte",
    "kartennummer",
    "konto",
    "kontonummer",
    "kontonr",
    "kreditkarte",
    "rekening",
    "rekeningnummer",
    "tarjeta",
];
/// Words in lines with a number of something else.
const OTHER_NUMBERS: &[&str] = &[
    "balance",
    "bsb",
    "call",
    "customer",
    "date",
    "kontostand",
    "kunde",
    "kundennummer",
    "period",
    "phone",
    "routing",
    "saldo",
    "service",
    "services",
    "solde",
    "sort code",
    "support",
    "tel",
    "user",
    "zeitraum",
];
/// Fewer digits than this do not identify an account, unless the number is masked.
const DIGITS_MIN: usize = 6;
/// A masked number shows at least this many digits.
const SHOWN_MIN: usize = 3;
/// A number behind a label has no more words between them, such as "details for".
const WORDS_BETWEEN: usize = 4;
/// Groups of digits that are written apart, such as those of a card, are no longer than this.
const GROUP_CHARS: usize = 4;
/// More groups are not one number.
const GROUPS_MAX: usize = 10;
/// Longer texts are no account numbers.
const NUMBER_BYTES: usize = 40;

/// The account number above the titles: an IBAN, else the only number behind a label.
pub(super) fn find_above(above: &[Row], today: Date) -> Option<String> {
    let cells = || above.iter().flat_map(|row| &row.cells);
    let mut parts = cells().flat_map(|cell| cell.split(['"', ';', ',', '\t', '|', ':']));
    if let Some(iban) = parts.find_map(iban) {
        return Some(iban);
    }
    let mut numbers = above.iter().filter_map(|row| labelled(row, today));
    let first = numbers.next()?;
    numbers.all(|it| it == first).then_some(first)
}

/// The number in a record that is about an account. The label is in the same cell or in the one before.
fn labelled(row: &Row, today: Date) -> Option<String> {
    row.cells.iter().enumerate().find_map(|(index, cell)| {
        let before = index.checked_sub(1).map_or("", |it| row.cells[it].as_str());
        let text = format!("{before} {cell}");
        let words: Vec<&str> =
            text.split([' ', ':', '"', ';', ',']).filter(|it| !it.is_empty()).collect();
        let label = words.iter().rposition(|it| has_word(it, LABELS));
        let begin = label.map_or(0, |it| it + 1);
        let masked = || {
            (0..words.len())
                .find_map(|it| number_at(&words[it..], today).filter(|it| is_masked(it)))
        };
        let near = || {
            (begin..words.len().min(begin + WORDS_BETWEEN))
                .find_map(|it| number_at(&words[it..], today))
        };
        let is_other = || has_word(&text, OTHER_NUMBERS);
        let whole = label.and_then(|_| near()).filter(|it| !is_masked(it) && !is_other());
        let is_named = || label.is_some() || kinds::of_name(&text).is_some();
        masked().filter(|_| is_named()).map(clearly_masked).or(whole)
    })
}

/// The number with which the words begin. Short groups of digits belong together.
fn number_at(words: &[&str], today: Date) -> Option<String> {
    let first = trimmed(words.first()?);
    let is_group = |it: &&&str| is_number(trimmed(it)) && trimmed(it).len() <= GROUP_CHARS;
    let groups: Vec<&str> =
        words.iter().take(GROUPS_MAX).take_while(is_group).map(|it| trimmed(it)).collect();
    let number = if groups.len() > 1 { groups.join(" ") } else { first.to_owned() };
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    let least = if is_masked(&number) { SHOWN_MIN } else { DIGITS_MIN };
    let is_one = groups.len() > 1 || is_number(first);
    let is_date = dates::looks_like(&number, today);
    (is_one && digits >= least && number.len() <= NUMBER_BYTES && !is_date).then_some(number)
}

/// The word without brackets around it, a number sign before it and a full stop behind it.
fn trimmed(word: &str) -> &str {
    let word = word.trim_matches(['(', ')', '[', ']', '=', '"']).trim_end_matches('.');
    word.strip_prefix('#').filter(|it| !it.starts_with('#')).unwrap_or(word)
}

/// The number with stars instead of one or two letters, which are no clear mask.
fn clearly_masked(number: String) -> String {
    let is_letter = |it: char| matches!(it, 'x' | 'X');
    let letters = number.chars().filter(|it| is_letter(*it)).count();
    if letters < 3 { number.replace(is_letter, "*") } else { number }
}

fn is_number(word: &str) -> bool {
    let is_part = |it: char| it.is_ascii_digit() || matches!(it, '-' | '/') || is_mask(it);
    // Dots are only a mask, not the marks of an amount.
    let shown = word.trim_start_matches('.');
    let is_dotted = word.len() == shown.len() || word.len() - shown.len() > 1;
    !shown.is_empty() && is_dotted && shown.chars().all(is_part)
}

fn is_mask(letter: char) -> bool {
    matches!(letter, 'x' | 'X' | '*' | '\u{2022}' | '\u{2026}' | '#')
}

/// Whether a part of a number is hidden, as in `XXXX-1234`, `****1234` or `...1234`.
fn is_masked(number: &str) -> bool {
    number.starts_with("..") || number.chars().any(is_mask)
}

/// Whether a text is a card number of full length, whole or masked. The last digits alone are none.
pub(super) fn is_card_number(text: &str) -> bool {
    const CARD_CHARS: usize = 12;
    let shown = text.bytes().filter(u8::is_ascii_digit).count();
    let is_part = |it: char| it.is_ascii_digit() || it == ' ' || it == '-' || is_mask(it);
    let length = text.chars().filter(|it| !matches!(it, ' ' | '-')).count();
    (CARD_CHARS..=NUMBER_BYTES).contains(&length) && shown >= 4 && text.chars().all(is_part)
}

/// The IBAN that a text is, without its spaces.
pub(super) fn iban(text: &str) -> Option<String> {
    let bare: String = text.chars().filter(|it| !it.is_whitespace()).take(40).collect();
    let (country, rest) = bare.split_at_checked(2)?;
    let digits = rest.bytes().filter(u8::is_ascii_digit).count();
    let is_iban = (15..=34).contains(&bare.len())
        && country.bytes().all(|it| it.is_ascii_uppercase())
        && rest.bytes().take(2).all(|it| it.is_ascii_digit())
        && rest.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit())
        && digits >= 10;
    is_iban.then_some(bare)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::fixtures;

    fn above(lines: &[&str]) -> Option<String> {
        let row = |(line, text): (usize, &&str)| Row {
            line,
            cells: text.split(',').map(str::to_owned).collect(),
        };
        let rows: Vec<Row> = lines.iter().enumerate().map(row).collect();
        find_above(&rows, base::date_from_days(20_000))
    }

    #[test]
    fn a_number_behind_a_label_is_the_account() {
        for (line, expected) in [
            ("Account Number: 555-123456-001", "555-123456-001"),
            ("Account number,0012345678", "0012345678"),
            ("Account details for:,MAX Account 555-123456-001", "555-123456-001"),
            (
                "Transactions  for account Brokerage XXXX-5678 as of 03/15/2026 18:00:21 ET",
                "XXXX-5678",
            ),
            ("Transactions for account Brokerage ...5678 as of 03/15/2026", "...5678"),
            ("Brokerage XXXX-5678", "XXXX-5678"),
            ("Credit Card Number: 4321XXXXXXXX5678", "4321XXXXXXXX5678"),
            ("Card number: **** **** **** 5678", "**** **** **** 5678"),
            ("Kartennummer:,4321 1234 1234 5678", "4321 1234 1234 5678"),
            ("Kontonummer: 1234567890 / EUR", "1234567890"),
            ("Account #1234567", "1234567"),
            ("Checking XX34567", "**34567"),
            ("Account: DE02 1001 0010 0006 8201 01", "DE02100100100006820101"),
        ] {
            assert_eq!(above(&[line]).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn other_numbers_above_the_titles_are_no_accounts() {
        for line in [
            "",
            "Account balance: 123456",
            "Account statement 2026-03-15",
            "Account statement from 03/01/2026 to 03/31/2026",
            "Account,1234.56",
            "Account,\"1,234,567.89\"",
            "Customer number: 12345678",
            "Routing number: 121000248",
            "Statement 12345678",
            "Account 2026",
            "Card services 1-800-555-0100",
            "account xxx",
            "XXXX-5678",
        ] {
            assert_eq!(above(&[line]), None, "{line}");
        }
        assert_eq!(above(&["Account number: 1234567", "Account number: 7654321"]), None);
        assert_eq!(above(&[&format!("account {}", "1 ".repeat(100))]), Some(["1"; 10].join(" ")));
        assert_eq!(above(&[&format!("account é{}", "x".repeat(200))]), None);
    }

    #[test]
    fn files_with_different_masks_are_different_accounts() {
        let id = |mask: &str| {
            let text = format!(
                "Transactions for account Brokerage {mask} as of 03/15/2026\nDate,Description,Amount\n\
                 2026-03-02,Cash dividend,2.50\n2026-03-03,Cash dividend,4.50\n"
            );
            let read = crate::files::read(text.as_bytes(), &fixtures::options()).unwrap();
            read.accounts[0].draft.external_id.clone()
        };
        assert_eq!(
            (id("XXXX-5678").as_str(), id("XXXX-8765").as_str()),
            ("XXXX-5678", "XXXX-8765")
        );
        assert_eq!(id("X5678"), "*5678");
    }

    #[test]
    fn card_numbers_are_whole_or_masked() {
        for (text, expected) in [
            ("4321123412345678", true),
            ("4321 1234 1234 5678", true),
            ("4321XXXXXXXX5678", true),
            ("5678", false),
            ("Visa 5678", false),
            ("", false),
        ] {
            assert_eq!(is_card_number(text), expected, "{text}");
        }
    }
}
