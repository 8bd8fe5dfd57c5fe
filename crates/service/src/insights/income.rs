//! Income: what comes in each month and where it goes, as it was last worked out.

use std::collections::BTreeMap;

use base::{Currency, Fixed9, Money, Timestamp, UserId};
use calc::income::analyse;
pub use calc::income::{Block, Income, Label, Month, Share};
use calc::ledger::Ledger;
use db::{Tx, params};
use serde::Serialize;
use serde_json::value::RawValue;
use wire::json::{Day, Moment, Number};
use wire::v1::{self, Event, IncomePart, Scope};

use crate::classify::recompute::{Recompute, RecomputeScope};
use crate::insights::pipeline;
use crate::{App, Caller, Error, Result};

/// An analysis as it is answered: kept in that form, because nothing but answers reads it.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Analysis(Box<RawValue>);

pub async fn get(app: &App, caller: &Caller) -> Result<Analysis> {
    caller.require(Scope::IncomeRead)?;
    let stored = if limited(caller) {
        None
    } else {
        app.db.first(GET, params![caller.user], |row| row.get::<String>(0)).await?
    };
    let text = match stored {
        Some(text) => text,
        // Of some accounts only, or for someone who has not brought in anything yet.
        None => {
            let (income, currency) = analysed(app, caller).await?;
            written(&shown(&income, currency, app.clock.now()))?
        }
    };
    let raw = RawValue::from_string(text);
    Ok(Analysis(raw.map_err(|error| Error::internal(format!("a stored analysis: {error}")))?))
}

/// Whether a key sees only some accounts, so that figures over all of them are not for it.
pub(crate) fn limited(caller: &Caller) -> bool {
    caller.limited_to().is_some()
}

/// The analysis worked out at once over the accounts that the caller may see, for pages and for limited keys.
pub async fn analysed(app: &App, caller: &Caller) -> Result<(Income, Currency)> {
    caller.require(Scope::IncomeRead)?;
    let (_, income, currency) = ledger_of(app, caller).await?;
    Ok((income, currency))
}

/// Reading is all that happens in this transaction; it is one so that all of it is of one moment.
pub(crate) async fn ledger_of(app: &App, caller: &Caller) -> Result<(Ledger, Income, Currency)> {
    let (mine, user) = (app.clone(), caller.user);
    let only = caller.limited_to().cloned();
    let read = move |tx: &mut Tx<'_>| {
        let run = Recompute::new(tx, &mine, user, RecomputeScope::Everything)?;
        let ledger = pipeline::ledger(tx, &run.household(only.as_deref()))?;
        let income = analyse(&ledger);
        Ok::<_, Error>((ledger, income, run.currency))
    };
    app.db.write(read).await
}

/// Works the analysis out, and stores and tells it if it is news.
pub(crate) fn save(tx: &mut Tx<'_>, run: &mut Recompute, ledger: &Ledger) -> Result<Income> {
    let income = analyse(ledger);
    let stored = stored(tx, run.user)?;
    // Compared at the moment of the stored one: the moment alone is no news.
    let same = match &stored {
        Some((at, text)) => written(&shown(&income, run.currency, *at))? == *text,
        None => false,
    };
    if !same {
        let text = written(&shown(&income, run.currency, run.now))?;
        tx.execute(SAVE, params![run.user, run.now, &text])?;
        run.events.push(Event::IncomeUpdated { generated_at: Moment(run.now) });
    }
    Ok(income)
}

fn stored(tx: &mut Tx<'_>, user: UserId) -> Result<Option<(Timestamp, String)>> {
    Ok(tx.first(STORED, params![user], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

fn written(income: &v1::Income) -> Result<String> {
    let text = serde_json::to_string(income);
    text.map_err(|error| Error::internal(format!("writing an analysis: {error}")))
}

fn shown(income: &Income, currency: Currency, generated_at: Timestamp) -> v1::Income {
    let money = |minor| Number::from(Money::new(minor, currency));
    let part = |share: Share| IncomePart::Share {
        amount: money(share.amount_minor),
        percent: tenths(share.percent_tenths),
    };
    let block = |total: Share, breakdown: BTreeMap<String, IncomePart>| v1::IncomeBlock {
        amount: money(total.amount_minor),
        percent: tenths(total.percent_tenths),
        breakdown,
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
                ("balance", part(fund.balance)),
                ("months_covered", IncomePart::Figure(covered)),
            ]),
        ),
        investments: block(
            invested.net,
            named(vec![
                ("contributions", part(invested.contributions)),
                ("withdrawals", part(invested.withdrawals)),
                ("balance", part(invested.balance)),
            ]),
        ),
        unallocated: money(income.unallocated.amount_minor),
    }
}

/// Percents with one place: 659 is 65.9.
fn tenths(value: i64) -> Number {
    Number::from(Fixed9::from_billionths(i128::from(value) * 100_000_000))
}

const GET: &str = "select analysis from incomes where user_id = $1";
const STORED: &str = "select generated_at, analysis from incomes where user_id = $1";
const SAVE: &str = "insert into incomes (user_id, generated_at, analysis) values ($1, $2, $3)
    on conflict (user_id) do update set generated_at = excluded.generated_at,
    analysis = excluded.analysis";

pub(crate) const STATEMENTS: &[&str] = &[GET, STORED, SAVE];
