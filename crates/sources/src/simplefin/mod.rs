//! SimpleFIN: a person pastes a setup token, it is exchanged once for an access URL, and that URL answers with
//! accounts. Supports both versions of the protocol, with the deviations of real servers.

mod address;
mod drafts;
mod error;
mod kinds;
mod lenient;
mod notice;
mod positions;
mod provide;
mod redirects;
mod response;

use std::time::Duration;

use base::{Currency, Date, Money, Timestamp, date_from_days, days_from_date};
use net::HttpClient;

pub use crate::provider::{AccountChoice, OwedSign, UnsupportedAccount};
pub use address::{AccessUrl, AddressError, SetupToken};
pub use drafts::drafts;
pub use error::SimplefinError;
pub use kinds::{suggest_kind, suggest_owed};
pub use notice::{Notice, NoticeKind};
pub use positions::Holding;
pub use provide::Simplefin;
pub use response::read;

use self::redirects::BoundedRequest;
use crate::percent::percent_encode;

/// A claim is one short response.
const CLAIM_WITHIN: Duration = Duration::from_secs(15);
/// The server may query its institutions first, so a minute is not unusual.
const FETCH_WITHIN: Duration = Duration::from_secs(120);
const CLAIM_BYTES: usize = 64 * 1024;
/// A transaction has about 200 bytes, and a window a few thousand transactions.
const FETCH_BYTES: usize = 16 * 1024 * 1024;

/// Servers truncate longer ranges, each at another length; no limit below 45 days is known.
pub const WINDOW_DAYS: i64 = 44;
/// The daily limit that the server asks of its users.
pub const REQUESTS_A_DAY: u32 = 24;

/// A request for accounts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    pub start: Option<Date>,
    /// Not included.
    pub end: Option<Date>,
    pub pending: bool,
    /// The server's ids; empty means all accounts.
    pub accounts: Vec<String>,
    pub balances_only: bool,
}

/// A parsed response: accounts, and what could not be read.
#[derive(Debug, Clone, Default)]
pub struct AccountSet {
    pub connections: Vec<Connection>,
    pub accounts: Vec<Account>,
    pub unsupported: Vec<UnsupportedAccount>,
    pub notices: Vec<Notice>,
    /// Sentences about rows that were rejected.
    pub rejected: Vec<String>,
}

/// A person's login at an institution. In version 1 it is the institution itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    pub id: String,
    pub name: String,
    /// The institution's name, if it differs from the login's.
    pub institution: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Account {
    /// The server's id, for `Query::accounts`.
    pub id: String,
    /// Unique among all accounts of one access URL; drafts and choices use it.
    pub external_id: String,
    pub connection: Option<String>,
    pub name: String,
    pub institution: Option<String>,
    pub currency: Currency,
    /// The balance with the server's sign. Debts are negative at most institutions, but not at all.
    pub balance: Option<Money>,
    pub available: Option<Money>,
    pub balance_at: Option<Timestamp>,
    pub transactions: Vec<Transaction>,
    /// None if the response does not mention positions.
    pub holdings: Option<Vec<Holding>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// Unique within the account, unless the server repeats ids.
    pub id: String,
    pub pending: bool,
    pub posted_at: Option<Timestamp>,
    pub transacted_at: Option<Timestamp>,
    /// Positive is money into the account.
    pub amount: Money,
    pub description: String,
    pub payee: Option<String>,
    pub memo: Option<String>,
    /// The merchant category code by ISO 18245.
    pub mcc: Option<String>,
}

/// Exchanges the token for an access URL. It works once: the URL must be stored immediately.
pub async fn claim(client: &HttpClient, token: &SetupToken) -> Result<AccessUrl, SimplefinError> {
    let request = BoundedRequest { within: CLAIM_WITHIN, body_max: CLAIM_BYTES };
    let reply = request.post(client, token.claim_url()).await?;
    let body = std::str::from_utf8(&reply.body).unwrap_or_default();
    // The body is checked before the status: some servers answer "Forbidden" with status 200.
    match AccessUrl::parse(body) {
        Ok(access) if access.is_https() || !token.is_https() => Ok(access),
        Ok(_) => Err(SimplefinError::InvalidResponse(
            "the access URL does not begin with https://".to_owned(),
        )),
        Err(_) => Err(SimplefinError::from_claim_reply(&reply)),
    }
}

/// Fetches accounts and their transactions.
pub async fn fetch(
    client: &HttpClient,
    access: &AccessUrl,
    query: &Query,
) -> Result<AccountSet, SimplefinError> {
    fetch_within(client, access, query, FETCH_WITHIN).await
}

/// Like `fetch`, with another timeout.
pub async fn fetch_within(
    client: &HttpClient,
    access: &AccessUrl,
    query: &Query,
    within: Duration,
) -> Result<AccountSet, SimplefinError> {
    let request = BoundedRequest { within, body_max: FETCH_BYTES };
    let reply = request.get(client, query.url(access), access.authorization()).await?;
    if reply.status != 200 {
        return Err(SimplefinError::from_fetch_reply(&reply, access));
    }
    let mut set = read(&reply.body)?;
    if !query.accounts.is_empty() {
        set.accounts.retain(|it| query.accounts.contains(&it.id));
    }
    Ok(set)
}

/// Slightly less than the HTTP client allows.
const LONGEST_URL: usize = 1_900;

impl Query {
    fn url(&self, access: &AccessUrl) -> String {
        let mut url = format!("{}/accounts?version=2", access.base());
        for (name, day) in [("start-date", self.start), ("end-date", self.end)] {
            if let Some(day) = day {
                url.push_str(&format!("&{name}={}", days_from_date(day) * 86_400));
            }
        }
        // The server only checks for presence, so `pending=0` would mean yes.
        if self.pending {
            url.push_str("&pending=1");
        }
        if self.balances_only {
            url.push_str("&balances-only=1");
        }
        let accounts: String =
            self.accounts.iter().map(|it| format!("&account={}", percent_encode(it))).collect();
        // If there are too many accounts to name, all are requested and the others dropped from the response.
        if url.len() + accounts.len() <= LONGEST_URL {
            url.push_str(&accounts);
        }
        url
    }
}

/// The date ranges to request one after the other, newest first, which together cover `from` up to but not including
/// `to`.
pub fn windows(from: Date, to: Date) -> Vec<(Date, Date)> {
    windows_of_days(from, to, WINDOW_DAYS)
}

/// Like `windows`, for a server with a lower limit of days.
pub fn windows_of_days(from: Date, to: Date, days: i64) -> Vec<(Date, Date)> {
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
