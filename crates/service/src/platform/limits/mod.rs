//! The rate limit of the API: an exact sliding window per credential, in memory for one process, in PostgreSQL for many.

mod queue;

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use base::{AddressGroup, CLOCK_SKEW_MICROSECONDS, Timestamp};
use db::{Engine, params};
use sha2::{Digest as _, Sha256};

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
    queues: [queue::Queue; 2],
}

/// A limited thing, such as requests. Each limit has its own policy and its own windows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Limit {
    /// Requests of one credential.
    Requests,
    /// Failed authentications from one address group.
    Failures,
}

impl Limit {
    /// The name under which the database holds the policy for all processes. Only that of requests can be set.
    fn name(self) -> &'static str {
        match self {
            Limit::Requests => "rate_limit",
            Limit::Failures => "failures",
        }
    }

    fn policy(self, app: &App) -> Policy {
        match self {
            Limit::Requests => app.limits.policy,
            Limit::Failures => FAILURES,
        }
    }
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
            queues: Default::default(),
        }
    }

    fn queue(&self, limit: Limit) -> &queue::Queue {
        &self.queues[limit as usize]
    }

    pub fn policy(&self) -> Policy {
        self.policy
    }
}

/// Counts a request of a credential, unless its window is full. A refused request does not count.
pub async fn count_request(app: &App, credential: [u8; 16]) -> Result<RateLimitStatus> {
    let status = match app.db.engine() {
        Engine::Sqlite => {
            let now = app.clock.now();
            let mut windows = app.limits.accepted.lock().unwrap_or_else(PoisonError::into_inner);
            slide(&mut windows, credential, app.limits.policy, now)
        }
        Engine::Postgres => queue::count(app, Limit::Requests, credential).await?,
    };
    if !status.accepted {
        app.meters.count_rate_limited("requests");
    }
    Ok(status)
}

/// Counts a failed authentication from an address group. Fails if the group has too many. What this process refuses costs
/// the database nothing; the rest is counted for all processes together.
pub async fn count_failure(app: &App, from: AddressGroup) -> Result<()> {
    let (key, mut status) = count_in_memory(app, &app.limits.failed, FAILURES, from);
    if status.accepted && app.db.engine() == Engine::Postgres {
        status = queue::count(app, Limit::Failures, shared_key(key)).await?;
    }
    must_be_accepted(app, status, "failed_authentications")
}

/// Counts an app registration from an address group at this process. Fails if the group has too many.
pub fn count_registration(app: &App, from: AddressGroup) -> Result<()> {
    let status = count_in_memory(app, &app.limits.registered, REGISTRATIONS, from).1;
    must_be_accepted(app, status, "registrations")
}

fn must_be_accepted(app: &App, status: RateLimitStatus, limit: &'static str) -> Result<()> {
    if status.accepted {
        return Ok(());
    }
    app.meters.count_rate_limited(limit);
    Err(Error::Limited { retry_after_seconds: status.reset_seconds, what: "requests" })
}

fn count_in_memory(
    app: &App,
    windows: &Mutex<Windows<GroupKey>>,
    policy: Policy,
    from: AddressGroup,
) -> (GroupKey, RateLimitStatus) {
    let mut windows = windows.lock().unwrap_or_else(PoisonError::into_inner);
    let is_new = !windows.marks.contains_key(&GroupKey::Group(from));
    let key = match is_new && windows.marks.len() >= GROUPS_MAX {
        true => GroupKey::Others,
        false => GroupKey::Group(from),
    };
    let status = slide(&mut windows, key, policy, app.clock.now());
    (key, status)
}

/// The key of an address group's window in the database. A hash, so that it cannot be the id of a credential.
fn shared_key(key: GroupKey) -> [u8; 16] {
    let group = match key {
        GroupKey::Group(group) => group.to_string(),
        GroupKey::Others => "others".to_owned(),
    };
    let hash: [u8; 32] = Sha256::digest(format!("failures {group}")).into();
    let mut key = [0; 16];
    key.copy_from_slice(&hash[..16]);
    key
}

/// Stores the policy of this process for all of them, at its start: the last one that started decides, and no two
/// processes count by different rules.
pub async fn store_policy(app: &App) -> Result<()> {
    let policy = app.limits.policy;
    let values =
        [("rate_limit_requests", policy.requests), ("rate_limit_window", policy.window_micros())];
    let store = move |tx: &mut db::Tx<'_>| {
        for (name, value) in values {
            tx.execute(STORE_POLICY, params![name, value.to_string().as_str()])?;
        }
        Ok::<_, Error>(())
    };
    app.db.write(store).await
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
    let own_longest = app.limits.policy.window_micros().max(FAILURES.window_micros());
    let values = vec![queue::frozen_now(app), own_longest.into(), CLOCK_SKEW_MICROSECONDS.into()];
    let forget = move |tx: &mut db::Tx<'_>| Ok::<_, Error>(tx.execute(FORGET, &values)?);
    Ok(app.db.write(forget).await? as usize)
}

const STORE_POLICY: &str = "insert into installation (name, value) values ($1, $2)
    on conflict (name) do update set value = excluded.value";
// The longest window of this process or of all of them.
const FORGET: &str = "with policy as materialized (select
    coalesce(cast($1 as bigint), cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)) as now,
    greatest(cast($2 as bigint), coalesce((select cast(value as bigint) from installation
        where name = 'rate_limit_window'), 0)) as longest)
    delete from request_marks using policy
    where accepted_at <= policy.now - policy.longest or accepted_at > policy.now + $3";

pub(crate) use queue::POSTGRES_STATEMENTS;
pub(crate) const STATEMENTS: &[&str] = &[STORE_POLICY];
