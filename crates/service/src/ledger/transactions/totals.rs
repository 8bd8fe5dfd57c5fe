//! Totals of the transactions that match a filter, by currency.

use std::collections::BTreeMap;

use base::{AccountId, Currency, Date, TransactionId, date_from_days, split};
use wire::v1::Scope;

use super::query::{ListRange, PreparedFilter, Query};
use super::row::counted_parts;
use super::search::{self, CandidateDays, Needle};
use super::{Filter, VisibleAccounts, check, kept_by_filter, visible_accounts};
use crate::{App, Caller, Result};

/// The sums of one currency. Transfers between the person's own accounts count in `count`, but in neither sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Total {
    pub currency: Currency,
    pub count: i64,
    pub in_minor: i64,
    /// Negative, like the amounts of outflows.
    pub out_minor: i64,
}

impl Total {
    pub fn net_minor(self) -> i64 {
        self.in_minor.saturating_add(self.out_minor)
    }
}

/// One total for each currency, the one with the most rows first.
pub async fn totals(app: &App, caller: &Caller, filter: &Filter) -> Result<Vec<Total>> {
    caller.require(Scope::TransactionsRead)?;
    check(filter)?;
    let accounts = visible_accounts(app, caller, filter).await?;
    let key = kept_by_filter::key_of(caller, filter);
    if let Some(kept) =
        key.as_ref().and_then(|it| app.kept_by_filter.totals.find(it, accounts.stamp()))
    {
        return Ok(kept);
    }
    let mut totals = Vec::new();
    let mut collect = |_, total| add(&mut totals, total);
    each(app, caller, (filter, &accounts), false, &mut collect).await?;
    totals.sort_by_key(|it: &Total| (-it.count, it.currency.to_string()));
    if let Some(key) = key {
        app.kept_by_filter.totals.insert(key, accounts.stamp(), &totals);
    }
    Ok(totals)
}

/// The totals of each day. The filter must have a first and a last day.
pub async fn totals_by_day(
    app: &App,
    caller: &Caller,
    filter: &Filter,
) -> Result<BTreeMap<Date, Vec<Total>>> {
    caller.require(Scope::TransactionsRead)?;
    check(filter)?;
    let accounts = visible_accounts(app, caller, filter).await?;
    let key = kept_by_filter::key_of(caller, filter);
    let all_kept = &app.kept_by_filter.totals_by_day;
    if let Some(kept) = key.as_ref().and_then(|it| all_kept.find(it, accounts.stamp())) {
        return Ok(kept);
    }
    let mut days: BTreeMap<Date, Vec<Total>> = BTreeMap::new();
    let mut collect = |day, total| add(days.entry(date_from_days(day)).or_default(), total);
    each(app, caller, (filter, &accounts), true, &mut collect).await?;
    if let Some(key) = key {
        all_kept.insert(key, accounts.stamp(), &days);
    }
    Ok(days)
}

async fn each(
    app: &App,
    caller: &Caller,
    (filter, accounts): (&Filter, &VisibleAccounts),
    by_day: bool,
    visit: &mut (impl FnMut(i64, Total) + Send),
) -> Result<()> {
    // Sums come by account, so those of invisible accounts are left out here and not row by row.
    let prepared = PreparedFilter::new(filter, false);
    if let Some(q) = filter.q.as_deref().filter(|it| !it.is_empty()) {
        let searching = each_match(app, caller, &prepared, accounts, (q, visit));
        return search::with_time_limit(app, searching).await;
    }
    let query = Query::totals(caller, &prepared, by_day);
    let sums = app.db.all(&query.sql, &query.params, |row| {
        let account: AccountId = row.get(0)?;
        let day: Option<i64> = row.get(1)?;
        let total = accounts.find(account).map(|account| {
            Ok::<_, db::Error>(Total {
                currency: account.currency,
                count: row.get(2)?,
                in_minor: row.get(3)?,
                out_minor: row.get(4)?,
            })
        });
        Ok((day.unwrap_or_default(), total.transpose()?))
    });
    for (day, total) in sums.await? {
        if let Some(total) = total {
            visit(day, total);
        }
    }
    if prepared.counts_parts() {
        let query = Query::split_amounts(caller, &prepared);
        let add = |row: &db::Row<'_>| {
            if let Some(account) = accounts.find(row.get(1)?) {
                visit(row.get(2)?, total_of_row(row, account.currency, filter)?);
            }
            Ok(())
        };
        app.db.each_slow(&query.sql, &query.params, add).await?;
    }
    Ok(())
}

/// Visits each row that contains a text, as a total of its own.
async fn each_match(
    app: &App,
    caller: &Caller,
    prepared: &PreparedFilter<'_>,
    accounts: &VisibleAccounts,
    (q, visit): (&str, &mut (impl FnMut(i64, Total) + Send)),
) -> Result<()> {
    let mut needle = Needle::new(q);
    let mut candidates =
        CandidateDays::new(app, caller.user, &needle, prepared.filter, None).await?;
    while let Some(days) = candidates.next(app).await? {
        let mut after: Option<(i64, TransactionId)> = None;
        for limit in search::chunks(0) {
            let range = ListRange { after, days: Some(days), limit };
            let query = Query::amounts(caller, prepared, range);
            let mut count = 0;
            let reading = app.db.each_slow(&query.sql, &query.params, |row| {
                count += 1;
                let day = row.get(2)?;
                after = Some((day, row.get(0)?));
                let texts: [Option<&str>; 3] = [row.get(5)?, row.get(6)?, row.get(7)?];
                let is_found = texts.into_iter().flatten().any(|it| needle.is_in(it));
                if let Some(account) = accounts.find(row.get(1)?).filter(|_| is_found) {
                    visit(day, total_of_row(row, account.currency, prepared.filter)?);
                }
                Ok(())
            });
            reading.await?;
            if count < limit {
                break;
            }
        }
    }
    Ok(())
}

/// The total of one row of `Query::amounts`. Of a split transaction, only the parts count that match the filter.
fn total_of_row(row: &db::Row<'_>, currency: Currency, filter: &Filter) -> db::Result<Total> {
    let (mut amount, transfer): (i64, Option<&str>) = (row.get(3)?, row.get(4)?);
    if let Some(parts) = counted_parts(row, amount, 8)? {
        let spending: Option<i64> = if filter.spending { row.get(10)? } else { None };
        let matches = |(index, it): &(usize, split::SplitPart<'_>)| {
            let primary = filter.category_tier1.as_deref();
            primary.is_none_or(|code| it.category.primary() == code)
                && filter.category.is_none_or(|category| it.category == category)
                && spending.is_none_or(|counted| counted & (1 << index) != 0)
        };
        let parts = split::read(parts).flatten().enumerate().filter(matches);
        amount = parts.fold(0, |sum, (_, it)| sum.saturating_add(it.amount_minor));
    }
    let counted = if transfer.is_none() { amount } else { 0 };
    Ok(Total { currency, count: 1, in_minor: counted.max(0), out_minor: counted.min(0) })
}

fn add(totals: &mut Vec<Total>, more: Total) {
    match totals.iter_mut().find(|it| it.currency == more.currency) {
        Some(total) => {
            total.count += more.count;
            total.in_minor = total.in_minor.saturating_add(more.in_minor);
            total.out_minor = total.out_minor.saturating_add(more.out_minor);
        }
        None => totals.push(more),
    }
}
