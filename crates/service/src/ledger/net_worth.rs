//! Net worth: assets less debts, now, by account type, and over time.

use std::collections::{BTreeMap, BTreeSet};

use base::draft::AccountKind;
use base::{Currency, Date, Money, Percent, date_from_days, days_from_date};
use calc::balances::{Day as DailyBalance, History, Source, on_days, opening};
use calc::rates::{DailyRates, Rates};
use jiff::ToSpan as _;
use wire::json::{Day, Number};
use wire::v1::{self, Scope};

use crate::access::users;
use crate::ledger::accounts::Account;
use crate::ledger::balances::Point;
use crate::ledger::rates::UsedRate;
use crate::ledger::spans::{Interval, Span, sample_days};
use crate::ledger::{accounts, balances, rates};
use crate::{App, Caller, Result};

/// The days over which the change is measured.
const CHANGE_DAYS: i64 = 30;

/// In minor units of the person's base currency. Hidden accounts do not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetWorth {
    pub currency: Currency,
    pub assets_minor: i64,
    /// The debts, as a positive amount.
    pub debts_minor: i64,
    /// By account type, with debts negative.
    pub parts: Vec<Part>,
    /// Balances without an exchange rate, which are in no total.
    pub excluded: Vec<ExcludedBalance>,
    /// The exchange rates of the balances in other currencies.
    pub rates: Vec<UsedRate>,
    /// None if no balance of the earlier day is known.
    pub change: Option<Change>,
}

impl NetWorth {
    /// Assets less debts. None if no balance is known.
    pub fn minor(&self) -> Option<i64> {
        let is_known = self.parts.iter().any(|it| it.minor.is_some());
        is_known.then(|| self.assets_minor.saturating_sub(self.debts_minor))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub kind: AccountKind,
    /// None if no balance of this type is known.
    pub minor: Option<i64>,
    pub accounts: usize,
}

/// The balances in a currency without an exchange rate, with debts negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExcludedBalance {
    pub currency: Currency,
    pub minor: i64,
    pub accounts: usize,
}

impl From<&ExcludedBalance> for v1::Excluded {
    fn from(it: &ExcludedBalance) -> v1::Excluded {
        v1::Excluded {
            currency: it.currency.to_string(),
            amount: Money::new(it.minor, it.currency).into(),
            account_count: it.accounts,
        }
    }
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
    Ok(Balances::read(app, caller, Some(change_since(app, caller))).await?.net_worth())
}

/// Net worth now, and over a span as `series` has it.
pub async fn get_with_series(app: &App, caller: &Caller, span: Span) -> Result<(NetWorth, Series)> {
    caller.require(Scope::AccountsRead)?;
    let start = span.start(app.today(caller));
    let since = start.map(|it| it.min(change_since(app, caller)));
    let balances = Balances::read(app, caller, since).await?;
    Ok((balances.net_worth(), balances.series(start)))
}

fn change_since(app: &App, caller: &Caller) -> Date {
    date_from_days(days_from_date(app.today(caller)) - CHANGE_DAYS)
}

/// The net worth now, without its change.
pub(crate) async fn current(app: &App, caller: &Caller) -> Result<NetWorth> {
    let (converter, accounts) = read(app, caller).await?;
    Ok(converter.worth_now(&accounts))
}

/// The newest exchange rates of the accounts in other currencies, closed ones too.
pub async fn used_rates(app: &App, caller: &Caller) -> Result<Vec<UsedRate>> {
    caller.require(Scope::AccountsRead)?;
    let (converter, accounts) = read(app, caller).await?;
    Ok(rates::used(&converter.rates, accounts.iter().map(|it| it.currency)))
}

/// Net worth over a span, by day, week or month depending on its length. Each point is the sum of the balances of that
/// day, as in `balances::list`, at the exchange rates of that day.
pub async fn series(app: &App, caller: &Caller, span: Span) -> Result<Series> {
    caller.require(Scope::AccountsRead)?;
    let start = span.start(app.today(caller));
    Ok(Balances::read(app, caller, start).await?.series(start))
}

