//! After the last fault: all processes become ready, and all work that was begun ends, without a restart.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use tokio::task::JoinSet;

use crate::Storm;
use crate::client::{Call, send};
use crate::history::lock;
use crate::inject::restart;
use crate::work::proposals::resolve;

/// The lease of a delivery and a minute: in this time all work must end.
const RECOVERY_MAX: Duration = Duration::from_secs(45 + 60);

/// Work that is left, each with the statement that counts it.
const WORK: [(&str, &str); 5] = [
    // A delivery that failed twice waits five minutes for its next attempt.
    (
        "deliveries",
        "select cast(count(*) as bigint) from deliveries where status in ('pending', 'retrying')
            and attempts < 2",
    ),
    (
        "approved trades",
        "select cast(count(*) as bigint) from actions where action_type = 'paper_trade.create'
            and status in ('approved', 'executing')",
    ),
    (
        "files that are being imported",
        "select cast(count(*) as bigint) from import_files where state = 'committing'",
    ),
    ("people whose insights are outdated", "select cast(count(*) as bigint) from insight_work"),
    ("texts to pack for search", "select cast(count(*) as bigint) from transaction_search_dirty"),
];

pub(crate) async fn wait(storm: &Storm, clients: JoinSet<()>) -> Result<()> {
    let began = Instant::now();
    for server in &storm.servers {
        if server.has_ended() {
            restart(storm, server).await?;
        }
    }
    // Each client ends what it has begun.
    if tokio::time::timeout(RECOVERY_MAX, clients.join_all()).await.is_err() {
        storm.history.violated("clients still wait for answers after the storm");
    }
    resolve_rest(storm).await;
    loop {
        let left = left(storm).await?;
        if left.is_empty() {
            return Ok(());
        }
        if began.elapsed() > RECOVERY_MAX {
            storm.history.violated(format!(
                "{} s after the last fault there is work left: {}",
                RECOVERY_MAX.as_secs(),
                left.join(", ")
            ));
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// Repeats the proposals without a definite answer: each has one now.
async fn resolve_rest(storm: &Storm) {
    let open: Vec<usize> = {
        let attempted = lock(&storm.attempted);
        (0..attempted.len()).filter(|it| attempted[*it].action_id.is_none()).collect()
    };
    for index in open {
        let call = lock(&storm.attempted)[index].call.clone();
        match resolve(storm, index, &call).await {
            Some((action_id, _)) => lock(&storm.attempted)[index].action_id = Some(action_id),
            None => storm.history.violated("a proposal has no definite answer after the storm"),
        }
    }
}

/// What is left to do, and which processes are not ready.
async fn left(storm: &Storm) -> Result<Vec<String>> {
    let mut left = Vec::new();
    for server in &storm.servers {
        let call = Call { method: "GET", path: "/readyz".to_owned(), ..Call::default() };
        match send(storm, server.index, &call).await {
            Some(answer) if answer.is_success() => {}
            _ => left.push(format!("process {} is not ready", server.index)),
        }
    }
    for (what, statement) in WORK {
        let found = storm.app.db.first(statement, &[], |row| row.get::<i64>(0)).await?;
        match found {
            Some(0) => {}
            Some(count) => left.push(format!("{count} {what}")),
            None => bail!("no count of {what}"),
        }
    }
    Ok(left)
}
