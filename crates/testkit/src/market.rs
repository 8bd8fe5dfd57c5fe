//! A market that says what a test tells it to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use base::{Clock, Date, Fixed9, Timestamp};
use sources::market::{Answer, CorporateAction, Kind, Quote, QuoteProvider, Trouble};

/// Clones share their prices.
#[derive(Clone)]
pub struct Market {
    clock: Clock,
    told: Arc<Mutex<Told>>,
}

#[derive(Default)]
struct Told {
    quotes: BTreeMap<String, Quote>,
    happenings: Vec<CorporateAction>,
    is_silent: bool,
}

impl Market {
    /// Apple at 187.10 after a close of 185.00, and a fund at 50.
    pub fn new(clock: Clock) -> Market {
        let market = Market { clock, told: Arc::default() };
        market.set("AAPL", "187.10", Some("185.00"));
        market.set("VTI", "50", Some("50"));
        market
    }

    /// From now on, as of now.
    pub fn set(&self, symbol: &str, price: &str, previous_close: Option<&str>) {
        let name = match symbol {
            "AAPL" => Some("Apple Inc.".to_owned()),
            "VTI" => Some("Vanguard Total Stock Market ETF".to_owned()),
            _ => None,
        };
        let kind = if symbol == "VTI" { Kind::Etf } else { Kind::Equity };
        let read = |text: &str| Fixed9::parse(text).unwrap();
        let quote = Quote {
            symbol: symbol.to_owned(),
            name,
            kind,
            price: read(price),
            previous_close: previous_close.map(read),
            at: self.clock.now(),
        };
        self.told().quotes.insert(symbol.to_owned(), quote);
    }

    /// As if it had said so then.
    pub fn set_at(&self, symbol: &str, price: &str, at: Timestamp) {
        self.set(symbol, price, None);
        if let Some(quote) = self.told().quotes.get_mut(symbol) {
            quote.at = at;
        }
    }

    /// As if it had never heard of it.
    pub fn forget(&self, symbol: &str) {
        self.told().quotes.remove(symbol);
    }

    pub fn happens(&self, it: CorporateAction) {
        self.told().happenings.push(it);
    }

    /// Answers no more, or again.
    pub fn be_silent(&self, is_silent: bool) {
        self.told().is_silent = is_silent;
    }

    fn told(&self) -> std::sync::MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask<T>(&self, answer: impl FnOnce(&Told) -> T) -> Result<T, Trouble> {
        let told = self.told();
        if told.is_silent {
            Err(Trouble("it does not answer".to_owned()))
        } else {
            Ok(answer(&told))
        }
    }
}

impl QuoteProvider for Market {
    fn source(&self) -> &'static str {
        "Test market"
    }

    fn fresh_seconds(&self) -> i64 {
        1
    }

    fn quotes(&self, symbols: Vec<String>, _: Timestamp) -> Answer<'_, Vec<Quote>> {
        let answer =
            self.ask(|told| symbols.iter().filter_map(|it| told.quotes.get(it).cloned()).collect());
        Box::pin(std::future::ready(answer))
    }

    fn corporate_actions(
        &self,
        symbols: Vec<String>,
        from: Date,
        to: Date,
    ) -> Answer<'_, Vec<CorporateAction>> {
        let answer = self.ask(|told| {
            let asked = |it: &&CorporateAction| {
                symbols.contains(&it.symbol) && (from..=to).contains(&it.ex_on)
            };
            told.happenings.iter().filter(asked).cloned().collect()
        });
        Box::pin(std::future::ready(answer))
    }
}
