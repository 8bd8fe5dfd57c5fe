//! Paper trading, proposals and their decisions, as programs get them.

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

/// The market is open from here on: Tuesday 10 March 2026, 10:30 in New York.
const TO_OPEN_SECONDS: u64 = 2 * 3_600 + 1_800;

/// Somebody with a key, a session, two linked accounts and a paper account, while the market is open.
pub(crate) struct Desk {
    pub(crate) world: World,
    pub(crate) person: Person,
    pub(crate) session: Caller,
    pub(crate) key: String,
    pub(crate) client: Client,
    pub(crate) account: String,
}

impl Desk {
    pub(crate) async fn new() -> Desk {
        let world = World::new().await;
        world.advance_seconds(TO_OPEN_SECONDS);
        world.market.set("AAPL", "187.10", Some("185.00"));
        world.market.set("VTI", "50", Some("50"));
        let person = world.person("robin@example.com").await;
        let cafe = txn("2026-03-08", -450, "CORNER CAFE 12").id("c1");
        person.import(statement([checking("Everyday").with(cafe), checking("Nest egg")])).await;
        let session = person.session().await;
        let key = person.key(new_key()).await.secret;
        let client = posting(&world, &key);
        let mut desk = Desk { world, person, session, key, client, account: String::new() };
        let proposed = desk.post("/paper-trading/accounts", r#"{"name": "Practice"}"#).await.data();
        let done = desk.approve(&proposed).await;
        desk.account = done["result"]["paper_account_id"].as_str().unwrap().to_owned();
        desk
    }

    /// Another key of the same person.
    pub(crate) async fn other(&self, new: NewKey) -> Client {
        posting(&self.world, &self.person.key(new).await.secret)
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> Answer {
        self.client.send(Method::POST, &format!("/v1{path}"), body.to_owned()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.client.get(&format!("/v1{path}")).await
    }

    pub(crate) fn trades(&self) -> String {
        format!("/paper-trading/accounts/{}/trades", self.account)
    }

    /// A trade that waits for the person.
    pub(crate) async fn propose(&self, trade: &str) -> Value {
        self.post(&self.trades(), trade).await.data()
    }

    /// A trade that was proposed and approved.
    pub(crate) async fn trade(&self, trade: &str) -> Value {
        let proposed = self.propose(trade).await;
        self.approve(&proposed).await
    }

    /// An action of a type, by POST /actions.
    pub(crate) async fn act(&self, action_type: &str, payload: Value) -> Answer {
        let body = json!({ "action_type": action_type, "payload": payload });
        self.post("/actions", &body.to_string()).await
    }

    /// The person says yes in the web app; what becomes of it is read as a program reads it.
    pub(crate) async fn approve(&self, proposed: &Value) -> Value {
        let (app, session) = (&self.world.app, &self.session);
        let action = actions::get(app, session, id_of(proposed)).await.unwrap();
        let price = match proposed["details_v1"]["symbol"].as_str() {
            Some(symbol) => service::trading::quotes::find(app, symbol).await.unwrap(),
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

    pub(crate) async fn waiting(&self) -> i64 {
        actions::count_pending(&self.world.app, &self.session).await.unwrap()
    }

    /// A documented example with this desk's own ids.
    pub(crate) async fn fill(&self, example: &str) -> String {
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

fn posting(world: &World, key: &str) -> Client {
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

/// The names in the contract's words, in alphabetical order.
fn sorted(words: &str) -> Vec<&str> {
    let mut words: Vec<&str> = words.split_whitespace().collect();
    words.sort_unstable();
    words
}
