//! The invariants, checked from what clients were told, the database and the receiver, once all work is done.

mod actions;
mod calm;
mod deliveries;

use std::fs;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::Storm;
use crate::history::lock;
use crate::work::floods::{Accepted, REQUESTS, most_in_a_window};
use crate::work::imports::count_rows;
use crate::work::revocations::expect_refused;

pub(crate) use calm::calm;

pub(crate) async fn all(storm: &Arc<Storm>) -> Result<()> {
    limit(storm);
    actions::check(storm).await?;
    deliveries::check(storm).await?;
    imports(storm).await;
    let revoked = lock(&storm.revoked).clone();
    for secret in &revoked {
        expect_refused(storm, secret).await;
    }
    logs(storm)
}

/// In no window were more requests of one key accepted than its limit. A crash of PostgreSQL empties the table that counts
/// them, so the requests before and after it are counted apart.
fn limit(storm: &Storm) {
    let mut crashes = storm.history.crashes();
    crashes.sort();
    let accepted = lock(&storm.accepted);
    for (from, until) in between(&crashes) {
        let within = |it: &&Accepted| {
            from.is_none_or(|from| it.0 >= from) && until.is_none_or(|until| it.1 <= until)
        };
        let most = most_in_a_window(&Vec::from_iter(accepted.iter().filter(within).copied()));
        exceeded(storm, most);
    }
}

/// The times between crashes: since the end of one until the beginning of the next.
fn between(crashes: &[(Instant, Instant)]) -> Vec<(Option<Instant>, Option<Instant>)> {
    let begins = std::iter::once(None).chain(crashes.iter().map(|it| Some(it.1)));
    let ends = crashes.iter().map(|it| Some(it.0)).chain([None]);
    begins.zip(ends).collect()
}

fn exceeded(storm: &Storm, most: usize) {
    if most > REQUESTS {
        storm
            .history
            .violated(format!("{most} requests were accepted where {REQUESTS} are allowed"));
    }
}

/// Each file's rows are all there once, or gone if its import was undone.
async fn imports(storm: &Storm) {
    let imported: Vec<(usize, String, usize)> = {
        let all = lock(&storm.imported);
        all.iter().map(|it| (it.person, it.name.clone(), it.rows)).collect()
    };
    for (person, name, rows) in imported {
        let found = count_rows(storm, person, &name).await;
        if found != rows {
            storm.history.violated(format!("{name} has {found} rows at the end instead of {rows}"));
        }
    }
}

/// No process panicked.
fn logs(storm: &Storm) -> Result<()> {
    for server in &storm.servers {
        let file = storm.settings.folder.join(format!("process-{}/log.txt", server.index));
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        if let Some(line) = text.lines().find(|it| it.contains("panicked")) {
            storm.history.violated(format!("process {} panicked: {line}", server.index));
        }
    }
    Ok(())
}

/// The single number that a statement counts.
async fn count(storm: &Storm, statement: &str) -> Result<i64> {
    let found = storm.app.db.first(statement, &[], |row| row.get(0)).await?;
    found.context("a count without a row")
}
