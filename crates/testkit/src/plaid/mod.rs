//! A simulated Plaid over real TLS, after its documentation: items with timelines, cursors that are bound to an item and
//! a snapshot, Hosted Link, signed webhooks, and faults where a test asks for them.

mod answer;
mod data;
mod fields;
mod hosted;
mod pages;
mod signing;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::Clock;
use serde_json::{Value, json};

pub use data::{account, card_terms, holding, investment, security, transaction};
pub use signing::WebhookSigner;

use crate::tls_server::TlsServer;

/// Clones are the same server.
#[derive(Clone)]
pub struct Plaid {
    url: String,
    clock: Clock,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    made: usize,
    links: BTreeMap<String, Link>,
    /// Items by their access token.
    items: BTreeMap<String, Item>,
    /// Public tokens that were not exchanged yet, with the access token they stand for.
    public_tokens: BTreeMap<String, String>,
    faults: VecDeque<(String, Fault)>,
    requests: Vec<ReceivedRequest>,
    signer: Option<WebhookSigner>,
    /// The bank that the page of Hosted Link signs in to.
    prepared: Option<hosted::PreparedBank>,
    /// Access tokens whose requests are never answered.
    hanging: BTreeSet<String>,
}

/// A link token, and what the person did with it.
struct Link {
    /// The access token of the item that is updated.
    updates: Option<String>,
    /// Where the browser goes when the person is done.
    return_url: Option<String>,
    sessions: Vec<Value>,
}

struct Item {
    id: String,
    institution: (String, String),
    accounts: Vec<Value>,
    timeline: Vec<Change>,
    status: &'static str,
    /// Type and code of the error that every request gets.
    error: Option<(&'static str, &'static str)>,
    /// A change that happens after the first page was sent.
    changes_after_page: Vec<Change>,
    holdings: Vec<Value>,
    securities: Vec<Value>,
    investments: Vec<Value>,
    liabilities: Value,
    is_removed: bool,
}

/// One entry of an item's timeline.
#[derive(Debug, Clone)]
enum Change {
    Added(Value),
    Modified(Value),
    Removed { transaction_id: String, account_id: String },
}

/// A fault in the response to the next request of a path.
#[derive(Debug, Clone)]
pub enum Fault {
    /// One of Plaid's errors: status, type and code.
    Error(u16, &'static str, &'static str),
    /// Any response.
    Response(u16, String),
    /// The connection closes without a response.
    Cut,
}

#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    pub path: String,
    pub body: Value,
}

impl Plaid {
    pub const CLIENT_ID: &str = "5f1c0ffee0000000000000aa";
    pub const SECRET: &str = "c0ffee5ecret00000000000000bb";

