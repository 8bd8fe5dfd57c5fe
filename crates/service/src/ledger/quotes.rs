//! Quotes of securities: fetched from the market when needed, stored for when the market does not answer, and marked as
//! stale when they are old.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base::{CLOCK_SKEW_MICROSECONDS, Timestamp, UserId};
use calc::investments::{Price, newer};
use db::params;
use sources::market::calendar::{self, Hours};
use sources::market::{InstrumentKind, Quote, QuoteProvider};
use wire::v1::Code;

use crate::{App, Error, Result, Tx};

/// The longest symbol, by the API's specification.
pub const SYMBOL_LENGTH_MAX: usize = 10;
/// The source of a price that an institution gave for a linked holding.
const INSTITUTION: &str = "Your institution";
const CACHED_MAX: usize = 10_000;
/// The most symbols in one request; no account holds more.
const SYMBOLS_MAX: usize = 1_000;

/// The market that prices come from, and how trades are filled.
#[derive(Clone)]
pub struct Trading {
    pub market: Arc<dyn QuoteProvider>,
    pub when_closed: WhenClosed,
    /// How much worse than the quote a trade is filled, in basis points.
    pub slippage_basis_points: u32,
}

base::words!(
    /// How to handle a trade that is approved while the market is closed.
    WhenClosed {
        Queue => "queue",
        LastPrice => "last_price",
    }
);

/// A quote with its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcedQuote {
    pub quote: Quote,
    /// The name of the market, such as `Demo market`.
    pub source: String,
    /// Whether it is older than a quote of this market should be.
    pub is_stale: bool,
}

/// Recently fetched quotes, so that a page with many rows does not fetch each of them.
#[derive(Default)]
pub(crate) struct QuoteCache(Mutex<HashMap<String, (Quote, Timestamp)>>);

impl QuoteCache {
    /// A quote fetched after `since`. One fetched in the future is from before the clock was set back, and not used.
    fn get(&self, symbol: &str, since: Timestamp, now: Timestamp) -> Option<Quote> {
        let cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let latest = now.as_microsecond() + CLOCK_SKEW_MICROSECONDS;
        let is_fresh = |at: Timestamp| at > since && at.as_microsecond() <= latest;
        cached.get(symbol).filter(|(_, at)| is_fresh(*at)).map(|(quote, _)| quote.clone())
    }

    fn put(&self, quotes: &[Quote], now: Timestamp) {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.len() + quotes.len() > CACHED_MAX {
            cached.clear();
        }
        cached.extend(quotes.iter().map(|it| (it.symbol.clone(), (it.clone(), now))));
    }
}

/// Validates a symbol and converts it to upper case.
pub fn parse_symbol(symbol: &str) -> Result<String> {
    let symbol = symbol.trim().to_ascii_uppercase();
    let plain = symbol.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'.' || it == b'-');
    if symbol.is_empty() || symbol.len() > SYMBOL_LENGTH_MAX || !plain {
        let message =
            format!("symbol must be a ticker of 1 to {SYMBOL_LENGTH_MAX} characters, such as AAPL");
        return Err(Error::invalid("symbol", message));
    }
    Ok(symbol)
}

/// The error for a symbol without a price.
pub(crate) fn unknown_symbol(symbol: &str) -> Error {
    let message = format!("there is no price for {symbol} in this market");
    Error::Conflict { code: Code::UnknownSymbol, message }
}

/// Finds the latest quote of one symbol.
pub async fn find(app: &App, symbol: &str) -> Result<Option<SourcedQuote>> {
    Ok(find_many(app, vec![symbol.to_owned()]).await?.remove(symbol))
}

/// The latest quotes by symbol. If the market does not answer, the last stored quotes are used.
pub async fn find_many(
    app: &App,
    mut symbols: Vec<String>,
) -> Result<HashMap<String, SourcedQuote>> {
    symbols.sort_unstable();
    symbols.dedup();
    symbols.truncate(SYMBOLS_MAX);
    let now = app.clock.now();
    let market = &app.trading.market;
    let since = seconds_before(now, market.cache_seconds());
    let mut found = HashMap::new();
    symbols.retain(|symbol| match app.quote_cache.get(symbol, since, now) {
        Some(quote) => {
            found.insert(symbol.clone(), sourced(app, quote, market.source(), now)).is_some()
        }
        None => true,
    });
    if symbols.is_empty() {
        return Ok(found);
    }
    match market.quotes(symbols.clone(), now).await {
        Ok(quotes) => {
            app.quote_cache.put(&quotes, now);
            if !market.is_local() {
                save(app, quotes.clone(), market.source(), now).await?;
            }
            for quote in quotes {
                found.insert(quote.symbol.clone(), sourced(app, quote, market.source(), now));
            }
        }
        Err(error) => {
            tracing::warn!(source = market.source(), error = error.0, "market returned no quotes");
            for symbol in symbols {
                if let Some((quote, source)) = app.db.first(LAST, params![&symbol], read).await? {
                    found.insert(symbol, sourced(app, quote, &source, now));
                }
            }
        }
    }
    Ok(found)
}

