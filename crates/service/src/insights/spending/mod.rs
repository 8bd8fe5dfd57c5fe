//! Spending and income over any days, by category, merchant, account or month.

mod groups;
pub mod history;
pub mod periods;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

use base::category::Category;
use base::{AccountId, Currency, Date, Money, Percent, date_from_days, days_from_date};
use calc::rates::DailyRates;
use db::params;
use jiff::ToSpan as _;
use wire::json::{Day, Number};
use wire::v1::{self, Scope};

use self::groups::{Group, Groups};
pub use self::groups::{GroupBy, UNKNOWN};
pub use self::periods::{Compare, Period};
use super::cash_flow::{self, FlowKind, IndexedFlow, UnpackedMonth};
use super::{kept_figures, pipeline};
use crate::access::users;
use crate::ledger::{accounts, rates};
use crate::{App, Caller, Error, Result};

/// The longest period in days.
const DAYS_MAX: i64 = 3_660;

/// Sums in minor units of the base currency. Spending is positive, with refunds subtracted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    pub income_minor: i64,
    pub spending_minor: i64,
    pub unclassified_minor: i64,
    /// The number of transactions that are spending or refunds of it.
    pub spending_count: i64,
    /// Whether there are any transactions. Without, nothing is known.
    pub has_data: bool,
}

impl Totals {
    /// Adds a flow. `is_new` says that it is not a further part of a split transaction that was counted.
    fn add(&mut self, kind: FlowKind, minor: i64, is_new: bool) {
        match kind {
            FlowKind::Income => self.income_minor = self.income_minor.saturating_add(minor),
            FlowKind::Unclassified => {
                self.unclassified_minor = self.unclassified_minor.saturating_add(minor);
            }
            FlowKind::Spending => {
                self.spending_minor = self.spending_minor.saturating_sub(minor);
                self.spending_count += i64::from(is_new);
            }
        }
    }
}

/// The spending that is asked for.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// By default this month until today.
    pub start_on: Option<Date>,
    pub end_on: Option<Date>,
    pub group_by: GroupBy,
    pub compare: Option<Compare>,
    pub account_id: Option<AccountId>,
    /// Only this primary category. Groups are then by detailed category.
    pub category_tier1: Option<String>,
    /// The most groups; the rest is one sum. Months are never cut off.
    pub limit: usize,
}

pub async fn get(app: &App, caller: &Caller, query: &Query) -> Result<v1::Spending> {
    caller.require(Scope::TransactionsRead)?;
    let period = period(query, app.today(caller))?;
    let asked = format!("{query:?} {period:?}");
    let computed = compute(app, caller, query, period);
    kept_figures::find_or(app, caller, &app.kept_spending, asked, computed).await
}

async fn compute(
    app: &App,
    caller: &Caller,
    query: &Query,
    period: Period,
) -> Result<v1::Spending> {
    let household = Household::read(app, caller, query.account_id).await?;
    let earlier = query.compare.map(|it| it.period_before(period));
    let current = household.sum(app, caller, period, query).await?;
    let before = match earlier {
        Some(earlier) => Some((earlier, household.sum(app, caller, earlier, query).await?)),
        None => None,
    };
    Ok(household.render(query, period, current, before))
}

fn period(query: &Query, today: Date) -> Result<Period> {
    let end = query.end_on.unwrap_or_else(|| query.start_on.map_or(today, |it| it.max(today)));
    let start = query.start_on.unwrap_or_else(|| end.first_of_month());
    if start > end {
        return Err(Error::invalid("start_date", "start_date must not be after end_date"));
    }
    if days_from_date(end) - days_from_date(start) >= DAYS_MAX {
        let message = format!("start_date and end_date must be at most {DAYS_MAX} days apart");
        return Err(Error::invalid("start_date", message));
    }
    Ok(Period { start, end })
}

