//! Paper trading, proposals and their decisions over the API.

mod deciding;
mod following;
mod hostile;
mod listing;
mod paper;
mod payloads;
mod proposing;

use base::{ActionId, Fixed9};
use http::Method;
use serde_json::{Value, json};
use service::Caller;
use service::access::keys::NewKey;
use service::actions::{self, SeenProposal};
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World, new_key};

use crate::client::{Answer, Client};

/// The seconds until the market is open: Tuesday 10 March 2026, 10:30 in New York.
const TO_OPEN_SECONDS: u64 = 2 * 3_600 + 1_800;

/// A person with a key, a session, two linked accounts and a paper account, while the market is open.
pub(crate) struct TradingFixture {
    pub(crate) world: World,
    pub(crate) person: Person,
    pub(crate) session: Caller,
    pub(crate) key: String,
    pub(crate) client: Client,
    pub(crate) account: String,
}

impl TradingFixture {
    pub(crate) async fn new() -> TradingFixture {
        let world = World::new().await;
        world.advance_seconds(TO_OPEN_SECONDS);
        world.market.set("AAPL", "187.10", Some("185.00"));
        world.market.set("VTI", "50", Some("50"));
        let person = world.person("robin@example.com").await;
        let cafe = txn("2026-03-08", -450, "CORNER CAFE 12").id("c1");
        person.import(statement([checking("Everyday").with(cafe), checking("Nest egg")])).await;
        let session = person.session().await;
        let key = person.key(new_key()).await.secret;
        let client = json_client(&world, &key);
        let mut fixture =
            TradingFixture { world, person, session, key, client, account: String::new() };
        let proposed =
            fixture.post("/paper-trading/accounts", r#"{"name": "Practice"}"#).await.data();
        let done = fixture.approve(&proposed).await;
        fixture.account = done["result"]["paper_account_id"].as_str().unwrap().to_owned();
        fixture
    }

    /// A client with another key of the same person.
    pub(crate) async fn client_with_key(&self, new: NewKey) -> Client {
        json_client(&self.world, &self.person.key(new).await.secret)
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> Answer {
        self.client.send(Method::POST, &format!("/v1{path}"), body.to_owned()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.client.get(&format!("/v1{path}")).await
    }

    pub(crate) fn trades_path(&self) -> String {
        format!("/paper-trading/accounts/{}/trades", self.account)
    }

    /// Proposes a trade, which then waits for approval.
    pub(crate) async fn propose(&self, trade: &str) -> Value {
        self.post(&self.trades_path(), trade).await.data()
    }

    /// Proposes and approves a trade.
    pub(crate) async fn trade(&self, trade: &str) -> Value {
        let proposed = self.propose(trade).await;
        self.approve(&proposed).await
    }

    /// Proposes an action of any type by POST /actions.
    pub(crate) async fn propose_action(&self, action_type: &str, payload: Value) -> Answer {
        let body = json!({ "action_type": action_type, "payload": payload });
        self.post("/actions", &body.to_string()).await
    }

    /// Approves as the person in the web app, and returns the action as the API shows it.
    pub(crate) async fn approve(&self, proposed: &Value) -> Value {
        let (app, session) = (&self.world.app, &self.session);
        let action = actions::get(app, session, id_of(proposed)).await.unwrap();
        let price = match proposed["details_v1"]["symbol"].as_str() {
            Some(symbol) => service::ledger::quotes::find(app, symbol).await.unwrap(),
            None => None,
        };
        let seen = SeenProposal {
            digest: action.computed_digest(),
            price: price.map(|it| it.quote.price),
        };
        actions::approve(app, session, action.id, seen, None).await.unwrap();
        self.get(&format!("/approvals/{}", text(proposed, "thread_id"))).await.data()
    }

    pub(crate) async fn reject(&self, proposed: &Value, reason: Option<&str>) {
        let (app, session) = (&self.world.app, &self.session);
        let action = actions::get(app, session, id_of(proposed)).await.unwrap();
        let seen = SeenProposal { digest: action.computed_digest(), price: None::<Fixed9> };
        let reason = reason.map(str::to_owned);
        actions::reject(app, session, action.id, seen, reason).await.unwrap();
    }

    pub(crate) async fn count_pending(&self) -> i64 {
        actions::count_pending(&self.world.app, &self.session).await.unwrap()
    }

    /// A documented example with the ids of this fixture.
    pub(crate) async fn fill_example(&self, example: &str) -> String {
        let transactions = self.get("/transactions").await.data();
        let everyday = self.person.account("Everyday").await.to_string();
        let nest_egg = self.person.account("Nest egg").await.to_string();
        example
            .replace("01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a70", &self.account)
            .replace("txn_01kny3v1m8f2x9q4t7r5c6b8de", text(&transactions[0], "id"))
            .replace("acc_01kny3v1m8f2x9q4t7r5c6b8de", &everyday)
            .replace("acc_01kny3v1m8f2x9q4t7r5c6b8df", &nest_egg)
    }
}

fn json_client(world: &World, key: &str) -> Client {
    Client::with_token(world, key).header("content-type", "application/json")
}

pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} of {value}"))
}

fn id_of(action: &Value) -> ActionId {
    ActionId::parse(text(action, "action_id")).unwrap()
}

/// The names of an object's members, in alphabetical order.
fn members(value: &Value) -> Vec<&str> {
    let mut members: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    members.sort_unstable();
    members
}

/// The names in a text, in alphabetical order.
fn sorted(names: &str) -> Vec<&str> {
    let mut names: Vec<&str> = names.split_whitespace().collect();
    names.sort_unstable();
    names
}
