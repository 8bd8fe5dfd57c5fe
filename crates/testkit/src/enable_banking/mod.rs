//! A simulated Enable Banking over real TLS: it verifies the signature of every request, counts what a bank allows
//! without the person, gives accounts new ids in each session, and has banks with the oddities of real ones.

mod answer;
mod page;
mod signature;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::Clock;
use serde_json::{Value, json};
use sources::enable_banking::Keys;

use crate::tls_server::TlsServer;

/// Clones are the same server.
#[derive(Clone)]
pub struct EnableBanking {
    url: String,
    clock: Clock,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    made: usize,
    /// The request of the last `/auth`.
    last_auth: Option<Value>,
    codes: BTreeSet<String>,
    sessions: BTreeMap<String, Session>,
    accounts: Vec<BankAccount>,
    quirks: Quirks,
    faults: VecDeque<(&'static str, Fault)>,
    requests: Vec<ReceivedRequest>,
    /// Lists of transactions that were fetched without the person, by account and day.
    unattended: BTreeMap<(String, i64), usize>,
    /// The redirect address of the application, if it is another than usual.
    return_url: Option<String>,
}

impl State {
    fn return_url(&self) -> &str {
        self.return_url.as_deref().unwrap_or(EnableBanking::RETURN_URL)
    }
}

struct Session {
    /// Seconds since 1970.
    created_at: i64,
    /// The ids of its accounts, by the stable id of each.
    accounts: BTreeMap<String, String>,
}

/// An account as a test describes it.
#[derive(Debug, Clone)]
pub struct BankAccount {
    pub hash: String,
    pub name: String,
    pub iban: String,
    pub transactions: Vec<Value>,
    pub balances: Vec<Value>,
}

/// Lasting deviations of a bank.
#[derive(Debug, Clone, Default)]
pub struct Quirks {
    /// Refuses to go back further, in days before today, and whether it says how far.
    pub days_max: Option<(i64, bool)>,
    /// Refuses more than 90 days when this many seconds have passed since the consent.
    pub history_seconds: Option<i64>,
    /// Rows of a page; all at once if zero.
    pub page: usize,
    /// Refuses its own continuation key.
    pub refuses_continuation: bool,
    pub ignores_date_from: bool,
    pub pending: PendingList,
    pub balances_fail: bool,
    /// The stable id of an account that answers with this status.
    pub broken_account: Option<(String, u16)>,
    /// Answers only if the person is there.
    pub needs_presence: bool,
    /// The stable id of an account changes with the next consent; the list of its ids still has the old one.
    pub changes_hashes: bool,
    /// Sessions list their accounts as objects instead of ids.
    pub lists_objects: bool,
}

/// How a bank lists pending transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PendingList {
    /// Together with the booked ones.
    #[default]
    WithBooked,
    /// Only if asked for them alone.
    Separate,
    /// Refuses to list them alone, with this status.
    Refused(u16),
}

/// A fault in the response to one request.
#[derive(Debug, Clone)]
pub enum Fault {
    /// Any response.
    Response(u16, String),
    /// The connection closes without a response.
    Cut,
}

#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    pub method: String,
    /// With its query.
    pub path: String,
    pub has_presence: bool,
}

impl EnableBanking {
    pub const APPLICATION: &str = "0f0e0d0c-0b0a-4009-8807-060504030201";
    /// The redirect address that is registered with the application.
    pub const RETURN_URL: &str = "https://home.example/connections/enable-banking/back";

