//! The pipeline that recomputes a person's derived data: in the background, one person at a time, each in one
//! transaction.
//!
//! Every change to the data adds the changed rows to the dirty queue, in its own transaction. A step takes the person
//! who has waited longest and recomputes what the dirty rows can influence: their categories and transfers, the
//! recurring streams of their merchants, then income, scores and benefits. The result equals a full recompute.

mod recompute;

use std::sync::LazyLock;

use base::{CLOCK_SKEW_MICROSECONDS, UserId};
use db::{Tx, params};

use crate::{App, Error, Result};

/// To be raised when a method or a stored shape changes, so that everything is recomputed.
const METHOD_VERSION: i64 = 4;
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
/// People that one step adds to the queue for a new day.
const QUEUED_MAX: i64 = 500;

/// One step: recomputes the person who has waited longest. Returns how many people were recomputed.
pub async fn run_once(app: &App) -> Result<usize> {
    let now = app.clock.now();
    let next = app.db.first(NEXT, params![now], |row| row.get::<UserId>(0)).await?;
    let Some(user) = next else { return Ok(0) };
    run_for(app, user).await.map(|()| 1)
}

/// Recomputes one person now, so that they see the effect of a change they just made.
pub async fn run_for(app: &App, user: UserId) -> Result<()> {
    let (mine, now) = (app.clone(), app.clock.now());
    match app.db.write(move |tx| recompute::recompute(tx, &mine, user)).await {
        Ok(()) => Ok(()),
        Err(error) => {
            let seconds = match error {
                Error::Unavailable(_) => UNAVAILABLE_RETRY_SECONDS,
                _ => RETRY_SECONDS,
            };
            let until = now.as_microsecond() + seconds * 1_000_000;
            let delay =
                move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(DELAY, params![user, until])?);
            // The recompute's error says more than one about its retry would.
            let _ = app.db.write(delay).await;
            Err(error)
        }
    }
}

/// Recomputes a person now if that is due, so that sums include the newest transactions. If it fails, the stored sums
/// are used, and the background step tries again.
pub(super) async fn catch_up(app: &App, user: UserId) -> Result<()> {
    let due = app.db.first(IS_DUE, params![user, app.clock.now()], |row| row.get::<i64>(0)).await?;
    if due.is_some()
        && let Err(error) = run_for(app, user).await
    {
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
    let now = app.clock.now();
    let queue =
        move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(QUEUE_OUTDATED, params![*METHOD, now])?);
    Ok(app.db.write(queue).await? as usize)
}

/// Queues people for whom a new day has begun in their time zone, because payments and benefits become due, late or
/// expired. Returns how many.
pub async fn queue_new_day_once(app: &App) -> Result<usize> {
    let now = app.clock.now();
    let too_far = now.as_microsecond() + DAY_MICROSECONDS_MAX;
    let farthest = now.as_microsecond() + RETRY_SECONDS * 1_000_000 + CLOCK_SKEW_MICROSECONDS;
    let queue = move |tx: &mut Tx<'_>| {
        // Work that waits longer than any retry was delayed before the clock was set back.
        tx.execute(UNDELAY, params![now, farthest])?;
        Ok::<_, Error>(tx.execute(QUEUE_NEW_DAY, params![now, QUEUED_MAX, too_far])?)
    };
    Ok(app.db.write(queue).await? as usize)
}

const NEXT: &str =
    "select user_id from insight_work where wanted_at <= $1 order by wanted_at, user_id limit 1";
const IS_DUE: &str = "select wanted_at from insight_work where user_id = $1 and wanted_at <= $2";
const DELAY: &str = "update insight_work set wanted_at = $2 where user_id = $1";
const UNDELAY: &str = "update insight_work set wanted_at = $1 where wanted_at > $2";
const QUEUE_NEW_DAY: &str = "insert into insight_work (user_id, asked, everything_at, wanted_at)
    select u.id, 1, null, $1 from users u left join insights i on i.user_id = u.id
    where u.connected_at is not null
    and (i.day_ends_at is null or i.day_ends_at <= $1 or i.day_ends_at > $3)
    and not exists (select 1 from insight_work w where w.user_id = u.id) limit $2
    on conflict do nothing";
const QUEUE_OUTDATED: &str = "insert into insight_work (user_id, asked, everything_at, wanted_at)
    select user_id, 1, $2, $2 from insights i where method <> $1
    and not exists (select 1 from insight_work w where w.user_id = i.user_id)
    on conflict do nothing";

pub(super) fn statements() -> Vec<&'static str> {
    let own = [NEXT, IS_DUE, DELAY, UNDELAY, QUEUE_NEW_DAY, QUEUE_OUTDATED];
    [&own[..], recompute::STATEMENTS].concat()
}
