//! The rate limit of several processes: accepted requests are numbered rows in PostgreSQL. Requests that arrive while a
//! statement is running are batched into the next one, so a busy process runs few statements and never conflicts with
//! itself.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::{CLOCK_SKEW_MICROSECONDS, Clock};
use db::Param;
use futures_util::FutureExt as _;
use tokio::sync::oneshot;

use super::{Limit, Policy, RateLimitStatus, status};
use crate::{App, Error, Result};

/// The most requests counted by one statement.
const BATCH_MAX: usize = 64;
/// How often a request retries after another process took its number.
const TRIES: usize = 50;

type Credential = [u8; 16];
type Answer = std::result::Result<Option<RateLimitStatus>, db::Error>;

/// Requests that wait to be counted.
#[derive(Default)]
pub(super) struct Queue(Mutex<WaitingRequests>);

#[derive(Default)]
struct WaitingRequests {
    requests: Vec<(Credential, oneshot::Sender<Answer>)>,
    /// Whether a task is counting requests right now.
    is_running: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, WaitingRequests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next batch. An empty one ends the task.
    fn next_batch(&self) -> Vec<(Credential, oneshot::Sender<Answer>)> {
        let mut waiting = self.lock();
        let count = waiting.requests.len().min(BATCH_MAX);
        waiting.is_running = count > 0;
        waiting.requests.drain(..count).collect()
    }
}

/// Counts a request in the window of a key. Returns the state of the window, accepted or not.
pub(super) async fn count(app: &App, limit: Limit, key: Credential) -> Result<RateLimitStatus> {
    for _ in 0..TRIES {
        if let Some(status) = join_queue(app, limit, key).await? {
            return Ok(status);
        }
        // The window is full, or another process took the number first.
        let policy = limit.policy(app);
        let values = [
            Param::Id(Some(key)),
            frozen_now(app),
            policy.window_micros().into(),
            policy.requests.into(),
            limit.name().into(),
        ];
        let read = |row: &db::Row<'_>| {
            let window =
                WindowState { now: row.get(0)?, requests: row.get(1)?, window_micros: row.get(2)? };
            Ok((window, row.get(3)?, row.get(4)?))
        };
        let found: Option<(WindowState, i64, Option<i64>)> =
            app.db.first(WINDOW, &values, read).await?;
        let Some((window, used, oldest)) = found else { continue };
        if used >= window.requests {
            if delete_future(app, key, window.now).await? {
                continue;
            }
            return Ok(window.status(false, used, oldest));
        }
    }
    Err(Error::Unavailable(db::Error::unavailable("too many concurrent requests with one key")))
}

/// The time for the statements: none in production, where the database's own clock counts, so that processes whose clocks
/// differ share one window. Tests give the time of their clock.
pub(super) fn frozen_now(app: &App) -> Param<'static> {
    match app.clock.unshifted() {
        frozen @ Clock::Frozen(_) => frozen.now().as_microsecond().into(),
        _ => Param::Int(None),
    }
}

/// The policy that the database holds for all processes, and its time.
#[derive(Clone, Copy)]
struct WindowState {
    now: i64,
    requests: i64,
    window_micros: i64,
}

impl WindowState {
    fn status(self, accepted: bool, used: i64, oldest: Option<i64>) -> RateLimitStatus {
        let policy =
            Policy { requests: self.requests, window_seconds: self.window_micros / 1_000_000 };
        status(policy, accepted, used, oldest, self.now)
    }
}

/// Deletes rows with times in the future, which were written before the clock was set back. This runs only if a window is
/// full, so that it costs nothing otherwise.
async fn delete_future(app: &App, credential: Credential, now: i64) -> Result<bool> {
    let latest = now + CLOCK_SKEW_MICROSECONDS;
    let dropped = app.db.write(move |tx| {
        let future = [Param::Id(Some(credential)), latest.into()];
        Ok::<_, Error>(tx.execute(DELETE_FUTURE, &future)?)
    });
    Ok(dropped.await? > 0)
}

/// Joins the queue, and starts the task that counts if it is not running. It is a separate task, because the future of a
/// request can be dropped while others wait behind it.
async fn join_queue(
    app: &App,
    limit: Limit,
    credential: Credential,
) -> Result<Option<RateLimitStatus>> {
    let (answer, answered) = oneshot::channel();
    let idle = {
        let mut waiting = app.limits.queue(limit).lock();
        waiting.requests.push((credential, answer));
        !std::mem::replace(&mut waiting.is_running, true)
    };
    if idle {
        tokio::spawn(count_batches(app.clone(), limit));
    }
    let stopped = |_| Error::Unavailable(db::Error::unavailable("the server is stopping"));
    Ok(answered.await.map_err(stopped)??)
}

async fn count_batches(app: App, limit: Limit) {
    loop {
        let requests = app.limits.queue(limit).next_batch();
        if requests.is_empty() {
            return;
        }
        // A panic must not leave the queue marked as running without a task.
        let counted = AssertUnwindSafe(count_batch(&app, limit, &requests)).catch_unwind().await;
        let panicked = |_| Err(db::Error::unavailable("counting requests failed"));
        match counted.unwrap_or_else(panicked) {
            Ok(mut accepted) => {
                for (credential, answer) in requests {
                    let status = accepted.get_mut(&credential).and_then(Vec::pop);
                    // The receiver is gone if the request was dropped.
                    let _ = answer.send(Ok(status));
                }
            }
            Err(error) => {
                for (_, answer) in requests {
                    let _ = answer.send(Err(error.clone()));
                }
            }
        }
    }
}

