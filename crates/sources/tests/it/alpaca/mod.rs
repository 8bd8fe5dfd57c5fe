//! Quotes and corporate actions from Alpaca.

mod actions;
mod quotes;
mod troubles;

use net::{Door, Guard, Policy};
use sources::market;
use testkit::alpaca::Alpaca;

fn door() -> Door {
    Door::new(Policy { guard: Guard::Any, extra_ca: None }).unwrap()
}

/// A provider that asks this stand-in with the right key.
fn provider(alpaca: &Alpaca) -> market::Alpaca {
    let (key_id, secret) = (Alpaca::KEY_ID.to_owned(), Alpaca::SECRET.to_owned());
    market::Alpaca::new(door(), alpaca.url(), key_id, secret)
}

fn symbols(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
