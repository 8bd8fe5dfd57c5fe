//! What the rows behind a filter come to, in each of their currencies.

use std::collections::BTreeMap;

use base::{AccountId, Currency, Date, date_from_days};
use wire::v1::Scope;

use super::query::{Query, Wanted};
use super::{Accounts, Filter, check, visible_accounts};
use crate::{App, Caller, Result};

/// Moves between the person's own accounts are counted, but neither came in nor went out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Total {
    pub currency: Currency,
    pub count: i64,
    pub in_minor: i64,
    /// Negative, as amounts that leave are.
    pub out_minor: i64,
}

impl Total {
    pub fn net_minor(self) -> i64 {
        self.in_minor.saturating_add(self.out_minor)
    }
}

/// One for each currency, that with the most rows first; none where no row fits.
pub async fn totals(app: &App, caller: &Caller, filter: &Filter) -> Result<Vec<Total>> {
    let mut totals = Vec::new();
    each(app, caller, filter, false, |_, total| add(&mut totals, total)).await?;
    totals.sort_by_key(|it: &Total| (-it.count, it.currency.to_string()));
    Ok(totals)
}

/// The same for each day, over a filter that names its first and last.
pub async fn totals_by_day(
    app: &App,
    caller: &Caller,
    filter: &Filter,
) -> Result<BTreeMap<Date, Vec<Total>>> {
    let mut days: BTreeMap<Date, Vec<Total>> = BTreeMap::new();
    each(app, caller, filter, true, |day, total| {
        add(days.entry(date_from_days(day)).or_default(), total);
    })
    .await?;
    Ok(days)
}

async fn each(
    app: &App,
    caller: &Caller,
    filter: &Filter,
    by_day: bool,
    mut visit: impl FnMut(i64, Total) + Send,
) -> Result<()> {
    caller.require(Scope::TransactionsRead)?;
    check(filter)?;
    let accounts: Accounts = visible_accounts(app, caller, filter).await?;
    // Sums come by account, so those of accounts that are not to be seen are left out here and not row by row.
    let wanted = Wanted::new(filter, false);
    let query = Query::totals(caller, &wanted, by_day);
    app.db
        .each(&query.sql, &query.params, |row| {
            let account: AccountId = row.get(0)?;
            let day: Option<i64> = row.get(1)?;
            if let Some(account) = accounts.find(account) {
                let total = Total {
                    currency: account.currency,
                    count: row.get(2)?,
                    in_minor: row.get(3)?,
                    out_minor: row.get(4)?,
                };
                visit(day.unwrap_or_default(), total);
            }
            Ok(())
        })
        .await?;
    Ok(())
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
