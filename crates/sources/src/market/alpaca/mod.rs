//! Quotes and corporate actions from Alpaca's market data API.

mod error;
mod response;

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base::{Date, Timestamp, date_from_days, days_from_date};
use net::{HttpClient, HttpRequest, HttpResponse, Limits};
use serde::de::DeserializeOwned;

use self::error::AlpacaError;
use self::response::{ActionPage, Snapshots};
use super::{CorporateAction, MarketError, ProviderFuture, Quote, QuoteProvider};
use crate::percent::percent_encode;

/// A hundred snapshots are about 70 KB, a thousand actions about 300 KB.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(5),
    total: Duration::from_secs(10),
    body_max: 2 * 1024 * 1024,
};

/// Keeps the URL within the 2,000 characters that every server accepts.
const BATCH: usize = 100;
const PAGE: usize = 1000;
const MOST_PAGES: usize = 20;

/// How often a request is tried before its error is returned.
const MOST_TRIES: usize = 3;

/// Alpaca finds actions by their process date. That is the ex-date of a split, but the payment date of a dividend,
/// which may be months later.
const HANDLED_BEFORE_DAYS: i64 = 7;
const HANDLED_AFTER_DAYS: i64 = 120;

pub struct Alpaca {
    client: HttpClient,
    base_url: String,
    key_id: String,
    secret: String,
    /// Symbols that Alpaca rejects, such as the number of a bond. One of them fails its whole batch, so none is
    /// requested twice.
    no_symbols: Mutex<BTreeSet<String>>,
}

impl Alpaca {
    /// `base_url` is that of the data API, such as `https://data.alpaca.markets`.
    pub fn new(client: HttpClient, base_url: &str, key_id: String, secret: String) -> Alpaca {
        let base_url = base_url.trim_end_matches('/').to_owned();
        Alpaca { client, base_url, key_id, secret, no_symbols: Mutex::default() }
    }

    /// The symbols to request, in batches without duplicates.
    fn batches(&self, symbols: Vec<String>) -> Vec<Vec<String>> {
        let refused = self.no_symbols.lock().unwrap_or_else(PoisonError::into_inner);
        let is_requestable = |it: &String| is_symbol(it) && !refused.contains(it);
        let distinct: BTreeSet<String> = symbols.into_iter().filter(is_requestable).collect();
        let distinct: Vec<String> = distinct.into_iter().collect();
        distinct.chunks(BATCH).map(<[String]>::to_vec).collect()
    }

    async fn all_quotes(
        &self,
        symbols: Vec<String>,
        now: Timestamp,
    ) -> Result<Vec<Quote>, MarketError> {
        let mut retry_budget = RetryBudget::default();
        let mut quotes = Vec::new();
        for mut batch in self.batches(symbols) {
            let path = |symbols: &str| format!("/v2/stocks/snapshots?symbols={symbols}");
            let found: Option<Snapshots> =
                self.request_batch(&mut batch, path, &mut retry_budget).await?;
            quotes.extend(found.into_iter().flat_map(|it| it.quotes(now)));
        }
        Ok(quotes)
    }

    async fn all_actions(
        &self,
        symbols: Vec<String>,
        from: Date,
        to: Date,
    ) -> Result<Vec<CorporateAction>, MarketError> {
        let mut retry_budget = RetryBudget::default();
        let mut actions = Vec::new();
        for batch in self.batches(symbols) {
            actions.extend(self.actions_of(batch, from, to, &mut retry_budget).await?);
        }
        actions.retain(|it| (from..=to).contains(&it.ex_on));
        actions.sort_by(|a, b| (a.ex_on, &a.symbol).cmp(&(b.ex_on, &b.symbol)));
        Ok(actions)
    }

