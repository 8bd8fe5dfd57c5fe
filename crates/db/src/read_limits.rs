//! Limits on reads: how long one may take, and how many slow ones run at once, of one person and in total.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::error::{Error, Result};
use crate::meters::{Meters, Wait};
use crate::request::{self, ReadGroup};

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

/// How long a statement that exceeded the inline limit for a person goes straight to the slow-read pool.
const REMEMBERED: Duration = Duration::from_secs(30);
/// The most statements that are remembered, and the most people whose permits are kept although none is in use.
const ENTRIES_MAX: usize = 4_096;

/// The slow-read pool: its permits, of which one person gets at most half, and the statements that were slow lately.
pub(crate) struct SlowReads {
    permits: Arc<Semaphore>,
    per_group: usize,
    groups: Mutex<HashMap<ReadGroup, Arc<Semaphore>>>,
    /// Statements with their person, and until when they count as slow.
    known: Mutex<HashMap<u64, Instant>>,
    hashing: RandomState,
    meters: Arc<Meters>,
}

/// The permission to run one slow read.
pub(crate) struct SlowReadPermit {
    _of_group: Option<OwnedSemaphorePermit>,
    _of_all: OwnedSemaphorePermit,
}

impl SlowReads {
    pub(crate) fn new(at_once: usize, meters: Arc<Meters>) -> SlowReads {
        SlowReads {
            permits: Arc::new(Semaphore::new(at_once)),
            per_group: at_once.div_ceil(2).max(1),
            groups: Mutex::default(),
            known: Mutex::default(),
            hashing: RandomState::new(),
            meters,
        }
    }

    /// Waits for a permit; an error if there is none by `until`. A person's reads wait for each other first, and only
    /// those that are within the person's share wait for the pool.
    pub(crate) async fn acquire(&self, until: Instant) -> Result<SlowReadPermit> {
        let started = Instant::now();
        let permit = self.acquire_both(until).await;
        self.meters.count_wait(Wait::SlowRead, started.elapsed());
        permit
    }

    async fn acquire_both(&self, until: Instant) -> Result<SlowReadPermit> {
        let of_group = match request::read_group() {
            Some(group) => Some(acquire_by(&self.group(group), until).await?),
            None => None,
        };
        let of_all = acquire_by(&self.permits, until).await?;
        Ok(SlowReadPermit { _of_group: of_group, _of_all: of_all })
    }

    fn group(&self, group: ReadGroup) -> Arc<Semaphore> {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        if groups.len() >= ENTRIES_MAX {
            groups.retain(|_, it| Arc::strong_count(it) > 1);
        }
        groups.entry(group).or_insert_with(|| Arc::new(Semaphore::new(self.per_group))).clone()
    }

    /// Whether the statement exceeded the inline limit for this person a moment ago. It then runs in the slow-read pool
    /// from the start, so that a person's slow reads do not hold up others' for the inline limit each time.
    pub(crate) fn is_known(&self, sql: &str) -> bool {
        let Some(key) = self.key(sql) else { return false };
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&key).is_some_and(|until| *until > Instant::now())
    }

    pub(crate) fn remember(&self, sql: &str) {
        let Some(key) = self.key(sql) else { return };
        let now = Instant::now();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= ENTRIES_MAX {
            known.retain(|_, until| *until > now);
        }
        if known.len() < ENTRIES_MAX {
            known.insert(key, now + REMEMBERED);
        }
    }

    pub(crate) fn forget(&self, sql: &str) {
        if let Some(key) = self.key(sql) {
            self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        }
    }

    fn key(&self, sql: &str) -> Option<u64> {
        request::read_group().map(|group| self.hashing.hash_one((group, sql)))
    }
}

async fn acquire_by(permits: &Arc<Semaphore>, until: Instant) -> Result<OwnedSemaphorePermit> {
    let permit = tokio::time::timeout_at(until, permits.clone().acquire_owned()).await;
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
