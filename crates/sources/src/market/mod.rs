//! The market: prices of securities, corporate actions and trading hours, from the configured provider.

mod alpaca;
pub mod calendar;
pub mod csv;
pub mod demo;
pub mod names;

use std::future::Future;
use std::pin::Pin;

use base::{Date, Fixed9, Timestamp};

pub use alpaca::Alpaca;

/// The price of one share, in US dollars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// In capitals, such as `AAPL`.
    pub symbol: String,
    pub name: Option<String>,
    pub kind: InstrumentKind,
    /// Greater than zero.
    pub price: Fixed9,
    /// The close of the session before the one of the price.
    pub previous_close: Option<Fixed9>,
    /// The time of the price, which may be long ago.
    pub at: Timestamp,
}

base::words!(
    /// The kind of security.
    InstrumentKind {
        Equity => "equity",
        Etf => "etf",
    }
);

/// A corporate action: a split or a dividend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorporateAction {
    pub symbol: String,
    /// The ex-date: from its opening on, shares trade without the entitlement.
    pub ex_on: Date,
    pub terms: ActionTerms,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActionTerms {
    /// `from` shares become `to`: 4 for 1 is `{ to: 4, from: 1 }`. Both are greater than zero.
    Split { to: u32, from: u32 },
    /// The amount for every share held before `ex_on`.
    Dividend { each: Fixed9, pay_on: Date },
}

/// Why a provider did not answer, in a sentence for the operator's log. Contains no secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarketError(pub String);

pub type ProviderFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, MarketError>> + Send + 'a>>;

/// A provider of quotes and corporate actions.
pub trait QuoteProvider: Send + Sync {
    /// The name shown beside a price, such as `Demo market`.
    fn source(&self) -> &'static str;

    /// How long a quote may be cached.
    fn cache_seconds(&self) -> i64;

    /// Whether quotes are computed or read on this machine, without a request to anybody. They are not stored, because
    /// they can be had again.
    fn is_local(&self) -> bool {
        self.cache_seconds() == 0
    }

    /// How old a price may be during trading hours before it is stale and cannot be traded at.
    fn stale_after_seconds(&self) -> i64 {
        900
    }

    /// The latest quote of each symbol; unknown symbols are left out.
    fn quotes(&self, symbols: Vec<String>, now: Timestamp) -> ProviderFuture<'_, Vec<Quote>>;

    /// The corporate actions of these symbols with `ex_on` from `from` to `to`, both included.
    fn corporate_actions(
        &self,
        symbols: Vec<String>,
        from: Date,
        to: Date,
    ) -> ProviderFuture<'_, Vec<CorporateAction>>;
}
