//! Cash flows of a hidden account. They are computed when somebody asks for them and not stored: no sum of the household
//! counts them.

use std::collections::BTreeMap;

use base::{AccountId, Date, UserId, date_from_days, days_from_date};
use calc::income::{REFUND_DAYS, analyze_with_cash_flows};
use db::Tx;
use jiff::ToSpan as _;

use super::packing::{UnpackedMonth, unpack};
use super::{PAST_MONTHS, pack};
use crate::classify::recompute::{Recompute, RecomputeScope};
use crate::insights::household_ledger;
use crate::{App, Error, Result};

/// Visits the months that overlap some days, oldest first, as if the account were not hidden. A year at a time, because on
/// SQLite everybody else's changes wait meanwhile.
pub(in crate::insights) async fn each_month_with(
    app: &App,
    user: UserId,
    hidden: AccountId,
    (first, last): (Date, Date),
    mut visit: impl FnMut(Date, &UnpackedMonth<'_>) + Send,
) -> Result<()> {
    let mut start = first.first_of_month();
    while start <= last {
        let next = start.saturating_add(PAST_MONTHS.months());
        let end = date_from_days(days_from_date(next) - 1).min(last);
        let mine = app.clone();
        let months = app.db.write(move |tx| compute(tx, &mine, user, hidden, (start, end)));
        for (month, bytes) in months.await? {
            let damaged = || Error::internal("a month of cash flows cannot be read");
            visit(date_from_days(month), &unpack(&bytes).ok_or_else(damaged)?);
        }
        start = next;
    }
    Ok(())
}

/// The packed months between two days. It only reads, in one transaction so that all figures are of one moment.
fn compute(
    tx: &mut Tx<'_>,
    app: &App,
    user: UserId,
    hidden: AccountId,
    (first, last): (Date, Date),
) -> Result<BTreeMap<i64, Vec<u8>>> {
    let run = Recompute::new(tx, app, user, RecomputeScope::Everything)?;
    let around = |on: Date, days: i64| date_from_days(days_from_date(on) + days);
    let context = (around(first, -REFUND_DAYS), around(last, REFUND_DAYS));
    let household = run.household_with(hidden);
    let ledger = household_ledger::of_past(tx, &household, context)?;
    let (_, flows) = analyze_with_cash_flows(&ledger.ledger);
    let months = pack(&ledger, &flows, |on| first <= on && on <= last);
    Ok(months.into_iter().map(|(month, packed)| (month, packed.to_bytes())).collect())
}
