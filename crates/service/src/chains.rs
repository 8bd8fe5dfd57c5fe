//! The hash chains of a person: the audit trail and the ledger of each paper account. This module anchors those of a
//! database that was written before there were anchors.

use base::{Timestamp, UserId};
use db::params;

use crate::platform::{anchors, audit};
use crate::trading::paper;
use crate::{App, Result, Tx};

/// People whose chains are anchored in one transaction. Other writers wait behind it, and there may be many people.
const BATCH: i64 = 200;

/// Anchors all chains once, when a database without anchors is first opened. From then on a chain without an anchor is a
/// fault that `evenkeel audit verify` reports, and it never gets a new anchor.
pub async fn anchor_missing(app: &App) -> Result<()> {
    if app.db.first(ALL_ANCHORED, &[], |_| Ok(())).await?.is_some() {
        return Ok(());
    }
    let now = app.clock.now();
    while app.db.write(move |tx| anchor_batch(tx, now)).await? > 0 {}
    app.db.write(move |tx| anchor_missing_in(tx, now)).await
}

/// Anchors all chains, as `anchor_missing` does, in one transaction, for a database that nobody else uses yet.
pub(crate) fn anchor_missing_in(tx: &mut Tx<'_>, now: Timestamp) -> Result<()> {
    if tx.first(ALL_ANCHORED, &[], |_| Ok(()))?.is_none() {
        while anchor_batch(tx, now)? > 0 {}
        tx.execute(SET_ALL_ANCHORED, params![now.to_string().as_str()])?;
    }
    Ok(())
}

fn anchor_batch(tx: &mut Tx<'_>, now: Timestamp) -> Result<usize> {
    let people = tx.all(UNANCHORED, params![BATCH], |row| row.get::<UserId>(0))?;
    for user in &people {
        let end = audit::lock_end(tx, *user)?;
        anchors::create(tx, *user, anchors::AUDIT, &end, now)?;
        paper::anchor_ledgers(tx, *user, now)?;
    }
    Ok(people.len())
}

const ALL_ANCHORED: &str = "select value from installation where name = 'anchored_at'";
const SET_ALL_ANCHORED: &str = "insert into installation (name, value) values ('anchored_at', $1)
    on conflict (name) do nothing";
const UNANCHORED: &str = "select p.user_id from person_states p where not exists
    (select 1 from anchors a where a.user_id = p.user_id and a.chain = 'audit')
    order by p.user_id limit $1";

pub(crate) const STATEMENTS: &[&str] = &[ALL_ANCHORED, SET_ALL_ANCHORED, UNANCHORED];