    async fn actions_of(
        &self,
        mut batch: Vec<String>,
        from: Date,
        to: Date,
        retry_budget: &mut RetryBudget,
    ) -> Result<Vec<CorporateAction>, MarketError> {
        let start = date_from_days(days_from_date(from) - HANDLED_BEFORE_DAYS);
        let end = date_from_days(days_from_date(to) + HANDLED_AFTER_DAYS);
        let types = "forward_split,reverse_split,cash_dividend";
        let mut actions = Vec::new();
        let mut token = String::new();
        for _ in 0..MOST_PAGES {
            let path = |symbols: &str| {
                format!(
                    "/v1/corporate-actions?symbols={symbols}&types={types}\
                     &start={start}&end={end}&limit={PAGE}{token}"
                )
            };
            let page: Option<ActionPage> =
                self.request_batch(&mut batch, path, retry_budget).await?;
            let Some(page) = page else { return Ok(actions) };
            let next = page.next_page_token.as_deref().map(percent_encode);
            actions.extend(page.into_actions());
            match next {
                Some(next) if !next.is_empty() => token = format!("&page_token={next}"),
                _ => return Ok(actions),
            }
        }
        Err(error::too_many_pages())
    }

    /// Requests a batch, and again without the symbols that Alpaca rejects. None if no symbols are left.
    async fn request_batch<T: DeserializeOwned>(
        &self,
        batch: &mut Vec<String>,
        path: impl Fn(&str) -> String,
        retry_budget: &mut RetryBudget,
    ) -> Result<Option<T>, MarketError> {
        while !batch.is_empty() {
            let error = match self.get(&path(&batch.join(",")), retry_budget).await {
                Ok(reply) => {
                    return serde_json::from_slice(&reply.body).map_err(error::unreadable);
                }
                Err(error) => error,
            };
            let named: Vec<String> = batch.extract_if(.., |it| error.names(it)).collect();
            if named.is_empty() {
                return Err(error.to_market_error());
            }
            self.no_symbols.lock().unwrap_or_else(PoisonError::into_inner).extend(named);
        }
        Ok(None)
    }

    async fn get(
        &self,
        path: &str,
        retry_budget: &mut RetryBudget,
    ) -> Result<HttpResponse, AlpacaError> {
        let mut tries = 1;
        loop {
            let error = match self.get_once(path).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            match error.retry_after() {
                Some(pause) if tries < MOST_TRIES && retry_budget.covers(pause) => {
                    tokio::time::sleep(pause).await;
                    tries += 1;
                }
                _ => return Err(error),
            }
        }
    }

    async fn get_once(&self, path: &str) -> Result<HttpResponse, AlpacaError> {
        let request = HttpRequest::get(format!("{}{path}", self.base_url))
            .header("accept", "application/json")
            .header("apca-api-key-id", &self.key_id)
            .header("apca-api-secret-key", &self.secret);
        let reply = self.client.send(request, LIMITS).await.map_err(AlpacaError::NoAnswer)?;
        match (reply.failure(), reply.status) {
            (Some(flaw), _) => Err(AlpacaError::NoAnswer(flaw)),
            (None, 200) => Ok(reply),
            (None, _) => Err(AlpacaError::read(&reply, [&self.key_id, &self.secret])),
        }
    }
}

impl QuoteProvider for Alpaca {
    fn source(&self) -> &'static str {
        "Alpaca"
    }

    fn cache_seconds(&self) -> i64 {
        15
    }

    fn quotes(&self, symbols: Vec<String>, now: Timestamp) -> ProviderFuture<'_, Vec<Quote>> {
        Box::pin(self.all_quotes(symbols, now))
    }

    fn corporate_actions(
        &self,
        symbols: Vec<String>,
        from: Date,
        to: Date,
    ) -> ProviderFuture<'_, Vec<CorporateAction>> {
        Box::pin(self.all_actions(symbols, from, to))
    }
}

/// How much longer one call may wait for rate limits, over all its requests.
struct RetryBudget(Duration);

impl Default for RetryBudget {
    fn default() -> RetryBudget {
        RetryBudget(Duration::from_millis(1500))
    }
}

impl RetryBudget {
    fn covers(&mut self, pause: Duration) -> bool {
        let left = self.0.checked_sub(pause);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// Whether the text is safe to put in a URL as a symbol.
fn is_symbol(text: &str) -> bool {
    let plain = |it: u8| it.is_ascii_uppercase() || it.is_ascii_digit() || it == b'.';
    (1..=10).contains(&text.len()) && text.bytes().all(plain)
}
