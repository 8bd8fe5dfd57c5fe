//! SimpleFIN: a person pastes a setup token, which is claimed once for an access URL, which answers with accounts.
//! Both versions of the protocol are read, as servers really write them.

mod address;
mod drafts;
mod kinds;
mod loose;
mod notice;
mod positions;
mod shapes;
mod travel;
mod trouble;

use std::time::Duration;

use base::{Currency, Date, Money, Timestamp, date_from_days, days_from_date};
use net::HttpClient;

pub use address::{AccessUrl, BadAddress, SetupToken};
pub use drafts::{Choice, Owed, drafts};
pub use kinds::{suggest_kind, suggest_owed};
pub use notice::{Matter, Notice};
pub use positions::Holding;
pub use shapes::read;
pub use trouble::Trouble;

use self::travel::Trip;
use crate::percent::percent_encode;

/// A claim is one short answer.
const CLAIM_WITHIN: Duration = Duration::from_secs(15);
/// The server may ask its institutions first, so that a minute is nothing unusual.
const FETCH_WITHIN: Duration = Duration::from_secs(120);
const CLAIM_BYTES: usize = 64 * 1024;
/// A transaction has some 200 bytes, and a window a few thousand of them.
const FETCH_BYTES: usize = 16 * 1024 * 1024;

/// Servers cut longer ranges off, each at another length; none has been seen below 45 days.
pub const WINDOW_DAYS: i64 = 44;
/// What the server asks its users to stay within on one day.
pub const REQUESTS_A_DAY: u32 = 24;

/// What to ask for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    pub start: Option<Date>,
    /// Not included.
    pub end: Option<Date>,
    pub pending: bool,
    /// The server's own ids; empty means all accounts.
    pub accounts: Vec<String>,
    pub balances_only: bool,
}

/// One answer: what could be read of it, and what could not.
#[derive(Debug, Clone, Default)]
pub struct AccountSet {
    pub connections: Vec<Connection>,
    pub accounts: Vec<Account>,
    pub unsupported: Vec<Unsupported>,
    pub notices: Vec<Notice>,
    /// Sentences about rows that are left out because they make no sense.
    pub rejected: Vec<String>,
}

/// A person's login at an institution. In version 1 it is the institution itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    pub id: String,
    pub name: String,
    /// The institution's own name, where it is told apart from that of the login.
    pub institution: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Account {
    /// As the server names it, for `Query::accounts`.
    pub id: String,
    /// Unique among all accounts of one access URL; what drafts and choices are called by.
    pub external_id: String,
    pub connection: Option<String>,
    pub name: String,
    pub institution: Option<String>,
    pub currency: Currency,
    /// With the sign that the server gives it. What is owed is negative at most institutions, but not at all.
    pub balance: Option<Money>,
    pub available: Option<Money>,
    pub balance_at: Option<Timestamp>,
    pub transactions: Vec<Transaction>,
    /// None when the answer does not speak of positions.
    pub holdings: Option<Vec<Holding>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// Unique within the account, if all goes well.
    pub id: String,
    pub pending: bool,
    pub posted_at: Option<Timestamp>,
    pub transacted_at: Option<Timestamp>,
    /// Positive is money into the account.
    pub amount: Money,
    pub description: String,
    pub payee: Option<String>,
    pub memo: Option<String>,
    /// What kind of merchant it is, by ISO 18245.
    pub mcc: Option<String>,
}

/// An account that cannot be taken in, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    pub id: String,
    pub name: String,
    pub reason: String,
}

/// Trades the token for an access URL. That works once: what comes back must be kept at once.
pub async fn claim(client: &HttpClient, token: &SetupToken) -> Result<AccessUrl, Trouble> {
    let trip = Trip { within: CLAIM_WITHIN, body_max: CLAIM_BYTES };
    let reply = trip.post(client, token.claim_url()).await?;
    let body = std::str::from_utf8(&reply.body).unwrap_or_default();
    // The status is not asked first: servers have said "Forbidden" with 200.
    match AccessUrl::parse(body) {
        Ok(access) if access.is_https() || !token.is_https() => Ok(access),
        Ok(_) => Err(Trouble::BadAnswer("the access URL does not begin with https://".to_owned())),
        Err(_) => Err(Trouble::of_claim(&reply)),
    }
}

/// Asks for accounts and what happened on them.
pub async fn fetch(
    client: &HttpClient,
    access: &AccessUrl,
    query: &Query,
) -> Result<AccountSet, Trouble> {
    fetch_within(client, access, query, FETCH_WITHIN).await
}

/// Like `fetch`, for those who cannot wait as long.
pub async fn fetch_within(
    client: &HttpClient,
    access: &AccessUrl,
    query: &Query,
    within: Duration,
) -> Result<AccountSet, Trouble> {
    let trip = Trip { within, body_max: FETCH_BYTES };
    let reply = trip.get(client, query.url(access), access.authorization()).await?;
    if reply.status != 200 {
        return Err(Trouble::of_fetch(&reply, access));
    }
    let mut set = read(&reply.body)?;
    if !query.accounts.is_empty() {
        set.accounts.retain(|it| query.accounts.contains(&it.id));
    }
    Ok(set)
}

/// What the client takes at most, and a little air.
const LONGEST_URL: usize = 1_900;

impl Query {
    fn url(&self, access: &AccessUrl) -> String {
        let mut url = format!("{}/accounts?version=2", access.base());
        for (name, day) in [("start-date", self.start), ("end-date", self.end)] {
            if let Some(day) = day {
                url.push_str(&format!("&{name}={}", days_from_date(day) * 86_400));
            }
        }
        // The server asks only whether these are there, so that `pending=0` would mean yes.
        if self.pending {
            url.push_str("&pending=1");
        }
        if self.balances_only {
            url.push_str("&balances-only=1");
        }
        let accounts: String =
            self.accounts.iter().map(|it| format!("&account={}", percent_encode(it))).collect();
        // Too many to name: all are asked for, and the others dropped from the answer.
        if url.len() + accounts.len() <= LONGEST_URL {
            url.push_str(&accounts);
        }
        url
    }
}

/// Ranges to ask for one after the other, newest first, that together reach from `from` up to but not including `to`.
pub fn windows(from: Date, to: Date) -> Vec<(Date, Date)> {
    windows_of(from, to, WINDOW_DAYS)
}

/// Like `windows`, for a server that said it gives fewer days at once.
pub fn windows_of(from: Date, to: Date, days: i64) -> Vec<(Date, Date)> {
    let (first, mut end) = (days_from_date(from), days_from_date(to));
    let mut found = Vec::new();
    while end > first {
        let start = (end - days.max(1)).max(first);
        found.push((date_from_days(start), date_from_days(end)));
        end = start;
    }
    found
}

#[cfg(test)]
mod tests;
