//! The rate limit of the API: an exact sliding window per credential, in memory for one process, in PostgreSQL for many.

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

/// The state of a credential's window after a request was counted or refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimitStatus {
    pub accepted: bool,
    pub policy: Policy,
    pub remaining: i64,
    /// The time until the oldest request leaves the window; at least 1 while there is one.
    pub reset_seconds: i64,
}

/// The limit on failed authentications from one address group. They are counted apart, so that guessing is slow and does
/// not use up anybody's requests.
const FAILURES: Policy = Policy { requests: 60, window_seconds: 60 };
/// The limit on app registrations from one address group.
const REGISTRATIONS: Policy = Policy { requests: 30, window_seconds: 3_600 };
/// From this many windows on, empty windows are removed once a second. Removing them at every request would make each
/// request slower during a flood from many addresses.
const SWEEP_AT: usize = 4_096;
const SWEEP_MICROSECONDS: i64 = 1_000_000;
/// The most address groups with a window of their own. Further groups share one, so that memory stays bounded.
const GROUPS_MAX: usize = 65_536;

pub struct Limiter {
    policy: Policy,
    accepted: Mutex<Windows<[u8; 16]>>,
    failed: Mutex<Windows<GroupKey>>,
    registered: Mutex<Windows<GroupKey>>,
    queue: queue::Queue,
}

/// The key of a window for requests without a credential.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum GroupKey {
    Group(AddressGroup),
    /// All groups beyond the maximum together.
    Others,
}

/// The times of the accepted requests of each key, oldest first.
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

/// Counts a request of a credential, unless its window is full. A refused request does not count.
pub async fn count_request(app: &App, credential: [u8; 16]) -> Result<RateLimitStatus> {
    match app.db.engine() {
        Engine::Sqlite => {
            let now = app.clock.now();
            let mut windows = app.limits.accepted.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(slide(&mut windows, credential, app.limits.policy, now))
        }
        Engine::Postgres => queue::count_request(app, credential).await,
    }
}

/// Counts a failed authentication from an address group. Fails if the group has too many.
pub fn count_failure(app: &App, from: AddressGroup) -> Result<()> {
    count_for_group(app, &app.limits.failed, FAILURES, from)
}

/// Counts an app registration from an address group. Fails if the group has too many.
pub fn count_registration(app: &App, from: AddressGroup) -> Result<()> {
    count_for_group(app, &app.limits.registered, REGISTRATIONS, from)
}

fn count_for_group(
    app: &App,
    windows: &Mutex<Windows<GroupKey>>,
    policy: Policy,
    from: AddressGroup,
) -> Result<()> {
    let mut windows = windows.lock().unwrap_or_else(PoisonError::into_inner);
    let is_new = !windows.marks.contains_key(&GroupKey::Group(from));
    let key = match is_new && windows.marks.len() >= GROUPS_MAX {
        true => GroupKey::Others,
        false => GroupKey::Group(from),
    };
    let status = slide(&mut windows, key, policy, app.clock.now());
    if status.accepted {
        Ok(())
    } else {
        Err(Error::Limited { retry_after_seconds: status.reset_seconds, what: "requests" })
    }
}

fn slide<K: std::hash::Hash + Eq>(
    windows: &mut Windows<K>,
    key: K,
    policy: Policy,
    now: Timestamp,
) -> RateLimitStatus {
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
    // Times in the future are from before the clock was set back. They are the last ones, and do not count.
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
    status(policy, accepted, marks.len() as i64, oldest, now)
}

fn status(
    policy: Policy,
    accepted: bool,
    used: i64,
    oldest: Option<i64>,
    now: i64,
) -> RateLimitStatus {
    let until = oldest.map_or(0, |it| it + policy.window_micros() - now);
    // Rounded up, so that a request after exactly this time is accepted.
    let reset_seconds = (until + 999_999).div_euclid(1_000_000).max(0);
    let remaining = (policy.requests - used).max(0);
    RateLimitStatus { accepted, policy, remaining, reset_seconds }
}

/// Background step: deletes requests that have left every window.
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
