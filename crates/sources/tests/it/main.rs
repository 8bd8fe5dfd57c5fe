//! Tests of the sources against fake servers.
#![expect(clippy::unwrap_used, reason = "a failed step of a test should panic")]

mod alpaca;
mod enable_banking;
mod plaid;
mod simplefin;