/// Income, spending and unclassified inflows on some days, in the base currency; and the spending that is left out.
pub async fn totals(
    app: &App,
    caller: &Caller,
    period: Period,
) -> Result<(Totals, Vec<v1::Excluded>)> {
    caller.require(Scope::TransactionsRead)?;
    let household = Household::read(app, caller, None).await?;
    let sums = household.sum(app, caller, period, &Query::default()).await?;
    let totals = Totals { has_data: household.has_data, ..sums.totals };
    Ok((totals, excluded(&sums.excluded)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Month {
    pub start: Date,
    pub totals: Totals,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Months {
    pub currency: Currency,
    /// Whole months before this one, oldest first, beginning with the first that has cash flows.
    pub past: Vec<Month>,
    pub this: Month,
}

impl Months {
    /// The average of the whole months. None if there is none yet.
    pub fn average(&self) -> Option<Totals> {
        let count = i64::try_from(self.past.len()).ok().filter(|it| *it > 0)?;
        let mean = |part: fn(&Totals) -> i64| {
            let sum: i128 = self.past.iter().map(|it| i128::from(part(&it.totals))).sum();
            i64::try_from(base::divide_half_even(sum, i128::from(count))).unwrap_or(i64::MAX)
        };
        Some(Totals {
            income_minor: mean(|it| it.income_minor),
            spending_minor: mean(|it| it.spending_minor),
            unclassified_minor: mean(|it| it.unclassified_minor),
            spending_count: mean(|it| it.spending_count),
            has_data: true,
        })
    }
}

/// This month so far, and up to `count` whole months before it.
pub async fn months(app: &App, caller: &Caller, count: i64) -> Result<Months> {
    caller.require(Scope::TransactionsRead)?;
    let today = app.today(caller);
    let asked = format!("{count} {today}");
    let computed = compute_months(app, caller, today, count);
    kept_figures::find_or(app, caller, &app.kept_months, asked, computed).await
}

async fn compute_months(app: &App, caller: &Caller, today: Date, count: i64) -> Result<Months> {
    let household = Household::read(app, caller, None).await?;
    let this = today.first_of_month();
    let mut by_month: BTreeMap<Date, Totals> = BTreeMap::new();
    let period = Period { start: this.saturating_sub(count.months()), end: today };
    household
        .each_month(app, caller, period, |month| {
            let mut totals: Option<Totals> = None;
            for (flow, minor) in month.converted() {
                totals.get_or_insert_default().add(flow.kind, minor, !flow.is_further_part);
            }
            if let Some(totals) = totals {
                by_month.insert(month.start, totals);
            }
        })
        .await?;
    let first = by_month.keys().next().copied().unwrap_or(this);
    let totals = |month: Date| by_month.get(&month).copied().unwrap_or_default();
    let past = (1..=count).rev().map(|back| this.saturating_sub(back.months()));
    let past = past.filter(|it| *it >= first).map(|it| Month { start: it, totals: totals(it) });
    Ok(Months {
        currency: household.currency,
        past: past.collect(),
        this: Month { start: this, totals: totals(this) },
    })
}

/// The accounts that count, and the currency of all sums.
struct Household {
    currency: Currency,
    accounts: HashMap<AccountId, (String, Currency)>,
    /// The account, if the query names a hidden one.
    hidden: Option<AccountId>,
    has_data: bool,
}

/// The cash flows of a month, with what converts them to the base currency.
struct MonthFlows<'a> {
    base: Currency,
    rates: &'a DailyRates,
    /// The first day of the month.
    start: Date,
    /// The days of the month that are in the period.
    days: RangeInclusive<i8>,
    month: &'a UnpackedMonth<'a>,
    /// The currencies of the month's accounts. None if the account does not count.
    currencies: Vec<Option<Currency>>,
}

impl MonthFlows<'_> {
    /// The flows of the period with their amounts in the base currency, without those that cannot be converted.
    fn converted(&self) -> impl Iterator<Item = (IndexedFlow, i64)> {
        self.month.flows().filter(|it| self.days.contains(&it.day)).filter_map(|flow| {
            let minor = self.to_base(&flow, self.currencies[flow.account]?)?;
            Some((flow, minor))
        })
    }

    /// The flows of the period that `converted` leaves out, with their currencies.
    fn unconverted(&self) -> impl Iterator<Item = (IndexedFlow, Currency)> {
        let is_possible = self.currencies.iter().flatten().any(|it| *it != self.base);
        let flows = self.month.flows().take_while(move |_| is_possible);
        flows.filter(|it| self.days.contains(&it.day)).filter_map(|flow| {
            let currency = self.currencies[flow.account]?;
            self.to_base(&flow, currency).is_none().then_some((flow, currency))
        })
    }

    fn to_base(&self, flow: &IndexedFlow, currency: Currency) -> Option<i64> {
        // Most flows are in the base currency. Counting their dates would take longer than the rest.
        if currency == self.base {
            return Some(flow.amount_minor);
        }
        let on = date_from_days(days_from_date(self.start) + i64::from(flow.day) - 1);
        self.rates.to_base_on(flow.amount_minor, currency, on)
    }
}

/// The sums of a period.
#[derive(Default)]
struct Sums {
    totals: Totals,
    groups: Groups,
    /// Spending in currencies without an exchange rate, and the accounts it is on.
    excluded: BTreeMap<Currency, (i64, BTreeSet<AccountId>)>,
}

impl Household {
    async fn read(app: &App, caller: &Caller, only: Option<AccountId>) -> Result<Household> {
        pipeline::catch_up(app, caller.user).await?;
        let chosen = async {
            match only {
                Some(id) => Ok(vec![accounts::get_visible(app, caller, id).await?]),
                None => {
                    let mut all = accounts::list_all(app, caller).await?;
                    all.retain(|it| it.hidden_at.is_none());
                    Ok(all)
                }
            }
        };
        let has_data = async {
            let first =
                app.db.first(HAS_DATA, params![caller.user], |row| row.get::<i64>(0)).await?;
            Ok(first.is_some())
        };
        let (currency, chosen, has_data) =
            tokio::try_join!(users::base_currency(app, caller), chosen, has_data)?;
        let hidden = chosen.iter().find(|it| it.hidden_at.is_some()).map(|it| it.id);
        let accounts = chosen.into_iter().map(|it| (it.id, (it.name, it.currency)));
        Ok(Household { currency, accounts: accounts.collect(), hidden, has_data })
    }

    /// The exchange rates of each day of a period.
    async fn rates(&self, app: &App, caller: &Caller, period: Period) -> Result<DailyRates> {
        let currencies = self.accounts.values().map(|(_, currency)| *currency).collect();
        rates::daily(app, caller, self.currency, &currencies, Some(period.start)).await
    }

    /// Visits the months of a period, oldest first.
    async fn each_month(
        &self,
        app: &App,
        caller: &Caller,
        period: Period,
        mut visit: impl FnMut(&MonthFlows<'_>) + Send,
    ) -> Result<()> {
        let rates = self.rates(app, caller, period).await?;
        let visit = |start: Date, month: &UnpackedMonth<'_>| {
            let currency = |it: &AccountId| self.accounts.get(it).map(|(_, currency)| *currency);
            visit(&MonthFlows {
                base: self.currency,
                rates: &rates,
                start,
                days: period.days_in(start),
                month,
                currencies: month.accounts.iter().map(currency).collect(),
            });
        };
        let days = (period.start, period.end);
        match self.hidden {
            Some(id) => cash_flow::each_month_with(app, caller.user, id, days, visit).await,
            None => cash_flow::each_month(&app.db, caller.user, days, visit).await,
        }
    }

    async fn sum(&self, app: &App, caller: &Caller, period: Period, query: &Query) -> Result<Sums> {
        let mut sums = Sums::default();
        let tier1 = query.category_tier1.as_deref();
        self.each_month(app, caller, period, |flows| {
            let (start, month) = (flows.start, flows.month);
            let is_in_tier1 = |it: &Option<Category>| {
                tier1.is_none_or(|tier1| it.is_some_and(|it| it.primary() == tier1))
            };
            let counted: Vec<bool> = month.categories.iter().map(is_in_tier1).collect();
            let indexes = sums.groups.indexes_of(query.group_by, tier1.is_some(), start, month);
            // The groups that the present transaction was counted in: a split one counts once in each.
            let mut groups_seen: Vec<usize> = Vec::new();
            for flow in month.flows() {
                if !flow.is_further_part {
                    groups_seen.clear();
                }
                if !flows.days.contains(&flow.day) || !counted[flow.category] {
                    continue;
                }
                let Some(currency) = flows.currencies[flow.account] else { continue };
                let is_spending = flow.kind == FlowKind::Spending;
                match flows.to_base(&flow, currency) {
                    Some(minor) => {
                        sums.totals.add(flow.kind, minor, groups_seen.is_empty());
                        if is_spending {
                            let group = indexes.of(&flow);
                            sums.groups.add(group, minor, !groups_seen.contains(&group));
                            groups_seen.push(group);
                        }
                    }
                    None if is_spending => {
                        let (minor, of) = sums.excluded.entry(currency).or_default();
                        *minor = minor.saturating_sub(flow.amount_minor);
                        of.insert(month.accounts[flow.account]);
                    }
                    None => {}
                }
            }
        })
        .await?;
        Ok(sums)
    }

    fn money(&self, minor: i64) -> Number {
        Number::from(Money::new(minor, self.currency))
    }

    fn render(
        &self,
        query: &Query,
        period: Period,
        current: Sums,
        before: Option<(Period, Sums)>,
    ) -> v1::Spending {
        let total = current.totals.spending_minor;
        let earlier = before.as_ref().map(|(_, it)| &it.groups);
        let limit = if query.group_by == GroupBy::Month { usize::MAX } else { query.limit };
        let mut groups = current.groups.sorted(query.group_by, earlier);
        let rest = groups.split_off(limit.min(groups.len()));
        let is_compared = earlier.is_some() && query.group_by != GroupBy::Month;
        let row = |it: &Group| self.group(it, total, is_compared);
        let other = Group::sum_of(&rest);
        v1::Spending {
            currency: self.currency.to_string(),
            start_date: Day(period.start),
            end_date: Day(period.end),
            group_by: query.group_by.as_str(),
            totals: self.totals(&current.totals),
            groups: groups.iter().map(row).collect(),
            other: other.map(|it| self.group(&it, total, is_compared)),
            comparison: before
                .map(|(earlier, sums)| self.comparison(earlier, &sums, &current.totals)),
            excluded: excluded(&current.excluded),
        }
    }

    /// Null as long as there are no transactions at all: nothing is known then.
    fn totals(&self, totals: &Totals) -> v1::SpendingTotals {
        let known = |minor: i64| self.has_data.then(|| self.money(minor));
        v1::SpendingTotals {
            spending: known(totals.spending_minor),
            income: known(totals.income_minor),
            unclassified: known(totals.unclassified_minor),
            transaction_count: totals.spending_count,
        }
    }

    fn comparison(&self, period: Period, sums: &Sums, now: &Totals) -> v1::SpendingComparison {
        let (before, now) = (sums.totals.spending_minor, now.spending_minor);
        let change = now.saturating_sub(before);
        v1::SpendingComparison {
            start_date: Day(period.start),
            end_date: Day(period.end),
            totals: self.totals(&sums.totals),
            change: self.has_data.then(|| self.money(change)),
            change_percent: Percent::of(change, before).filter(|_| before > 0).map(Number::from),
            excluded: excluded(&sums.excluded),
        }
    }

    fn group(&self, group: &Group, total: i64, is_compared: bool) -> v1::SpendingGroup {
        let label = match &group.account {
            Some(id) => self.accounts.get(id).map(|(name, _)| name.clone()).unwrap_or_default(),
            None => group.label.clone(),
        };
        let before = group.before_minor;
        let change = Percent::of(group.minor.saturating_sub(before), before).filter(|_| before > 0);
        v1::SpendingGroup {
            key: group.key.clone(),
            label,
            amount: self.money(group.minor),
            percent: Percent::of(group.minor, total).filter(|_| total > 0).map(Number::from),
            transaction_count: group.count,
            previous_amount: is_compared.then(|| self.money(before)),
            change_percent: change.filter(|_| is_compared).map(Number::from),
        }
    }
}

fn excluded(sums: &BTreeMap<Currency, (i64, BTreeSet<AccountId>)>) -> Vec<v1::Excluded> {
    let row =
        |(currency, (minor, accounts)): (&Currency, &(i64, BTreeSet<AccountId>))| v1::Excluded {
            currency: currency.to_string(),
            amount: Money::new(*minor, *currency).into(),
            account_count: accounts.len(),
        };
    sums.iter().map(row).collect()
}

const HAS_DATA: &str = "select month from cash_flow_months where user_id = $1 limit 1";

pub(super) const STATEMENTS: &[&str] = &[HAS_DATA];
