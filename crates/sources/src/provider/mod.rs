//! The shape of a bank provider: a service that hands over a person's accounts with the person's consent.
//!
//! A provider is a folder of this crate and a row of `banks::PROVIDERS`. It knows how to connect, fetch, repair and
//! disconnect; `service` stores what it returns, and knows no provider by name.

mod error;
mod json;
mod response;
mod secret;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use base::draft::{AccountKind, Source};
use base::{Date, Timestamp, words};
use net::HttpClient;

pub use error::{BankError, ErrorKind, Remedy};
pub(crate) use json::{JsonError, send_json};
pub(crate) use response::split_offers;
pub use response::{
    AccountChoice, AccountNotice, AccountProblem, ConnectionNotice, DraftAccounts, Offer, OwedSign,
    Response, UnsupportedAccount,
};
pub use secret::Secret;

/// What a provider's function returns: it sends requests, so it takes time and may fail.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, BankError>> + Send + 'a>>;

/// One way to the person's banks.
pub trait Provider: Send + Sync {
    fn source(&self) -> Source;

    /// The provider's name for people.
    fn name(&self) -> &'static str;

    /// The beginning of the ids of its transactions. It ends with a colon and has no space.
    fn id_prefix(&self) -> &'static str;

    fn schedule(&self) -> Schedule;

    /// How a person connects: by a token from the provider's page, or by a link to it.
    fn method(&self) -> ConnectMethod;

    /// Whether requests need keys of the provider's customer.
    fn needs_keys(&self) -> bool {
        false
    }

    /// Checks keys that the person entered, without sending a request.
    fn check_keys(&self, _keys: &Secret) -> Result<(), BankError> {
        Err(BankError::invalid(format!("{} needs no keys.", self.name())))
    }

    /// Checks a pasted token, without sending a request.
    fn check_token(&self, _token: &str) -> Result<(), BankError> {
        Err(BankError::invalid(format!("{} needs no token.", self.name())))
    }

    /// Exchanges a token for access. A token can be exchanged once, so the access must be stored at once.
    fn exchange<'a>(&'a self, _context: &'a Context, _token: &'a str) -> Reply<'a, NewAccess> {
        refuse("This source is connected on its own page, not by a token.")
    }

    /// The banks of a country, for a provider that has no page to choose one.
    fn list_banks<'a>(
        &'a self,
        _context: &'a Context,
        _country: &'a str,
    ) -> Reply<'a, Vec<Institution>> {
        refuse("This source has a page of its own to choose a bank.")
    }

    /// Starts a round trip through the person's browser, to connect or to repair.
    fn start_link<'a>(
        &'a self,
        _context: &'a Context,
        _request: &'a LinkRequest,
    ) -> Reply<'a, NewLink> {
        refuse("This source has no page to sign in on.")
    }

    /// Asks how a round trip ended. `returned` is the query of the address that the browser came back to, if it did.
    fn finish_link<'a>(
        &'a self,
        _context: &'a Context,
        _session: &'a Secret,
        _returned: Option<&'a str>,
    ) -> Reply<'a, LinkOutcome> {
        refuse("This source has no page to sign in on.")
    }

    /// Fetches accounts, and their data if `SyncRequest::purpose` asks for it.
    fn sync<'a>(
        &'a self,
        context: &'a Context,
        access: &'a Secret,
        request: &'a SyncRequest,
    ) -> Reply<'a, Response>;

    /// Whether the provider must be told that a connection ends.
    fn revokes(&self) -> bool {
        false
    }

    /// Ends the access at the provider. Access that has already ended is no error.
    fn disconnect<'a>(&'a self, _context: &'a Context, _access: &'a Secret) -> Reply<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    /// The id of the key that a webhook's signature names; none if the provider sends no webhooks or the signature is
    /// malformed.
    fn webhook_key_id(&self, _signature: &str) -> Option<String> {
        None
    }

    /// The login that a webhook says it is about. Nothing has been verified yet.
    fn webhook_login(&self, _body: &[u8]) -> Option<String> {
        None
    }

    /// Fetches the public key of this id, as text for `read_webhook`.
    fn webhook_key<'a>(&'a self, _context: &'a Context, _key_id: &'a str) -> Reply<'a, String> {
        refuse("This source sends no webhooks.")
    }

    /// Verifies a webhook and reads it.
    fn read_webhook(
        &self,
        _key: &str,
        _signature: &str,
        _body: &[u8],
        _now: Timestamp,
    ) -> Result<WebhookNews, WebhookError> {
        Err(WebhookError::Forged)
    }

    /// What a problem of one account means, and what to do.
    fn problem_message(&self, problem: AccountProblem, bank: &str) -> String;

    /// The message when the stored access or the keys cannot be decrypted.
    fn unreadable_message(&self) -> String;

    /// The message for a connection that the person has disconnected.
    fn disconnected_message(&self) -> &'static str {
        "This connection is disconnected. To reconnect, connect the bank again. Your accounts and \
         their history are still here."
    }
}

