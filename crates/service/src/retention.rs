//! Retention: what is deleted or thinned out when it is old, so that a person's data does not grow without end. Each
//! person is swept once a day, in short transactions; every statement reads only that person's old rows.
//!
//! `docs/running.md` lists what is kept for how long. Webhooks, sessions and other short-lived rows have background
//! steps of their own.

use base::{ImportId, UserId, days_from_date};
use db::params;

use crate::ingest::imports;
use crate::{App, Result, Tx};

const DAY_MICROSECONDS: i64 = 86_400_000_000;
/// A person is swept again after this long.
const SWEEP_EVERY_MICROSECONDS: i64 = DAY_MICROSECONDS;
/// Actions that ended are deleted after this long. The audit trail keeps what was decided.
const ACTION_DAYS: i64 = 730;
/// Scores of every day are kept for this long, a little more than the page shows; older ones once a week.
const DAILY_SCORE_DAYS: i64 = 400;
/// Balances of every day are kept for this long; older ones once a week. Between two reports, transactions say what the
/// balance was.
const DAILY_BALANCE_DAYS: i64 = 730;
/// The journal outlives the time in which an import can be undone, so that no undo finds half of it.
const JOURNAL_MARGIN_DAYS: i64 = 1;

/// Rows of each table that one transaction deletes, so that it does not block others for long.
const BATCH: i64 = 500;
/// Transactions for one person in one step; the rest follows the next day.
const BATCHES_MAX: usize = 1_000;
/// People that one step sweeps.
const PEOPLE_PER_STEP: i64 = 200;

/// Deletes and thins out old rows of people who were not swept for a day. A background step; returns how many rows it
/// deleted.
pub async fn sweep_once(app: &App) -> Result<usize> {
    let before = app.db.now().await?.as_microsecond() - SWEEP_EVERY_MICROSECONDS;
    let due: Vec<UserId> =
        app.db.all(DUE, params![before, PEOPLE_PER_STEP], |row| row.get(0)).await?;
    let mut deleted = 0;
    for user in due {
        let claim = move |tx: &mut Tx<'_>| {
            let now = tx.now()?;
            Ok::<_, crate::Error>(tx.execute(CLAIM, params![user, now, before])? == 1)
        };
        // Another process may have swept the person since.
        if app.db.write(claim).await? {
            deleted += sweep(app, user).await?;
        }
    }
    Ok(deleted)
}

/// Deletes and thins out the old rows of one person.
async fn sweep(app: &App, user: UserId) -> Result<usize> {
    let mut deleted = 0;
    for _ in 0..BATCHES_MAX {
        let cutoffs = Cutoffs::new(app);
        let counts = app.db.write(move |tx| sweep_batch(tx, user, cutoffs)).await?;
        deleted += counts.iter().sum::<u64>() as usize;
        if counts.iter().all(|it| *it < BATCH as u64) {
            break;
        }
    }
    Ok(deleted)
}

/// The moments before which data is old.
#[derive(Clone, Copy)]
struct Cutoffs {
    import: ImportId,
    action_micros: i64,
    score_day: i64,
    balance_day: i64,
}

impl Cutoffs {
    fn new(app: &App) -> Cutoffs {
        let now = app.clock.now();
        let today = days_from_date(base::TimeZone::utc().date_at(now));
        let undo = (imports::UNDO_DAYS + JOURNAL_MARGIN_DAYS) * DAY_MICROSECONDS;
        Cutoffs {
            import: ImportId::first_at(now.as_microsecond() - undo),
            action_micros: now.as_microsecond() - ACTION_DAYS * DAY_MICROSECONDS,
            score_day: today - DAILY_SCORE_DAYS,
            balance_day: today - DAILY_BALANCE_DAYS,
        }
    }
}

fn sweep_batch(tx: &mut Tx<'_>, user: UserId, cutoffs: Cutoffs) -> Result<[u64; 5]> {
    let Cutoffs { import, action_micros, score_day, balance_day } = cutoffs;
    Ok([
        tx.execute(DELETE_JOURNAL, params![user, import, BATCH])?,
        tx.execute(DELETE_IMPORTS, params![user, import, BATCH])?,
        tx.execute(DELETE_ACTIONS, params![user, action_micros, BATCH])?,
        tx.execute(THIN_SCORES, params![user, score_day, BATCH])?,
        tx.execute(THIN_BALANCES, params![user, balance_day, BATCH])?,
    ])
}

/// Keeps the files of a SQLite database small. A background step; returns how many pages were given back to the disk.
pub async fn shrink_once(app: &App) -> Result<usize> {
    Ok(app.db.shrink().await?)
}

const DUE: &str =
    "select user_id from person_states where swept_at < $1 order by swept_at limit $2";
const CLAIM: &str = "update person_states set swept_at = $2 where user_id = $1 and swept_at < $3";
const DELETE_JOURNAL: &str = "delete from import_journal where user_id = $1 and (import_id, what, row_key) in (
    select import_id, what, row_key from import_journal where user_id = $1 and import_id < $2 limit $3)";
/// Syncs that brought no transactions. Imports with transactions stay, because those are matched by their provenance.
const DELETE_IMPORTS: &str = "delete from imports where user_id = $1 and id in (
    select id from imports where user_id = $1 and id < $2 and name is null
    and new_count = 0 and changed_count = 0 and removed_count = 0 limit $3)";
const DELETE_ACTIONS: &str = "delete from actions where user_id = $1 and id in (
    select id from actions where user_id = $1 and updated_at < $2
    and status in ('executed', 'failed', 'rejected', 'expired', 'cancelled') order by updated_at limit $3)";
/// A day goes if a later one of the same week stays. Weeks begin on Thursdays, like the count of days.
const THIN_SCORES: &str = "delete from scores where user_id = $1 and observed_on in (
    select s.observed_on from scores s where s.user_id = $1 and s.observed_on < $2
    and exists (select 1 from scores n where n.user_id = s.user_id and n.observed_on > s.observed_on
        and n.observed_on < $2 and n.observed_on < (s.observed_on / 7 + 1) * 7) limit $3)";
/// Asked account by account, so that only old rows are read.
const THIN_BALANCES: &str =
    "delete from balances where user_id = $1 and (account_id, reported_on) in (
    select b.account_id, b.reported_on from accounts a cross join balances b
    where a.user_id = $1 and b.user_id = a.user_id and b.account_id = a.id and b.reported_on < $2
    and exists (select 1 from balances n where n.user_id = b.user_id and n.account_id = b.account_id
        and n.reported_on > b.reported_on and n.reported_on < $2
        and n.reported_on < (b.reported_on / 7 + 1) * 7) limit $3)";

pub(crate) const STATEMENTS: &[&str] =
    &[DUE, CLAIM, DELETE_JOURNAL, DELETE_IMPORTS, DELETE_ACTIONS, THIN_SCORES, THIN_BALANCES];
