//! Overrides: what the person decided about one transaction, which nothing else can change: its name, its category,
//! whether lists show it, and whether it is a transfer.

use std::collections::HashMap;

use base::category::Category;
use base::{Timestamp, TransactionId, UserId};
use calc::enrich::TransactionOverride;
use db::{Tx, params};
use serde::{Deserialize, Serialize};

use crate::{App, Error, Result};

base::words!(
    /// The person's choice whether lists and totals have a transaction.
    Visibility { Hidden => "hidden", Shown => "shown" }
);
base::words!(
    /// The person's choice whether a transaction is a transfer between own accounts, by itself: the other account need
    /// not be known.
    TransferMark { Transfer => "transfer", NoTransfer => "no_transfer" }
);
db::word_columns!(Visibility, TransferMark);

/// How many transactions one correction can be about.
pub(crate) const TRANSACTIONS_MAX: usize = 100;
const NAME_LENGTH_MAX: usize = 80;

/// A name, a category, or both. An absent one stays as it is.
#[derive(Debug, Clone, Default)]
pub struct Override {
    pub counterparty: Option<String>,
    pub category: Option<Category>,
}

impl Override {
    pub(crate) fn is_empty(&self) -> bool {
        self.counterparty.is_none() && self.category.is_none()
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.is_empty() {
            let message = "give a counterparty_name, a category, or both";
            return Err(Error::invalid("category", message));
        }
        let bad = |name: &String| {
            let length = name.trim().chars().count();
            length == 0 || length > NAME_LENGTH_MAX || name.contains(char::is_control)
        };
        if self.counterparty.as_ref().is_some_and(bad) {
            let message = format!(
                "counterparty_name must have 1 to {NAME_LENGTH_MAX} characters on one line"
            );
            return Err(Error::invalid("counterparty_name", message));
        }
        Ok(())
    }

    /// "Corner Cafe (Coffee shops)", for pages and the audit trail.
    pub(crate) fn text(&self) -> String {
        match (&self.counterparty, self.category) {
            (Some(name), Some(category)) => format!("{name} ({})", category.label()),
            (Some(name), None) => name.clone(),
            (None, Some(category)) => category.label().to_owned(),
            (None, None) => String::new(),
        }
    }
}

/// All overrides of a person, inside a transaction.
pub(super) fn all(
    tx: &mut Tx<'_>,
    user: UserId,
) -> Result<HashMap<TransactionId, TransactionOverride>> {
    Ok(tx.all(ALL, params![user], read)?.into_iter().collect())
}

/// The transactions that the person marked as a transfer, or as none.
pub(super) fn transfer_marks(
    tx: &mut Tx<'_>,
    user: UserId,
) -> Result<HashMap<TransactionId, TransferMark>> {
    let read = |row: &db::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    Ok(tx.all(MARKS, params![user], read)?.into_iter().collect())
}

/// All overrides of a person.
pub(super) async fn list(
    app: &App,
    user: UserId,
) -> Result<HashMap<TransactionId, TransactionOverride>> {
    Ok(app.db.all(ALL, params![user], read).await?.into_iter().collect())
}

fn read(row: &db::Row<'_>) -> db::Result<(TransactionId, TransactionOverride)> {
    let category = row.optional_word(2, "category", Category::parse)?;
    let visibility: Option<Visibility> = row.get(3)?;
    let hidden = visibility.map(|it| it == Visibility::Hidden);
    Ok((row.get(0)?, TransactionOverride { counterparty: row.get(1)?, category, hidden }))
}

/// The bank's description of a transaction that can be overridden.
pub(crate) fn description(tx: &mut Tx<'_>, user: UserId, id: TransactionId) -> Result<String> {
    let found = tx.first(DESCRIPTION, params![user, id], |row| row.get::<String>(0))?;
    found.ok_or(Error::NotFound("transaction"))
}