/// The days of a history that is asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Range {
    /// By default a year before `end_on`.
    pub start_on: Option<Date>,
    /// By default today, and never later.
    pub end_on: Option<Date>,
    pub interval: Interval,
}

/// Net worth by account type over time.
pub async fn history(app: &App, caller: &Caller, range: Range) -> Result<v1::NetWorthHistory> {
    caller.require(Scope::AccountsRead)?;
    let today = app.today(caller);
    let end = range.end_on.unwrap_or(today).min(today);
    let start = range.start_on.unwrap_or_else(|| end.saturating_sub(1.year()));
    range.interval.check(start, end)?;
    let balances = Balances::read(app, caller, Some(start)).await?;
    let points = balances.points(|opening| range.interval.days(start.max(opening), end));
    let now = balances.converter.worth_now(&balances.accounts);
    let money = |minor: i64| Number::from(Money::new(minor, now.currency));
    let point = |it: &TypedPoint| v1::NetWorthPoint {
        date: Day(it.on),
        net_worth: money(it.minor()),
        total_assets: money(it.side(false)),
        total_liabilities: money(it.side(true).saturating_neg()),
        by_type: it.by_kind.iter().map(|(kind, minor)| (kind.as_str(), money(*minor))).collect(),
        source: if it.reported { "reported" } else { "inferred" },
    };
    Ok(v1::NetWorthHistory {
        currency: now.currency.to_string(),
        interval: range.interval.as_str(),
        start_date: Day(start),
        end_date: Day(end),
        points: points.iter().filter(|it| it.on >= start).map(point).collect(),
        excluded: now.excluded.iter().map(Into::into).collect(),
        exchange_rates: now.rates.iter().map(Into::into).collect(),
    })
}

/// Converts balances to the base currency.
pub(crate) struct Converter {
    pub(crate) rates: Rates,
}

impl Converter {
    /// A balance in the base currency, negative for debts. None without an exchange rate.
    pub(crate) fn worth(&self, account: &Account, balance_minor: i64) -> Option<i64> {
        self.rates.to_base(balance_minor, account.currency).map(|it| signed(account, it))
    }

    /// The net worth of open accounts by their current balances, without its change.
    fn worth_now(&self, accounts: &[Account]) -> NetWorth {
        let mut parts: BTreeMap<AccountKind, Part> = BTreeMap::new();
        let mut excluded: BTreeMap<Currency, ExcludedBalance> = BTreeMap::new();
        let open = || accounts.iter().filter(|it| it.closed_on.is_none());
        for account in open() {
            let (kind, currency) = (account.kind, account.currency);
            let part = parts.entry(kind).or_insert(Part { kind, minor: None, accounts: 0 });
            part.accounts += 1;
            let Some(balance) = account.balance_current_minor else { continue };
            match self.worth(account, balance) {
                Some(worth) => part.minor = Some(part.minor.unwrap_or(0).saturating_add(worth)),
                None => {
                    let new = ExcludedBalance { currency, minor: 0, accounts: 0 };
                    let left_out = excluded.entry(currency).or_insert(new);
                    left_out.minor = left_out.minor.saturating_add(signed(account, balance));
                    left_out.accounts += 1;
                }
            }
        }
        let total = |debts: bool| {
            let of_side = parts.values().filter(|it| it.kind.is_debt() == debts);
            of_side.filter_map(|it| it.minor).fold(0, i64::saturating_add)
        };
        NetWorth {
            currency: self.rates.base(),
            assets_minor: total(false),
            debts_minor: total(true).saturating_neg(),
            parts: parts.into_values().collect(),
            excluded: excluded.into_values().collect(),
            rates: rates::used(&self.rates, open().map(|it| it.currency)),
            change: None,
        }
    }
}

