//! Rules that a program's correction replaced, kept so that it can be undone.

use base::{AccountId, RuleId, Timestamp, UserId};
use db::{Tx, params};
use serde::{Deserialize, Serialize};

use super::rules::{self, NewRule};
use crate::platform::audit::Actor;
use crate::{Error, Result};

/// A stored rule, as it is kept to be put back later.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RuleSnapshot {
    id: String,
    merchant_key: Option<String>,
    words: Option<String>,
    account: Option<String>,
    direction: Option<String>,
    counterparty: Option<String>,
    category: Option<String>,
    created_at: i64,
    #[serde(default)]
    hides: Option<String>,
    #[serde(default)]
    holds_from: Option<i64>,
    #[serde(default)]
    amount_currency: Option<String>,
    #[serde(default)]
    amount_least: Option<i64>,
    #[serde(default)]
    amount_most: Option<i64>,
    #[serde(default)]
    position: Option<i64>,
}

/// Stores a rule as `save` does, and returns the rules that it replaced.
pub(crate) fn save_and_keep_replaced(
    tx: &mut Tx<'_>,
    user: UserId,
    actor: Actor,
    now: Timestamp,
    (id, new): (RuleId, &NewRule),
) -> Result<Vec<RuleSnapshot>> {
    let mut replaced = tx.all(SNAPSHOTS, params![user], read_snapshot)?;
    rules::save(tx, user, actor, now, (id, new))?;
    let after = tx.all(SNAPSHOTS, params![user], |row| Ok(row.get::<RuleId>(0)?.to_string()))?;
    replaced.retain(|it| !after.contains(&it.id));
    Ok(replaced)
}

/// Deletes a rule and puts back those that it replaced. If the person has deleted or replaced it, nothing changes.
pub(crate) fn restore_replaced(
    tx: &mut Tx<'_>,
    user: UserId,
    id: RuleId,
    replaced: &[RuleSnapshot],
) -> Result<()> {
    if tx.execute(rules::DELETE, params![user, id])? == 0 {
        return Ok(());
    }
    replaced.iter().try_for_each(|it| restore(tx, user, it))
}

fn restore(tx: &mut Tx<'_>, user: UserId, rule: &RuleSnapshot) -> Result<()> {
    let malformed = |_| Error::internal(format!("the snapshot of rule {} has a bad id", rule.id));
    let id = RuleId::parse(&rule.id).map_err(malformed)?;
    let account = rule.account.as_deref().map(AccountId::parse).transpose();
    let account = account.map_err(malformed)?;
    tx.execute(
        rules::INSERT,
        params![
            user,
            id,
            &rule.merchant_key,
            &rule.words,
            account,
            &rule.direction,
            &rule.counterparty,
            &rule.category,
            rule.created_at,
            &rule.hides,
            rule.holds_from,
            &rule.amount_currency,
            rule.amount_least,
            rule.amount_most,
            rule.position
        ],
    )?;
    Ok(())
}

fn read_snapshot(row: &db::Row<'_>) -> db::Result<RuleSnapshot> {
    let account: Option<AccountId> = row.get(3)?;
    Ok(RuleSnapshot {
        id: row.get::<RuleId>(0)?.to_string(),
        merchant_key: row.get(1)?,
        words: row.get(2)?,
        account: account.map(|it| it.to_string()),
        direction: row.get(4)?,
        counterparty: row.get(5)?,
        category: row.get(6)?,
        created_at: row.get(7)?,
        hides: row.get(8)?,
        holds_from: row.get(9)?,
        amount_currency: row.get(10)?,
        amount_least: row.get(11)?,
        amount_most: row.get(12)?,
        position: row.get(13)?,
    })
}

const SNAPSHOTS: &str =
    "select id, merchant_key, words, account_id, direction, counterparty, category,
    created_at, hides, holds_from, amount_currency, amount_least, amount_most, position
    from rules where user_id = $1 order by id limit 2000";

pub(super) const STATEMENTS: &[&str] = &[SNAPSHOTS];
