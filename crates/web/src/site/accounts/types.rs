//! The types of accounts that a person can choose, each a kind with Plaid's subtype.

use base::draft::AccountKind;
use service::ledger::accounts::Account;

use crate::site::format::code_to_words;

/// Its label, its kind, and its subtype.
const TYPES: [(&str, AccountKind, Option<&str>); 22] = [
    ("Checking", AccountKind::Depository, Some("checking")),
    ("Savings", AccountKind::Depository, Some("savings")),
    ("Money market", AccountKind::Depository, Some("money market")),
    ("Certificate of deposit", AccountKind::Depository, Some("cd")),
    ("Other cash", AccountKind::Depository, None),
    ("Credit card", AccountKind::Credit, Some("credit card")),
    ("Mortgage", AccountKind::Loan, Some("mortgage")),
    ("Home equity loan", AccountKind::Loan, Some("home equity")),
    ("Car loan", AccountKind::Loan, Some("auto")),
    ("Student loan", AccountKind::Loan, Some("student")),
    ("Personal loan", AccountKind::Loan, Some("consumer")),
    ("Line of credit", AccountKind::Loan, Some("line of credit")),
    ("Other loan", AccountKind::Loan, None),
    ("Brokerage", AccountKind::Investment, Some("brokerage")),
    ("401(k)", AccountKind::Investment, Some("401k")),
    ("IRA", AccountKind::Investment, Some("ira")),
    ("Roth IRA", AccountKind::Investment, Some("roth")),
    ("Pension", AccountKind::Investment, Some("pension")),
    ("Crypto", AccountKind::Investment, Some("crypto exchange")),
    ("Other investments", AccountKind::Investment, None),
    ("Property", AccountKind::Other, Some("property")),
    ("Other", AccountKind::Other, None),
];

/// The value of a type in a form: "loan/mortgage".
fn value(kind: AccountKind, subtype: Option<&str>) -> String {
    format!("{}/{}", kind.as_str(), subtype.unwrap_or_default())
}

/// The value of an account's own type.
pub(super) fn value_of(account: &Account) -> String {
    value(account.kind, account.subtype.as_deref())
}

/// The values and labels for a form. The account's own type is among them, also if it is none of ours.
pub(super) fn options(account: &Account) -> Vec<(String, String)> {
    let ours = TYPES.iter().map(|(label, kind, it)| (value(*kind, *it), (*label).to_owned()));
    let mut all: Vec<(String, String)> = ours.collect();
    let own = value_of(account);
    if !all.iter().any(|(it, _)| *it == own) {
        all.insert(0, (own, code_to_words(account.subtype.as_deref().unwrap_or_default())));
    }
    all
}

/// The kind and subtype that a value means.
pub(super) fn parse(value: &str) -> Option<(AccountKind, Option<&str>)> {
    let (kind, subtype) = value.split_once('/')?;
    Some((AccountKind::parse(kind)?, Some(subtype).filter(|it| !it.is_empty())))
}