    pub async fn start(clock: Clock) -> Plaid {
        let tls = TlsServer::bind().await;
        let server = Plaid { url: tls.url.clone(), clock, state: Arc::default() };
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

    fn now(&self) -> String {
        self.clock.now().to_string()
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// The developer's keys, as a person enters them.
    pub fn keys(&self) -> sources::plaid::Keys {
        sources::plaid::Keys {
            client_id: Plaid::CLIENT_ID.to_owned(),
            secret: Plaid::SECRET.to_owned(),
            environment: sources::plaid::Environment::Sandbox,
        }
    }

    /// The settings of an operator who has keys of this server.
    pub fn settings(&self) -> service::ingest::connections::ProviderSettings {
        service::ingest::connections::ProviderSettings {
            source: base::draft::Source::Plaid,
            keys: Some(Arc::new(self.keys().to_secret())),
            url: Some(self.url().into()),
        }
    }

    /// The person signs in at a bank on the page that was opened last. Returns the item.
    pub fn sign_in(&self, institution_id: &str, name: &str, accounts: Vec<Value>) -> String {
        let mut state = self.state();
        let institution = (institution_id.to_owned(), name.to_owned());
        let (public, id) = state.add_item(institution, accounts.clone());
        let result = json!({
            "public_token": public,
            "accounts": accounts.iter().map(|it| json!({
                "id": it["account_id"], "name": it["name"], "mask": it["mask"],
                "type": it["type"], "subtype": it["subtype"], "class_type": null,
                "verification_status": null,
            })).collect::<Vec<_>>(),
            "institution": { "institution_id": institution_id, "name": name },
        });
        state.end_session(&self.now(), vec![result], Value::Null);
        id
    }

    /// The person signs in again on the page that was opened last, which repairs its item.
    pub fn sign_in_again(&self) {
        let mut state = self.state();
        let updates = state.last_link().updates.clone().expect("the page repairs an item");
        state.items.get_mut(&updates).unwrap().error = None;
        state.end_session(&self.now(), vec![], Value::Null);
    }

    /// The person closes the page that was opened last.
    pub fn close_page(&self) {
        let exit = json!({ "error": null, "metadata": { "status": "requires_credentials" } });
        self.state().end_session(&self.now(), vec![], exit);
    }

    pub fn add(&self, item: &str, transaction: Value) {
        self.change(item, Change::Added(transaction));
    }

    pub fn modify(&self, item: &str, transaction: Value) {
        self.change(item, Change::Modified(transaction));
    }

    pub fn remove(&self, item: &str, transaction_id: &str, account_id: &str) {
        let [transaction_id, account_id] = [transaction_id, account_id].map(str::to_owned);
        self.change(item, Change::Removed { transaction_id, account_id });
    }

    /// A pending transaction posts: the old one is removed, and the new one names it.
    pub fn post(&self, item: &str, pending_id: &str, mut posted: Value) {
        posted["pending_transaction_id"] = pending_id.into();
        let account = posted["account_id"].as_str().unwrap().to_owned();
        self.remove(item, pending_id, &account);
        self.add(item, posted);
    }

    fn change(&self, item: &str, change: Change) {
        self.state().item(item).timeline.push(change);
    }

    /// Adds a transaction after the first page of the next sync was sent.
    pub fn add_during_pagination(&self, item: &str, transaction: Value) {
        self.state().item(item).changes_after_page.push(Change::Added(transaction));
    }

    /// NOT_READY, INITIAL_UPDATE_COMPLETE or HISTORICAL_UPDATE_COMPLETE.
    pub fn set_status(&self, item: &str, status: &'static str) {
        self.state().item(item).status = status;
    }

    /// The error that every request about the item gets from now on.
    pub fn set_error(&self, item: &str, error: Option<(&'static str, &'static str)>) {
        self.state().item(item).error = error;
    }

    /// Never answers requests about the item from now on.
    pub fn hang(&self, item: &str) {
        let mut state = self.state();
        let token =
            state.items.iter().find(|(_, it)| it.id == item).map(|(token, _)| token.clone());
        state.hanging.extend(token);
    }

    pub fn set_investments(
        &self,
        item: &str,
        securities: Vec<Value>,
        holdings: Vec<Value>,
        transactions: Vec<Value>,
    ) {
        let mut state = self.state();
        let item = state.item(item);
        (item.securities, item.holdings, item.investments) = (securities, holdings, transactions);
    }

    /// The object `liabilities` of `/liabilities/get`.
    pub fn set_liabilities(&self, item: &str, liabilities: Value) {
        self.state().item(item).liabilities = liabilities;
    }

    pub fn is_removed(&self, item: &str) -> bool {
        self.state().item(item).is_removed
    }

    /// Transactions that the item has now, by their ids.
    pub fn transactions(&self, item: &str) -> BTreeMap<String, Value> {
        let mut all = BTreeMap::new();
        for change in &self.state().item(item).timeline {
            match change {
                Change::Added(it) | Change::Modified(it) => {
                    all.insert(it["transaction_id"].as_str().unwrap().to_owned(), it.clone());
                }
                Change::Removed { transaction_id, .. } => {
                    all.remove(transaction_id);
                }
            }
        }
        all
    }

    /// Adds a fault for the next request of this path.
    pub fn fail_next(&self, path: &str, fault: Fault) {
        self.state().faults.push_back((path.to_owned(), fault));
    }

    /// Removes the faults that still wait for their request, and returns whether there were any.
    pub fn clear_faults(&self) -> bool {
        let mut state = self.state();
        let had_faults = !state.faults.is_empty();
        state.faults.clear();
        had_faults
    }

    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.state().requests.clone()
    }

    /// How often a path was requested.
    pub fn count(&self, path: &str) -> usize {
        self.state().requests.iter().filter(|it| it.path == path).count()
    }

    /// The signer of webhooks, whose key the server knows from now on.
    pub fn signer(&self) -> WebhookSigner {
        let mut state = self.state();
        state.signer.get_or_insert_with(WebhookSigner::generate).clone()
    }
}

impl State {
    fn item(&mut self, id: &str) -> &mut Item {
        self.items.values_mut().find(|it| it.id == id).unwrap()
    }

    /// A new item. Returns its public token and its id.
    fn add_item(
        &mut self,
        institution: (String, String),
        accounts: Vec<Value>,
    ) -> (String, String) {
        self.made += 1;
        let number = self.made;
        let access = format!("access-sandbox-{number:08}");
        let public = format!("public-sandbox-{number:08}");
        let id = format!("item{number}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        self.items.insert(access.clone(), Item::new(id.clone(), institution, accounts));
        self.public_tokens.insert(public.clone(), access);
        (public, id)
    }

    fn last_link(&mut self) -> &mut Link {
        self.links.values_mut().last().expect("a page was opened")
    }

    fn end_session(&mut self, at: &str, added: Vec<Value>, exit: Value) {
        let session = json!({
            "link_session_id": "session", "started_at": at, "finished_at": at, "exit": exit,
            "results": {
                "item_add_results": added, "cra_item_add_results": [], "cra_update_results": [],
                "bank_income_results": [], "payroll_income_results": [],
                "document_income_results": null,
            },
        });
        self.last_link().sessions.push(session);
    }
}

impl Item {
    fn new(id: String, institution: (String, String), accounts: Vec<Value>) -> Item {
        Item {
            id,
            institution,
            accounts,
            timeline: Vec::new(),
            status: "HISTORICAL_UPDATE_COMPLETE",
            error: None,
            changes_after_page: Vec::new(),
            holdings: Vec::new(),
            securities: Vec::new(),
            investments: Vec::new(),
            liabilities: json!({ "credit": null, "mortgage": null, "student": null }),
            is_removed: false,
        }
    }
}
