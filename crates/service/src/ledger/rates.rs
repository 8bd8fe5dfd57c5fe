//! Exchange rates, as sources delivered them.

use base::{Currency, Fixed9, UserId};
use calc::rates::Rates;
use db::params;

use crate::{App, Caller, Error, Result};

/// The latest known rate of each currency into `to`.
pub(crate) async fn latest(app: &App, caller: &Caller, to: Currency) -> Result<Rates> {
    let rows = app.db.all(LATEST, params![caller.user, to.code()], read).await?;
    collect(to, rows)
}

/// The latest known rates, read inside a transaction.
pub(crate) fn latest_in(tx: &mut db::Tx<'_>, user: UserId, to: Currency) -> Result<Rates> {
    let rows = tx.all(LATEST, params![user, to.code()], read)?;
    collect(to, rows)
}

fn read(row: &db::Row<'_>) -> db::Result<(Currency, String)> {
    Ok((row.get(0)?, row.get(1)?))
}

fn collect(to: Currency, rows: Vec<(Currency, String)>) -> Result<Rates> {
    let mut rates = Rates::new(to);
    for (from, text) in rows {
        let unreadable = |error| {
            Error::internal(format!("the stored exchange rate of {from} is not a number: {error}"))
        };
        rates.set(from, Fixed9::parse(&text).map_err(unreadable)?);
    }
    Ok(rates)
}

const LATEST: &str = "select from_currency, rate from exchange_rates r
    where user_id = $1 and to_currency = $2 and rated_on = (select max(rated_on) from exchange_rates l
        where l.user_id = r.user_id and l.from_currency = r.from_currency
        and l.to_currency = r.to_currency)";

pub(crate) const STATEMENTS: &[&str] = &[LATEST];
