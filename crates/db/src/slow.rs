//! Limits on reads: how long one may take, and how many slow ones run at once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::{Error, Result};

/// Time and places that reads may use before they are moved to the pool or stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// How long a read may hold a thread that answers requests, or a connection that requests share. One that takes
    /// longer is stopped and begun anew in the pool of slow reads.
    pub inline: Duration,
    /// How long a read may take in all, including its wait for a place in the pool. Then it is an error.
    pub total: Duration,
    /// The size of the pool: slow reads that run at once. More of them wait.
    pub slow_at_once: usize,
}

impl ReadLimits {
    pub(crate) const SQLITE: ReadLimits = ReadLimits {
        inline: Duration::from_millis(10),
        total: Duration::from_secs(10),
        slow_at_once: 4,
    };
    // A statement that others wait behind is stopped by the server, which must have had a fair chance to run it.
    pub(crate) const POSTGRES: ReadLimits =
        ReadLimits { inline: Duration::from_millis(250), ..ReadLimits::SQLITE };
}

/// A place in the pool of slow reads, once there is one; an error if there is none by `until`.
pub(crate) async fn place(
    pool: &std::sync::Arc<Semaphore>,
    until: Instant,
) -> Result<OwnedSemaphorePermit> {
    let place = tokio::time::timeout_at(until, pool.clone().acquire_owned()).await;
    let place = place.map_err(|_| Error::TimedOut)?;
    place.map_err(|_| Error::internal("the pool of slow reads is closed"))
}

/// Runs work that blocks, after letting the other tasks of this thread move to another one. A runtime with a single
/// thread has no other one: there, everything waits.
pub(crate) fn off_the_runtime<T>(work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|it| it.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// When the read that a connection is busy with must end. SQLite asks every few hundred steps of its machine.
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