/// The quotes of a person's holdings that are known without a request to a provider: those of a local market, or the
/// stored ones.
pub(crate) async fn known(app: &App, user: UserId, mut symbols: Vec<String>) -> Result<Vec<Quote>> {
    symbols.sort_unstable();
    symbols.dedup();
    symbols.truncate(SYMBOLS_MAX);
    let (market, now) = (&app.trading.market, app.clock.now());
    if symbols.is_empty() {
        return Ok(Vec::new());
    }
    if market.is_local() {
        return Ok(market.quotes(symbols, now).await.unwrap_or_else(|error| {
            tracing::warn!(source = market.source(), error = error.0, "market returned no quotes");
            Vec::new()
        }));
    }
    let stored = app.db.all(STORED, params![user, SYMBOLS_MAX as i64], read).await?;
    let stored = stored.into_iter().map(|(quote, _)| quote);
    Ok(stored.filter(|it| symbols.binary_search(&it.symbol).is_ok()).collect())
}

/// A quote, or the price of an institution if that is newer.
pub(crate) fn newest(
    app: &App,
    symbol: &str,
    found: Option<SourcedQuote>,
    given: Price,
) -> SourcedQuote {
    let (now, from_institution) = (app.clock.now(), INSTITUTION.to_owned());
    let (quote, source) = match found {
        Some(SourcedQuote { quote, source, .. }) => {
            let source = if given.at > quote.at { from_institution } else { source };
            (quote_at(newer(given, price(&quote)), quote), source)
        }
        None => {
            let (name, kind, symbol) = (None, InstrumentKind::Equity, symbol.to_owned());
            let (price, previous_close, at) = (given.price, given.previous_close, given.at);
            (Quote { symbol, name, kind, price, previous_close, at }, from_institution)
        }
    };
    sourced(app, quote, &source, now)
}

/// The price of a quote.
pub(crate) fn price(quote: &Quote) -> Price {
    Price { price: quote.price, previous_close: quote.previous_close, at: quote.at }
}

fn quote_at(price: Price, quote: Quote) -> Quote {
    Quote { price: price.price, previous_close: price.previous_close, at: price.at, ..quote }
}

fn sourced(app: &App, quote: Quote, source: &str, now: Timestamp) -> SourcedQuote {
    let stale_after_seconds = app.trading.market.stale_after_seconds();
    // While the market is closed, the last price of the session is the newest possible.
    let session = calendar::last_session(now);
    let expected = session.closes_at.min(now);
    let is_stale = quote.at < seconds_before(expected, stale_after_seconds);
    SourcedQuote { quote, source: source.to_owned(), is_stale }
}

/// Whether the market is open now, and when it opens next.
pub fn hours(app: &App) -> Hours {
    calendar::hours(app.clock.now())
}

fn seconds_before(at: Timestamp, seconds: i64) -> Timestamp {
    let micros = at.as_microsecond().saturating_sub(seconds.saturating_mul(1_000_000));
    Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MIN)
}

async fn save(app: &App, quotes: Vec<Quote>, source: &'static str, now: Timestamp) -> Result<()> {
    let save = move |tx: &mut Tx<'_>| {
        for it in &quotes {
            let price = it.price.to_string();
            let close = it.previous_close.map(|it| it.to_string());
            let values = params![
                &it.symbol,
                &it.name,
                it.kind.as_str(),
                &price,
                close.as_deref(),
                it.at,
                now,
                source
            ];
            tx.execute(SAVE, values)?;
        }
        Ok::<_, Error>(())
    };
    app.db.write(save).await
}

fn read(row: &db::Row<'_>) -> db::Result<(Quote, String)> {
    let invalid = |column| db::Error::Decode { column, reason: "not a price".to_owned() };
    let close: Option<&str> = row.get(4)?;
    let quote = Quote {
        symbol: row.get(0)?,
        name: row.get(1)?,
        kind: row.word(2, "kind of security", InstrumentKind::parse)?,
        price: base::Fixed9::parse(row.get(3)?).map_err(|_| invalid(3))?,
        previous_close: close.map(base::Fixed9::parse).transpose().map_err(|_| invalid(4))?,
        at: row.get(5)?,
    };
    Ok((quote, row.get(6)?))
}

const SAVE: &str = "insert into quotes
    (symbol, name, kind, price, previous_close, quoted_at, fetched_at, source)
    values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (symbol) do update set
    name = excluded.name, kind = excluded.kind, price = excluded.price,
    previous_close = excluded.previous_close, quoted_at = excluded.quoted_at,
    fetched_at = excluded.fetched_at, source = excluded.source";
const LAST: &str = "select symbol, name, kind, price, previous_close, quoted_at, source
    from quotes where symbol = $1";

const STORED: &str =
    "select symbol, name, kind, price, previous_close, quoted_at, source from quotes
    where symbol in (select upper(trim(s.symbol)) from securities s
        where s.user_id = $1 and s.currency = 'USD') limit $2";

pub(crate) const STATEMENTS: &[&str] = &[SAVE, LAST, STORED];
