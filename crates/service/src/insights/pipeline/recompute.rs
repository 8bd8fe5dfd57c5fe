//! The recompute of one person: which rows are dirty, and the order of the steps.

use std::collections::BTreeSet;

use base::{Date, Timestamp, UserId, days_from_date};
use db::{Tx, params};

use super::METHOD;
use crate::access::users;
use crate::classify::reclassify::reclassify;
use crate::classify::recompute::{Recompute, RecomputeScope};
use crate::insights::income_reports::{IncomeReport, Version};
use crate::insights::{benefits, cash_flow, household_ledger, income, recurring, scores};
use crate::platform::dirty_queue::DirtyTransaction;
use crate::platform::meters::StepTimer;
use crate::{App, Result};

/// Recomputes a person whose row the transaction has locked. Returns the new report of their income, for the time after
/// the commit; none if nothing was queued.
pub(super) fn recompute(
    tx: &mut Tx<'_>,
    app: &App,
    user: UserId,
) -> Result<Option<(Version, IncomeReport)>> {
    tx.allow_long_statements()?;
    let mut steps = StepTimer::start(&app.meters);
    let now = tx.now()?;
    let today = users::timezone_in(tx, user)?.date_at(now);
    let Some(Work { scope, asked, wanted_at, all_months, changed_days }) =
        find_work(tx, today, user)?
    else {
        return Ok(None);
    };
    let mut run = Recompute::new(tx, app, user, scope)?;
    (run.all_months, run.changed_days) = (all_months, changed_days);
    run.check_handover((asked, wanted_at));
    steps.end("find_work");
    reclassify(tx, &mut run)?;
    steps.end("classify");
    recurring::recompute(tx, &mut run)?;
    steps.end("recurring");
    let household = household_ledger::from_packed_months(tx, &run)?;
    steps.end("ledger");
    let (income, flows) = calc::income::analyze_with_cash_flows(&household.ledger);
    let excluded = income::excluded(&run, &household, &income.window);
    income::save(tx, &mut run, (&income, &excluded))?;
    steps.end("income");
    cash_flow::recompute(tx, &mut run, &household, &flows)?;
    steps.end("cash_flow");
    let missing = scores::recompute(tx, &mut run, &household.ledger, &income)?;
    steps.end("scores");
    benefits::recompute(tx, &mut run)?;
    steps.end("benefits");
    let currency = run.currency;
    finish(tx, run, asked, missing.as_deref())?;
    steps.end("publish");
    let version = Version::get_in(tx, user, now)?;
    Ok(version.map(|it| (it, IncomeReport::new(income, currency, excluded))))
}

/// The scope of a recompute.
struct Work {
    scope: RecomputeScope,
    /// How often it was requested.
    asked: i64,
    wanted_at: Timestamp,
    all_months: bool,
    changed_days: BTreeSet<i64>,
}

/// The scope of the recompute; none if nothing is queued.
fn find_work(tx: &mut Tx<'_>, today: Date, user: UserId) -> Result<Option<Work>> {
    let work = tx.first(WORK, params![user], |row| {
        Ok((row.get::<Option<i64>>(0)?, row.get::<i64>(1)?, row.get::<Timestamp>(2)?))
    })?;
    let Some((everything_at, asked, wanted_at)) = work else { return Ok(None) };
    let done = tx.first(DONE, params![user, *METHOD], |row| row.get::<i64>(0))?;
    let dirty = tx.all(CHANGES, params![user], |row| {
        Ok(DirtyTransaction {
            account: row.get(0)?,
            merchant_key: row.get(1)?,
            posted_on_days: row.get(2)?,
            amount_minor: row.get(3)?,
        })
    })?;
    let changed_days = dirty.iter().map(|it| it.posted_on_days).collect();
    let scope = if everything_at.is_some() || done != Some(days_from_date(today)) {
        RecomputeScope::Everything
    } else {
        RecomputeScope::Around(dirty.into_iter().collect())
    };
    let all_months = everything_at.is_some() || done.is_none();
    Ok(Some(Work { scope, asked, wanted_at, all_months, changed_days }))
}

/// Publishes the events, empties the person's part of the dirty queue and records the recompute.
fn finish(
    tx: &mut Tx<'_>,
    mut run: Recompute,
    asked: i64,
    scores_missing: Option<&str>,
) -> Result<()> {
    run.publish_events(tx)?;
    tx.execute(CLEAR_CHANGES, params![run.user])?;
    tx.execute(CLEAR_WORK, params![run.user, asked])?;
    let day_ends_at = run.timezone.start_of(run.today.tomorrow().unwrap_or(Date::MAX));
    let values = params![run.user, *METHOD, run.today, run.now, scores_missing, day_ends_at];
    tx.execute(SAVE_DONE, values)?;
    Ok(())
}

const WORK: &str = "select everything_at, asked, wanted_at from insight_work where user_id = $1";
const DONE: &str = "select computed_on from insights where user_id = $1 and method = $2";
const CHANGES: &str =
    "select account_id, merchant_key, posted_on, amount_minor from insight_changes
    where user_id = $1";
const CLEAR_CHANGES: &str = "delete from insight_changes where user_id = $1";
const CLEAR_WORK: &str = "delete from insight_work where user_id = $1 and asked = $2";
const SAVE_DONE: &str =
    "insert into insights (user_id, method, computed_on, computed_at, scores_missing, day_ends_at)
    values ($1, $2, $3, $4, $5, $6) on conflict (user_id) do update set method = excluded.method,
    computed_on = excluded.computed_on, computed_at = case when excluded.computed_at > insights.computed_at
        then excluded.computed_at else insights.computed_at + 1 end,
    scores_missing = excluded.scores_missing, day_ends_at = excluded.day_ends_at";

pub(super) const STATEMENTS: &[&str] = &[WORK, DONE, CHANGES, CLEAR_CHANGES, CLEAR_WORK, SAVE_DONE];