fn refuse<'a, T: Send + 'a>(message: &'static str) -> Reply<'a, T> {
    Box::pin(async move { Err(BankError::invalid(message)) })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectMethod {
    /// The person pastes a token that the provider's page shows.
    Token,
    /// The person follows a link to the provider's page and comes back.
    Link,
}

/// How often a provider may be asked, and how much it returns at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// Syncs of one connection in a day.
    pub syncs_a_day: i64,
    /// Further syncs in a day that the person asks for in a browser, which are counted by themselves; none if they count
    /// toward `syncs_a_day`, too.
    pub attended_syncs_a_day: Option<i64>,
    /// Of `syncs_a_day`, those that may fetch history, so that enough are left for new transactions.
    pub history_syncs_a_day: i64,
    pub interval_seconds: i64,
    /// The longest range of dates in one request; none if the provider remembers what was fetched.
    pub window_days: Option<i64>,
}

impl Schedule {
    /// Syncs of one connection in a day, with those that the person asks for.
    pub fn all_syncs_a_day(&self) -> i64 {
        self.syncs_a_day + self.attended_syncs_a_day.unwrap_or(0)
    }
}

/// What every request needs besides the access.
#[derive(Clone)]
pub struct Context {
    pub http: HttpClient,
    /// The keys of the provider's customer.
    pub keys: Option<Arc<Secret>>,
    /// The address of the provider's API, if it is not the usual one.
    pub url: Option<Arc<str>>,
    pub now: Timestamp,
}

/// The purpose of a request. Dates are the first day, and the day after the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The list of accounts, without transactions.
    Discover,
    /// New and pending transactions.
    Newest(Date, Date),
    /// A period of history.
    History(Date, Date),
}

#[derive(Debug, Clone)]
pub struct SyncRequest {
    pub purpose: Purpose,
    /// What the last response returned as `Response::state`. None to fetch everything.
    pub state: Option<String>,
    /// The accounts that the person chose, by their external ids.
    pub chosen: Vec<(String, AccountKind)>,
    /// The person who waits for the answer; none in the background.
    pub presence: Option<Presence>,
}

/// A person who waits for an answer. Banks limit only requests without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presence {
    /// The address of the person's browser.
    pub address: String,
    pub user_agent: String,
}

/// Access that was just obtained.
#[derive(Debug)]
pub struct NewAccess {
    pub access: Secret,
    /// Where it leads, for the audit trail: a host, or the name of a bank.
    pub place: String,
    /// The provider's id of the login, by which webhooks name it; none if it has none.
    pub external_id: Option<String>,
    /// The bank, if the access is for one bank alone.
    pub institution: Option<Institution>,
    /// When the person has to consent again; none if the access has no end.
    pub ends_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Institution {
    pub id: String,
    pub name: String,
}

/// A round trip through the browser that is to be started.
#[derive(Debug)]
pub struct LinkRequest {
    pub purpose: LinkPurpose,
    /// The access to repair; none to connect.
    pub access: Option<Secret>,
    /// Where the browser comes back to, with our own state in it.
    pub return_url: Option<String>,
    /// Where the provider may send webhooks, if this installation can be reached.
    pub webhook_url: Option<String>,
    /// A random name of the person for the provider, which tells nothing about them.
    pub person: String,
    /// Our own state, which a provider may send back with the browser.
    pub state: String,
    /// The id of the bank: the person chose it from `list_banks`, or it is connected again.
    pub bank: Option<String>,
}

words!(
    LinkPurpose {
        Connect => "connect",
        /// Signs in again.
        Repair => "repair",
        /// Adds accounts of the same bank.
        AddAccounts => "add_accounts",
    }
);

/// A started round trip.
#[derive(Debug)]
pub struct NewLink {
    /// The page to open.
    pub url: String,
    /// What `finish_link` needs. It is stored encrypted, bound to the person.
    pub session: Secret,
    pub life_seconds: i64,
}

/// How a round trip ended.
#[derive(Debug)]
pub enum LinkOutcome {
    /// The person has not finished yet.
    Waiting,
    /// The person left the page, with the provider's reason.
    Canceled(String),
    /// The banks that the person signed in to. `exchange` turns the token of each into access.
    Connected(Vec<LinkedBank>),
    /// The access that was to be repaired works again, unchanged.
    Repaired,
}

/// A bank that the person has just signed in to.
#[derive(Debug)]
pub struct LinkedBank {
    /// For `exchange`.
    pub token: Secret,
    pub institution: Option<Institution>,
    /// The names of its accounts, with their last digits.
    pub accounts: Vec<String>,
}

/// A webhook of a provider, verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookNews {
    /// The login that it is about, as `NewAccess::external_id` names it.
    pub login: String,
    pub kind: NewsKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewsKind {
    /// There is new data, or the state of the login changed: it is due now.
    SyncNow,
    /// Nothing that needs a sync.
    Nothing,
}

/// Why a webhook was refused. The sender gets no details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebhookError {
    /// Not signed by the provider, or not for this body.
    Forged,
    /// Signed too long ago.
    Stale,
    /// Signed correctly, but unreadable.
    Unreadable,
}
