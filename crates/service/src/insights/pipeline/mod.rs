//! The pipeline that recomputes a person's derived data: in the background, one person at a time, each in one
//! transaction.
//!
//! Every change to the data adds the changed rows to the dirty queue, in its own transaction. A step takes the person
//! who has waited longest and recomputes what the dirty rows can influence: their categories and transfers, the
//! recurring streams of their merchants, then income, scores and benefits. The result equals a full recompute.

mod ledger;
mod lines;
mod pages;
mod recompute;

use std::sync::LazyLock;

use base::{CLOCK_SKEW_MICROSECONDS, UserId, date_from_days, days_from_date};
use db::{Tx, params};

use crate::{App, Error, Result};

pub(crate) use ledger::ledger;

/// Raised whenever a method or a stored shape changes, so that everything is worked out anew.
const METHOD_VERSION: i64 = 2;
/// The version and the tables of words and merchants, which change more often than anyone would remember to say.
pub(crate) static METHOD: LazyLock<i64> =
    LazyLock::new(|| METHOD_VERSION << 32 | i64::from(calc::enrich::tables_fingerprint()));
/// How long work that failed waits, so that one person's trouble does not hold up the others.
const POSTPONED_SECONDS: i64 = 300;
const UNAVAILABLE_SECONDS: i64 = 30;
/// People that one step wakes for a new day.
const WOKEN_MAX: i64 = 500;

/// One step: the person who has waited longest. Says how many people were brought up to date.
pub async fn run_once(app: &App) -> Result<usize> {
    let now = app.clock.now();
    let next = app.db.first(NEXT, params![now], |row| row.get::<UserId>(0)).await?;
    let Some(user) = next else { return Ok(0) };
    run_for(app, user).await.map(|()| 1)
}

/// The work of one person, at once: for what they just said and want to see.
pub async fn run_for(app: &App, user: UserId) -> Result<()> {
    let (mine, now) = (app.clone(), app.clock.now());
    match app.db.write(move |tx| recompute::recompute(tx, &mine, user)).await {
        Ok(()) => Ok(()),
        Err(error) => {
            let seconds = match error {
                Error::Unavailable(_) => UNAVAILABLE_SECONDS,
                _ => POSTPONED_SECONDS,
            };
            let until = now.as_microsecond() + seconds * 1_000_000;
            let postpone =
                move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(POSTPONE, params![user, until])?);
            // The first error tells more than a second one would.
            let _ = app.db.write(postpone).await;
            Err(error)
        }
    }
}

/// All the work there is, for those who want to see the outcome at once: the demo and tests.
pub async fn run_all(app: &App) -> Result<usize> {
    let mut done = 0;
    while run_once(app).await? > 0 {
        done += 1;
    }
    Ok(done)
}

/// What was worked out by other methods or tables is worked out again. Once at the start of a process: while two
/// versions run side by side they would otherwise undo each other's work all the time.
pub async fn wake_for_method(app: &App) -> Result<usize> {
    let now = app.clock.now();
    let wake =
        move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(WAKE_FOR_METHOD, params![*METHOD, now])?);
    Ok(app.db.write(wake).await? as usize)
}

/// A new day moves what is due, late and over, and so asks for work.
pub async fn wake_once(app: &App) -> Result<usize> {
    let (today, now) = (app.clock.today(), app.clock.now());
    let tomorrow = date_from_days(days_from_date(today) + 1);
    let farthest = now.as_microsecond() + POSTPONED_SECONDS * 1_000_000 + CLOCK_SKEW_MICROSECONDS;
    let wake = move |tx: &mut Tx<'_>| {
        // Work that waits for longer than any work is postponed was postponed before the clock was set back.
        tx.execute(PULL_IN, params![now, farthest])?;
        Ok::<_, Error>(tx.execute(WAKE, params![today, now, WOKEN_MAX, tomorrow])?)
    };
    Ok(app.db.write(wake).await? as usize)
}

const NEXT: &str =
    "select user_id from insight_work where wanted_at <= $1 order by wanted_at, user_id limit 1";
const POSTPONE: &str = "update insight_work set wanted_at = $2 where user_id = $1";
const PULL_IN: &str = "update insight_work set wanted_at = $1 where wanted_at > $2";
const WAKE: &str = "insert into insight_work (user_id, asked, everything_at, wanted_at)
    select u.id, 1, $2, $2 from users u left join insights i on i.user_id = u.id
    where u.connected_at is not null
    and (i.computed_on is null or i.computed_on < $1 or i.computed_on > $4)
    and not exists (select 1 from insight_work w where w.user_id = u.id) limit $3
    on conflict do nothing";
const WAKE_FOR_METHOD: &str = "insert into insight_work (user_id, asked, everything_at, wanted_at)
    select user_id, 1, $2, $2 from insights i where method <> $1
    and not exists (select 1 from insight_work w where w.user_id = i.user_id)
    on conflict do nothing";

pub(crate) fn statements() -> Vec<&'static str> {
    let own = [NEXT, POSTPONE, PULL_IN, WAKE, WAKE_FOR_METHOD];
    [&own[..], lines::STATEMENTS, pages::STATEMENTS, recompute::STATEMENTS].concat()
}
