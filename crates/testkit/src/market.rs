//! A quote provider whose prices and corporate actions a test sets.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use base::{Clock, Date, Fixed9, Timestamp};
use sources::market::{
    CorporateAction, InstrumentKind, MarketError, ProviderFuture, Quote, QuoteProvider,
};

/// Clones share their prices.
#[derive(Clone)]
pub struct Market {
    clock: Clock,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    quotes: BTreeMap<String, Quote>,
    corporate_actions: Vec<CorporateAction>,
    is_unavailable: bool,
}

impl Market {
    /// Apple at 187.10 after a close of 185.00, and a fund at 50.
    pub fn new(clock: Clock) -> Market {
        let market = Market { clock, state: Arc::default() };
        market.set("AAPL", "187.10", Some("185.00"));
        market.set("VTI", "50", Some("50"));
        market
    }

    /// Sets a quote with the current time.
    pub fn set(&self, symbol: &str, price: &str, previous_close: Option<&str>) {
        let name = match symbol {
            "AAPL" => Some("Apple Inc.".to_owned()),
            "VTI" => Some("Vanguard Total Stock Market ETF".to_owned()),
            _ => None,
        };
        let kind = if symbol == "VTI" { InstrumentKind::Etf } else { InstrumentKind::Equity };
        let read = |text: &str| Fixed9::parse(text).unwrap();
        let quote = Quote {
            symbol: symbol.to_owned(),
            name,
            kind,
            price: read(price),
            previous_close: previous_close.map(read),
            at: self.clock.now(),
        };
        self.state().quotes.insert(symbol.to_owned(), quote);
    }

    /// Sets a quote with another time.
    pub fn set_at(&self, symbol: &str, price: &str, at: Timestamp) {
        self.set(symbol, price, None);
        if let Some(quote) = self.state().quotes.get_mut(symbol) {
            quote.at = at;
        }
    }

    /// Makes the symbol unknown.
    pub fn forget(&self, symbol: &str) {
        self.state().quotes.remove(symbol);
    }

    pub fn add_corporate_action(&self, it: CorporateAction) {
        self.state().corporate_actions.push(it);
    }

    /// Makes every request fail, or succeed again.
    pub fn set_unavailable(&self, is_unavailable: bool) {
        self.state().is_unavailable = is_unavailable;
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask<T>(&self, answer: impl FnOnce(&State) -> T) -> Result<T, MarketError> {
        let state = self.state();
        if state.is_unavailable {
            Err(MarketError("it does not answer".to_owned()))
        } else {
            Ok(answer(&state))
        }
    }
}

impl QuoteProvider for Market {
    fn source(&self) -> &'static str {
        "Test market"
    }

    fn cache_seconds(&self) -> i64 {
        1
    }

    fn quotes(&self, symbols: Vec<String>, _: Timestamp) -> ProviderFuture<'_, Vec<Quote>> {
        let answer = self
            .ask(|state| symbols.iter().filter_map(|it| state.quotes.get(it).cloned()).collect());
        Box::pin(std::future::ready(answer))
    }

    fn corporate_actions(
        &self,
        symbols: Vec<String>,
        from: Date,
        to: Date,
    ) -> ProviderFuture<'_, Vec<CorporateAction>> {
        let answer = self.ask(|state| {
            let is_requested = |it: &&CorporateAction| {
                symbols.contains(&it.symbol) && (from..=to).contains(&it.ex_on)
            };
            state.corporate_actions.iter().filter(is_requested).cloned().collect()
        });
        Box::pin(std::future::ready(answer))
    }
}
