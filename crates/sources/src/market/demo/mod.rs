//! A simulated market. Prices move like real ones, but are determined by symbol and minute alone, so that a
//! demonstration needs no network and can be repeated.

mod dividends;
mod noise;
#[cfg(test)]
mod tests;

use std::future::ready;

use base::{Date, Fixed9, Timestamp, days_from_date};

use super::calendar::{Session, last_session, previous_session, session_on};
use super::{CorporateAction, InstrumentKind, ProviderFuture, Quote, QuoteProvider, names};

/// A security's base price, and how much it moves.
struct Listing {
    symbol: &'static str,
    level_cents: i64,
    /// Percent of the widest movement.
    swing: i64,
    /// Percent of the movement that is independent of the market.
    own: i64,
}

const fn listing(symbol: &'static str, level_cents: i64, swing: i64, own: i64) -> Listing {
    Listing { symbol, level_cents, swing, own }
}

/// A swing of at most 90 keeps every day within the bounds that the tests prove.
const LISTINGS: [Listing; 64] = [
    listing("AAPL", 26_240, 80, 85),
    listing("ABBV", 22_115, 65, 90),
    listing("ABT", 13_180, 60, 90),
    listing("ADBE", 34_860, 85, 85),
    listing("AGG", 9_985, 12, 100),
    listing("AMD", 21_830, 90, 85),
    listing("AMZN", 23_870, 85, 85),
    listing("AVGO", 35_290, 90, 85),
    listing("AXP", 34_125, 75, 80),
    listing("BA", 21_460, 85, 90),
    listing("BAC", 5_235, 70, 80),
    listing("BND", 7_390, 12, 100),
    listing("BRK.B", 49_875, 45, 75),
    listing("C", 10_120, 75, 80),
    listing("CAT", 51_240, 80, 85),
    listing("COST", 93_610, 60, 85),
    listing("CRM", 25_280, 85, 85),
    listing("CSCO", 7_145, 65, 85),
    listing("CVX", 15_830, 65, 95),
    listing("DIA", 47_215, 45, 10),
    listing("DIS", 11_265, 70, 85),
    listing("F", 1_285, 80, 90),
    listing("GE", 30_450, 75, 85),
    listing("GLD", 37_220, 50, 100),
    listing("GM", 6_670, 80, 90),
    listing("GOOG", 28_135, 80, 85),
    listing("GOOGL", 28_060, 80, 85),
    listing("GS", 78_490, 75, 80),
    listing("HD", 38_820, 65, 85),
    listing("IBM", 29_475, 70, 85),
    listing("INTC", 3_760, 90, 90),
    listing("IVV", 68_430, 55, 0),
    listing("IWM", 24_685, 65, 25),
    listing("JNJ", 18_940, 50, 95),
    listing("JPM", 30_955, 70, 80),
    listing("KO", 7_025, 45, 95),
    listing("LLY", 86_830, 85, 95),
    listing("MA", 56_190, 60, 80),
    listing("MCD", 30_645, 50, 90),
    listing("META", 68_820, 90, 85),
    listing("MRK", 8_860, 65, 95),
    listing("MSFT", 51_275, 70, 80),
    listing("NFLX", 11_240, 85, 90),
    listing("NKE", 6_930, 85, 90),
    listing("NVDA", 18_890, 90, 80),
    listing("ORCL", 25_865, 90, 85),
    listing("PEP", 14_780, 50, 95),
    listing("PFE", 2_515, 65, 95),
    listing("PG", 15_095, 45, 95),
    listing("PLTR", 17_620, 90, 85),
    listing("QQQ", 61_845, 65, 12),
    listing("SBUX", 8_570, 75, 90),
    listing("SCHD", 2_735, 45, 30),
    listing("SPY", 68_110, 55, 0),
    listing("T", 2_590, 50, 95),
    listing("TSLA", 42_860, 90, 90),
    listing("UNH", 34_215, 80, 95),
    listing("V", 34_470, 60, 80),
    listing("VOO", 62_620, 55, 0),
    listing("VTI", 33_485, 55, 3),
    listing("VXUS", 7_540, 50, 40),
    listing("VZ", 4_055, 50, 95),
    listing("WMT", 10_230, 60, 90),
    listing("XOM", 11_625, 65, 95),
];

/// The key of the noise that all securities share; no symbol has this name.
const MARKET: &str = "the market";

/// Overnight, prices move as much as in two hours of trading.
const NIGHT_MINUTES: i64 = 120;
const DAY_MINUTES: i64 = 390;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DemoMarket;

impl QuoteProvider for DemoMarket {
    fn source(&self) -> &'static str {
        "Demo market"
    }

    fn cache_seconds(&self) -> i64 {
        0
    }

    fn quotes(&self, symbols: Vec<String>, now: Timestamp) -> ProviderFuture<'_, Vec<Quote>> {
        let moment = Moment::at(now);
        let known = |symbol: &String| LISTINGS.iter().find(|it| it.symbol == symbol);
        let quotes = symbols.iter().filter_map(known).map(|it| it.quote(&moment));
        Box::pin(ready(Ok(quotes.collect())))
    }

    fn corporate_actions(
        &self,
        symbols: Vec<String>,
        from: Date,
        to: Date,
    ) -> ProviderFuture<'_, Vec<CorporateAction>> {
        Box::pin(ready(Ok(dividends::between(&symbols, from, to))))
    }
}

/// The latest minute of trading, and the last minute of the previous session.
struct Moment {
    at: Timestamp,
    minute: i64,
    previous_minute: Option<i64>,
}

impl Moment {
    fn at(now: Timestamp) -> Moment {
        let session = last_session(now);
        let at = now.min(session.closes_at);
        let previous = session_on(previous_session(session.date()));
        Moment {
            // A price belongs to a minute, so it is as old as the start of that minute.
            at: at - jiff::SignedDuration::from_secs(into(session, at) % 60),
            minute: market_minute(session, at),
            previous_minute: previous.map(|it| market_minute(it, it.closes_at)),
        }
    }
}

impl Listing {
    fn quote(&self, moment: &Moment) -> Quote {
        Quote {
            symbol: self.symbol.to_owned(),
            name: names::name_of(self.symbol).map(str::to_owned),
            kind: names::kind_of(self.symbol).unwrap_or(InstrumentKind::Equity),
            price: self.price(moment.minute),
            previous_close: moment.previous_minute.map(|it| self.price(it)),
            at: moment.at,
        }
    }

    fn price(&self, minute: i64) -> Fixed9 {
        let mixed = self.own * noise::millionths(self.symbol, minute)
            + (100 - self.own) * noise::millionths(MARKET, minute);
        let moved = mixed * self.swing / 10_000;
        let cents = (self.level_cents * (1_000_000 + moved) / 1_000_000).max(1);
        Fixed9::from_billionths(i128::from(cents) * 10_000_000)
    }
}

/// Minutes of trading and nights since 1970. Weekends do not count: Monday follows Friday.
fn market_minute(session: Session, at: Timestamp) -> i64 {
    let since_monday = days_from_date(session.date()) + 3;
    let weekdays = since_monday.div_euclid(7) * 5 + since_monday.rem_euclid(7);
    weekdays * (DAY_MINUTES + NIGHT_MINUTES) + into(session, at) / 60
}

fn into(session: Session, at: Timestamp) -> i64 {
    at.as_second() - session.opens_at.as_second()
}
