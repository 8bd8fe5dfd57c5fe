//! One limit over all processes: accepted requests are numbered rows in PostgreSQL. Requests that arrive while a
//! statement is under way share the next one, so a busy process pays for few statements, and never races itself.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::CLOCK_SKEW_MICROSECONDS;
use db::Param;
use futures_util::FutureExt as _;
use tokio::sync::oneshot;

use super::{Standing, standing};
use crate::{App, Error, Result};

/// Requests that one statement counts.
const BATCH_MAX: usize = 64;
/// How often a request tries again after another process took its number.
const TRIES: usize = 50;

type Credential = [u8; 16];
type Answer = std::result::Result<Option<Standing>, db::Error>;

#[derive(Default)]
pub(super) struct Queue(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    requests: Vec<(Credential, oneshot::Sender<Answer>)>,
    under_way: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next requests to count, or none and the end of the work.
    fn next(&self) -> Vec<(Credential, oneshot::Sender<Answer>)> {
        let mut waiting = self.lock();
        let count = waiting.requests.len().min(BATCH_MAX);
        waiting.under_way = count > 0;
        waiting.requests.drain(..count).collect()
    }
}

pub(super) async fn take(app: &App, credential: Credential) -> Result<Standing> {
    for _ in 0..TRIES {
        if let Some(standing) = counted(app, credential).await? {
            return Ok(standing);
        }
        // Either the window is full or another process took the number first.
        let policy = app.limits.policy;
        let now = app.clock.now().as_microsecond();
        let read = |row: &db::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let look = [Param::Id(Some(credential)), (now - policy.window_micros()).into()];
        let (used, oldest): (i64, Option<i64>) =
            app.db.first(LOOK, &look, read).await?.unwrap_or((0, None));
        if used >= policy.requests {
            if drop_future(app, credential, now).await? {
                continue;
            }
            return Ok(standing(policy, false, used, oldest, now));
        }
    }
    Err(Error::Unavailable(db::Error::unavailable("too many requests of one key at one moment")))
}

/// Deletes the marks from before the clock was set back, which would count until the clock has caught up with them. Asked
/// only where a window is full, so that it costs nothing otherwise.
async fn drop_future(app: &App, credential: Credential, now: i64) -> Result<bool> {
    let latest = now + CLOCK_SKEW_MICROSECONDS;
    let dropped = app.db.write(move |tx| {
        let future = [Param::Id(Some(credential)), latest.into()];
        Ok::<_, Error>(tx.execute(DROP_FUTURE, &future)?)
    });
    Ok(dropped.await? > 0)
}

/// Joins the queue, and sees to it that somebody works it off: a task of its own, because a request may be dropped
/// while others wait behind it.
async fn counted(app: &App, credential: Credential) -> Result<Option<Standing>> {
    let (answer, answered) = oneshot::channel();
    let idle = {
        let mut waiting = app.limits.queue.lock();
        waiting.requests.push((credential, answer));
        !std::mem::replace(&mut waiting.under_way, true)
    };
    if idle {
        tokio::spawn(work_off(app.clone()));
    }
    let stopped = |_| Error::Unavailable(db::Error::unavailable("the server is stopping"));
    Ok(answered.await.map_err(stopped)??)
}

async fn work_off(app: App) {
    loop {
        let requests = app.limits.queue.next();
        if requests.is_empty() {
            return;
        }
        // A panic must not leave the queue marked as being worked off by nobody.
        let counted = AssertUnwindSafe(count(&app, &requests)).catch_unwind().await;
        let panicked = |_| Err(db::Error::unavailable("counting requests failed"));
        match counted.unwrap_or_else(panicked) {
            Ok(mut places) => {
                for (credential, answer) in requests {
                    let place = places.get_mut(&credential).and_then(Vec::pop);
                    // Nobody waits for the answer of a request that was dropped.
                    let _ = answer.send(Ok(place));
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

/// The places that were free, by credential, the last one first.
async fn count(
    app: &App,
    requests: &[(Credential, oneshot::Sender<Answer>)],
) -> db::Result<HashMap<Credential, Vec<Standing>>> {
    let policy = app.limits.policy;
    let now = app.clock.now().as_microsecond();
    let credentials: Vec<u8> = requests.iter().flat_map(|(credential, _)| *credential).collect();
    let wanted = [
        Param::Bytes(Some(&credentials)),
        (requests.len() as i64).into(),
        now.into(),
        (now - policy.window_micros()).into(),
        policy.requests.into(),
    ];
    let mut places: HashMap<Credential, Vec<Standing>> = HashMap::new();
    let place = |row: &db::Row<'_>| {
        let (number, oldest_number): (i64, i64) = (row.get(1)?, row.get(2)?);
        let oldest = row.get::<Option<i64>>(3)?.unwrap_or(now);
        let place = standing(policy, true, number - oldest_number + 1, Some(oldest), now);
        let credential = row.get::<&[u8]>(0)?.try_into();
        let credential: Credential = credential.map_err(|_| odd_credential())?;
        Ok((credential, place))
    };
    for (credential, place) in app.db.all(TAKE, &wanted, place).await? {
        places.entry(credential).or_default().push(place);
    }
    for places in places.values_mut() {
        places.sort_unstable_by_key(|it| it.remaining);
    }
    Ok(places)
}

fn odd_credential() -> db::Error {
    db::Error::Decode { column: 0, reason: "not sixteen bytes".to_owned() }
}

// The newest number minus the oldest one still in the window is the count: two index look-ups a credential. The
// credentials come as one string of bytes, sixteen each.
const TAKE: &str = "with
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
// Counts as `TAKE` does, so that the two never disagree, not even while the clocks of two processes do.
const LOOK: &str = "with
    newest as (select number from request_marks where credential_id = $1 order by number desc limit 1),
    oldest as (select number, accepted_at from request_marks
        where credential_id = $1 and accepted_at > $2 order by accepted_at, number limit 1)
    select newest.number - oldest.number + 1, oldest.accepted_at from newest, oldest";
const DROP_FUTURE: &str = "delete from request_marks where credential_id = $1 and accepted_at > $2";

pub(crate) const POSTGRES_STATEMENTS: &[&str] = &[TAKE, LOOK, DROP_FUTURE];
