//! A SimpleFIN server over real TLS, faithful to the protocol and to what the Bridge really does: tokens are claimed
//! once, requests are counted a day, ranges are capped, and each oddity happens when a test asks for it.

mod answer;
mod render;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::Clock;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use net::{Guard, HttpClient, Policy};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

use crate::receiver;

/// A stand-in for a SimpleFIN server. Clones are the same server.
#[derive(Clone)]
pub struct SimpleFin {
    origin: String,
    clock: Clock,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// By their code; those that were claimed stay, spent.
    tokens: BTreeMap<String, bool>,
    /// User and password of each access URL that is good.
    keys: BTreeSet<(String, String)>,
    made: usize,
    connections: Vec<Connection>,
    accounts: Vec<Account>,
    habits: Habits,
    mishaps: VecDeque<Mishap>,
    asked: Vec<Asked>,
    /// Requests for accounts on the day it counts.
    counted: (i64, u32),
    /// Sentences that every answer carries.
    errors: Vec<String>,
}

/// How this server is, until told otherwise.
#[derive(Debug, Clone)]
struct Habits {
    is_unpaid: bool,
    only_version_one: bool,
    /// Writes amounts and moments as numbers where the protocol has texts, and the other way round.
    numbers: bool,
    most_days: i64,
    claims_badly: Option<String>,
}

impl Default for Habits {
    fn default() -> Habits {
        Habits {
            is_unpaid: false,
            only_version_one: false,
            numbers: false,
            most_days: 90,
            claims_badly: None,
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
    /// A code, or the address of a currency of the server's own.
    pub currency: String,
    pub balance: Option<String>,
    pub available: Option<String>,
    /// Seconds since 1970.
    pub balance_at: i64,
    pub transactions: Vec<Transaction>,
    /// JSON objects, sent as they stand here.
    pub holdings: Option<Vec<String>>,
    misses_data: bool,
}

/// A transaction as a test describes it; moments are seconds since 1970.
#[derive(Debug, Clone)]
pub struct Transaction {
    pub id: String,
    /// Zero is how the Bridge writes that there is none yet.
    pub posted: Option<i64>,
    pub transacted_at: Option<i64>,
    pub pending: Option<bool>,
    pub amount: String,
    pub description: String,
    pub payee: Option<String>,
    pub memo: Option<String>,
    pub mcc: Option<String>,
}

/// What goes wrong with one request for accounts.
#[derive(Debug, Clone)]
pub enum Mishap {
    /// Another status with this body.
    Says(u16, String),
    /// Leads to this address.
    Redirect(u16, String),
    /// Answers after so long.
    Slow(Duration),
    /// The answer is right, but comes only when the test says so.
    Held(Arc<Notify>),
    /// So many bytes of nothing.
    Huge(usize),
    /// The connection ends without an answer.
    Cut,
}

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub method: String,
    /// With its query.
    pub path: String,
    pub authorization: Option<String>,
    pub content_length: Option<String>,
}

impl SimpleFin {
    pub async fn start(clock: Clock) -> SimpleFin {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        let server = SimpleFin { origin, clock, state: Arc::default() };
        let own = server.clone();
        tokio::spawn(async move {
            let acceptor = TlsAcceptor::from(receiver::server_tls());
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, server) = (acceptor.clone(), own.clone());
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let service = service_fn(|request| answer::answer(&server, request));
                    // A cut connection is an error here, and meant to be one.
                    let _ =
                        http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        server
    }

    /// A client that is as careful as that of the program, and may come here.
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

    /// A new token that can be claimed once.
    pub fn setup_token(&self) -> String {
        let mut state = self.state();
        state.made += 1;
        let code = format!("CODE{}", state.made);
        state.tokens.insert(code.clone(), false);
        STANDARD.encode(format!("{}/claim/{code}", self.root()))
    }

    /// An access URL as if it had been claimed.
    pub fn access_url(&self) -> String {
        let key = self.state().new_key();
        self.access_url_of(&key)
    }

    fn access_url_of(&self, (user, password): &(String, String)) -> String {
        self.root().replacen("://", &format!("://{user}:{password}@"), 1)
    }

    /// All access URLs so far are good no more.
    pub fn revoke(&self) {
        self.state().keys.clear();
    }

    /// Whether the subscription of the person has ended.
    pub fn unpaid(&self, is_unpaid: bool) {
        self.state().habits.is_unpaid = is_unpaid;
    }

    /// From now on a server that has not heard of version 2.
    pub fn speaks_version_one(&self) {
        self.state().habits.only_version_one = true;
    }

    /// Numbers and texts change places.
    pub fn mixes_numbers_and_texts(&self) {
        self.state().habits.numbers = true;
    }

    /// Ranges longer than this are cut at their beginning.
    pub fn caps_at(&self, days: i64) {
        self.state().habits.most_days = days;
    }

    /// Claims are answered with this and status 200.
    pub fn claims_answer(&self, body: &str) {
        self.state().habits.claims_badly = Some(body.to_owned());
    }

    /// Every answer carries this sentence, as version 1 does.
    pub fn warns(&self, sentence: &str) {
        self.state().errors.push(sentence.to_owned());
    }

    pub fn connection(&self, id: &str, institution: &str) {
        let (id, institution) = (id.to_owned(), institution.to_owned());
        self.state().connections.push(Connection { id, institution, needs_auth: false });
    }

    pub fn account(&self, account: Account) {
        self.state().accounts.push(account);
    }

    /// Changes an account as a test likes.
    pub fn change(&self, account: &str, how: impl FnOnce(&mut Account)) {
        how(self.state().account(account));
    }

    pub fn transaction(&self, account: &str, transaction: Transaction) {
        self.state().account(account).transactions.push(transaction);
    }

    /// A pending transaction is booked; some banks give it a new id then.
    pub fn post(&self, account: &str, id: &str, posted: i64, new_id: Option<&str>) {
        let mut state = self.state();
        let rows = &mut state.account(account).transactions;
        let row = rows.iter_mut().find(|it| it.id == id).unwrap();
        row.posted = Some(posted);
        row.pending = None;
        row.id = new_id.unwrap_or(id).to_owned();
    }

    /// The person deleted an institution and added it again: the same accounts and transactions under new ids, and the
    /// old ones still there for a while if `keeps_old`.
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

    /// Whether the institution wants the person to sign in again. Balances stay as old as they are.
    pub fn needs_auth(&self, connection: &str, needs_auth: bool) {
        let mut state = self.state();
        let found = state.connections.iter_mut().find(|it| it.id == connection);
        found.unwrap().needs_auth = needs_auth;
    }

    /// Whether the list of transactions is told to be incomplete.
    pub fn misses_data(&self, account: &str, misses_data: bool) {
        self.state().account(account).misses_data = misses_data;
    }

    /// The next request for accounts goes wrong like this; told more often, those after it.
    pub fn mishap(&self, mishap: Mishap) {
        self.state().mishaps.push_back(mishap);
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.state().asked.clone()
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
    /// In dollars, with an empty list of transactions.
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
            misses_data: false,
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

    /// As the Bridge writes it: posted is zero.
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
