//! Spending by category month by month, and where the money of a period came from and went to.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use base::category::Category;
use base::{Currency, Date};
use jiff::ToSpan as _;
use wire::v1::Scope;

use super::groups::UNCATEGORIZED;
use super::{Household, Period};
use crate::insights::cash_flow::{FlowKind, IndexedFlow};
use crate::insights::kept_figures;
use crate::{App, Caller, Result};

/// Spending by category for each of some months, in minor units of the base currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    pub currency: Currency,
    /// The first days of the months, oldest first.
    pub months: Vec<Date>,
    /// Largest sum first.
    pub categories: Vec<CategoryMonths>,
    /// The currencies of spending that is left out, because there is no exchange rate for it.
    pub excluded: BTreeSet<Currency>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CategoryMonths {
    /// A primary category, a detailed one within a primary category, or UNCATEGORIZED.
    pub key: String,
    pub label: String,
    /// One amount for each month; negative if refunds exceed the purchases.
    pub minor: Vec<i64>,
}

impl CategoryMonths {
    pub fn total_minor(&self) -> i64 {
        self.minor.iter().fold(0, |sum, it| sum.saturating_add(*it))
    }
}

impl History {
    /// The average of the months before the last one, beginning with the first month that has spending. None if there is
    /// no such month.
    pub fn usual_minor(&self, key: &str) -> Option<i64> {
        let past = self.months.len().checked_sub(1)?;
        let has_spending = |month: usize| self.categories.iter().any(|it| it.minor[month] != 0);
        let first = (0..past).find(|month| has_spending(*month))?;
        let found = self.categories.iter().find(|it| it.key == key);
        let sum: i128 =
            found.map_or(0, |it| it.minor[first..past].iter().map(|it| i128::from(*it)).sum());
        i64::try_from(base::divide_half_even(sum, (past - first) as i128)).ok()
    }

    /// The spending of the last month in a category.
    pub fn last_minor(&self, key: &str) -> i64 {
        let found = self.categories.iter().find(|it| it.key == key);
        found.and_then(|it| it.minor.last().copied()).unwrap_or(0)
    }
}

/// The spending of `count` months, the last of which is the month of `last`. Within a primary category it is by detailed
/// category.
pub async fn by_month(
    app: &App,
    caller: &Caller,
    last: Date,
    count: i64,
    category_tier1: Option<&str>,
) -> Result<History> {
    caller.require(Scope::TransactionsRead)?;
    let last = last.first_of_month();
    let asked = format!("{last} {count} {category_tier1:?}");
    let computed = compute_by_month(app, caller, last, count, category_tier1);
    kept_figures::find_or(app, caller, &app.kept_histories, asked, computed).await
}

/// `last` is the first day of the last month.
async fn compute_by_month(
    app: &App,
    caller: &Caller,
    last: Date,
    count: i64,
    category_tier1: Option<&str>,
) -> Result<History> {
    let household = Household::read(app, caller, None).await?;
    let months: Vec<Date> =
        (0..count).rev().map(|back| last.saturating_sub(back.months())).collect();
    let index_of: HashMap<Date, usize> =
        months.iter().enumerate().map(|(index, on)| (*on, index)).collect();
    let mut sums: BTreeMap<Option<Category>, Vec<i64>> = BTreeMap::new();
    let mut excluded = BTreeSet::new();
    let is_in_tier1 = |it: Option<Category>| {
        category_tier1.is_none_or(|tier1| it.is_some_and(|it| it.primary() == tier1))
    };
    let period = Period { start: *months.first().unwrap_or(&last), end: last.last_of_month() };
    household
        .each_month(app, caller, period, |flows| {
            let Some(index) = index_of.get(&flows.start) else { return };
            let categories = &flows.month.categories;
            let mut sums_here: Vec<Option<i64>> = vec![None; categories.len()];
            for (flow, minor) in flows.converted().filter(|it| it.0.kind == FlowKind::Spending) {
                let sum = sums_here[flow.category].get_or_insert_default();
                *sum = sum.saturating_sub(minor);
            }
            for (category, minor) in categories.iter().zip(sums_here) {
                if let Some(minor) = minor.filter(|_| is_in_tier1(*category)) {
                    sums.entry(*category).or_insert_with(|| vec![0; months.len()])[*index] = minor;
                }
            }
            let is_counted = |it: &(IndexedFlow, Currency)| {
                it.0.kind == FlowKind::Spending && is_in_tier1(categories[it.0.category])
            };
            excluded.extend(flows.unconverted().filter(is_counted).map(|it| it.1));
        })
        .await?;
    let categories = merged(sums, category_tier1.is_some());
    Ok(History { currency: household.currency, months, categories, excluded })
}

