//! The request limit: an exact sliding window per credential, in memory for one process, in PostgreSQL for many.

mod queue;

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use base::{AddressGroup, CLOCK_SKEW_MICROSECONDS, Timestamp};
use db::{Engine, params};

use crate::{App, Error, Result};

/// At most `requests` accepted in any `window_seconds`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    pub requests: i64,
    pub window_seconds: i64,
}

impl Policy {
    fn window_micros(self) -> i64 {
        self.window_seconds * 1_000_000
    }
}

impl Default for Policy {
    fn default() -> Policy {
        Policy { requests: 100, window_seconds: 60 }
    }
}

/// Where a credential stands after a request was counted, or refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub accepted: bool,
    pub policy: Policy,
    pub remaining: i64,
    /// Until the oldest request in the window leaves it; at least 1 while any is in it.
    pub reset_seconds: i64,
}

/// Bad tokens and failed client authentications from one address group, counted apart so that guessing is slow and
/// starves nobody.
const FAILURES: Policy = Policy { requests: 60, window_seconds: 60 };
/// Apps that one address group may register: more than anyone needs, fewer than would fill a disk.
const REGISTRATIONS: Policy = Policy { requests: 30, window_seconds: 3_600 };
/// From this many windows on, those that have run empty are removed once a second. Removing them at every request would
/// make a flood from many addresses slower with each of them.
const SWEEP_AT: usize = 4_096;
const SWEEP_MICROSECONDS: i64 = 1_000_000;
/// Address groups that are counted one by one. Those beyond share a window, so that memory stays bounded.
const GROUPS_MAX: usize = 65_536;

pub struct Limiter {
    policy: Policy,
    accepted: Mutex<Windows<[u8; 16]>>,
    failed: Mutex<Windows<Counted>>,
    registered: Mutex<Windows<Counted>>,
    queue: queue::Queue,
}

/// Whose requests a window for anonymous requests counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Counted {
    Group(AddressGroup),
    /// All groups that came when there were too many to count one by one.
    Others,
}

/// The accepted requests of each key, oldest first.
struct Windows<K> {
    marks: HashMap<K, VecDeque<i64>>,
    swept_at: i64,
}

impl<K> Default for Windows<K> {
    fn default() -> Windows<K> {
        Windows { marks: HashMap::new(), swept_at: 0 }
    }
}

impl Limiter {
    pub fn new(policy: Policy) -> Limiter {
        Limiter {
            policy,
            accepted: Mutex::default(),
            failed: Mutex::default(),
            registered: Mutex::default(),
            queue: queue::Queue::default(),
        }
    }

    pub fn policy(&self) -> Policy {
        self.policy
    }
}

/// Counts a request of a credential, unless the window is full. A refused one does not count.
pub async fn take(app: &App, credential: [u8; 16]) -> Result<Standing> {
    match app.db.engine() {
        Engine::Sqlite => {
            let now = app.clock.now();
            let mut windows = app.limits.accepted.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(slide(&mut windows, credential, app.limits.policy, now))
        }
        Engine::Postgres => queue::take(app, credential).await,
    }
}

/// Notes a failed authentication from an address group, and refuses the group when it has too many.
pub fn note_failure(app: &App, from: AddressGroup) -> Result<()> {
    note(app, &app.limits.failed, FAILURES, from)
}

/// Notes that an address group registers an app, and refuses it when it has registered too many.
pub fn note_registration(app: &App, from: AddressGroup) -> Result<()> {
    note(app, &app.limits.registered, REGISTRATIONS, from)
}

fn note(app: &App, of: &Mutex<Windows<Counted>>, policy: Policy, from: AddressGroup) -> Result<()> {
    let mut windows = of.lock().unwrap_or_else(PoisonError::into_inner);
    let is_new = !windows.marks.contains_key(&Counted::Group(from));
    let counted = match is_new && windows.marks.len() >= GROUPS_MAX {
        true => Counted::Others,
        false => Counted::Group(from),
    };
    let standing = slide(&mut windows, counted, policy, app.clock.now());
    if standing.accepted {
        Ok(())
    } else {
        Err(Error::Limited { retry_after_seconds: standing.reset_seconds, what: "requests" })
    }
}

fn slide<K: std::hash::Hash + Eq>(
    windows: &mut Windows<K>,
    key: K,
    policy: Policy,
    now: Timestamp,
) -> Standing {
    let now = now.as_microsecond();
    let window = policy.window_micros();
    let latest = now + CLOCK_SKEW_MICROSECONDS;
    let is_sweep_due = (now - windows.swept_at).abs() >= SWEEP_MICROSECONDS;
    if windows.marks.len() >= SWEEP_AT && is_sweep_due {
        let counts = |it: &i64| *it + window > now && *it <= latest;
        windows.marks.retain(|_, marks| marks.iter().any(counts));
        windows.swept_at = now;
    }
    let marks = windows.marks.entry(key).or_default();
    // Marks from before the clock was set back stand last, and would count until the clock has caught up with them.
    while marks.back().is_some_and(|it| *it > latest) {
        marks.pop_back();
    }
    while marks.front().is_some_and(|it| it + window <= now) {
        marks.pop_front();
    }
    let accepted = (marks.len() as i64) < policy.requests;
    if accepted {
        marks.push_back(now);
    }
    let oldest = marks.front().copied();
    standing(policy, accepted, marks.len() as i64, oldest, now)
}

fn standing(policy: Policy, accepted: bool, used: i64, oldest: Option<i64>, now: i64) -> Standing {
    let until = oldest.map_or(0, |it| it + policy.window_micros() - now);
    // Rounded up: a client that waits exactly this long is let in.
    let reset_seconds = (until + 999_999).div_euclid(1_000_000).max(0);
    let remaining = (policy.requests - used).max(0);
    Standing { accepted, policy, remaining, reset_seconds }
}

/// Forgets what has left every window; a background step.
pub async fn forget_once(app: &App) -> Result<usize> {
    if app.db.engine() == Engine::Sqlite {
        return Ok(0);
    }
    let now = app.clock.now().as_microsecond();
    let (before, latest) = (now - app.limits.policy.window_micros(), now + CLOCK_SKEW_MICROSECONDS);
    let forget =
        move |tx: &mut db::Tx<'_>| Ok::<_, Error>(tx.execute(FORGET, params![before, latest])?);
    Ok(app.db.write(forget).await? as usize)
}

const FORGET: &str = "delete from request_marks where accepted_at <= $1 or accepted_at > $2";

pub(crate) use queue::POSTGRES_STATEMENTS;
pub(crate) const STATEMENTS: &[&str] = &[FORGET];
