//! What tests stand on: a world with a fresh database, a frozen clock and a seed; drafts that read like sentences.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

pub mod alpaca;
mod authenticator;
mod database;
pub mod draft;
mod market;
mod proxy;
pub mod receiver;
pub mod simplefin;
mod tls_postgres;
mod world;

pub use authenticator::{Authenticator, Kind};
pub use database::{Database, postgres_database};
pub use market::Market;
pub use proxy::Proxy;
pub use tls_postgres::TlsPostgres;
pub use world::{Issued, Person, World, hex, new_key, new_user};

/// Reads a day as tests write it.
pub fn day(text: &str) -> base::Date {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Reads an instant as tests write it.
pub fn at(text: &str) -> base::Timestamp {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}
