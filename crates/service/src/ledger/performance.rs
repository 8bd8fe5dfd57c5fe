//! The value of a person's investments over time, their return, and the dividends that they paid.

use std::collections::{BTreeMap, BTreeSet};

use base::draft::AccountKind;
use base::{AccountId, Currency, Date, Money, date_from_days, days_from_date};
use calc::balances::{History, on_days, opening};
pub use calc::performance::Performance;
use calc::performance::{Flow, Valuation};
use db::params;
use wire::v1::Scope;

use crate::access::users;
use crate::ledger::balances::Point;
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
/// dividends and fees are part of the return. Contributions have the category of purchases and sales, so their text tells. An account counts from its first known balance on, which is a deposit of that day.
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
    let start = span.start(today);
    let daily = rates::daily(app, caller, currency, &currencies, start).await?;
    let mut histories = Vec::new();
    for account in &all {
        histories.push(balances::read_history(app, caller, account, start).await?);
    }
    let first = histories.iter().filter_map(opening).min();
    let Some(first) = first.map(|it| start.map_or(it, |start| it.max(start))) else {
        return Ok(Development::empty(currency));
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
        let mut own = list_flows(app, caller, account.id, counted_from).await?;
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
    let mut dividends = list_dividends(app, caller, &all).await?;
    let paid = |it: &Dividend| daily.to_base_on(it.amount.minor(), it.amount.currency(), it.on);
    let dividends_minor = dividends.iter().filter_map(paid).fold(0, i64::saturating_add);
    dividends.truncate(DIVIDENDS_SHOWN);
    let point = |it: &Valuation| Point { on: it.on, minor: it.minor, reported: true };
    Ok(Development {
        currency,
        points: valuations.iter().map(point).collect(),
        performance: calc::performance::performance(&valuations, &flows),
        dividends_minor,
        dividends,
    })
}

/// What was in an account when it was closed, which has left it on that day.
fn left_at_closing(account: &accounts::Account, history: &History) -> Option<(Date, i64)> {
    let closed = account.closed_on?;
    let before = date_from_days(days_from_date(closed) - 1);
    let left = on_days(history, [before]).first()?.current_minor;
    Some((closed, left.saturating_neg()))
}

impl Development {
    fn empty(currency: Currency) -> Development {
        Development {
            currency,
            points: Vec::new(),
            performance: None,
            dividends_minor: 0,
            dividends: Vec::new(),
        }
    }
}

/// What was put into an account after a day, by day.
async fn list_flows(
    app: &App,
    caller: &Caller,
    account: AccountId,
    after: Date,
) -> Result<Vec<(Date, i64)>> {
    let key = params![caller.user, account, after];
    Ok(app.db.all(FLOWS, key, |row| Ok((row.get(0)?, row.get(1)?))).await?)
}

async fn list_dividends(
    app: &App,
    caller: &Caller,
    accounts: &[accounts::Account],
) -> Result<Vec<Dividend>> {
    let since = date_from_days(days_from_date(app.today(caller)) - DIVIDEND_DAYS);
    let mut all = Vec::new();
    for account in accounts {
        let key = params![caller.user, account.id, since];
        let found = app.db.all(DIVIDENDS, key, |row| {
            Ok(Dividend {
                on: row.get(0)?,
                account: account.id,
                account_name: account.name.clone(),
                description: row.get(2)?,
                amount: Money::new(row.get(1)?, account.currency),
            })
        });
        all.extend(found.await?);
    }
    all.sort_by(|a, b| (b.on, &a.description).cmp(&(a.on, &b.description)));
    Ok(all)
}

const FLOWS: &str = "select posted_on, cast(sum(amount_minor) as bigint) from transactions
    where user_id = $1 and account_id = $2 and posted_on > $3 and state = 'posted'
    and (transfer_id is not null or category = 'INCOME_WAGES'
        or (category like 'TRANSFER%' and category not like '%INVESTMENT_AND_RETIREMENT_FUNDS')
        or (category = 'TRANSFER_IN_INVESTMENT_AND_RETIREMENT_FUNDS'
            and (lower(description) like '%contribution%' or lower(description) like '%rollover%'))
        or (category = 'TRANSFER_OUT_INVESTMENT_AND_RETIREMENT_FUNDS'
            and (lower(description) like '%withdrawal%' or lower(description) like '%rollover%')))
    group by posted_on order by posted_on limit 20000";
const DIVIDENDS: &str = "select posted_on, amount_minor, description from transactions
    where user_id = $1 and account_id = $2 and posted_on >= $3 and state = 'posted'
    and category in ('INCOME_DIVIDENDS', 'INCOME_INTEREST_EARNED') and amount_minor > 0
    order by posted_on desc limit 2000";

pub(crate) const STATEMENTS: &[&str] = &[FLOWS, DIVIDENDS];
