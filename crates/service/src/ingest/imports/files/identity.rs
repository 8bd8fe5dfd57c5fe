//! The identity of accounts in files: which identifiers are full, and whether two of them are the same account's.

use base::Currency;
use sources::files::FileAccount;

/// Fewer letters and digits do not identify an account without its bank.
const LENGTH_LEAST: usize = 7;

/// Whether the file identifies the account: by a bank and an account number, or by a number that is unique by itself.
/// A number of which only the last digits are shown does not.
pub(super) fn is_full(account: &FileAccount) -> bool {
    is_full_number(&account.draft.external_id, account.bank.is_some())
}

fn is_full_number(number: &str, has_bank: bool) -> bool {
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    let length = number.chars().filter(|it| it.is_alphanumeric()).count();
    let least = if has_bank { 1 } else { LENGTH_LEAST };
    !is_masked(number) && !is_name(number) && digits > 0 && length >= least
}

/// Whether a part of the number is hidden, as in `XXXX1234` or `****1234`, or only its last digits are there.
fn is_masked(number: &str) -> bool {
    let is_hidden = number.contains(['*', '\u{2022}', '\u{2026}', '#']) || number.contains("..");
    let x = number.chars().filter(|it| matches!(it, 'x' | 'X')).count();
    is_hidden || x >= 3
}

/// Whether the text is the name that a person or an app gave to the account, and no number.
pub(super) fn is_name(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.chars().filter(|it| it.is_alphabetic()).count();
    letters > digits && letters > 3
}

/// Whether an account's name distinguishes it from accounts of other people. Banks give every customer an account with
/// one of `EVERYBODYS_NAMES`.
pub(super) fn is_own_name(text: &str) -> bool {
    let is_code = |word: &&str| Currency::parse(&word.to_ascii_uppercase()).is_ok();
    let words: Vec<&str> = text.split_whitespace().filter(|it| !is_code(it)).collect();
    let words = words.join(" ").to_lowercase();
    is_name(text) && !EVERYBODYS_NAMES.contains(&words.as_str())
}

/// Names of accounts without the currency, in small letters.
const EVERYBODYS_NAMES: &[&str] = &[
    "account",
    "checking",
    "checking account",
    "compte principal",
    "current",
    "current account",
    "deposit",
    "girokonto",
    "hauptkonto",
    "joint",
    "joint account",
    "main",
    "main account",
    "personal",
    "pocket",
    "savings",
    "savings account",
];

/// Whether known identifiers of an account show that the account of the file is another one. Without full identifiers on
/// both sides nothing is shown.
pub(super) fn is_other(known: &[String], account: &FileAccount) -> bool {
    let number = &account.draft.external_id;
    if !is_full(account) {
        return false;
    }
    let mut full = known.iter().filter(|it| is_full_identifier(it)).peekable();
    full.peek().is_some()
        && full.all(|known| {
            let parts: Vec<&str> = known.split(' ').collect();
            let Some(at) = parts.iter().position(|it| is_same_number(it, number)) else {
                return true;
            };
            let bank = account.bank.as_deref();
            at > 0 && bank.is_some_and(|bank| is_other_bank(parts[0], bank))
        })
}

/// Whether two bank ids are of different banks or branches. `30004` may be the bank of `30004-00012`: not every file names the
/// branch.
fn is_other_bank(one: &str, other: &str) -> bool {
    let has_branch = |whole: &str, bank: &str| {
        whole.strip_prefix(bank).is_some_and(|it| it.is_empty() || it.starts_with('-'))
    };
    !has_branch(one, other) && !has_branch(other, one)
}

/// Whether a stored identifier, such as `121000248 123456789 checking`, has a full number.
fn is_full_identifier(identifier: &str) -> bool {
    let (first, rest) = identifier.split_once(' ').unwrap_or((identifier, ""));
    // Behind a bank stands a number; behind a number only the kind of account.
    match rest.split(' ').find(|it| it.bytes().any(|it| it.is_ascii_digit())) {
        Some(number) => is_full_number(number, true),
        None => is_full_number(first, false),
    }
}

/// The letters and digits of a number.
fn bare(number: &str) -> String {
    number.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_uppercase).collect()
}

/// Whether a number without spaces has the form of an IBAN, whatever its check digits.
fn is_iban(bare: &str) -> bool {
    let bytes = bare.as_bytes();
    (15..=34).contains(&bytes.len())
        && bytes[..2].iter().all(u8::is_ascii_uppercase)
        && bytes[2..4].iter().all(u8::is_ascii_digit)
}