/// Counts a batch. Returns the accepted requests by credential, in reverse order.
async fn count_batch(
    app: &App,
    limit: Limit,
    requests: &[(Credential, oneshot::Sender<Answer>)],
) -> db::Result<HashMap<Credential, Vec<RateLimitStatus>>> {
    let policy = limit.policy(app);
    let credentials: Vec<u8> = requests.iter().flat_map(|(credential, _)| *credential).collect();
    let values = [
        Param::Bytes(Some(&credentials)),
        (requests.len() as i64).into(),
        frozen_now(app),
        policy.window_micros().into(),
        policy.requests.into(),
        limit.name().into(),
    ];
    let mut accepted: HashMap<Credential, Vec<RateLimitStatus>> = HashMap::new();
    let read = |row: &db::Row<'_>| {
        let window =
            WindowState { now: row.get(4)?, requests: row.get(5)?, window_micros: row.get(6)? };
        let (number, oldest_number): (i64, i64) = (row.get(1)?, row.get(2)?);
        let oldest = row.get::<Option<i64>>(3)?.unwrap_or(window.now);
        let status = window.status(true, number - oldest_number + 1, Some(oldest));
        let credential = row.get::<&[u8]>(0)?.try_into();
        let credential: Credential = credential.map_err(|_| malformed_credential())?;
        Ok((credential, status))
    };
    for (credential, status) in app.db.all(COUNT, &values, read).await? {
        accepted.entry(credential).or_default().push(status);
    }
    for statuses in accepted.values_mut() {
        statuses.sort_unstable_by_key(|it| it.remaining);
    }
    Ok(accepted)
}

fn malformed_credential() -> db::Error {
    db::Error::Decode { column: 0, reason: "a credential id must have 16 bytes".to_owned() }
}

/// The policy of all processes (or, before one was stored, of this one) and the time.
macro_rules! policy {
    ($now:literal, $window:literal, $requests:literal, $name:literal) => {
        concat!(
            "policy as materialized (select
            coalesce(cast(",
            $now,
            " as bigint), cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)) as now,
            coalesce((select cast(value as bigint) from installation where name = ",
            $name,
            " || '_requests'),
                cast(",
            $requests,
            " as bigint)) as requests,
            coalesce((select cast(value as bigint) from installation where name = ",
            $name,
            " || '_window'),
                cast(",
            $window,
            " as bigint)) as window_micros)"
        )
    };
}

// The number of requests in the window is the newest number minus the lowest one in it. The lowest is found by number and
// not by time: a process that is slower than another can write a lower time with a higher number, and counting from there
// would forget the marks between. The credentials are passed as one byte string, 16 bytes each.
const COUNT: &str = concat!(
    "with ",
    policy!("$3", "$4", "$5", "$6"),
    ", asked as (select substring(cast($1 as bytea) from cast((place - 1) * 16 + 1 as integer) for 16) as credential_id,
        count(*) as wanted from generate_series(1, cast($2 as bigint)) as place group by 1),
    place as materialized (select asked.credential_id, asked.wanted, policy.now, policy.requests,
        policy.window_micros, coalesce(newest.number, 0) as newest,
        coalesce(oldest.number, coalesce(newest.number, 0) + 1) as oldest, oldest.accepted_at
        from policy, asked
        left join lateral (select number from request_marks
            where credential_id = asked.credential_id order by number desc limit 1) as newest on true
        left join lateral (select min(number) as number, min(accepted_at) as accepted_at from request_marks, policy
            where credential_id = asked.credential_id
            and accepted_at > policy.now - policy.window_micros) as oldest on true)
    insert into request_marks (credential_id, number, accepted_at)
    select place.credential_id, place.newest + step, place.now
        from place, generate_series(1, place.wanted) as step
        where place.newest + step - place.oldest < place.requests
    on conflict do nothing
    returning credential_id, number,
        (select oldest from place where place.credential_id = request_marks.credential_id),
        (select accepted_at from place where place.credential_id = request_marks.credential_id),
        accepted_at, (select requests from policy), (select window_micros from policy)"
);
// Counts in the same way as `COUNT`, so that both agree.
const WINDOW: &str = concat!(
    "with ",
    policy!("$2", "$3", "$4", "$5"),
    ", newest as (select number from request_marks where credential_id = $1 order by number desc limit 1),
    oldest as (select min(number) as number, min(accepted_at) as accepted_at from request_marks, policy
        where credential_id = $1 and accepted_at > policy.now - policy.window_micros)
    select policy.now, policy.requests, policy.window_micros, coalesce(newest.number - oldest.number + 1, 0),
        oldest.accepted_at from policy, newest, oldest"
);
const DELETE_FUTURE: &str =
    "delete from request_marks where credential_id = $1 and accepted_at > $2";

pub(crate) const POSTGRES_STATEMENTS: &[&str] = &[COUNT, WINDOW, DELETE_FUTURE, super::FORGET];
