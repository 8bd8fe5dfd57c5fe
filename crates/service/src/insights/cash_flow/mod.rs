//! Cash flows: income, spending and unclassified inflows, packed by month, so that sums over years read little.
//!
//! The recompute classifies every entry by the income analysis (`calc::income::CashFlow`) and stores the months that
//! differ. Everything that shows income or spending reads from here.

mod hidden;
mod packing;
mod spending_exceptions;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use base::{Date, TransactionId, UserId, date_from_days, days_from_date};
use calc::income::{CashFlow, REFUND_DAYS, analyze_with_cash_flows};
use calc::ledger::Entry;
use db::{Db, Tx, params};
use jiff::ToSpan as _;
use xxhash_rust::xxh3::xxh3_64;

pub(super) use self::hidden::each_month_with;
pub(super) use self::packing::{FlowKind, IndexedFlow, UnpackedMonth};
use self::packing::{PackedFlow, PackedMonth, unpack};
use super::household_ledger::{self, EntryDetail, HouseholdLedger, first_month_in_window};
use crate::Result;
use crate::classify::linked_refunds;
use crate::classify::recompute::Recompute;

/// Months before the window that are classified together. Each reads `REFUND_DAYS` before and after it once more.
const PAST_MONTHS: i64 = 12;

/// Stores the months whose cash flows changed: those in the window, and past months near changed rows.
pub(super) fn recompute(
    tx: &mut Tx<'_>,
    run: &mut Recompute,
    household: &HouseholdLedger,
    flows: &[Option<CashFlow>],
) -> Result<()> {
    let window = first_month_in_window(run.today);
    let mut packed = pack(household, flows, |on| on >= window);
    let days = days_from_date(window)..=i64::MAX;
    spending_exceptions::recompute(tx, run, (household, flows), days)?;
    let stored =
        tx.all(DIGESTS, params![run.user], |row| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?)))?;
    let stored: BTreeMap<i64, i64> = stored.into_iter().collect();
    save(tx, run, &stored, days_from_date(window)..i64::MAX, &packed)?;
    for (first, last) in past_spans(tx, run, &stored, window)? {
        let around = |on: Date, days: i64| date_from_days(days_from_date(on) + days);
        let context = (around(first, -REFUND_DAYS), around(last, REFUND_DAYS));
        let past = household_ledger::of_past(tx, &run.household(None), context)?;
        let (_, flows) = analyze_with_cash_flows(&past.ledger);
        packed = pack(&past, &flows, |on| first <= on && on <= last);
        let days = days_from_date(first)..=days_from_date(last);
        spending_exceptions::recompute(tx, run, (&past, &flows), days)?;
        save(tx, run, &stored, days_from_date(first)..days_from_date(last), &packed)?;
    }
    Ok(())
}

/// The spans of whole months before the window that must be classified again.
fn past_spans(
    tx: &mut Tx<'_>,
    run: &Recompute,
    stored: &BTreeMap<i64, i64>,
    window: Date,
) -> Result<Vec<(Date, Date)>> {
    let mut spans = Vec::new();
    if run.all_months {
        let first = tx.first(FIRST, params![run.user], |row| row.get::<Option<i64>>(0))?.flatten();
        // A stored month before the first row holds rows that are gone.
        let first = first.into_iter().chain(stored.keys().next().copied()).min();
        let mut start = first.map_or(window, |it| date_from_days(it).first_of_month());
        while start < window {
            let end = start.saturating_add(PAST_MONTHS.months()).min(window);
            spans.push((start, date_from_days(days_from_date(end) - 1)));
            start = end;
        }
        return Ok(spans);
    }
    let near = |day: i64| {
        let month_of = |day: i64| date_from_days(day).first_of_month();
        let (first, last) = (month_of(day - REFUND_DAYS), month_of(day + REFUND_DAYS));
        std::iter::successors(Some(first), |it| Some(it.saturating_add(1.month())))
            .take_while(move |it| *it <= last)
    };
    // A linked refund is in the category of its purchase, which may lie long before it.
    let refund_days = linked_refunds::days_of_refunds(tx, run.user, &run.changed_days)?;
    let days = run.changed_days.iter().chain(&refund_days);
    let months: BTreeSet<Date> = days.flat_map(|it| near(*it)).collect();
    for month in months.into_iter().filter(|it| *it < window) {
        let last = month.last_of_month();
        match spans.last_mut() {
            Some((_, end)) if days_from_date(*end) + 1 == days_from_date(month) => *end = last,
            _ => spans.push((month, last)),
        }
    }
    Ok(spans)
}