/// The IBAN without spaces, if the number is a valid one. It names its account without the bank.
pub(super) fn iban(number: &str) -> Option<String> {
    let bare = bare(number);
    // The check of ISO 13616: the first four characters behind the others, letters as numbers from 10, modulo 97.
    let checked = bare.chars().cycle().skip(4).take(bare.chars().count());
    let remainder = checked.fold(0, |sum, it| match it.to_digit(36) {
        Some(digit @ 0..10) => (sum * 10 + digit) % 97,
        Some(letter) => (sum * 100 + letter) % 97,
        None => 0,
    });
    (is_iban(&bare) && remainder == 1).then_some(bare)
}

/// Equal letters and digits; or one is an IBAN that contains the other.
fn is_same_number(one: &str, other: &str) -> bool {
    let (one, other) = (bare(one), bare(other));
    let contains = |iban: &str, number: &str| {
        is_iban(iban) && !is_iban(number) && number.len() >= LENGTH_LEAST && iban.ends_with(number)
    };
    // Some formats fill numbers up with zeros.
    let is_equal = one.trim_start_matches('0') == other.trim_start_matches('0');
    is_equal || contains(&one, &other) || contains(&other, &one)
}

#[cfg(test)]
mod tests {
    use base::Currency;
    use base::draft::{AccountDraft, AccountKind};

    use super::*;

    fn account(bank: Option<&str>, number: &str) -> FileAccount {
        let draft = AccountDraft::new(number, "A", AccountKind::Depository, Currency::USD);
        FileAccount { bank: bank.map(str::to_owned), draft, stated_change_minor: None }
    }

    #[test]
    fn a_valid_iban_names_its_account_without_the_bank() {
        for (number, expected) in [
            ("DE89 3704 0044 0532 0130 00", Some("DE89370400440532013000")),
            ("gb82WEST12345698765432", Some("GB82WEST12345698765432")),
            ("DE88370400440532013000", None),
            ("121000248123456", None),
            ("", None),
            ("ÄÖ12", None),
        ] {
            assert_eq!(iban(number).as_deref(), expected, "{number}");
        }
    }

    #[test]
    fn a_branch_distinguishes_accounts_unless_a_file_does_not_name_it() {
        let known = |text: &str| vec![text.to_owned()];
        let account = account(Some("30004-00012"), "00010114701");
        assert!(!is_other(&known("30004-00012 00010114701 checking"), &account));
        assert!(!is_other(&known("30004 00010114701 checking"), &account));
        assert!(is_other(&known("30004-00999 00010114701 checking"), &account));
        assert!(is_other(&known("3000 00010114701 checking"), &account));
    }

    #[test]
    fn hidden_and_short_numbers_and_names_are_not_full() {
        for (bank, number, expected) in [
            (Some("121000248"), "123456789", true),
            (Some("121000248"), "1234", true),
            (Some("121000248"), "XXXXX6789", false),
            (Some("121000248"), "****6789", false),
            (None, "123456789", true),
            (None, "DE02100100100006820101", true),
            (None, "10020030/1234567", true),
            (None, "6789", false),
            (None, "...6789", false),
            (None, "Everyday Checking", false),
            (None, "", false),
        ] {
            assert_eq!(is_full(&account(bank, number)), expected, "{bank:?} {number}");
        }
    }

    #[test]
    fn a_name_that_every_customer_has_identifies_nothing() {
        for (name, expected) in [
            ("Main Account", false),
            ("Current GBP", false),
            ("Savings", false),
            ("Everyday Checking", true),
            ("Our savings", true),
            ("1234567", false),
        ] {
            assert_eq!(is_own_name(name), expected, "{name}");
        }
    }

    #[test]
    fn only_full_identifiers_tell_accounts_apart() {
        let other = |known: &[&str], bank: Option<&str>, number: &str| {
            let known: Vec<String> = known.iter().map(|it| (*it).to_owned()).collect();
            is_other(&known, &account(bank, number))
        };
        let (one, two) = (Some("121000248"), Some("021000021"));
        assert!(other(&["121000248 555551234 checking"], one, "777771234"));
        assert!(other(&["121000248 555551234 checking"], two, "555551234"));
        assert!(!other(&["121000248 555551234 checking"], one, "555551234"));
        assert!(!other(&["121000248 0555551234 checking"], one, "555551234"));
        // The bank is not known on one side.
        assert!(!other(&["555551234"], one, "555551234"));
        // Only the last digits are known on one side.
        assert!(!other(&["121000248 XXXXX1234"], one, "777771234"));
        assert!(!other(&["121000248 555551234"], one, "XXXXX1234"));
        assert!(!other(&[], one, "777771234"));
        // One bank writes the number in two ways.
        assert!(!other(&["DE02100100100006820101"], None, "0006820101"));
        assert!(other(&["DE02100100100006820101"], None, "DE02100100100006820102"));
        assert!(other(&["DE02100100100006820101 checking"], None, "DE99100100100006820101"));
    }
}