/// Stores an override, on top of one that is there. Returns the bank's description of the transaction.
pub(crate) fn save(
    tx: &mut Tx<'_>,
    user: UserId,
    now: Timestamp,
    id: TransactionId,
    values: &Override,
) -> Result<String> {
    let description = description(tx, user, id)?;
    let category = values.category.map(Category::detailed);
    tx.execute(SAVE, params![user, id, &values.counterparty, category, now])?;
    Ok(description)
}

/// Deletes the name and the category. Other choices of the person stay.
pub(super) fn delete(tx: &mut Tx<'_>, user: UserId, id: TransactionId) -> Result<()> {
    match tx.execute(CLEAR, params![user, id])? {
        0 => Err(Error::NotFound("correction")),
        _ => delete_if_empty(tx, user, id),
    }
}

/// Deletes an override that decides nothing any more.
pub(super) fn delete_if_empty(tx: &mut Tx<'_>, user: UserId, id: TransactionId) -> Result<()> {
    tx.execute(DELETE_EMPTY, params![user, id])?;
    Ok(())
}

/// A stored override, as it is kept to be put back later.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OverrideSnapshot {
    counterparty: Option<String>,
    category: Option<String>,
    fixed_at: i64,
}

pub(crate) fn find_snapshot(
    tx: &mut Tx<'_>,
    user: UserId,
    id: TransactionId,
) -> Result<Option<OverrideSnapshot>> {
    let read = |row: &db::Row<'_>| {
        let (counterparty, category) = (row.get(0)?, row.get(1)?);
        Ok(OverrideSnapshot { counterparty, category, fixed_at: row.get(2)? })
    };
    Ok(tx.first(SNAPSHOT, params![user, id], read)?)
}

/// Puts back the override that was there before the one of `written_at_micros`. A newer one is the person's own, and
/// stays.
pub(crate) fn restore(
    tx: &mut Tx<'_>,
    user: UserId,
    id: TransactionId,
    written_at_micros: i64,
    before: Option<&OverrideSnapshot>,
) -> Result<()> {
    let (counterparty, category, fixed_at) = match before {
        Some(it) => (it.counterparty.as_deref(), it.category.as_deref(), it.fixed_at),
        None => (None, None, written_at_micros),
    };
    let values = params![user, id, written_at_micros, counterparty, category, fixed_at];
    tx.execute(RESTORE, values)?;
    delete_if_empty(tx, user, id)
}

const ALL: &str = "select transaction_id, counterparty, category, visibility from transaction_fixes
    where user_id = $1";
const MARKS: &str = "select transaction_id, transfer from transaction_fixes
    where user_id = $1 and transfer is not null";
const DESCRIPTION: &str =
    "select description from transactions where user_id = $1 and id = $2 and state <> 'removed'";
const SAVE: &str =
    "insert into transaction_fixes (user_id, transaction_id, counterparty, category, fixed_at)
    values ($1, $2, $3, $4, $5) on conflict (user_id, transaction_id) do update set
    counterparty = coalesce(excluded.counterparty, transaction_fixes.counterparty),
    category = coalesce(excluded.category, transaction_fixes.category), fixed_at = excluded.fixed_at";
const CLEAR: &str = "update transaction_fixes set counterparty = null, category = null
    where user_id = $1 and transaction_id = $2 and (counterparty is not null or category is not null)";
const DELETE_EMPTY: &str =
    "delete from transaction_fixes where user_id = $1 and transaction_id = $2
    and counterparty is null and category is null and visibility is null and transfer is null";
const SNAPSHOT: &str = "select counterparty, category, fixed_at from transaction_fixes
    where user_id = $1 and transaction_id = $2
    and (counterparty is not null or category is not null)";
const RESTORE: &str = "update transaction_fixes set counterparty = $4, category = $5, fixed_at = $6
    where user_id = $1 and transaction_id = $2 and fixed_at = $3";

pub(super) const STATEMENTS: &[&str] =
    &[ALL, MARKS, DESCRIPTION, SAVE, CLEAR, DELETE_EMPTY, SNAPSHOT, RESTORE];
