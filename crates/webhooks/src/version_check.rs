//! Confirms, right before a request, that its endpoint is still the one that was read: another process may have moved,
//! disabled or deleted it, or rotated its secret, while the delivery waited in memory.
//!
//! Deliveries that wait at the same time share one read, so that many requests a second take few reads.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::{EndpointId, UserId};
use db::{Db, params};
use futures_util::StreamExt as _;
use tokio::sync::oneshot;

use crate::delivery::Destination;

/// The time between two rounds of reads, in which deliveries gather for the next one.
const PACE: Duration = Duration::from_millis(5);
/// Endpoints that one round reads concurrently.
const READS_AT_ONCE: usize = 16;
/// How long a delivery waits for the answer. A read has a shorter limit of its own.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Whether a delivery may be sent to the destination it was read with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VersionCheck {
    Current,
    /// The endpoint was changed, disabled or deleted.
    Changed,
    /// The database did not answer.
    Unknown,
}

/// The checks of one process; clones share them.
#[derive(Clone, Default)]
pub(crate) struct VersionChecks(Arc<Mutex<Checks>>);

#[derive(Default)]
struct Checks {
    waiting: HashMap<EndpointId, Waiting>,
    is_running: bool,
}

/// Deliveries to one endpoint that wait for its version.
struct Waiting {
    user: UserId,
    answers: Vec<oneshot::Sender<Stored>>,
}

/// The version of an active endpoint, none if it is not active. An error if the database did not answer.
type Stored = Result<Option<i64>, ()>;

impl VersionChecks {
    fn checks(&self) -> MutexGuard<'_, Checks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compares the destination with the stored endpoint, by a read that begins after this call.
    pub(crate) async fn check(&self, db: &Db, to: &Destination) -> VersionCheck {
        let (answer, answered) = oneshot::channel();
        let is_running = {
            let mut checks = self.checks();
            let new = || Waiting { user: to.user, answers: Vec::new() };
            checks.waiting.entry(to.id).or_insert_with(new).answers.push(answer);
            std::mem::replace(&mut checks.is_running, true)
        };
        if !is_running {
            tokio::spawn(self.clone().read_until_idle(db.clone()));
        }
        match tokio::time::timeout(TIMEOUT, answered).await {
            Ok(Ok(Ok(Some(version)))) if version == to.version => VersionCheck::Current,
            Ok(Ok(Ok(_))) => VersionCheck::Changed,
            _ => VersionCheck::Unknown,
        }
    }

    /// Reads versions in rounds until no delivery waits for one.
    async fn read_until_idle(self, db: Db) {
        loop {
            let waiting = {
                let mut checks = self.checks();
                if checks.waiting.is_empty() {
                    checks.is_running = false;
                    return;
                }
                std::mem::take(&mut checks.waiting)
            };
            let reads = waiting.into_iter().map(|(id, it)| answer(&db, id, it));
            futures_util::stream::iter(reads)
                .buffer_unordered(READS_AT_ONCE)
                .for_each(|()| std::future::ready(()))
                .await;
            tokio::time::sleep(PACE).await;
        }
    }
}

async fn answer(db: &Db, id: EndpointId, waiting: Waiting) {
    let found = db.first(VERSION, params![waiting.user, id], |row| row.get::<i64>(0)).await;
    let stored = found.map_err(|error| {
        tracing::debug!(%error, endpoint = %id, "the version of a webhook endpoint cannot be read");
    });
    for it in waiting.answers {
        // A delivery that no longer waits needs no answer.
        let _ = it.send(stored);
    }
}

const VERSION: &str = "select version from webhook_endpoints
    where user_id = $1 and id = $2 and status = 'active'";

pub(crate) const STATEMENTS: &[&str] = &[VERSION];