/// A balance, negative if it is owed.
fn signed(account: &Account, minor: i64) -> i64 {
    if account.kind.is_debt() { minor.saturating_neg() } else { minor }
}

/// The balances of a day by account type, with debts negative.
struct TypedPoint {
    on: Date,
    by_kind: BTreeMap<AccountKind, i64>,
    reported: bool,
}

impl TypedPoint {
    fn minor(&self) -> i64 {
        self.by_kind.values().copied().fold(0, i64::saturating_add)
    }

    fn side(&self, debts: bool) -> i64 {
        let of_side = self.by_kind.iter().filter(|(kind, _)| kind.is_debt() == debts);
        of_side.map(|(_, minor)| *minor).fold(0, i64::saturating_add)
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

/// The balances of the accounts that count, from a day on, and what converts them.
struct Balances {
    today: Date,
    converter: Converter,
    accounts: Vec<Account>,
    /// Of each account.
    histories: Vec<History>,
    daily: DailyRates,
}

impl Balances {
    /// Reads only as far back as the balances of that day need, or all.
    async fn read(app: &App, caller: &Caller, since: Option<Date>) -> Result<Balances> {
        let (converter, accounts) = read(app, caller).await?;
        let histories = balances::read_histories(app, caller, &accounts, since).await?;
        let currencies: BTreeSet<Currency> = accounts.iter().map(|it| it.currency).collect();
        let base = converter.rates.base();
        let daily = rates::daily(app, caller, base, &currencies, since).await?;
        Ok(Balances { today: app.today(caller), converter, accounts, histories, daily })
    }

    fn net_worth(&self) -> NetWorth {
        let mut worth = self.converter.worth_now(&self.accounts);
        let since = date_from_days(days_from_date(self.today) - CHANGE_DAYS);
        let before = self.points(|_| vec![since]);
        worth.change = before.first().zip(worth.minor()).map(|(before, now)| {
            let minor = now.saturating_sub(before.minor());
            Change { minor, percent: Percent::of(minor, before.minor().saturating_abs()), since }
        });
        worth
    }

    fn series(&self, start: Option<Date>) -> Series {
        let days = |opening| sample_days(start.map_or(opening, |it| it.max(opening)), self.today);
        let point = |it: &TypedPoint| Point { on: it.on, minor: it.minor(), reported: it.reported };
        let points = self.points(days).iter().map(point).collect();
        Series { currency: self.converter.rates.base(), points }
    }

    /// The sums of some days. `days` chooses them, given the day of the first known balance.
    fn points(&self, days: impl FnOnce(Date) -> Vec<Date>) -> Vec<TypedPoint> {
        let Some(first) = self.histories.iter().filter_map(opening).min() else {
            return Vec::new();
        };
        let days = days(first);
        let mut points: BTreeMap<Date, TypedPoint> = BTreeMap::new();
        for (account, history) in self.accounts.iter().zip(&self.histories) {
            for day in on_days(history, days.iter().copied()) {
                let Some(worth) = self.worth(account, &day) else { continue };
                let new = TypedPoint { on: day.on, by_kind: BTreeMap::new(), reported: true };
                let point = points.entry(day.on).or_insert(new);
                let sum = point.by_kind.entry(account.kind).or_default();
                *sum = sum.saturating_add(worth);
                point.reported &= day.source != Source::Inferred;
            }
        }
        points.into_values().collect()
    }

    /// A balance in the base currency, negative for debts. None without an exchange rate.
    fn worth(&self, account: &Account, day: &DailyBalance) -> Option<i64> {
        // Today's amounts are those of `worth_now`, also if the newest rate is older.
        if day.on == self.today {
            return self.converter.worth(account, day.current_minor);
        }
        let worth = self.daily.to_base_on(day.current_minor, account.currency, day.on);
        worth.map(|it| signed(account, it))
    }
}