/// Packs the cash flows on some days by month.
fn pack(
    household: &HouseholdLedger,
    flows: &[Option<CashFlow>],
    counts: impl Fn(Date) -> bool,
) -> BTreeMap<i64, PackedMonth> {
    let mut months: BTreeMap<i64, PackedMonth> = BTreeMap::new();
    let ledger = &household.ledger;
    let mut last: Option<TransactionId> = None;
    let mut add = |entry: &Entry, detail: &EntryDetail, flow: CashFlow| {
        let month = days_from_date(entry.on.first_of_month());
        months.entry(month).or_default().add(&PackedFlow {
            day: entry.on.day(),
            kind: FlowKind::of(flow),
            account: ledger.account(entry).id,
            category: match flow {
                CashFlow::Spending(category) => category,
                CashFlow::Income | CashFlow::Unclassified => entry.category,
            },
            counterparty: &household.counterparties[detail.counterparty],
            amount_minor: detail.amount_minor,
            // Only parts of one transaction share an id.
            is_further_part: last == Some(entry.id),
        });
        last = Some(entry.id);
    };
    let known = ledger.entries.iter().zip(&household.details).zip(flows);
    for ((entry, detail), flow) in known.filter(|((entry, _), _)| counts(entry.on)) {
        if let Some(flow) = flow {
            add(entry, detail, *flow);
        }
    }
    for (entry, detail) in household.unconverted.iter().filter(|(it, _)| counts(it.on)) {
        if let Some(flow) = CashFlow::of_unconverted(ledger, entry) {
            add(entry, detail, flow);
        }
    }
    months
}

/// Stores the months of a span that differ from the stored ones, and deletes those without cash flows.
fn save(
    tx: &mut Tx<'_>,
    run: &Recompute,
    stored: &BTreeMap<i64, i64>,
    span: std::ops::Range<i64>,
    months: &BTreeMap<i64, PackedMonth>,
) -> Result<()> {
    for (month, packed) in months {
        let bytes = packed.to_bytes();
        let digest = xxh3_64(&bytes) as i64;
        if stored.get(month) != Some(&digest) {
            tx.execute(SAVE, params![run.user, *month, digest, &bytes])?;
        }
    }
    for (month, _) in stored.range(span).filter(|(month, _)| !months.contains_key(month)) {
        tx.execute(DELETE, params![run.user, *month])?;
    }
    Ok(())
}

/// Visits the stored months that overlap some days, oldest first.
pub(super) async fn each_month(
    db: &Db,
    user: UserId,
    (first, last): (Date, Date),
    mut visit: impl FnMut(Date, &UnpackedMonth<'_>) + Send,
) -> Result<()> {
    let first = days_from_date(first.first_of_month());
    let read = |row: &db::Row<'_>| {
        let reason = "a month of cash flows is damaged, or holds an unknown word";
        let damaged = || db::Error::Decode { column: 1, reason: reason.to_owned() };
        visit(date_from_days(row.get(0)?), &unpack(row.get(1)?).ok_or_else(damaged)?);
        Ok(())
    };
    Ok(db.each(MONTHS, params![user, first, days_from_date(last)], read).await?)
}

const DIGESTS: &str = "select month, digest from cash_flow_months where user_id = $1";
const FIRST: &str = "select min(posted_on) from transactions where user_id = $1";
const SAVE: &str =
    "insert into cash_flow_months (user_id, month, digest, flows) values ($1, $2, $3, $4)
    on conflict (user_id, month) do update set digest = excluded.digest, flows = excluded.flows";
const DELETE: &str = "delete from cash_flow_months where user_id = $1 and month = $2";
const MONTHS: &str = "select month, flows from cash_flow_months
    where user_id = $1 and month between $2 and $3 order by month";

const OWN_STATEMENTS: &[&str] = &[DIGESTS, FIRST, SAVE, DELETE, MONTHS];

pub(super) fn statements() -> Vec<&'static str> {
    [OWN_STATEMENTS, spending_exceptions::STATEMENTS].concat()
}
