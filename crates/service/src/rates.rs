//! Exchange rates, as the sources gave them.

use base::{Currency, Fixed9};
use calc::rates::Rates;
use db::params;

use crate::{App, Caller, Error, Result};

/// The latest known rate of each currency into `to`.
pub(crate) async fn latest(app: &App, caller: &Caller, to: Currency) -> Result<Rates> {
    let rows = app
        .db
        .all(LATEST, params![caller.user, to.code()], |row| {
            Ok((row.get::<Currency>(0)?, row.get::<String>(1)?))
        })
        .await?;
    let mut rates = Rates::new(to);
    for (from, text) in rows {
        let unreadable = |error| Error::internal(format!("a stored rate of {from}: {error}"));
        rates.set(from, Fixed9::parse(&text).map_err(unreadable)?);
    }
    Ok(rates)
}

const LATEST: &str = "select from_currency, rate from exchange_rates r
    where user_id = $1 and to_currency = $2 and rated_on = (select max(rated_on) from exchange_rates l
        where l.user_id = r.user_id and l.from_currency = r.from_currency
        and l.to_currency = r.to_currency)";

pub(crate) const STATEMENTS: &[&str] = &[LATEST];
