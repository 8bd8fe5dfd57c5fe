//! Income: how much comes in each month, and where it goes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::{AccountId, Currency, Fixed9, Money, Timestamp, UserId};
pub use calc::income::{Block, Income, InflowLabel, Month, Share};
use calc::income::{CashFlow, Window};
use calc::ledger::Ledger;
use db::{Tx, params};
use serde::Serialize;
use serde_json::value::RawValue;
use wire::json::{Day, Moment, Number};
use wire::v1::{self, Event, IncomePart, Scope};

use crate::classify::recompute::{Recompute, RecomputeScope};
use crate::insights::household_ledger::{self, HouseholdLedger};
use crate::insights::income_reports::{self, Version};
use crate::{App, Caller, Error, Result};

pub use crate::insights::income_reports::IncomeReport;
pub(crate) use crate::insights::income_reports::IncomeReports;

/// A stored analysis. It is stored as the JSON of the API, because nothing but the API reads it.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Analysis(Box<RawValue>);

pub async fn get(app: &App, caller: &Caller) -> Result<Analysis> {
    caller.require(Scope::IncomeRead)?;
    let stored = if is_limited(caller) {
        None
    } else {
        app.db.first(GET, params![caller.user], |row| row.get::<String>(0)).await?
    };
    let text = match stored {
        Some(text) => text,
        // The key sees only some accounts, or nothing was imported yet.
        None => {
            let it = build_ledger(app, caller).await?;
            to_json(&to_wire(&it.income, it.currency, it.excluded, app.clock.now()))?
        }
    };
    let raw = RawValue::from_string(text);
    Ok(Analysis(raw.map_err(|error| {
        Error::internal(format!("a stored income analysis is no JSON: {error}"))
    })?))
}

/// Whether the caller may see only some accounts. Such a caller gets no stored figures, which cover all accounts.
pub(crate) fn is_limited(caller: &Caller) -> bool {
    caller.limited_to().is_some()
}

/// Analyzes the accounts that the caller may see, for pages and for limited keys.
pub async fn analyze(app: &App, caller: &Caller) -> Result<Arc<IncomeReport>> {
    caller.require(Scope::IncomeRead)?;
    if !is_limited(caller)
        && let Some(kept) = income_reports::find(app, caller.user).await?
    {
        return Ok(kept);
    }
    let AnalyzedLedger { income, currency, excluded, version, .. } =
        build_ledger(app, caller).await?;
    let report = Arc::new(IncomeReport::new(income, currency, excluded));
    if let Some(version) = version.filter(|_| !is_limited(caller)) {
        app.income_reports.insert(caller.user, version, &report);
    }
    Ok(report)
}

/// A ledger, and the income in it.
pub(crate) struct AnalyzedLedger {
    pub(crate) ledger: Ledger,
    pub(crate) income: Income,
    pub(crate) currency: Currency,
    /// Money in that the income leaves out.
    excluded: Vec<v1::Excluded>,
    version: Option<Version>,
}

/// The ledger of the accounts that the caller may see, and the income in it. It only reads, in one transaction so that
/// all figures are of one moment.
pub(crate) async fn build_ledger(app: &App, caller: &Caller) -> Result<AnalyzedLedger> {
    let (mine, user) = (app.clone(), caller.user);
    let only = caller.limited_to().cloned();
    let read = move |tx: &mut Tx<'_>| {
        // First, so that a change meanwhile makes the version outdated and never the report.
        let version = Version::get_in(tx, user, mine.clock.now())?;
        let run = Recompute::new(tx, &mine, user, RecomputeScope::Everything)?;
        let household = run.household(only.as_deref());
        let built = household_ledger::from_transactions(tx, &household)?;
        let income = calc::income::analyze(&built.ledger);
        let excluded = excluded(&run, &built, &income.window);
        let (ledger, currency) = (built.ledger, run.currency);
        Ok::<_, Error>(AnalyzedLedger { ledger, income, currency, excluded, version })
    };
    app.db.write(read).await
}

/// Stores and announces an analysis that differs from the stored one.
pub(super) fn save(
    tx: &mut Tx<'_>,
    run: &mut Recompute,
    (income, excluded): (&Income, &[v1::Excluded]),
) -> Result<()> {
    let stored = find_stored(tx, run.user)?;
    // Compared as of the stored moment, because a new moment alone is no change.
    let is_same = match &stored {
        Some((at, text)) => {
            to_json(&to_wire(income, run.currency, excluded.to_vec(), *at))? == *text
        }
        None => false,
    };
    if !is_same {
        let text = to_json(&to_wire(income, run.currency, excluded.to_vec(), run.now))?;
        tx.execute(SAVE, params![run.user, run.now, &text])?;
        run.events.push(Event::IncomeUpdated { generated_at: Moment(run.now) });
    }
    Ok(())
}

