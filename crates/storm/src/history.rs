//! What happened in a run: a log of every request and fault, how often each kind of thing happened, and what went wrong.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::Value;

/// Violations that are kept. One fault often causes many.
const VIOLATIONS_MAX: usize = 200;

pub(crate) struct History {
    began: Instant,
    log: Mutex<File>,
    counts: Mutex<BTreeMap<&'static str, u64>>,
    violations: Mutex<Vec<String>>,
    pauses: Mutex<Vec<(Instant, Instant)>>,
    /// When PostgreSQL crashed, and when it answered again.
    crashes: Mutex<Vec<(Instant, Instant)>>,
}

impl History {
    pub(crate) fn new(file: &Path) -> Result<History> {
        let log = File::create(file).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(History {
            began: Instant::now(),
            log: Mutex::new(log),
            counts: Mutex::default(),
            violations: Mutex::default(),
            pauses: Mutex::default(),
            crashes: Mutex::default(),
        })
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Counts something that must happen at least once in a run.
    pub(crate) fn count(&self, what: &'static str) {
        self.count_many(what, 1);
    }

    pub(crate) fn count_many(&self, what: &'static str, times: u64) {
        *lock(&self.counts).entry(what).or_default() += times;
    }

    pub(crate) fn counted(&self, what: &str) -> u64 {
        lock(&self.counts).get(what).copied().unwrap_or(0)
    }

    pub(crate) fn counts(&self) -> Vec<(&'static str, u64)> {
        lock(&self.counts).iter().map(|(what, times)| (*what, *times)).collect()
    }

    /// Writes a line to the log.
    pub(crate) fn record(&self, mut what: Value) {
        what["at_ms"] = u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX).into();
        // The log only helps to understand a failure.
        let _ = writeln!(lock(&self.log), "{what}");
    }

    /// Says that an invariant does not hold.
    pub(crate) fn violated(&self, what: impl Into<String>) {
        let what = what.into();
        self.record(serde_json::json!({ "violated": what }));
        let mut all = lock(&self.violations);
        if all.len() < VIOLATIONS_MAX {
            eprintln!("{:>7.1} s  violated: {what}", self.elapsed().as_secs_f32());
            all.push(what);
        }
    }

    pub(crate) fn violations(&self) -> Vec<String> {
        lock(&self.violations).clone()
    }

    /// Remembers that a process was paused, because what it had begun is finished after the pause.
    pub(crate) fn paused(&self, from: Instant, until: Instant) {
        lock(&self.pauses).push((from, until));
    }

    pub(crate) fn crashed(&self, from: Instant, until: Instant) {
        lock(&self.crashes).push((from, until));
    }

    pub(crate) fn crashes(&self) -> Vec<(Instant, Instant)> {
        lock(&self.crashes).clone()
    }

    /// The time until which a process may finish what it began before `ended`: `grace` later, or as long after a pause
    /// that lies in between.
    pub(crate) fn may_finish_until(&self, ended: Instant, grace: Duration) -> Instant {
        let mut until = ended + grace;
        let mut pauses = lock(&self.pauses).clone();
        pauses.sort();
        for (from, resumed) in pauses {
            if from <= until && resumed + grace > until {
                until = resumed + grace;
            }
        }
        until
    }
}

/// Locks a mutex. A panic elsewhere fails the run anyway.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
