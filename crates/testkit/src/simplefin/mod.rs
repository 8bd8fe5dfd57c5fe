//! A simulated SimpleFIN server over real TLS that behaves like the SimpleFIN Bridge: tokens are claimed once, requests
//! are counted per day, date ranges are capped, and faults happen when a test asks for them.

mod answer;
mod render;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::Clock;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use net::{Guard, HttpClient, Policy};
use tokio::sync::Notify;

use crate::receiver;
use crate::tls_server::TlsServer;

/// Clones are the same server.
#[derive(Clone)]
pub struct SimpleFin {
    origin: String,
    clock: Clock,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Setup tokens by their code, and whether each was claimed.
    tokens: BTreeMap<String, bool>,
    /// User and password of each valid access URL.
    keys: BTreeSet<(String, String)>,
    made: usize,
    connections: Vec<Connection>,
    accounts: Vec<Account>,
    behavior: Behavior,
    faults: VecDeque<Fault>,
    requests: Vec<ReceivedRequest>,
    /// The day, and the number of requests for accounts on it.
    counted: (i64, u32),
    /// Error messages in every response.
    errors: Vec<String>,
}

/// Lasting deviations from the protocol.
#[derive(Debug, Clone)]
struct Behavior {
    is_unpaid: bool,
    only_version_one: bool,
    /// Writes amounts as numbers and times as strings, instead of the other way round.
    swaps_numbers_and_strings: bool,
    days_max: i64,
    claim_body: Option<String>,
}

impl Default for Behavior {
    fn default() -> Behavior {
        Behavior {
            is_unpaid: false,
            only_version_one: false,
            swaps_numbers_and_strings: false,
            days_max: 90,
            claim_body: None,
        }
    }
}

struct Connection {
    id: String,
    institution: String,
    needs_auth: bool,
}

/// An account as a test describes it.
#[derive(Debug, Clone)]
pub struct Account {
    pub connection: String,
    pub id: String,
    pub name: String,
    /// A currency code, or the URL of a custom currency.
    pub currency: String,
    pub balance: Option<String>,
    pub available: Option<String>,
    /// Seconds since 1970.
    pub balance_at: i64,
    pub transactions: Vec<Transaction>,
    /// Raw JSON objects.
    pub holdings: Option<Vec<String>>,
    is_incomplete: bool,
}

/// A transaction as a test describes it; times are seconds since 1970.
#[derive(Debug, Clone)]
pub struct Transaction {
    pub id: String,
    /// Zero while pending, as in the Bridge.
    pub posted: Option<i64>,
    pub transacted_at: Option<i64>,
    pub pending: Option<bool>,
    pub amount: String,
    pub description: String,
    pub payee: Option<String>,
    pub memo: Option<String>,
    pub mcc: Option<String>,
}

/// A fault in the response to one request for accounts.
#[derive(Debug, Clone)]
pub enum Fault {
    /// A response with this status and body.
    Response(u16, String),
    /// A redirect to this URL.
    Redirect(u16, String),
    /// The correct response after a delay.
    Slow(Duration),
    /// The correct response, after the test releases it.
    Held(Arc<Notify>),
    /// A body of this many spaces.
    Huge(usize),
    /// The connection closes without a response.
    Cut,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedRequest {
    pub method: String,
    /// With its query.
    pub path: String,
    pub authorization: Option<String>,
    pub content_length: Option<String>,
}

impl SimpleFin {
    pub async fn start(clock: Clock) -> SimpleFin {
        let tls = TlsServer::bind().await;
        let server = SimpleFin { origin: tls.url.clone(), clock, state: Arc::default() };
        let own = server.clone();
        tls.serve(move |request| {
            let server = own.clone();
            async move { answer::answer(&server, request).await }
        });
        server
    }