/// Money in per month, in currencies without an exchange rate.
pub(super) fn excluded(
    run: &Recompute,
    household: &HouseholdLedger,
    window: &Window,
) -> Vec<v1::Excluded> {
    let mut sums: BTreeMap<Currency, (i128, BTreeSet<AccountId>)> = BTreeMap::new();
    for (entry, detail) in household.unconverted.iter().filter(|(it, _)| window.contains(it.on)) {
        let id = household.ledger.account(entry).id;
        let flow = CashFlow::of_unconverted(&household.ledger, entry);
        if let Some(account) = run.account(id).filter(|_| flow.is_some()) {
            let (minor, accounts) = sums.entry(account.currency).or_default();
            *minor += i128::from(detail.amount_minor.max(0));
            accounts.insert(id);
        }
    }
    let row = |(currency, (sum, accounts)): (Currency, (i128, BTreeSet<AccountId>))| {
        let monthly = base::divide_half_even(sum, i128::from(window.months));
        let minor = i64::try_from(monthly).unwrap_or(i64::MAX);
        v1::Excluded {
            currency: currency.to_string(),
            amount: Money::new(minor, currency).into(),
            account_count: accounts.len(),
        }
    };
    sums.into_iter().map(row).collect()
}

fn find_stored(tx: &mut Tx<'_>, user: UserId) -> Result<Option<(Timestamp, String)>> {
    Ok(tx.first(STORED, params![user], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

fn to_json(income: &v1::Income) -> Result<String> {
    let text = serde_json::to_string(income);
    text.map_err(|error| {
        Error::internal(format!("cannot write an income analysis as JSON: {error}"))
    })
}

fn to_wire(
    income: &Income,
    currency: Currency,
    excluded: Vec<v1::Excluded>,
    generated_at: Timestamp,
) -> v1::Income {
    let exact = |minor| Number::from(Money::new(minor, currency));
    let money = |minor| income.has_data.then(|| exact(minor));
    let part = |share: Share| IncomePart::Share {
        amount: Some(exact(share.amount_minor)),
        percent: share.percent_tenths.map(tenths),
    };
    let unknown = IncomePart::Share { amount: None, percent: None };
    let balance = |it: Option<Share>| it.map_or(unknown.clone(), part);
    let block = |total: Share, breakdown: BTreeMap<String, IncomePart>| v1::IncomeBlock {
        amount: money(total.amount_minor),
        percent: total.percent_tenths.map(tenths),
        breakdown: if income.has_data { breakdown } else { BTreeMap::new() },
    };
    let labelled = |it: &Block| {
        let parts = it.parts.iter().map(|(label, share)| (label.clone(), part(*share)));
        block(it.total, parts.collect())
    };
    let named = |parts: Vec<(&str, IncomePart)>| {
        parts.into_iter().map(|(name, it)| (name.to_owned(), it)).collect()
    };
    let (fund, invested) = (&income.emergency_fund, &income.investments);
    let covered = fund
        .months_covered_hundredths
        .map(|it| Number::from(Fixed9::from_billionths(i128::from(it) * 10_000_000)));
    v1::Income {
        generated_at: Moment(generated_at),
        window: v1::IncomeWindow {
            start: Day(income.window.start),
            end: Day(income.window.end),
            months: income.window.months,
        },
        monthly_income: money(income.monthly_income_minor),
        variability: v1::Variability {
            min: money(income.variability.min_minor),
            max: money(income.variability.max_minor),
            range: money(income.variability.range_minor),
        },
        expenses: labelled(&income.expenses),
        debt: labelled(&income.debt),
        emergency_fund: block(
            fund.net,
            named(vec![
                ("deposits", part(fund.deposits)),
                ("withdrawals", part(fund.withdrawals)),
                ("balance", balance(fund.balance)),
                ("months_covered", IncomePart::Figure(covered)),
            ]),
        ),
        investments: block(
            invested.net,
            named(vec![
                ("contributions", part(invested.contributions)),
                ("withdrawals", part(invested.withdrawals)),
                ("balance", balance(invested.balance)),
            ]),
        ),
        unallocated: money(income.unallocated.amount_minor),
        unclassified: money(income.unclassified_minor),
        excluded,
    }
}

/// A percentage in tenths: 659 is 65.9.
fn tenths(value: i64) -> Number {
    Number::from(Fixed9::from_billionths(i128::from(value) * 100_000_000))
}

const GET: &str = "select analysis from incomes where user_id = $1";
const STORED: &str = "select generated_at, analysis from incomes where user_id = $1";
const SAVE: &str = "insert into incomes (user_id, generated_at, analysis) values ($1, $2, $3)
    on conflict (user_id) do update set generated_at = excluded.generated_at,
    analysis = excluded.analysis";

pub(super) fn statements() -> Vec<&'static str> {
    [&[GET, STORED, SAVE], income_reports::STATEMENTS].concat()
}
