//! Transactions as proposals name them, and lines of what a proposal changes.

use base::category::Category;
use base::{AccountId, Date, Money, TransactionId};
use db::params;
use wire::v1::Change;

use crate::ledger::transactions::row::{StoredTransaction, transaction_columns};
use crate::{Caller, Error, Result, Tx};

pub(super) fn change(label: &str, before: Option<String>, after: &str) -> Change {
    Change { label: label.to_owned(), before, after: Some(after.to_owned()) }
}

/// A transaction as a proposal names it.
pub(super) struct NamedTransaction {
    pub(super) account: AccountId,
    posted_on: Date,
    pub(super) amount: Money,
    pub(super) description: String,
    counterparty: Option<String>,
    pub(super) category: Option<Category>,
}

impl NamedTransaction {
    pub(super) fn name(&self) -> &str {
        self.counterparty.as_deref().unwrap_or(&self.description)
    }

    pub(super) fn label(&self) -> String {
        let (day, amount) = (self.posted_on.strftime("%-d %b %Y"), self.amount.pretty());
        format!("{day}, {}, {amount}", self.name())
    }
}

pub(super) fn find_transaction(
    tx: &mut Tx<'_>,
    caller: &Caller,
    member: &str,
    id: TransactionId,
) -> Result<NamedTransaction> {
    let read = |row: &db::Row<'_>| {
        let row = StoredTransaction(row);
        Ok(NamedTransaction {
            account: row.account_id()?,
            posted_on: row.posted_on()?,
            amount: Money::new(row.amount_minor()?, row.currency()?),
            description: row.description()?.to_owned(),
            counterparty: row.counterparty()?.map(str::to_owned),
            category: row.category()?,
        })
    };
    let found = tx.first(TRANSACTION, params![caller.user, id], read)?;
    found.filter(|it| caller.may_see(it.account)).ok_or_else(|| {
        Error::invalid(&format!("payload.{member}"), format!("there is no transaction {id}"))
    })
}

const TRANSACTION: &str = concat!(
    "select ",
    transaction_columns!(),
    " from transactions t where user_id = $1 and id = $2 and state <> 'removed'"
);

pub(super) const STATEMENTS: &[&str] = &[TRANSACTION];