/// Merges the sums of detailed categories into their primary ones, unless they are asked for.
fn merged(sums: BTreeMap<Option<Category>, Vec<i64>>, is_detailed: bool) -> Vec<CategoryMonths> {
    let mut categories: Vec<CategoryMonths> = Vec::new();
    for (category, minor) in sums {
        let (key, label) = name(category, is_detailed);
        match categories.iter_mut().find(|it| it.key == key) {
            Some(known) => {
                for (sum, more) in known.minor.iter_mut().zip(minor) {
                    *sum = sum.saturating_add(more);
                }
            }
            None => categories.push(CategoryMonths { key, label, minor }),
        }
    }
    categories
        .sort_by(|a, b| b.total_minor().cmp(&a.total_minor()).then_with(|| a.key.cmp(&b.key)));
    categories
}

fn name(category: Option<Category>, is_detailed: bool) -> (String, String) {
    match category {
        None => (UNCATEGORIZED.to_owned(), "No category".to_owned()),
        Some(it) if is_detailed => (it.detailed().to_owned(), it.label().to_owned()),
        Some(it) => (it.primary().to_owned(), it.primary_label()),
    }
}

/// Where the money of a period came from and where it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoneyFlow {
    pub currency: Currency,
    /// Income by payer, largest first. The name is empty if the payer is unknown.
    pub income: Vec<(String, i64)>,
    /// Money in that is neither income, transfer nor refund as far as is known.
    pub unclassified_minor: i64,
    /// Spending by primary category: key, label and amount, largest first.
    pub spending: Vec<(String, String, i64)>,
    /// The currencies of money that is left out, because there is no exchange rate for it.
    pub excluded: BTreeSet<Currency>,
}

impl MoneyFlow {
    pub fn income_minor(&self) -> i64 {
        self.income.iter().fold(0, |sum, it| sum.saturating_add(it.1))
    }

    pub fn spending_minor(&self) -> i64 {
        self.spending.iter().fold(0, |sum, it| sum.saturating_add(it.2))
    }
}

pub async fn money_flow(app: &App, caller: &Caller, period: Period) -> Result<MoneyFlow> {
    caller.require(Scope::TransactionsRead)?;
    let (asked, computed) = (format!("{period:?}"), compute_money_flow(app, caller, period));
    kept_figures::find_or(app, caller, &app.kept_flows, asked, computed).await
}

async fn compute_money_flow(app: &App, caller: &Caller, period: Period) -> Result<MoneyFlow> {
    let household = Household::read(app, caller, None).await?;
    let mut income: BTreeMap<String, i64> = BTreeMap::new();
    let mut spending: BTreeMap<Option<Category>, Vec<i64>> = BTreeMap::new();
    let mut unclassified_minor = 0_i64;
    let mut excluded = BTreeSet::new();
    household
        .each_month(app, caller, period, |flows| {
            excluded.extend(flows.unconverted().map(|it| it.1));
            let mut sums_here: Vec<Option<i64>> = vec![None; flows.month.categories.len()];
            for (flow, minor) in flows.converted() {
                match flow.kind {
                    FlowKind::Income => {
                        let payer = flows.month.counterparties[flow.counterparty];
                        let sum = income.entry(payer.to_owned()).or_default();
                        *sum = sum.saturating_add(minor);
                    }
                    FlowKind::Unclassified => {
                        unclassified_minor = unclassified_minor.saturating_add(minor);
                    }
                    FlowKind::Spending => {
                        let sum = sums_here[flow.category].get_or_insert_default();
                        *sum = sum.saturating_sub(minor);
                    }
                }
            }
            for (category, minor) in flows.month.categories.iter().zip(sums_here) {
                if let Some(minor) = minor {
                    let sum = spending.entry(*category).or_insert_with(|| vec![0]);
                    sum[0] = sum[0].saturating_add(minor);
                }
            }
        })
        .await?;
    let mut income: Vec<(String, i64)> = income.into_iter().collect();
    income.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let spending = merged(spending, false);
    let spending = spending.into_iter().map(|it| (it.key, it.label, it.minor[0]));
    Ok(MoneyFlow {
        currency: household.currency,
        income,
        unclassified_minor,
        spending: spending.collect(),
        excluded,
    })
}
