//! The value of a person's investments over time, their return, and the dividends that they paid.

use std::collections::{BTreeMap, BTreeSet};

use base::draft::AccountKind;
use base::{AccountId, Currency, Date, Money, date_from_days, days_from_date};
use calc::balances::{History, on_days, opening};
pub use calc::performance::Performance;
use calc::performance::{Flow, Valuation};
use calc::rates::DailyRates;
use db::params;
use wire::v1::Scope;

use crate::access::users;
use crate::ledger::balances::Point;
use crate::ledger::daily_nets::{self, Part};
use crate::ledger::net_worth::ExcludedBalance;
use crate::ledger::spans::Span;
use crate::ledger::{accounts, balances, rates};
use crate::{App, Caller, Result};

/// Dividends of this many days are counted.
const DIVIDEND_DAYS: i64 = 365;
const DIVIDENDS_SHOWN: usize = 12;

/// How the investment accounts did over a span.
#[derive(Debug, Clone)]
pub struct Development {
    pub currency: Currency,
    /// The value at the end of each day on which one was reported, oldest first.
    pub points: Vec<Point>,
    /// None if there are not two values.
    pub performance: Option<Performance>,
    /// Dividends and interest of the last year, in the base currency.
    pub dividends_minor: i64,
    /// The newest payments, newest first.
    pub dividends: Vec<Dividend>,
    /// The balances of accounts that are left out, because there is no exchange rate for their currency.
    pub excluded: Vec<ExcludedBalance>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dividend {
    pub on: Date,
    pub account: AccountId,
    pub account_name: String,
    pub description: String,
    pub amount: Money,
}

/// The performance of all visible investment accounts, or of one. Deposits and withdrawals are transfers between
/// accounts, other transactions that are labeled as such, and contributions to a retirement plan; purchases, sales,
/// dividends and fees are part of the return. An account counts from its first known balance on, which is a deposit of
/// that day.
pub async fn get(
    app: &App,
    caller: &Caller,
    account: Option<AccountId>,
    span: Span,
) -> Result<Development> {
    caller.require(Scope::InvestmentsRead)?;
    let today = app.today(caller);
    let mut all = accounts::list_all(app, caller).await?;
    all.retain(|it| match account {
        Some(id) => it.id == id,
        None => it.kind == AccountKind::Investment && it.hidden_at.is_none(),
    });
    let currency = users::base_currency(app, caller).await?;
    let currencies: BTreeSet<Currency> = all.iter().map(|it| it.currency).collect();
    let stamp = daily_nets::stamp(app, caller.user).await?;
    let start = span.start(today);
    let daily = rates::daily(app, caller, currency, &currencies, start).await?;
    let everything = all.clone();
    let excluded = split_off_excluded(&mut all, &daily, today);
    let histories = balances::read_histories(app, caller, &all, start).await?;
    let first = histories.iter().filter_map(opening).min();
    let Some(first) = first.map(|it| start.map_or(it, |start| it.max(start))) else {
        return Ok(Development::empty(currency, excluded));
    };
    let mut days: BTreeSet<Date> = [first, today].into();
    for history in &histories {
        let reported = history.snapshots.iter().map(|it| it.on);
        days.extend(reported.filter(|it| (first..=today).contains(it)));
    }
    let mut values: BTreeMap<Date, i64> = BTreeMap::new();
    let mut flows: Vec<Flow> = Vec::new();
    for (account, history) in all.iter().zip(&histories) {
        let convert = |minor, on| daily.to_base_on(minor, account.currency, on);
        let rows = on_days(history, days.iter().copied());
        for row in &rows {
            let sum = values.entry(row.on).or_default();
            *sum = sum.saturating_add(convert(row.current_minor, row.on).unwrap_or(0));
        }
        let counted_from = rows.first().map_or(first, |it| it.on);
        // The value on the first day includes what was put in on that day.
        let from = days_from_date(counted_from) + 1;
        let key = (caller.user, account.id, Part::Deposits);
        let mut own = daily_nets::since(app, key, from, stamp).await?;
        // An account that is first known after the start brings its value with it.
        own.extend(rows.first().filter(|it| it.on > first).map(|it| (it.on, it.current_minor)));
        own.extend(
            left_at_closing(account, history)
                .into_iter()
                .filter(|it| (first..=today).contains(&it.0)),
        );
        let converted = own.into_iter().filter_map(|(on, minor)| Some((on, convert(minor, on)?)));
        flows.extend(converted.map(|(on, minor)| Flow { on, minor }));
    }
    let valuations: Vec<Valuation> =
        values.iter().map(|(on, minor)| Valuation { on: *on, minor: *minor }).collect();
    let paid = dividend_days(app, caller, &everything, stamp).await?;
    let converted = paid.iter().zip(&everything).flat_map(|(days, account)| {
        days.iter().filter_map(|(on, minor)| daily.to_base_on(*minor, account.currency, *on))
    });
    let dividends_minor = converted.fold(0, i64::saturating_add);
    let dividends = newest_dividends(app, caller, &everything, &paid).await?;
    let point = |it: &Valuation| Point { on: it.on, minor: it.minor, reported: true };
    Ok(Development {
        currency,
        points: valuations.iter().map(point).collect(),
        performance: calc::performance::performance(&valuations, &flows),
        dividends_minor,
        dividends,
        excluded,
    })
}

/// Takes out the accounts without an exchange rate, open or closed, and returns their balances by currency.
fn split_off_excluded(
    accounts: &mut Vec<accounts::Account>,
    rates: &DailyRates,
    today: Date,
) -> Vec<ExcludedBalance> {
    let mut excluded: BTreeMap<Currency, ExcludedBalance> = BTreeMap::new();
    accounts.retain(|account| {
        let currency = account.currency;
        let is_known = rates.to_base_on(0, currency, today).is_some();
        if !is_known {
            let none = ExcludedBalance { currency, minor: 0, accounts: 0 };
            let of = excluded.entry(currency).or_insert(none);
            of.minor = of.minor.saturating_add(account.balance_current_minor.unwrap_or(0));
            of.accounts += 1;
        }
        is_known
    });
    excluded.into_values().collect()
}

/// What was in an account when it was closed, which has left it on that day.
fn left_at_closing(account: &accounts::Account, history: &History) -> Option<(Date, i64)> {
    let closed = account.closed_on?;
    let before = date_from_days(days_from_date(closed) - 1);
    let left = on_days(history, [before]).first()?.current_minor;
    Some((closed, left.saturating_neg()))
}

impl Development {
    fn empty(currency: Currency, excluded: Vec<ExcludedBalance>) -> Development {
        Development {
            currency,
            points: Vec::new(),
            performance: None,
            dividends_minor: 0,
            dividends: Vec::new(),
            excluded,
        }
    }
}

/// The dividends and interest of each account in the last year, by day.
async fn dividend_days(
    app: &App,
    caller: &Caller,
    accounts: &[accounts::Account],
    stamp: i64,
) -> Result<Vec<Vec<(Date, i64)>>> {
    let since = days_from_date(app.today(caller)) - DIVIDEND_DAYS;
    let mut paid = Vec::new();
    for account in accounts {
        let key = (caller.user, account.id, Part::Dividends);
        paid.push(daily_nets::since(app, key, since, stamp).await?);
    }
    Ok(paid)
}

/// The newest payments of all accounts. Only the days that can have one of them are read.
async fn newest_dividends(
    app: &App,
    caller: &Caller,
    accounts: &[accounts::Account],
    paid: &[Vec<(Date, i64)>],
) -> Result<Vec<Dividend>> {
    let mut days: Vec<Date> = paid.iter().flatten().map(|(on, _)| *on).collect();
    days.sort_unstable_by(|a, b| b.cmp(a));
    days.truncate(DIVIDENDS_SHOWN);
    let Some(oldest) = days.last() else { return Ok(Vec::new()) };
    let mut newest = Vec::new();
    for account in accounts {
        let values = params![caller.user, account.id, *oldest, DIVIDENDS_SHOWN as i64];
        let found = app.db.all(DIVIDENDS, values, |row| {
            Ok(Dividend {
                on: row.get(0)?,
                account: account.id,
                account_name: account.name.clone(),
                description: row.get(2)?,
                amount: Money::new(row.get(1)?, account.currency),
            })
        });
        newest.extend(found.await?);
    }
    newest.sort_by(|a, b| (b.on, &a.description).cmp(&(a.on, &b.description)));
    newest.truncate(DIVIDENDS_SHOWN);
    Ok(newest)
}

const DIVIDENDS: &str = "select posted_on, amount_minor, description from transactions
    where user_id = $1 and account_id = $2 and posted_on >= $3 and state = 'posted'
    and category in ('INCOME_DIVIDENDS', 'INCOME_INTEREST_EARNED') and amount_minor > 0
    order by posted_on desc, description limit $4";

pub(crate) const STATEMENTS: &[&str] = &[DIVIDENDS];
