//! The accounts pages: the list, one account with its history, and forms to change it.

mod changes;
mod debt;
mod detail;
mod form_state;
mod issue;
mod list;
mod manual;
mod manual_forms;
mod settings_forms;
pub(super) mod split;
mod types;

use axum::extract::Path;
use base::draft::AccountKind;
use base::{AccountId, Money};
use service::ledger::accounts::Account;

pub(super) use changes::{card, close, hide, rename, reopen, set_terms, set_type};
pub(super) use detail::get as detail;
pub(super) use issue::AccountIssue;
pub(super) use list::get as list;
pub(super) use manual::{add_transaction, create, new, set_balance};

use super::errors::PageError;

pub(super) fn kind_name(kind: AccountKind) -> &'static str {
    match kind {
        AccountKind::Depository => "Cash",
        AccountKind::Credit => "Cards",
        AccountKind::Loan => "Loans",
        AccountKind::Investment => "Investments",
        AccountKind::Other => "Other",
    }
}

/// The amount that an account adds to net worth: debts are negative.
fn signed_balance(account: &Account) -> Option<Money> {
    let minor = account.balance_current_minor?;
    let signed = if account.kind.is_debt() { minor.saturating_neg() } else { minor };
    Some(Money::new(signed, account.currency))
}

/// The institution and the masked number: "Harbor Federal Bank ••4821".
fn institution_label(account: &Account) -> String {
    let mask = account.mask.as_ref().map(|it| format!("••{it}"));
    let parts: Vec<&str> =
        [account.institution_name.as_deref(), mask.as_deref()].into_iter().flatten().collect();
    parts.join(" ")
}

/// Parses the id in a path. A malformed id gets the same page as an unknown one.
fn parse(Path(id): Path<String>) -> Result<AccountId, PageError> {
    AccountId::parse(&id).map_err(|_| PageError::not_found())
}
