//! The market: what securities cost and when they trade, from whoever the installation asks.

mod alpaca;
pub mod calendar;
pub mod csv;
pub mod demo;
pub mod names;

use std::future::Future;
use std::pin::Pin;

use base::{Date, Fixed9, Timestamp};

pub use alpaca::Alpaca;

/// What one share costs, in US dollars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// In capitals, such as `AAPL`.
    pub symbol: String,
    pub name: Option<String>,
    pub kind: Kind,
    /// Greater than zero.
    pub price: Fixed9,
    /// Of the session before the one that the price is from.
    pub previous_close: Option<Fixed9>,
    /// When the market said so, which may be long ago.
    pub at: Timestamp,
}

base::words!(
    /// What kind of security it is.
    Kind {
        Equity => "equity",
        Etf => "etf",
    }
);

/// What a company does to its shares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorporateAction {
    pub symbol: String,
    /// From the opening of this day on, shares trade without it.
    pub ex_on: Date,
    pub what: Happening,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
    /// `from` shares become `to`: 4 for 1 is `{ to: 4, from: 1 }`. Both are greater than zero.
    Split { to: u32, from: u32 },
    /// So much for every share that was held before `ex_on`.
    Dividend { each: Fixed9, pay_on: Date },
}

/// Why there is no answer, in a sentence for the operator's log. It holds no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble(pub String);

pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Trouble>> + Send + 'a>>;

/// Who knows prices.
pub trait QuoteProvider: Send + Sync {
    /// What people read beside a price, such as `Demo market`.
    fn source(&self) -> &'static str;

    /// How long an answer may be used again before asking anew.
    fn fresh_seconds(&self) -> i64;

    /// How old a price may be while the market trades before it is called stale, and not traded at.
    fn patience_seconds(&self) -> i64 {
        900
    }

    /// The latest quote of each symbol; those it does not know are left out.
    fn quotes(&self, symbols: Vec<String>, now: Timestamp) -> Answer<'_, Vec<Quote>>;

    /// What happened to these symbols with `ex_on` from one day to another, both included.
    fn corporate_actions(
        &self,
        symbols: Vec<String>,
        from: Date,
        to: Date,
    ) -> Answer<'_, Vec<CorporateAction>>;
}
