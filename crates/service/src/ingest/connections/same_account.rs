//! Finds the person's account, from a file or another connection, that an offered account probably is.

use super::offers::{OfferStatus, OfferedAccount};
use crate::ledger::accounts::Account;

/// The person's account that is probably the same as an offered one that they have not decided about: it has the same
/// last digits, or the same name at the same bank. None if there are several.
pub fn find_same_account<'a>(
    it: &OfferedAccount,
    offered: &[OfferedAccount],
    own: &'a [Account],
) -> Option<&'a Account> {
    if it.status != OfferStatus::Undecided {
        return None;
    }
    let words: Vec<&str> = it.name.split(|c: char| !c.is_alphanumeric()).collect();
    let bank = it.institution_name.as_deref().map(str::to_lowercase);
    let name = it.name.to_lowercase();
    let is_same = |own: &&Account| {
        let digits = own.mask.as_deref().and_then(|it| it.get(it.len().checked_sub(4)?..));
        let has_name = own.name.to_lowercase() == name || own.bank_name.to_lowercase() == name;
        let own_bank = own.institution_name.as_deref().map(str::to_lowercase);
        digits.is_some_and(|it| words.contains(&it))
            || has_name && bank.is_some() && own_bank == bank
    };
    let is_free = |own: &&Account| {
        Some(own.currency) == it.currency
            && own.kind.is_debt() == it.kind.is_debt()
            && own.closed_on.is_none()
            && !offered.iter().any(|other| other.account == Some(own.id))
    };
    let mut found = own.iter().filter(is_free).filter(is_same);
    found.next().filter(|_| found.next().is_none())
}
