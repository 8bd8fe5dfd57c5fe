//! Overrides: a name or category that the person gave to one transaction, which nothing else can change.

use std::collections::HashMap;

use base::category::Category;
use base::{Timestamp, TransactionId, UserId};
use calc::enrich::TransactionOverride;
use db::{Tx, params};
use serde::{Deserialize, Serialize};

use crate::{App, Error, Result};

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

/// All overrides of a person.
pub(super) async fn list(
    app: &App,
    user: UserId,
) -> Result<HashMap<TransactionId, TransactionOverride>> {
    Ok(app.db.all(ALL, params![user], read).await?.into_iter().collect())
}

fn read(row: &db::Row<'_>) -> db::Result<(TransactionId, TransactionOverride)> {
    let category = row.optional_word(2, "category", Category::parse)?;
    Ok((row.get(0)?, TransactionOverride { counterparty: row.get(1)?, category }))
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

pub(super) fn delete(tx: &mut Tx<'_>, user: UserId, id: TransactionId) -> Result<()> {
    match tx.execute(DELETE, params![user, id])? {
        0 => Err(Error::NotFound("correction")),
        _ => Ok(()),
    }
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
    if tx.execute(DELETE_WRITTEN_AT, params![user, id, written_at_micros])? == 0 {
        return Ok(());
    }
    if let Some(OverrideSnapshot { counterparty, category, fixed_at }) = before {
        tx.execute(RESTORE, params![user, id, counterparty, category, *fixed_at])?;
    }
    Ok(())
}

const ALL: &str =
    "select transaction_id, counterparty, category from transaction_fixes where user_id = $1";
const DESCRIPTION: &str =
    "select description from transactions where user_id = $1 and id = $2 and state <> 'removed'";
const SAVE: &str =
    "insert into transaction_fixes (user_id, transaction_id, counterparty, category, fixed_at)
    values ($1, $2, $3, $4, $5) on conflict (user_id, transaction_id) do update set
    counterparty = coalesce(excluded.counterparty, transaction_fixes.counterparty),
    category = coalesce(excluded.category, transaction_fixes.category), fixed_at = excluded.fixed_at";
const DELETE: &str = "delete from transaction_fixes where user_id = $1 and transaction_id = $2";
const SNAPSHOT: &str = "select counterparty, category, fixed_at from transaction_fixes
    where user_id = $1 and transaction_id = $2";
const DELETE_WRITTEN_AT: &str = "delete from transaction_fixes
    where user_id = $1 and transaction_id = $2 and fixed_at = $3";
const RESTORE: &str =
    "insert into transaction_fixes (user_id, transaction_id, counterparty, category, fixed_at)
    values ($1, $2, $3, $4, $5) on conflict (user_id, transaction_id) do nothing";

pub(super) const STATEMENTS: &[&str] =
    &[ALL, DESCRIPTION, SAVE, DELETE, SNAPSHOT, DELETE_WRITTEN_AT, RESTORE];
