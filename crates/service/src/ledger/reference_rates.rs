//! The euro reference rates of the European Central Bank, which all people of an installation share. They are fetched
//! once a day if the operator allows it, or imported from a file at the command line.

use std::collections::BTreeSet;
use std::time::Duration;

use base::{Currency, Date, Fixed9, days_from_date};
use calc::rates::{DailyRates, Rates, cross_rate};
use db::{Tx, params};
use net::{HttpRequest, Limits};
use sources::exchange_rates::{self, ReferenceRate};

use crate::{App, Error, Result};

/// The file of the last 90 days has about 150 KB.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(10),
    total: Duration::from_secs(30),
    body_max: 8 * 1024 * 1024,
};
/// The bank publishes once a day. A failed request is repeated after an hour.
const EVERY_SECONDS: i64 = 12 * 3_600;
const RETRY_SECONDS: i64 = 3_600;
/// Rates that are written in one transaction.
const BATCH: usize = 20_000;

/// What an import of rates did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Imported {
    /// Rates in the file.
    pub rates: usize,
    /// Rates that are new or differ from the stored ones.
    pub changed: usize,
    pub currencies: usize,
    pub first_on: Date,
    pub last_on: Date,
}

/// Imports a file of reference rates, for all people of the installation.
pub async fn import(app: &App, bytes: &[u8]) -> Result<Imported> {
    let rates = exchange_rates::parse(bytes).map_err(|message| Error::invalid("file", message))?;
    let days = || rates.iter().map(|it| it.on);
    let (Some(first_on), Some(last_on)) = (days().min(), days().max()) else {
        return Err(Error::invalid("file", "This file has no exchange rates."));
    };
    let currencies: BTreeSet<Currency> = rates.iter().map(|it| it.currency).collect();
    let imported = |changed| Imported {
        rates: rates.len(),
        changed,
        currencies: currencies.len(),
        first_on,
        last_on,
    };
    let mut changed = 0;
    for batch in rates.chunks(BATCH) {
        changed += save(app, batch.to_vec()).await?;
    }
    Ok(imported(changed))
}

/// Saves rates, and queues the people whose amounts they change. Returns how many are new or differ.
async fn save(app: &App, rates: Vec<ReferenceRate>) -> Result<usize> {
    let write = move |tx: &mut Tx<'_>| {
        tx.allow_long_statements()?;
        let mut changed = 0;
        for rate in &rates {
            let (code, value) = (rate.currency.code(), rate.rate.to_string());
            changed += tx.execute(SAVE, params![rate.on, code, &value])?;
        }
        if changed > 0 {
            let now = tx.now()?;
            tx.execute(QUEUE_PEOPLE, params![now])?;
            tx.wake_worker();
        }
        Ok::<_, Error>(changed as usize)
    };
    app.db.write(write).await
}

/// Fetches the rates if the operator allows it and it is time. Returns how many are new.
pub async fn fetch_once(app: &App) -> Result<usize> {
    let (Some(url), Some(client)) = (&app.rates_url, &app.document_client) else { return Ok(0) };
    if !claim(app).await? {
        return Ok(0);
    }
    let response = match client.send(HttpRequest::get(url), LIMITS).await {
        Ok(response) if response.status == 200 && !response.truncated => response,
        Ok(response) => {
            tracing::warn!(status = response.status, "exchange rates could not be fetched");
            return Ok(0);
        }
        Err(failure) => {
            tracing::warn!(%failure, "exchange rates could not be fetched");
            return Ok(0);
        }
    };
    let imported = import(app, &response.body).await?;
    postpone(app, EVERY_SECONDS).await?;
    tracing::info!(rates = imported.changed, newest = %imported.last_on, "exchange rates fetched");
    Ok(imported.changed)
}

