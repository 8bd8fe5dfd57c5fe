//! Webhooks as the holder of a key gets them, with a receiver that really answers.

mod attempts;
mod endpoints;
mod refusals;
mod secrets;

use http::Method;
use serde_json::Value;
use testkit::draft::{checking, statement, txn};
use testkit::receiver::Receiver;
use testkit::{Person, World, new_key};

use crate::client::{Answer, Client};

const ENDPOINTS: &str = "/webhooks/endpoints";

/// Somebody with a key, and a receiver to send to.
pub(crate) struct Hook {
    pub(crate) world: World,
    pub(crate) person: Person,
    pub(crate) receiver: Receiver,
    client: Client,
}

impl Hook {
    pub(crate) async fn new() -> Hook {
        let world = World::new().await;
        let person = world.person("robin@example.com").await;
        let receiver = Receiver::start().await;
        let key = person.key(new_key()).await.secret;
        let client = with_key(&world, &key);
        Hook { world, person, receiver, client }
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> Answer {
        self.send(Method::POST, path, body).await
    }

    async fn put(&self, endpoint: &Value, body: &str) -> Answer {
        self.send(Method::PUT, &of(endpoint), body).await
    }

    pub(crate) async fn send(&self, method: Method, path: &str, body: &str) -> Answer {
        self.client.send(method, &format!("/v1{path}"), body.to_owned()).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.client.get(&format!("/v1{path}")).await
    }

    /// An endpoint that leads to the receiver, for all events.
    pub(crate) async fn endpoint(&self) -> Value {
        self.post(ENDPOINTS, &self.to("")).await.data()
    }

    /// A body for an endpoint at a path below the receiver's.
    fn to(&self, path: &str) -> String {
        format!(r#"{{"url": "{}{path}"}}"#, self.receiver.url)
    }

    /// Events of a new transaction, sent at once.
    pub(crate) async fn happens(&self, id: &str) {
        let new = txn("2026-03-09", -100, "KROGER #339").id(id);
        self.person.import(statement([checking("A").with(new)])).await;
        service::webhooks::deliver_once(&self.world.app).await.unwrap();
    }
}

fn with_key(world: &World, key: &str) -> Client {
    Client::with_token(world, key).header("content-type", "application/json")
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} of {value}"))
}

/// The path of an endpoint.
fn of(endpoint: &Value) -> String {
    format!("{ENDPOINTS}/{}", text(endpoint, "id"))
}
