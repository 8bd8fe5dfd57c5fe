//! Quotes and corporate actions from Alpaca.

mod actions;
mod errors;
mod quotes;

use net::{Guard, HttpClient, Policy};
use sources::market;
use testkit::alpaca::Alpaca;

fn http_client() -> HttpClient {
    HttpClient::new(Policy { guard: Guard::Any, extra_ca: None }).unwrap()
}

/// A provider that uses this fake server with the right key.
fn provider(alpaca: &Alpaca) -> market::Alpaca {
    let (key_id, secret) = (Alpaca::KEY_ID.to_owned(), Alpaca::SECRET.to_owned());
    market::Alpaca::new(http_client(), alpaca.url(), key_id, secret)
}

fn symbols(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