/// Takes the next fetch for this process. If it fails, it is due again after `RETRY_SECONDS`.
async fn claim(app: &App) -> Result<bool> {
    let claim = |tx: &mut Tx<'_>| {
        let now = tx.now()?.as_microsecond();
        let next = (now + RETRY_SECONDS * 1_000_000).to_string();
        let due = tx.first(NEXT_FETCH, &[], |row| row.get::<String>(0))?;
        let is_due = match due.as_deref().map(str::parse::<i64>) {
            // A time that is too far ahead was stored before the clock was set back.
            Some(Ok(at)) => at <= now || at > now + 2 * EVERY_SECONDS * 1_000_000,
            _ => true,
        };
        if is_due {
            tx.execute(SET_NEXT_FETCH, params![&next])?;
        }
        Ok::<_, Error>(is_due)
    };
    app.db.write(claim).await
}

async fn postpone(app: &App, seconds: i64) -> Result<()> {
    let postpone = move |tx: &mut Tx<'_>| {
        let next = (tx.now()?.as_microsecond() + seconds * 1_000_000).to_string();
        tx.execute(SET_NEXT_FETCH, params![&next])?;
        Ok::<_, Error>(())
    };
    app.db.write(postpone).await
}

/// The rates of the newest day.
type Newest = Vec<(Currency, Fixed9, Date)>;

pub(super) async fn newest(app: &App) -> Result<Newest> {
    Ok(app.db.all(NEWEST, &[], read).await?)
}

pub(super) fn newest_in(tx: &mut Tx<'_>) -> Result<Newest> {
    Ok(tx.all(NEWEST, &[], read)?)
}

/// Adds the rates per euro of one day to rates into the base, where no newer ones are known.
pub(super) fn add(rates: &mut Rates, newest: &Newest) {
    let Some(on) = newest.first().map(|it| it.2) else { return };
    for (from, rate) in crossed(rates.base(), newest.iter().map(|it| (it.0, it.1))) {
        rates.set_on(from, rate, on);
    }
}

/// The rates per euro of one currency, oldest first.
type PerEuro = Vec<(Date, Fixed9)>;

/// Adds the rates of some currencies from a day on to those of each day. The last ones before it are among them.
pub(super) async fn add_daily(
    app: &App,
    rates: &mut DailyRates,
    currencies: &BTreeSet<Currency>,
    since: Option<Date>,
) -> Result<()> {
    let mut per_euro = Vec::new();
    for currency in foreign(rates.base(), currencies) {
        let key = params![currency.code(), since.map_or(i64::MIN, days_from_date)];
        per_euro.push((currency, app.db.all(OF_CURRENCY, key, read_day).await?));
    }
    let (base, first) = (rates.base(), first_day(&per_euro, since));
    let base = app.db.all(OF_CURRENCY, params![base.code(), first], read_day).await?;
    add_crossed(rates, &base, &per_euro, currencies);
    Ok(())
}

/// The same inside a transaction.
pub(super) fn add_daily_in(
    tx: &mut Tx<'_>,
    rates: &mut DailyRates,
    currencies: &BTreeSet<Currency>,
    since: Option<Date>,
) -> Result<()> {
    let mut per_euro = Vec::new();
    for currency in foreign(rates.base(), currencies) {
        let key = params![currency.code(), since.map_or(i64::MIN, days_from_date)];
        per_euro.push((currency, tx.all(OF_CURRENCY, key, read_day)?));
    }
    let (base, first) = (rates.base(), first_day(&per_euro, since));
    let base = tx.all(OF_CURRENCY, params![base.code(), first], read_day)?;
    add_crossed(rates, &base, &per_euro, currencies);
    Ok(())
}

/// The currencies with rates of their own: neither the base nor the euro.
fn foreign(base: Currency, currencies: &BTreeSet<Currency>) -> impl Iterator<Item = Currency> {
    currencies.iter().copied().filter(move |it| *it != base && *it != Currency::EUR)
}

/// The day since when the rates of the base are needed. A currency that is no longer published has old rates only.
fn first_day(per_euro: &[(Currency, PerEuro)], since: Option<Date>) -> i64 {
    let first = per_euro.iter().filter_map(|(_, days)| Some(days.first()?.0)).min();
    first
        .into_iter()
        .chain(since)
        .min()
        .filter(|_| since.is_some())
        .map_or(i64::MIN, days_from_date)
}

