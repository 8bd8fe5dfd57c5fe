//! Limits on reads: how long one may take, and how many slow ones run at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::error::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// How long a read may block a thread that serves requests, or a connection that requests share. A read that takes
    /// longer is stopped and restarted in the slow-read pool.
    pub inline: Duration,
    /// How long a read may take in total, including its wait for the slow-read pool. After that it fails.
    pub total: Duration,
    /// The size of the slow-read pool. More slow reads wait.
    pub slow_at_once: usize,
}

impl ReadLimits {
    pub(crate) const SQLITE: ReadLimits = ReadLimits {
        inline: Duration::from_millis(10),
        total: Duration::from_secs(10),
        slow_at_once: 4,
    };
    // Longer than on SQLite: the time includes waiting in the server, which must have had a fair chance to run it.
    pub(crate) const POSTGRES: ReadLimits =
        ReadLimits { inline: Duration::from_millis(250), ..ReadLimits::SQLITE };
}

/// Waits for a permit of the slow-read pool; an error if there is none by `until`.
pub(crate) async fn acquire_slow_read(
    pool: &Arc<Semaphore>,
    until: Instant,
) -> Result<OwnedSemaphorePermit> {
    let permit = tokio::time::timeout_at(until, pool.clone().acquire_owned()).await;
    let permit = permit.map_err(|_| Error::TimedOut)?;
    permit.map_err(|_| Error::internal("the slow-read pool is closed"))
}

/// Runs blocking work after moving this thread's other tasks to another thread. A single-threaded runtime has no other
/// thread, so there the other tasks wait.
pub(crate) fn block_off_runtime<T>(work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|it| it.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// When the current read of a SQLite connection must end. SQLite's progress handler checks it.
pub(crate) struct Deadline {
    origin: std::time::Instant,
    nanos: AtomicU64,
}

impl Deadline {
    pub(crate) fn new() -> Deadline {
        Deadline { origin: std::time::Instant::now(), nanos: AtomicU64::new(u64::MAX) }
    }

    pub(crate) fn set(&self, from_now: Duration) {
        let until = self.origin.elapsed().saturating_add(from_now).as_nanos();
        self.nanos.store(u64::try_from(until).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.origin.elapsed().as_nanos() > u128::from(self.nanos.load(Ordering::Relaxed))
    }
}
