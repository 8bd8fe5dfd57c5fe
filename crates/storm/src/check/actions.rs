//! Proposals exist once for each Idempotency-Key, decisions are kept, and each approved trade is executed exactly once.

use std::collections::BTreeMap;

use anyhow::Result;
use base::ActionId;
use db::params;
use service::platform::audit;
use service::trading::paper;

use super::count;
use crate::Storm;
use crate::history::lock;

struct Stored {
    id: String,
    title: Option<String>,
    action_type: String,
    status: String,
}

pub(super) async fn check(storm: &Storm) -> Result<()> {
    let mut status_of = BTreeMap::new();
    for person in &storm.people {
        let stored = stored(storm, person.index).await?;
        check_proposals(storm, person.index, &stored);
        for it in stored {
            if it.action_type == "paper_trade.create" && it.status == "failed" {
                storm.history.violated(format!("the trade {} failed", it.id));
            }
            status_of.insert(it.id, it.status);
        }
        let trail = audit::verify(&storm.app, &person.caller).await?;
        if !matches!(trail, audit::Verdict::Intact { .. }) {
            storm.history.violated(format!("the audit trail is not intact: {trail:?}"));
        }
        let faults = paper::verify(&storm.app, &person.caller).await?.faults;
        if !faults.is_empty() {
            storm.history.violated(format!("the ledgers have faults: {faults:?}"));
        }
    }
    check_decisions(storm, &status_of);
    check_executions(storm).await
}

async fn stored(storm: &Storm, person: usize) -> Result<Vec<Stored>> {
    const ALL: &str = "select id, description, action_type, status from actions where user_id = $1";
    let read = |row: &db::Row<'_>| {
        Ok(Stored {
            id: row.get::<ActionId>(0)?.to_string(),
            title: row.get(1)?,
            action_type: row.get(2)?,
            status: row.get(3)?,
        })
    };
    Ok(storm.app.db.all(ALL, params![storm.people[person].user], read).await?)
}

fn check_proposals(storm: &Storm, person: usize, stored: &[Stored]) {
    for attempted in lock(&storm.attempted).iter().filter(|it| it.person == person) {
        let with_title = |it: &&Stored| it.title.as_deref() == Some(&attempted.title);
        let found: Vec<&Stored> = stored.iter().filter(with_title).collect();
        let is_right = match (&attempted.action_id, found.as_slice()) {
            (Some(id), [one]) => *id == one.id,
            // No definite answer: it happened or it did not.
            (None, [] | [_]) => true,
            _ => false,
        };
        if !is_right {
            let ids: Vec<&str> = found.iter().map(|it| it.id.as_str()).collect();
            storm.history.violated(format!(
                "{} was acknowledged as {:?} and is stored as {ids:?}",
                attempted.title, attempted.action_id
            ));
        }
    }
}

fn check_decisions(storm: &Storm, status_of: &BTreeMap<String, String>) {
    let status = |id: &str| status_of.get(id).map_or("missing", String::as_str);
    let mut decisions: BTreeMap<String, bool> = BTreeMap::new();
    for (proposed, approves) in lock(&storm.decided).iter() {
        if decisions.insert(proposed.action_id.clone(), *approves).is_some_and(|it| it != *approves)
        {
            storm.history.violated(format!("{} was decided both ways", proposed.action_id));
        }
        let allowed: &[&str] = match (approves, proposed.is_trade) {
            (true, true) => &["executed"],
            // The person does it, and says so later.
            (true, false) => &["approved", "executed"],
            (false, _) => &["rejected"],
        };
        let found = status(&proposed.action_id);
        if !allowed.contains(&found) {
            storm.history.violated(format!(
                "{} was acknowledged as {}, and is {found}",
                proposed.action_id, allowed[0]
            ));
        }
    }
    for (id, expected) in lock(&storm.expected_status).iter() {
        let found = status(id);
        if found != expected {
            storm.history.violated(format!("{id} was acknowledged as {expected}, and is {found}"));
        }
    }
}

/// Executed actions, their entries in the ledger, their events and their audit entries are equally many.
async fn check_executions(storm: &Storm) -> Result<()> {
    const TRADES: &str = "select cast(count(*) as bigint) from actions
        where action_type = 'paper_trade.create' and status = 'executed'";
    const BOUGHT: &str = "select cast(count(*) as bigint) from paper_entries where kind = 'buy'";
    const EXECUTED: &str = "select cast(count(*) as bigint) from actions where status = 'executed'";
    const EVENTS: &str =
        "select cast(count(*) as bigint) from events where type = 'action.executed'";
    const AUDITED: &str =
        "select cast(count(*) as bigint) from audit where action = 'action.execute'";
    let (trades, bought) = (count(storm, TRADES).await?, count(storm, BOUGHT).await?);
    storm.history.count_many("trade executed", u64::try_from(trades)?);
    if trades != bought {
        storm.history.violated(format!("{trades} trades were executed and {bought} booked"));
    }
    let executed = count(storm, EXECUTED).await?;
    for (what, statement) in [("announced", EVENTS), ("audited", AUDITED)] {
        let found = count(storm, statement).await?;
        if found != executed {
            storm.history.violated(format!("{executed} actions were executed and {found} {what}"));
        }
    }
    Ok(())
}
