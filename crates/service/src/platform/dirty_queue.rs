//! The dirty queue: people whose derived data must be recomputed, and the rows that changed.
//!
//! Writers add to it in the transaction of their change; `insights::pipeline` empties it.

use std::collections::BTreeSet;

use base::{AccountId, UserId};
use db::{Tx, params};

use crate::{App, Result};

/// With more dirty rows than this, a full recompute is as quick.
const DIRTY_ROWS_MAX: usize = 500;

/// The columns of a changed transaction, before or after the change, that tell which other rows it can influence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DirtyTransaction {
    pub(crate) account: AccountId,
    pub(crate) merchant_key: String,
    pub(crate) posted_on_days: i64,
    pub(crate) amount_minor: i64,
}

/// Adds changed transactions to the queue, in the transaction that changed them.
pub(crate) fn mark_dirty(
    tx: &mut Tx<'_>,
    user: UserId,
    changed: &BTreeSet<DirtyTransaction>,
) -> Result<()> {
    if changed.len() > DIRTY_ROWS_MAX {
        return mark_all_dirty(tx, user);
    }
    tx.prefetch_now();
    for it in changed {
        let DirtyTransaction { account, merchant_key, posted_on_days, amount_minor } = it;
        tx.execute(
            ADD_CHANGE,
            params![user, *account, merchant_key, *posted_on_days, *amount_minor],
        )?;
    }
    enqueue(tx, user, false)
}

/// Queues a full recompute of a person's derived data.
pub(crate) fn mark_all_dirty(tx: &mut Tx<'_>, user: UserId) -> Result<()> {
    enqueue(tx, user, true)
}

/// Queues the person by the database's time, and wakes the pipeline of this process after the commit.
fn enqueue(tx: &mut Tx<'_>, user: UserId, everything: bool) -> Result<()> {
    let now = tx.now()?;
    tx.execute(ENQUEUE, params![user, everything.then_some(now), now])?;
    tx.wake_worker();
    Ok(())
}

/// Queues a full recompute, for an operator who repaired data by hand.
pub async fn request_recompute(app: &App, user: UserId) -> Result<()> {
    app.db.write(move |tx| mark_all_dirty(tx, user)).await
}

const ADD_CHANGE: &str =
    "insert into insight_changes (user_id, account_id, merchant_key, posted_on, amount_minor)
    values ($1, $2, $3, $4, $5) on conflict do nothing";
const ENQUEUE: &str =
    "insert into insight_work (user_id, asked, everything_at, wanted_at) values ($1, 1, $2, $3)
    on conflict (user_id) do update set asked = insight_work.asked + 1,
    everything_at = coalesce(insight_work.everything_at, excluded.everything_at)";

pub(crate) const STATEMENTS: &[&str] = &[ADD_CHANGE, ENQUEUE];
