//! The pipeline that recomputes a person's derived data: in the background, one person at a time, each in one
//! transaction. Any number of processes share the queue (`docs/decisions/0020-processes.md`).
//!
//! Every change to the data adds the changed rows to the dirty queue, in its own transaction. A step takes the person
//! who has waited longest and recomputes what the dirty rows can influence: their categories and transfers, the
//! recurring streams of their merchants, then income, scores and benefits. The result equals a full recompute.

mod figures;
mod recompute;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use base::{CLOCK_SKEW_MICROSECONDS, Timestamp, UserId};
use db::{Tx, params};
use trace::SpanKind;

use crate::{App, Error, Result};

pub(crate) use figures::figures;

/// To be raised when a method or a stored shape changes, so that everything is recomputed.
const METHOD_VERSION: i64 = 6;
/// The version, and a fingerprint of the tables of words and merchants, because nobody would remember to raise the
/// version when they change.
static METHOD: LazyLock<i64> =
    LazyLock::new(|| METHOD_VERSION << 32 | i64::from(calc::enrich::tables_fingerprint()));
/// How long a failed recompute waits before it is retried, so that others come first.
const RETRY_SECONDS: i64 = 300;
/// How long a recompute waits if the database was unavailable.
const UNAVAILABLE_RETRY_SECONDS: i64 = 30;
/// No day ends later than this. One that does was computed before the clock was set back.
const DAY_MICROSECONDS_MAX: i64 = 49 * 3_600 * 1_000_000;
/// People whom one step tries to claim, in case other processes are recomputing the first ones.
const CANDIDATES: i64 = 32;
/// How often and how long to wait for another process that is recomputing the same person.
const BUSY_TRIES: usize = 100;
const BUSY_WAIT: Duration = Duration::from_millis(25);
/// People that one step adds to the queue for a new day.
const QUEUED_MAX: i64 = 500;

/// One step: recomputes the person who has waited longest, except those whose data another transaction is changing.
/// Returns how many people were recomputed.
pub async fn run_once(app: &App) -> Result<usize> {
    let now = app.db.now().await?;
    // A read first: it costs less than a transaction, and mostly there is nothing to do. People are claimed one by one,
    // because on a sharded database they are on different nodes.
    let due = app.db.all(DUE, params![now, CANDIDATES], |row| row.get::<UserId>(0)).await?;
    if due.is_empty() {
        return Ok(0);
    }
    let claimed = claim_and_recompute(app, move |tx| {
        for user in due {
            let claimed = tx.first(CLAIM_DUE, params![user, now], |row| row.get::<UserId>(0))?;
            if claimed.is_some() {
                return Ok(claimed);
            }
        }
        Ok(None)
    });
    Ok(usize::from(claimed.await?))
}

/// Recomputes one person now, so that they see the effect of a change they just made. If another process is doing it,
/// waits until that one is done.
pub async fn run_for(app: &App, user: UserId) -> Result<()> {
    for _ in 0..BUSY_TRIES {
        let claimed = claim_and_recompute(app, move |tx| {
            Ok(tx.first(CLAIM_ONE, params![user], |row| row.get::<UserId>(0))?)
        });
        if claimed.await? || !is_queued(app, user).await? {
            return Ok(());
        }
        tokio::time::sleep(BUSY_WAIT).await;
    }
    Ok(())
}

async fn is_queued(app: &App, user: UserId) -> Result<bool> {
    let found = app.db.first(QUEUED, params![user], |row| row.get::<Timestamp>(0)).await?;
    Ok(found.is_some())
}

/// Claims a person by locking the person and the row of the queue, and recomputes them in the same transaction. The
/// claim skips rows that are locked, so no process waits for another, and it ends with the transaction, also if the
/// process dies. Returns whether somebody was claimed.
async fn claim_and_recompute(
    app: &App,
    claim: impl FnOnce(&mut Tx<'_>) -> Result<Option<UserId>> + Send + 'static,
) -> Result<bool> {
    let mine = app.clone();
    let recomputed = app.db.write(move |tx| {
        let Some(user) = claim(tx)? else { return Ok(None) };
        let failed = |error| FailedRecompute { user: Some(user), error };
        recompute::recompute(tx, &mine, user).map(|it| Some((user, it))).map_err(failed)
    });
    let mut span = app.tracer.start("recompute insights", SpanKind::Internal);
    let recomputed = span.scope(recomputed).await;
    if recomputed.is_err() {
        span.fail("not_recomputed");
    }
    drop(span);
    match recomputed {
        Ok(None) => Ok(false),
        Ok(Some((user, report))) => {
            if let Some((version, report)) = report {
                app.income_reports.insert(user, version, &Arc::new(report));
            }
            Ok(true)
        }
        Err(FailedRecompute { user, error }) => {
            if let Some(user) = user {
                delay(app, user, &error).await;
            }
            Err(error)
        }
    }
}

/// Why a recompute failed, and whose it was.
struct FailedRecompute {
    user: Option<UserId>,
    error: Error,
}

impl From<Error> for FailedRecompute {
    fn from(error: Error) -> FailedRecompute {
        FailedRecompute { user: None, error }
    }
}

impl From<db::Error> for FailedRecompute {
    fn from(error: db::Error) -> FailedRecompute {
        FailedRecompute { user: None, error: error.into() }
    }
}

/// Lets a person whose recompute failed wait, so that others come first.
async fn delay(app: &App, user: UserId, error: &Error) {
    let seconds = match error {
        Error::Unavailable(_) => UNAVAILABLE_RETRY_SECONDS,
        _ => RETRY_SECONDS,
    };
    let delay = move |tx: &mut Tx<'_>| {
        let until = tx.now()?.as_microsecond() + seconds * 1_000_000;
        Ok::<_, Error>(tx.execute(DELAY, params![user, until])?)
    };
    // The recompute's error says more than one about its retry would.
    let _ = app.db.write(delay).await;
}

