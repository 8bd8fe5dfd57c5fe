//! Instruments: the same security in several accounts has one id and one price. Securities are stored once for each
//! connection, and paper positions apart from them; an instrument ties them together by symbol, currency and class.

use std::collections::HashMap;

use base::draft::SecurityKind;
use base::{CLOCK_SKEW_MICROSECONDS, Currency, Fixed9, SecurityId, Timestamp, UserId};
use calc::investments::{Price, newer};
use db::params;

use crate::{App, Result, Tx};

/// The most instruments of one person that are read.
const INSTRUMENTS_MAX: i64 = 100_000;

base::words!(
    /// The class of an instrument. Securities of different classes can have the same symbol.
    InstrumentClass {
        /// Traded on an exchange, or a fund.
        Listed => "listed",
        Cryptocurrency => "cryptocurrency",
        Cash => "cash",
    }
);
db::word_columns!(InstrumentClass);

/// Securities with the same key are the same instrument.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct InstrumentKey {
    symbol: String,
    currency: Currency,
    class: InstrumentClass,
}

impl InstrumentKey {
    /// The key of a security. `None` without a symbol, and for bonds and derivatives: theirs is often the symbol of the
    /// issuer or of the underlying stock.
    pub(crate) fn new(
        symbol: Option<&str>,
        currency: Currency,
        kind: SecurityKind,
    ) -> Option<InstrumentKey> {
        let class = match kind {
            SecurityKind::Equity
            | SecurityKind::Etf
            | SecurityKind::MutualFund
            | SecurityKind::Other => InstrumentClass::Listed,
            SecurityKind::Cryptocurrency => InstrumentClass::Cryptocurrency,
            SecurityKind::Cash => InstrumentClass::Cash,
            SecurityKind::FixedIncome | SecurityKind::Derivative => return None,
        };
        let symbol = symbol?.trim().to_ascii_uppercase();
        (!symbol.is_empty()).then_some(InstrumentKey { symbol, currency, class })
    }

    /// The key of a symbol of the market, which has prices in US dollars.
    pub(crate) fn listed(symbol: &str) -> InstrumentKey {
        InstrumentKey {
            symbol: symbol.to_owned(),
            currency: Currency::USD,
            class: InstrumentClass::Listed,
        }
    }

    /// The symbol in the market. `None` if the market has no price for this instrument.
    pub(crate) fn market_symbol(&self) -> Option<&str> {
        (*self == InstrumentKey::listed(&self.symbol)).then_some(self.symbol.as_str())
    }
}

/// The id of an instrument. It is the first id that was given out for it: `id` only if there is none yet.
pub(crate) fn register(
    tx: &mut Tx<'_>,
    user: UserId,
    key: &InstrumentKey,
    id: SecurityId,
) -> Result<SecurityId> {
    let (symbol, currency, class) = (&key.symbol, key.currency.code(), key.class.as_str());
    tx.execute(REGISTER, params![user, symbol, currency, class, id])?;
    let found = tx.first(FIND, params![user, symbol, currency, class], |row| row.get(0))?;
    Ok(found.unwrap_or(id))
}

/// Registers the instrument of a saved security. A security whose symbol changed keeps its id, unless another security
/// has the old symbol, or the new one.
pub(crate) fn register_security(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    id: SecurityId,
    (before, after): (Option<InstrumentKey>, Option<InstrumentKey>),
) -> Result<()> {
    let Some(after) = after else { return Ok(()) };
    let (symbol, currency, class) = (&after.symbol, after.currency.code(), after.class.as_str());
    if let Some(before) = before.filter(|it| *it != after) {
        let old = (&before.symbol, before.currency.code(), before.class.as_str());
        let values = params![user, id, old.0, old.1, old.2, symbol, currency, class];
        tx.execute(RENAME, values)?;
    }
    let is_taken = tx.first(ID_TAKEN, params![user, id], |row| row.get::<String>(0))?.is_some();
    let own = if is_taken { app.ids.make::<base::kinds::Security>() } else { id };
    register(tx, user, &after, own)?;
    Ok(())
}

/// The ids of all instruments of a person.
pub(crate) async fn ids(app: &App, user: UserId) -> Result<HashMap<InstrumentKey, SecurityId>> {
    let read = |row: &db::Row<'_>| {
        let (symbol, currency, class) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok((InstrumentKey { symbol, currency, class }, row.get(3)?))
    };
    Ok(app.db.all(LIST, params![user, INSTRUMENTS_MAX], read).await?.into_iter().collect())
}

/// The newest prices that institutions gave for the symbols of a person's paper positions.
pub(crate) async fn institution_prices(app: &App, user: UserId) -> Result<HashMap<String, Price>> {
    let found = app.db.all(PAPER_PRICES, params![user, INSTRUMENTS_MAX], read_price).await?;
    let newest = newest(app.clock.now(), found.into_iter().flatten());
    let by_symbol = newest.into_iter();
    Ok(by_symbol.filter_map(|(key, it)| Some((key.market_symbol()?.to_owned(), it))).collect())
}

