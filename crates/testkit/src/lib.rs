//! Test fixtures: a `World` with a fresh database, a frozen clock and a seed; builders for drafts; simulated servers.
#![expect(clippy::unwrap_used, reason = "a failed step of a test should panic")]

pub mod alpaca;
mod authenticator;
pub mod collector;
mod database;
pub mod draft;
pub mod enable_banking;
mod market;
pub mod object_store;
pub mod oidc;
pub mod openapi;
mod pgbouncer;
pub mod plaid;
mod proxy;
pub mod receiver;
pub mod simplefin;
pub mod smtp;
mod tls_postgres;
mod tls_proxy;
mod tls_server;
mod world;

pub use authenticator::{Authenticator, Kind};
pub use database::{Database, Explainer, is_on_postgres, is_sharded, postgres_database};
pub use market::Market;
pub use pgbouncer::PgBouncer;
pub use proxy::Proxy;
pub use tls_postgres::TlsPostgres;
pub use tls_proxy::TlsProxy;
pub use world::{IssuedKey, Person, World, hex, new_key, new_user};

/// Parses a date such as `2026-03-01`.
pub fn day(text: &str) -> base::Date {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Parses an instant such as `2026-03-01T12:00:00Z`.
pub fn at(text: &str) -> base::Timestamp {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}