    /// A client with the address guard of the product that may reach this server.
    pub fn http_client() -> HttpClient {
        let allow = vec!["127.0.0.0/8".parse().unwrap(), "::1".parse().unwrap()];
        let guard = Guard::Public { allow };
        HttpClient::new(Policy { guard, extra_ca: Some(receiver::authority()) }).unwrap()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn root(&self) -> String {
        format!("{}/simplefin", self.origin)
    }

    /// A new setup token, which can be claimed once.
    pub fn setup_token(&self) -> String {
        let mut state = self.state();
        state.made += 1;
        let code = format!("CODE{}", state.made);
        state.tokens.insert(code.clone(), false);
        STANDARD.encode(format!("{}/claim/{code}", self.root()))
    }

    /// A new access URL, as if a token had been claimed.
    pub fn access_url(&self) -> String {
        let key = self.state().new_key();
        self.access_url_of(&key)
    }

    fn access_url_of(&self, (user, password): &(String, String)) -> String {
        self.root().replacen("://", &format!("://{user}:{password}@"), 1)
    }

    /// Invalidates all access URLs.
    pub fn revoke(&self) {
        self.state().keys.clear();
    }

    /// Whether the person's subscription has ended.
    pub fn set_unpaid(&self, is_unpaid: bool) {
        self.state().behavior.is_unpaid = is_unpaid;
    }

    /// Supports only version 1 of the protocol.
    pub fn use_version_one(&self) {
        self.state().behavior.only_version_one = true;
    }

    /// Writes numbers as strings and strings as numbers.
    pub fn swap_numbers_and_strings(&self) {
        self.state().behavior.swaps_numbers_and_strings = true;
    }

    /// Caps date ranges to their last days.
    pub fn limit_days(&self, days: i64) {
        self.state().behavior.days_max = days;
    }

    /// Answers claims with this body and status 200.
    pub fn answer_claims_with(&self, body: &str) {
        self.state().behavior.claim_body = Some(body.to_owned());
    }

    /// Adds an error message of version 1 to every response.
    pub fn add_error(&self, message: &str) {
        self.state().errors.push(message.to_owned());
    }

    pub fn connection(&self, id: &str, institution: &str) {
        let (id, institution) = (id.to_owned(), institution.to_owned());
        self.state().connections.push(Connection { id, institution, needs_auth: false });
    }

    pub fn account(&self, account: Account) {
        self.state().accounts.push(account);
    }

    pub fn update_account(&self, account: &str, update: impl FnOnce(&mut Account)) {
        update(self.state().account(account));
    }

    pub fn transaction(&self, account: &str, transaction: Transaction) {
        self.state().account(account).transactions.push(transaction);
    }

    /// Posts a pending transaction; some banks give it a new id.
    pub fn post(&self, account: &str, id: &str, posted: i64, new_id: Option<&str>) {
        let mut state = self.state();
        let rows = &mut state.account(account).transactions;
        let row = rows.iter_mut().find(|it| it.id == id).unwrap();
        row.posted = Some(posted);
        row.pending = None;
        row.id = new_id.unwrap_or(id).to_owned();
    }

    /// Simulates that the person removed an institution and added it again: the same accounts and transactions with new
    /// ids, next to the old ones if `keeps_old`.
    pub fn relink(&self, connection: &str, keeps_old: bool) {
        let mut state = self.state();
        let (old, others): (Vec<Account>, Vec<Account>) =
            state.accounts.drain(..).partition(|it| it.connection == connection);
        let renewed = old.iter().map(|it| it.renewed()).collect::<Vec<_>>();
        state.accounts = others;
        if keeps_old {
            state.accounts.extend(old);
        }
        state.accounts.extend(renewed);
    }

    /// Whether the institution requires the person to sign in again. Balances are not refreshed meanwhile.
    pub fn needs_auth(&self, connection: &str, needs_auth: bool) {
        let mut state = self.state();
        let found = state.connections.iter_mut().find(|it| it.id == connection);
        found.unwrap().needs_auth = needs_auth;
    }

    /// Whether the list of transactions is reported as incomplete.
    pub fn set_incomplete(&self, account: &str, is_incomplete: bool) {
        self.state().account(account).is_incomplete = is_incomplete;
    }

    /// Adds a fault for the next request for accounts; several faults apply to the following requests in order.
    pub fn fail_next(&self, fault: Fault) {
        self.state().faults.push_back(fault);
    }

    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.state().requests.clone()
    }
}

impl State {
    fn new_key(&mut self) -> (String, String) {
        self.made += 1;
        let key = (format!("user{}", self.made), format!("sesame{}", self.made));
        self.keys.insert(key.clone());
        key
    }

    fn account(&mut self, id: &str) -> &mut Account {
        self.accounts.iter_mut().find(|it| it.id == id).unwrap()
    }
}

impl Account {
    /// An account in US dollars without transactions.
    pub fn new(connection: &str, id: &str, name: &str, balance: &str, balance_at: i64) -> Account {
        Account {
            connection: connection.to_owned(),
            id: id.to_owned(),
            name: name.to_owned(),
            currency: "USD".to_owned(),
            balance: Some(balance.to_owned()),
            available: None,
            balance_at,
            transactions: Vec::new(),
            holdings: None,
            is_incomplete: false,
        }
    }

    fn renewed(&self) -> Account {
        let mut renewed = self.clone();
        renewed.id = format!("{}-NEW", self.id);
        for transaction in &mut renewed.transactions {
            transaction.id = format!("{}-NEW", transaction.id);
        }
        renewed
    }
}

impl Transaction {
    pub fn posted(id: &str, posted: i64, amount: &str, description: &str) -> Transaction {
        Transaction {
            id: id.to_owned(),
            posted: Some(posted),
            transacted_at: None,
            pending: None,
            amount: amount.to_owned(),
            description: description.to_owned(),
            payee: None,
            memo: None,
            mcc: None,
        }
    }

    /// A pending transaction as in the Bridge: `posted` is zero.
    pub fn pending(id: &str, transacted_at: i64, amount: &str, description: &str) -> Transaction {
        Transaction {
            transacted_at: Some(transacted_at),
            pending: Some(true),
            ..Transaction::posted(id, 0, amount, description)
        }
    }

    fn is_pending(&self) -> bool {
        self.pending == Some(true) || self.posted == Some(0)
    }
}