/// The newest price of each instrument. A price from the future is ignored: it would stay the newest for ever.
pub(crate) fn newest(
    now: Timestamp,
    prices: impl Iterator<Item = (InstrumentKey, Price)>,
) -> HashMap<InstrumentKey, Price> {
    let latest = now.as_microsecond().saturating_add(CLOCK_SKEW_MICROSECONDS);
    let mut newest: HashMap<InstrumentKey, Price> = HashMap::new();
    for (key, price) in prices.filter(|(_, it)| it.at.as_microsecond() <= latest) {
        newest.entry(key).and_modify(|it| *it = newer(*it, price)).or_insert(price);
    }
    newest
}

fn read_price(row: &db::Row<'_>) -> db::Result<Option<(InstrumentKey, Price)>> {
    let decimal = |column: usize, text: &str| {
        let invalid = |_| db::Error::Decode { column, reason: "not a price".to_owned() };
        Fixed9::parse(text).map_err(invalid)
    };
    let kind = row.word(2, "security kind", SecurityKind::parse)?;
    let key = InstrumentKey::new(row.get(0)?, row.get(1)?, kind);
    let close = row.get::<Option<&str>>(4)?.map(|it| decimal(4, it)).transpose()?;
    let price = Price { price: decimal(3, row.get(3)?)?, previous_close: close, at: row.get(5)? };
    Ok(key.map(|key| (key, price)))
}

const REGISTER: &str = "insert into instruments (user_id, symbol, currency, class, id)
    values ($1, $2, $3, $4, $5) on conflict (user_id, symbol, currency, class) do nothing";
const FIND: &str = "select id from instruments
    where user_id = $1 and symbol = $2 and currency = $3 and class = $4";
const ID_TAKEN: &str = "select symbol from instruments where user_id = $1 and id = $2";
const RENAME: &str = "update instruments set symbol = $6, currency = $7, class = $8
    where user_id = $1 and symbol = $3 and currency = $4 and class = $5
    and not exists (select 1 from instruments n where n.user_id = $1 and n.symbol = $6
        and n.currency = $7 and n.class = $8)
    and not exists (select 1 from securities s where s.user_id = $1 and s.id <> $2
        and upper(trim(s.symbol)) = $3 and s.currency = $4)
    and not exists (select 1 from paper_positions p where p.user_id = $1 and p.symbol = $3)";
const LIST: &str = "select symbol, currency, class, id from instruments where user_id = $1
    limit $2";
const PAPER_PRICES: &str = "select s.symbol, s.currency, s.kind, s.price, s.previous_close,
    s.priced_at from holdings h
    join securities s on s.user_id = h.user_id and s.id = h.security_id
    where h.user_id = $1 and s.price is not null and s.priced_at is not null
    and upper(trim(s.symbol)) in (select p.symbol from paper_positions p where p.user_id = $1)
    limit $2";

pub(crate) const STATEMENTS: &[&str] = &[REGISTER, FIND, ID_TAKEN, RENAME, LIST, PAPER_PRICES];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_depends_on_symbol_currency_and_class() {
        let key = |symbol, kind| InstrumentKey::new(Some(symbol), Currency::USD, kind);
        let apple = key("AAPL", SecurityKind::Equity).unwrap();
        assert_eq!(apple, InstrumentKey::listed("AAPL"));
        for kind in [SecurityKind::Etf, SecurityKind::MutualFund, SecurityKind::Other] {
            assert_eq!(key(" aapl ", kind).as_ref(), Some(&apple));
        }
        // A cryptocurrency, and a listed trust with the same symbol.
        assert_ne!(key("BTC", SecurityKind::Cryptocurrency), key("BTC", SecurityKind::Etf));
        assert_eq!(key("BTC", SecurityKind::Cryptocurrency).unwrap().market_symbol(), None);
        assert_eq!(apple.market_symbol(), Some("AAPL"));
        for kind in [SecurityKind::Derivative, SecurityKind::FixedIncome] {
            assert_eq!(key("AAPL", kind), None);
        }
        assert_eq!(key(" ", SecurityKind::Equity), None);
        assert_eq!(InstrumentKey::new(None, Currency::USD, SecurityKind::Equity), None);
        let in_euros = InstrumentKey::new(Some("AAPL"), Currency::EUR, SecurityKind::Equity);
        assert_eq!(in_euros.unwrap().market_symbol(), None);
    }

    #[test]
    fn the_newest_price_counts_and_one_from_the_future_does_not() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let price = |text: &str, second| Price {
            price: Fixed9::parse(text).unwrap(),
            previous_close: None,
            at: at(second),
        };
        let key = InstrumentKey::listed("VTI");
        let prices = [price("50", 900), price("51", 1_000), price("99", 90_000), price("52", 950)];
        let found = newest(at(1_000), prices.into_iter().map(|it| (key.clone(), it)));
        assert_eq!(found[&key], prices[1]);
    }
}
