//! Exchange rates: as sources delivered them, and the reference rates that everyone shares. What is known now, such as a
//! balance, is converted at the newest rate, and what happened on a day at the rate of that day.

use std::collections::BTreeSet;

use base::{Currency, Date, Fixed9, UserId, days_from_date};
use calc::rates::{DailyRates, Rates};
use db::params;
use wire::json::{Day, Number};
use wire::v1;

use crate::ledger::reference_rates;
use crate::{App, Caller, Error, Result};

/// A rate that was used: one unit of `currency` was worth `rate` units of the base currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsedRate {
    pub currency: Currency,
    pub rate: Fixed9,
    pub on: Date,
}

impl From<&UsedRate> for v1::ExchangeRate {
    fn from(it: &UsedRate) -> v1::ExchangeRate {
        v1::ExchangeRate {
            currency: it.currency.to_string(),
            rate: Number::from(it.rate),
            date: Day(it.on),
        }
    }
}

/// The rates that some currencies are converted with, by currency.
pub(crate) fn used(rates: &Rates, of: impl Iterator<Item = Currency>) -> Vec<UsedRate> {
    let currencies: BTreeSet<Currency> = of.filter(|it| *it != rates.base()).collect();
    let used = currencies.into_iter().filter_map(|currency| {
        let (rate, on) = (rates.rate(currency)?, rates.rated_on(currency)?);
        Some(UsedRate { currency, rate, on })
    });
    used.collect()
}

/// The latest known rate of each currency into `to`.
pub(crate) async fn latest(app: &App, caller: &Caller, to: Currency) -> Result<Rates> {
    let own = app.db.all(LATEST, params![caller.user, to.code()], read).await?;
    let newest = reference_rates::newest(app).await?;
    let mut rates = collect(to, own)?;
    reference_rates::add(&mut rates, &newest);
    Ok(rates)
}

/// The latest known rates, read inside a transaction.
pub(crate) fn latest_in(tx: &mut db::Tx<'_>, user: UserId, to: Currency) -> Result<Rates> {
    let own = tx.all(LATEST, params![user, to.code()], read)?;
    let mut rates = collect(to, own)?;
    reference_rates::add(&mut rates, &reference_rates::newest_in(tx)?);
    Ok(rates)
}

/// The rates of each day since a day, of some currencies into `to`. A rate from the person's own sources comes before a
/// reference rate of the same day.
pub(crate) async fn daily(
    app: &App,
    caller: &Caller,
    to: Currency,
    of: &BTreeSet<Currency>,
    since: Option<Date>,
) -> Result<DailyRates> {
    let mut rates = DailyRates::new(to);
    if of.iter().all(|it| *it == to) {
        return Ok(rates);
    }
    reference_rates::add_daily(app, &mut rates, of, since).await?;
    for from in of.iter().filter(|it| **it != to) {
        let key =
            params![caller.user, from.code(), to.code(), since.map_or(i64::MIN, days_from_date)];
        let own = app.db.all(SINCE, key, read_day).await?;
        add_own(&mut rates, *from, own)?;
    }
    Ok(rates)
}

/// The same inside a transaction.
pub(crate) fn daily_in(
    tx: &mut db::Tx<'_>,
    user: UserId,
    to: Currency,
    of: &BTreeSet<Currency>,
    since: Option<Date>,
) -> Result<DailyRates> {
    let mut rates = DailyRates::new(to);
    if of.iter().all(|it| *it == to) {
        return Ok(rates);
    }
    reference_rates::add_daily_in(tx, &mut rates, of, since)?;
    for from in of.iter().filter(|it| **it != to) {
        let key = params![user, from.code(), to.code(), since.map_or(i64::MIN, days_from_date)];
        let own = tx.all(SINCE, key, read_day)?;
        add_own(&mut rates, *from, own)?;
    }
    Ok(rates)
}

fn read_day(row: &db::Row<'_>) -> db::Result<(Date, String)> {
    Ok((row.get(0)?, row.get(1)?))
}

/// Adds the rates of the person's own sources, in place of reference rates of the same days.
fn add_own(rates: &mut DailyRates, from: Currency, own: Vec<(Date, String)>) -> Result<()> {
    for (on, text) in own {
        rates.set(from, on, parse(from, &text)?);
    }
    Ok(())
}

fn read(row: &db::Row<'_>) -> db::Result<(Currency, String, Date)> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

fn parse(from: Currency, text: &str) -> Result<Fixed9> {
    Fixed9::parse(text).map_err(|error| {
        Error::internal(format!("the stored exchange rate of {from} is not a number: {error}"))
    })
}

fn collect(to: Currency, rows: Vec<(Currency, String, Date)>) -> Result<Rates> {
    let mut rates = Rates::new(to);
    for (from, text, on) in rows {
        rates.set_on(from, parse(from, &text)?, on);
    }
    Ok(rates)
}

const LATEST: &str = "select from_currency, rate, rated_on from exchange_rates r
    where user_id = $1 and to_currency = $2 and rated_on = (select max(rated_on) from exchange_rates l
        where l.user_id = $1 and l.from_currency = r.from_currency
        and l.to_currency = r.to_currency)";

const SINCE: &str = "select rated_on, rate from exchange_rates
    where user_id = $1 and from_currency = $2 and to_currency = $3
    and rated_on >= coalesce((select max(rated_on) from exchange_rates l where l.user_id = $1
        and l.from_currency = $2 and l.to_currency = $3 and l.rated_on <= $4), $4)
    order by rated_on limit 20000";

pub(crate) const STATEMENTS: &[&str] = &[LATEST, SINCE];
