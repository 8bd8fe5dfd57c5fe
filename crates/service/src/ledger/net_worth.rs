//! Net worth: assets less debts, now, by account type, and over time.

use std::collections::BTreeMap;

use base::draft::AccountKind;
use base::{Currency, Date, Percent, date_from_days, days_from_date};
use calc::balances::{Source, on_days, opening};
use calc::rates::Rates;
use futures_util::future::try_join_all;
use wire::v1::Scope;

use crate::access::users;
use crate::ledger::accounts::Account;
use crate::ledger::balances::Point;
use crate::ledger::spans::{Span, sample_days};
use crate::ledger::{accounts, balances, rates};
use crate::{App, Caller, Result};

/// The days over which the change is measured.
const CHANGE_DAYS: i64 = 30;

/// In minor units of the person's base currency. Hidden accounts and balances without an exchange rate do not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetWorth {
    pub currency: Currency,
    pub assets_minor: i64,
    /// The debts, as a positive amount.
    pub debts_minor: i64,
    /// By account type, with debts negative.
    pub parts: Vec<Part>,
    /// None if no balance of the earlier day is known.
    pub change: Option<Change>,
}

impl NetWorth {
    pub fn minor(&self) -> i64 {
        self.assets_minor.saturating_sub(self.debts_minor)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub kind: AccountKind,
    pub minor: i64,
    pub accounts: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    pub minor: i64,
    /// Relative to the earlier amount without its sign: from a debt of 100 to one of 50 is +50 %.
    pub percent: Option<Percent>,
    pub since: Date,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    pub currency: Currency,
    /// Oldest first, beginning with the first known balance.
    pub points: Vec<Point>,
}

pub async fn get(app: &App, caller: &Caller) -> Result<NetWorth> {
    caller.require(Scope::AccountsRead)?;
    let (converter, accounts) = read(app, caller).await?;
    let mut parts: BTreeMap<AccountKind, Part> = BTreeMap::new();
    for account in accounts.iter().filter(|it| it.closed_on.is_none()) {
        let kind = account.kind;
        let part = parts.entry(kind).or_insert(Part { kind, minor: 0, accounts: 0 });
        let worth = converter.worth(account, account.balance_current_minor.unwrap_or(0));
        part.minor = part.minor.saturating_add(worth);
        part.accounts += 1;
    }
    let total = |debts: bool| {
        let of_side = parts.values().filter(|it| it.kind.is_debt() == debts);
        of_side.map(|it| it.minor).fold(0, i64::saturating_add)
    };
    let mut worth = NetWorth {
        currency: converter.rates.base(),
        assets_minor: total(false),
        debts_minor: total(true).saturating_neg(),
        parts: parts.into_values().collect(),
        change: None,
    };
    let since = date_from_days(days_from_date(app.clock.today()) - CHANGE_DAYS);
    let before = points(app, caller, &converter, &accounts, Some(since), |_| vec![since]).await?;
    worth.change = before.first().map(|before| {
        let minor = worth.minor().saturating_sub(before.minor);
        Change { minor, percent: Percent::of(minor, before.minor.saturating_abs()), since }
    });
    Ok(worth)
}

/// Net worth over a span, by day, week or month depending on its length. Each point is the sum of the balances of that
/// day, as in `balances::list`, at the latest exchange rates.
pub async fn series(app: &App, caller: &Caller, span: Span) -> Result<Series> {
    caller.require(Scope::AccountsRead)?;
    let (converter, accounts) = read(app, caller).await?;
    let today = app.clock.today();
    let start = span.start(today);
    let days = |opening: Date| sample_days(start.map_or(opening, |it| it.max(opening)), today);
    let points = points(app, caller, &converter, &accounts, start, days).await?;
    Ok(Series { currency: converter.rates.base(), points })
}

/// Converts balances to the base currency.
pub(crate) struct Converter {
    pub(crate) rates: Rates,
}

impl Converter {
    /// A balance in the base currency, negative for debts. Without an exchange rate it counts as zero, as in every total.
    pub(crate) fn worth(&self, account: &Account, balance_minor: i64) -> i64 {
        let worth = self.rates.to_base(balance_minor, account.currency).unwrap_or(0);
        if account.kind.is_debt() { worth.saturating_neg() } else { worth }
    }
}

/// The rates and the accounts that are not hidden.
async fn read(app: &App, caller: &Caller) -> Result<(Converter, Vec<Account>)> {
    let rates = async {
        let currency = users::base_currency(app, caller).await?;
        rates::latest(app, caller, currency).await
    };
    let (rates, mut accounts) = tokio::try_join!(rates, accounts::list_all(app, caller))?;
    accounts.retain(|it| it.hidden_at.is_none());
    Ok((Converter { rates }, accounts))
}

/// The sums of some days. `days` chooses them, given the day of the first known balance. Each account is read once, and
/// only as far back as those days need.
async fn points(
    app: &App,
    caller: &Caller,
    converter: &Converter,
    accounts: &[Account],
    since: Option<Date>,
    days: impl FnOnce(Date) -> Vec<Date>,
) -> Result<Vec<Point>> {
    let histories = accounts.iter().map(|it| balances::read_history(app, caller, it, since));
    let histories = try_join_all(histories).await?;
    let Some(first) = histories.iter().filter_map(opening).min() else { return Ok(Vec::new()) };
    let days = days(first);
    let mut points: BTreeMap<Date, Point> = BTreeMap::new();
    for (account, history) in accounts.iter().zip(&histories) {
        for day in on_days(history, days.iter().copied()) {
            let new = Point { on: day.on, minor: 0, reported: true };
            let point = points.entry(day.on).or_insert(new);
            point.minor = point.minor.saturating_add(converter.worth(account, day.current_minor));
            point.reported &= day.source != Source::Inferred;
        }
    }
    Ok(points.into_values().collect())
}
