//! The rate limit of several processes: accepted requests are numbered rows in PostgreSQL. Requests that arrive while a
//! statement is running are batched into the next one, so a busy process runs few statements and never conflicts with
//! itself.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::CLOCK_SKEW_MICROSECONDS;
use db::Param;
use futures_util::FutureExt as _;
use tokio::sync::oneshot;

use super::{RateLimitStatus, status};
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

pub(super) async fn count_request(app: &App, credential: Credential) -> Result<RateLimitStatus> {
    for _ in 0..TRIES {
        if let Some(status) = join_queue(app, credential).await? {
            return Ok(status);
        }
        // The window is full, or another process took the number first.
        let policy = app.limits.policy;
        let now = app.clock.now().as_microsecond();
        let read = |row: &db::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let values = [Param::Id(Some(credential)), (now - policy.window_micros()).into()];
        let (used, oldest): (i64, Option<i64>) =
            app.db.first(WINDOW, &values, read).await?.unwrap_or((0, None));
        if used >= policy.requests {
            if delete_future(app, credential, now).await? {
                continue;
            }
            return Ok(status(policy, false, used, oldest, now));
        }
    }
    Err(Error::Unavailable(db::Error::unavailable("too many concurrent requests with one key")))
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

/// Joins the queue, and starts the task that counts if it is not running. It is a task of its own, because the future of a
/// request can be dropped while others wait behind it.
async fn join_queue(app: &App, credential: Credential) -> Result<Option<RateLimitStatus>> {
    let (answer, answered) = oneshot::channel();
    let idle = {
        let mut waiting = app.limits.queue.lock();
        waiting.requests.push((credential, answer));
        !std::mem::replace(&mut waiting.is_running, true)
    };
    if idle {
        tokio::spawn(count_batches(app.clone()));
    }
    let stopped = |_| Error::Unavailable(db::Error::unavailable("the server is stopping"));
    Ok(answered.await.map_err(stopped)??)
}

async fn count_batches(app: App) {
    loop {
        let requests = app.limits.queue.next_batch();
        if requests.is_empty() {
            return;
        }
        // A panic must not leave the queue marked as running without a task.
        let counted = AssertUnwindSafe(count_batch(&app, &requests)).catch_unwind().await;
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
    requests: &[(Credential, oneshot::Sender<Answer>)],
) -> db::Result<HashMap<Credential, Vec<RateLimitStatus>>> {
    let policy = app.limits.policy;
    let now = app.clock.now().as_microsecond();
    let credentials: Vec<u8> = requests.iter().flat_map(|(credential, _)| *credential).collect();
    let values = [
        Param::Bytes(Some(&credentials)),
        (requests.len() as i64).into(),
        now.into(),
        (now - policy.window_micros()).into(),
        policy.requests.into(),
    ];
    let mut accepted: HashMap<Credential, Vec<RateLimitStatus>> = HashMap::new();
    let read = |row: &db::Row<'_>| {
        let (number, oldest_number): (i64, i64) = (row.get(1)?, row.get(2)?);
        let oldest = row.get::<Option<i64>>(3)?.unwrap_or(now);
        let status = status(policy, true, number - oldest_number + 1, Some(oldest), now);
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

// The number of requests in the window is the newest number minus the oldest one in it: two index lookups per credential.
// The credentials are passed as one byte string, 16 bytes each.
const COUNT: &str = "with
    asked as (select substring(cast($1 as bytea) from cast((place - 1) * 16 + 1 as integer) for 16) as credential_id,
        count(*) as wanted from generate_series(1, cast($2 as bigint)) as place group by 1),
    place as materialized (select asked.credential_id, asked.wanted, coalesce(newest.number, 0) as newest,
        coalesce(oldest.number, coalesce(newest.number, 0) + 1) as oldest, oldest.accepted_at
        from asked
        left join lateral (select number from request_marks
            where credential_id = asked.credential_id order by number desc limit 1) as newest on true
        left join lateral (select number, accepted_at from request_marks
            where credential_id = asked.credential_id and accepted_at > $4
            order by accepted_at, number limit 1) as oldest on true)
    insert into request_marks (credential_id, number, accepted_at)
    select place.credential_id, place.newest + step, cast($3 as bigint)
        from place, generate_series(1, place.wanted) as step
        where place.newest + step - place.oldest < cast($5 as bigint)
    on conflict do nothing
    returning credential_id, number,
        (select oldest from place where place.credential_id = request_marks.credential_id),
        (select accepted_at from place where place.credential_id = request_marks.credential_id)";
// Counts in the same way as `COUNT`, so that both agree even if the clocks of two processes differ.
const WINDOW: &str = "with
    newest as (select number from request_marks where credential_id = $1 order by number desc limit 1),
    oldest as (select number, accepted_at from request_marks
        where credential_id = $1 and accepted_at > $2 order by accepted_at, number limit 1)
    select newest.number - oldest.number + 1, oldest.accepted_at from newest, oldest";
const DELETE_FUTURE: &str =
    "delete from request_marks where credential_id = $1 and accepted_at > $2";

pub(crate) const POSTGRES_STATEMENTS: &[&str] = &[COUNT, WINDOW, DELETE_FUTURE];
