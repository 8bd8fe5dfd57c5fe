//! Webhooks over the API, with a receiver on a real connection.

mod attempts;
mod endpoints;
mod events;
mod refusals;
mod secrets;

use http::Method;
use serde_json::Value;
use testkit::draft::{checking, statement, txn};
use testkit::receiver::Receiver;
use testkit::{Person, World, new_key};

use crate::client::{Answer, Client};

const ENDPOINTS: &str = "/webhooks/endpoints";

/// A person with a key, and a receiver to send to.
pub(crate) struct WebhooksFixture {
    pub(crate) world: World,
    pub(crate) person: Person,
    pub(crate) receiver: Receiver,
    client: Client,
}

impl WebhooksFixture {
    pub(crate) async fn new() -> WebhooksFixture {
        let world = World::new().await;
        let person = world.person("robin@example.com").await;
        let receiver = Receiver::start().await;
        let key = person.key(new_key()).await.secret;
        let client = with_key(&world, &key);
        WebhooksFixture { world, person, receiver, client }
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> Answer {
        self.send(Method::POST, path, body).await
    }

    async fn put(&self, endpoint: &Value, body: &str) -> Answer {
        self.send(Method::PUT, &endpoint_path(endpoint), body).await
    }

    pub(crate) async fn send(&self, method: Method, path: &str, body: &str) -> Answer {
        self.client.send(method, &format!("/v1{path}"), body.to_owned()).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.client.get(&format!("/v1{path}")).await
    }

    /// Creates an endpoint for all events at the receiver.
    pub(crate) async fn create_endpoint(&self) -> Value {
        self.post(ENDPOINTS, &self.endpoint_body("")).await.data()
    }

    /// The request body for an endpoint at a path of the receiver.
    fn endpoint_body(&self, path: &str) -> String {
        format!(r#"{{"url": "{}{path}"}}"#, self.receiver.url)
    }

    /// Imports a new transaction and delivers its events.
    pub(crate) async fn import_and_deliver(&self, id: &str) {
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
fn endpoint_path(endpoint: &Value) -> String {
    format!("{ENDPOINTS}/{}", text(endpoint, "id"))
}
