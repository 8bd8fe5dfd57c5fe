//! Accounts: all of them by type, and each with its balance over time and what the person may say of it.

mod by_hand;
mod changes;
mod doubt;
mod list;
mod one;
mod saying;

use axum::extract::Path;
use base::draft::AccountKind;
use base::{AccountId, Money};
use service::ledger::accounts::Account;

pub(super) use by_hand::{create, new, set_balance, write_down};
pub(super) use changes::{card, close, hide, rename, reopen};
pub(super) use doubt::{Doubt, day_of};
pub(super) use list::get as list;
pub(super) use one::get as one;

use super::trouble::Trouble;

pub(super) fn kind_name(kind: AccountKind) -> &'static str {
    match kind {
        AccountKind::Depository => "Cash",
        AccountKind::Credit => "Cards",
        AccountKind::Loan => "Loans",
        AccountKind::Investment => "Investments",
        AccountKind::Other => "Other",
    }
}

/// What an account adds to the whole: what is owed is below zero.
fn worth(account: &Account) -> Option<Money> {
    let minor = account.balance_current_minor?;
    let signed = if account.kind.is_debt() { minor.saturating_neg() } else { minor };
    Some(Money::new(signed, account.currency))
}

/// Where it is kept, as its holder knows it: "Harbor Federal Bank ••4821".
fn place(account: &Account) -> String {
    let mask = account.mask.as_ref().map(|it| format!("••{it}"));
    let parts: Vec<&str> =
        [account.institution_name.as_deref(), mask.as_deref()].into_iter().flatten().collect();
    parts.join(" ")
}

/// What cannot be an id is as unknown as one that is not there.
fn parse(Path(id): Path<String>) -> Result<AccountId, Trouble> {
    AccountId::parse(&id).map_err(|_| Trouble::not_found())
}