fn add_crossed(
    rates: &mut DailyRates,
    base: &[(Date, Fixed9)],
    per_euro: &[(Currency, PerEuro)],
    currencies: &BTreeSet<Currency>,
) {
    let is_euro = rates.base() == Currency::EUR;
    if currencies.contains(&Currency::EUR) {
        base.iter().for_each(|(on, rate)| rates.set(Currency::EUR, *on, *rate));
    }
    for (currency, days) in per_euro {
        for (on, rate) in days {
            let of_base = match is_euro {
                true => Some(Fixed9::ONE),
                false => base.binary_search_by_key(on, |it| it.0).ok().map(|it| base[it].1),
            };
            if let Some(rate) = of_base.and_then(|it| cross_rate(it, *rate)) {
                rates.set(*currency, *on, rate);
            }
        }
    }
}

fn read_day(row: &db::Row<'_>) -> db::Result<(Date, Fixed9)> {
    Ok((row.get(0)?, read_rate(row, 1)?))
}

/// Rates into the base from rates per euro.
fn crossed(
    base: Currency,
    per_euro: impl Iterator<Item = (Currency, Fixed9)>,
) -> Vec<(Currency, Fixed9)> {
    let all: Vec<(Currency, Fixed9)> = per_euro.chain([(Currency::EUR, Fixed9::ONE)]).collect();
    let Some((_, base_rate)) = all.iter().find(|it| it.0 == base).copied() else {
        return Vec::new();
    };
    let cross = |(from, rate): &(Currency, Fixed9)| Some((*from, cross_rate(base_rate, *rate)?));
    all.iter().filter(|it| it.0 != base).filter_map(cross).collect()
}

fn read(row: &db::Row<'_>) -> db::Result<(Currency, Fixed9, Date)> {
    Ok((row.get(0)?, read_rate(row, 1)?, row.get(2)?))
}

fn read_rate(row: &db::Row<'_>, column: usize) -> db::Result<Fixed9> {
    let bad = |error: base::DecimalError| db::Error::Decode { column, reason: error.to_string() };
    Fixed9::parse(row.get(column)?).map_err(bad)
}

/// The day of the newest rates, for the operator.
pub async fn newest_day(app: &App) -> Result<Option<Date>> {
    Ok(app.db.first(NEWEST_DAY, &[], |row| row.get::<Option<Date>>(0)).await?.flatten())
}

const SAVE: &str = "insert into reference_rates (rated_on, currency, rate) values ($1, $2, $3)
    on conflict (rated_on, currency) do update set rate = excluded.rate
    where reference_rates.rate <> excluded.rate";
// A rate changes the value of every amount in another currency than the person's.
const QUEUE_PEOPLE: &str = "insert into insight_work (user_id, asked, everything_at, wanted_at)
    select people.user_id, 1, cast($1 as bigint), $1 from (select distinct a.user_id
        from accounts a join users u on u.id = a.user_id where a.currency <> u.base_currency) people
    where true
    on conflict (user_id) do update set asked = insight_work.asked + 1,
    everything_at = coalesce(insight_work.everything_at, excluded.everything_at)";
const NEWEST: &str = "select currency, rate, rated_on from reference_rates
    where rated_on = (select max(rated_on) from reference_rates) order by currency limit 500";
const NEWEST_DAY: &str = "select max(rated_on) from reference_rates";
const OF_CURRENCY: &str = "select rated_on, rate from reference_rates
    where currency = $1 and rated_on >= coalesce((select max(rated_on) from reference_rates l
        where l.currency = $1 and l.rated_on <= $2), $2)
    order by rated_on limit 20000";
const NEXT_FETCH: &str = "select value from installation where name = 'exchange_rates_next_at'";
const SET_NEXT_FETCH: &str =
    "insert into installation (name, value) values ('exchange_rates_next_at', $1)
    on conflict (name) do update set value = excluded.value";

pub(crate) const STATEMENTS: &[&str] =
    &[SAVE, QUEUE_PEOPLE, NEWEST, NEWEST_DAY, OF_CURRENCY, NEXT_FETCH, SET_NEXT_FETCH];