    pub async fn start(clock: Clock) -> EnableBanking {
        let tls = TlsServer::bind().await;
        let server = EnableBanking { url: tls.url.clone(), clock, state: Arc::default() };
        let own = server.clone();
        tls.serve(move |request| {
            let server = own.clone();
            async move { answer::answer(&server, request).await }
        });
        server
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> i64 {
        self.clock.now().as_second()
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// The person's application, as its page shows it.
    pub fn keys(&self) -> Keys {
        let application_id = EnableBanking::APPLICATION.to_owned();
        Keys { application_id, private_key: signature::private_key() }
    }

    /// The application with a key that the server does not know.
    pub fn foreign_keys(&self) -> Keys {
        Keys { private_key: signature::another_private_key(), ..self.keys() }
    }

    /// The settings of an operator; keys are each person's own.
    pub fn settings(&self) -> service::ingest::connections::ProviderSettings {
        service::ingest::connections::ProviderSettings {
            source: base::draft::Source::EnableBanking,
            keys: None,
            url: Some(self.url().into()),
        }
    }

    /// Registers another redirect address with the application.
    pub fn set_return_url(&self, url: &str) {
        self.state().return_url = Some(url.to_owned());
    }

    pub fn account(&self, account: BankAccount) {
        self.state().accounts.push(account);
    }

    pub fn update(&self, hash: &str, update: impl FnOnce(&mut BankAccount)) {
        update(self.state().accounts.iter_mut().find(|it| it.hash == hash).unwrap());
    }

    /// The transactions that an account has now.
    pub fn transactions(&self, hash: &str) -> Vec<Value> {
        let state = self.state();
        state.accounts.iter().find(|it| it.hash == hash).unwrap().transactions.clone()
    }

    pub fn set_quirks(&self, quirks: Quirks) {
        self.state().quirks = quirks;
    }

    /// Adds a fault for the next request whose path has this in it.
    pub fn fail_next(&self, path: &'static str, fault: Fault) {
        self.state().faults.push_back((path, fault));
    }

    /// Removes the faults that still wait for their request, and returns whether there were any.
    pub fn clear_faults(&self) -> bool {
        let mut state = self.state();
        let had_faults = !state.faults.is_empty();
        state.faults.clear();
        had_faults
    }

    /// The person consents on the page that was opened last. Returns the query that the browser comes back with.
    pub fn consent(&self) -> String {
        let mut state = self.state();
        state.made += 1;
        let code = format!("code {}", state.made);
        state.codes.insert(code.clone());
        let auth = state.last_auth.as_ref().expect("a page was opened");
        let back = auth["state"].as_str().unwrap();
        format!("code={}&state={back}", code.replace(' ', "%20"))
    }

    /// The person does not consent on the page that was opened last.
    pub fn refuse_consent(&self) -> String {
        let auth = self.last_auth();
        format!("error=access_denied&state={}", auth["state"].as_str().unwrap())
    }

    /// The request that opened the last page.
    pub fn last_auth(&self) -> Value {
        self.state().last_auth.clone().unwrap()
    }

    /// Ends all consents.
    pub fn end_consents(&self) {
        self.state().sessions.clear();
    }

    pub fn session_count(&self) -> usize {
        self.state().sessions.len()
    }

    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.state().requests.clone()
    }

    /// How many requests so far had this in their path.
    pub fn count(&self, path: &str) -> usize {
        self.state().requests.iter().filter(|it| it.path.contains(path)).count()
    }
}

impl BankAccount {
    /// An account in euros with a booked balance.
    pub fn new(hash: &str, name: &str, iban: &str, balance: &str) -> BankAccount {
        BankAccount {
            hash: hash.to_owned(),
            name: name.to_owned(),
            iban: iban.to_owned(),
            transactions: Vec::new(),
            balances: vec![json!({
                "balance_type": "CLBD", "credit_debit_indicator": "CRDT",
                "balance_amount": { "currency": "EUR", "amount": balance },
            })],
        }
    }
}

/// A booked transaction in euros: the amount has no sign, and `direction` is CRDT or DBIT.
pub fn entry(id: &str, date: &str, amount: &str, direction: &str, text: &str) -> Value {
    json!({
        "entry_reference": format!("ref-{id}"), "transaction_id": id,
        "transaction_amount": { "currency": "EUR", "amount": amount },
        "credit_debit_indicator": direction, "status": "BOOK", "booking_date": date,
        "value_date": date, "transaction_date": null, "creditor": { "name": "Shop" },
        "debtor": { "name": "Employer" }, "remittance_information": [text],
        "bank_transaction_code": null, "exchange_rate": null,
    })
}

/// A transaction with some of its fields changed.
pub fn with(mut row: Value, changes: Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        row[name] = value.clone();
    }
    row
}

/// A pending purchase, which has a reference and no transaction id yet.
pub fn pending(id: &str, date: &str, amount: &str, text: &str) -> Value {
    let booked = entry(id, date, amount, "DBIT", text);
    let changes = json!({ "transaction_id": null, "status": "PDNG", "booking_date": null });
    with(booked, changes)
}