/// Recomputes a person now if that is due, so that sums include the newest transactions. If it fails, the stored sums
/// are used, and the background step tries again.
pub(super) async fn catch_up(app: &App, user: UserId) -> Result<()> {
    let wanted_at = app.db.first(QUEUED, params![user], |row| row.get::<Timestamp>(0)).await?;
    let is_due = match wanted_at {
        Some(at) => at <= app.db.now().await?,
        None => false,
    };
    if is_due && let Err(error) = run_for(app, user).await {
        tracing::warn!(%user, error = %error, "recompute before a read failed");
    }
    Ok(())
}

/// Empties the dirty queue, for the demo and tests, which look at the results at once.
pub async fn run_all(app: &App) -> Result<usize> {
    let mut done = 0;
    while run_once(app).await? > 0 {
        done += 1;
    }
    Ok(done)
}

/// Queues everyone whose data was computed with other methods or tables. To be called once, when the process starts:
/// two versions that run side by side would otherwise undo each other's work all the time.
pub async fn queue_outdated(app: &App) -> Result<usize> {
    let queue = |tx: &mut Tx<'_>| {
        let now = tx.now()?;
        Ok::<_, Error>(tx.execute(QUEUE_OUTDATED, params![*METHOD, now])?)
    };
    Ok(app.db.write(queue).await? as usize)
}

/// Queues people for whom a new day has begun in their time zone, because payments and benefits become due, late or
/// expired. Returns how many.
pub async fn queue_new_day_once(app: &App) -> Result<usize> {
    let queue = |tx: &mut Tx<'_>| {
        let now = tx.now()?;
        let too_far = now.as_microsecond() + DAY_MICROSECONDS_MAX;
        let farthest = now.as_microsecond() + RETRY_SECONDS * 1_000_000 + CLOCK_SKEW_MICROSECONDS;
        // Work that waits longer than any retry was delayed before the clock was set back.
        tx.execute(UNDELAY, params![now, farthest])?;
        let people = params![now, QUEUED_MAX, too_far];
        let people = tx.all(NEW_DAY, people, |row| row.get::<UserId>(0))?;
        let mut queued = 0;
        for user in people {
            queued += tx.execute(QUEUE_NEW_DAY, params![user, now])? as usize;
        }
        Ok::<_, Error>(queued)
    };
    app.db.write(queue).await
}

const DUE: &str = "select user_id from insight_work where wanted_at <= $1
    order by wanted_at, user_id limit $2";
const CLAIM_DUE: &str =
    "select w.user_id from insight_work w join person_states p on p.user_id = w.user_id
    where w.user_id = $1 and w.wanted_at <= $2
    for no key update of w, p skip locked";
const CLAIM_ONE: &str =
    "select w.user_id from insight_work w join person_states p on p.user_id = w.user_id
    where w.user_id = $1
    for no key update of w, p skip locked";
const QUEUED: &str = "select wanted_at from insight_work where user_id = $1";
const DELAY: &str = "update insight_work set wanted_at = $2 where user_id = $1";
const UNDELAY: &str = "update insight_work set wanted_at = $1 where wanted_at > $2";
const NEW_DAY: &str = "select p.user_id from person_states p join users u on u.id = p.user_id
    left join insights i on i.user_id = p.user_id
    where u.connected_at is not null
    and (i.day_ends_at is null or i.day_ends_at <= $1 or i.day_ends_at > $3)
    and not exists (select 1 from insight_work w where w.user_id = p.user_id) limit $2";
const QUEUE_NEW_DAY: &str = "insert into insight_work (user_id, asked, everything_at, wanted_at)
    values ($1, 1, null, $2) on conflict do nothing";
const QUEUE_OUTDATED: &str = "insert into insight_work (user_id, asked, everything_at, wanted_at)
    select user_id, 1, $2, $2 from insights i where method <> $1
    and not exists (select 1 from insight_work w where w.user_id = i.user_id)
    on conflict do nothing";

pub(super) fn statements() -> Vec<&'static str> {
    let own =
        [DUE, CLAIM_DUE, CLAIM_ONE, QUEUED, DELAY, UNDELAY, NEW_DAY, QUEUE_NEW_DAY, QUEUE_OUTDATED];
    [&own[..], figures::STATEMENTS, recompute::STATEMENTS].concat()
}
