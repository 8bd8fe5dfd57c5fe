//! Working out what follows from a person's data: in the background, one person at a time, each in one transaction.
//!
//! Whatever changes the data says what it touched, in its own transaction. A step takes a person with such work, and
//! brings up to date what the touched rows can influence: categories and transfers around them, streams of their
//! merchants, then income, scores and benefits. The result is the one that working out everything would give.

mod ledger;
mod lines;
mod pages;
mod run;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use base::{AccountId, CLOCK_SKEW_MICROSECONDS, Timestamp, UserId, date_from_days, days_from_date};
use db::{Tx, params};

use crate::{App, Error, Result};

pub(crate) use ledger::ledger;
pub(crate) use run::{Household, Run, Scope, settle_around};

/// Raised whenever a method or a stored shape changes, so that everything is worked out anew.
const METHOD_VERSION: i64 = 2;
/// The version and the tables of words and merchants, which change more often than anyone would remember to say.
pub(crate) static METHOD: LazyLock<i64> =
    LazyLock::new(|| METHOD_VERSION << 32 | i64::from(calc::enrich::tables_fingerprint()));
/// More rows than this, and working out everything is as quick.
const TOUCHED_MAX: usize = 500;
/// How long work that failed waits, so that one person's trouble does not hold up the others.
const POSTPONED_SECONDS: i64 = 300;
const UNAVAILABLE_SECONDS: i64 = 30;
/// People that one step wakes for a new day.
const WOKEN_MAX: i64 = 500;

/// A transaction as it is, or as it was: what else could change with it is found from these.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Touch {
    pub(crate) account: AccountId,
    pub(crate) merchant_key: String,
    pub(crate) posted_on_days: i64,
    pub(crate) amount_minor: i64,
}

/// Asks for the touched rows to be looked at again, in the transaction that touched them.
pub(crate) fn touch(
    tx: &mut Tx<'_>,
    user: UserId,
    now: Timestamp,
    touched: &BTreeSet<Touch>,
) -> Result<()> {
    if touched.len() > TOUCHED_MAX {
        return touch_everything(tx, user, now);
    }
    for it in touched {
        let Touch { account, merchant_key, posted_on_days, amount_minor } = it;
        tx.execute(
            ADD_CHANGE,
            params![user, *account, merchant_key, *posted_on_days, *amount_minor],
        )?;
    }
    tx.execute(WANT, params![user, None::<Timestamp>, now])?;
    Ok(())
}

/// Asks for everything of a person's to be worked out again.
pub(crate) fn touch_everything(tx: &mut Tx<'_>, user: UserId, now: Timestamp) -> Result<()> {
    tx.execute(WANT, params![user, Some(now), now])?;
    Ok(())
}

/// Asks for everything of a person's to be worked out again; for an operator who mended something by hand.
pub async fn ask_for_everything(app: &App, user: UserId) -> Result<()> {
    let now = app.clock.now();
    app.db.write(move |tx| touch_everything(tx, user, now)).await
}

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
    match app.db.write(move |tx| run::bring_up_to_date(tx, &mine, user)).await {
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

const ADD_CHANGE: &str =
    "insert into insight_changes (user_id, account_id, merchant_key, posted_on, amount_minor)
    values ($1, $2, $3, $4, $5) on conflict do nothing";
const WANT: &str =
    "insert into insight_work (user_id, asked, everything_at, wanted_at) values ($1, 1, $2, $3)
    on conflict (user_id) do update set asked = insight_work.asked + 1,
    everything_at = coalesce(insight_work.everything_at, excluded.everything_at)";
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
    let own = [ADD_CHANGE, WANT, NEXT, POSTPONE, PULL_IN, WAKE, WAKE_FOR_METHOD];
    [&own[..], lines::STATEMENTS, pages::STATEMENTS, run::STATEMENTS].concat()
}
