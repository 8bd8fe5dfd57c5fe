//! The ids and names of the accounts of a table.

use std::collections::BTreeMap;

use base::Currency;

use super::mapping::Mapping;

/// The number, name, card and currency of an account, as the rows of the table give them.
pub(super) struct AccountLabels<'a> {
    pub(super) number: &'a str,
    pub(super) name: &'a str,
    /// The number of the card that all rows name; empty if they name several or none.
    pub(super) card: &'a str,
    pub(super) currency: Currency,
}

impl AccountLabels<'_> {
    /// The last four digits of the account or of its card.
    pub(super) fn mask(&self) -> Option<String> {
        last_four(self.number).or_else(|| last_four(self.card))
    }
}

/// The id and the name of each account. The currency is appended where accounts would otherwise share a name.
pub(super) fn ids_and_names(
    accounts: &[AccountLabels<'_>],
    mapping: &Mapping,
) -> Vec<(String, String)> {
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for account in accounts {
        *seen.entry((account.number, account.name)).or_default() += 1;
    }
    let institution = mapping.institution.as_deref().unwrap_or("Imported account");
    let named = |account: &AccountLabels<'_>| {
        let shares = seen.get(&(account.number, account.name)).is_some_and(|it| *it > 1);
        // The id of the main account does not depend on whether a file has rows in another currency.
        let is_main = mapping.currency.as_deref() == Some(account.currency.code());
        let currency = match mapping.currencies_are_accounts || (shares && !is_main) {
            true => account.currency.code(),
            false => "",
        };
        let id = if account.number.is_empty() { account.name } else { account.number };
        let name = match (account.name, account.mask()) {
            ("", _) if is_name(account.number) => account.number.to_owned(),
            ("", Some(mask)) => format!("{institution} {mask}"),
            ("", None) => institution.to_owned(),
            (name, _) => name.to_owned(),
        };
        (joined(id, currency), joined(&name, currency))
    };
    accounts.iter().map(named).collect()
}

/// The label of an account is a name rather than a number if it has more letters than digits.
fn is_name(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    text.chars().filter(|it| it.is_alphabetic()).count() > digits
}

fn joined(text: &str, behind: &str) -> String {
    match (text.is_empty(), behind.is_empty()) {
        (true, _) => behind.to_owned(),
        (false, true) => text.to_owned(),
        (false, false) => format!("{text} {behind}"),
    }
}

/// The last four digits of a number, which may be written in groups.
fn last_four(number: &str) -> Option<String> {
    let is_grouped = !number.chars().any(char::is_alphabetic);
    let parts = number.chars().rev().filter(|it| !(is_grouped && matches!(it, '-' | ' ')));
    let digits: String = parts.take_while(char::is_ascii_digit).take(4).collect();
    (digits.len() == 4).then(|| digits.chars().rev().collect())
}
