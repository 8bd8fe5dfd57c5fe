//! Webhooks, from an event to a receiver with a real HTTPS server.

mod disabling;
mod endpoint_changes;
mod endpoints;
mod event_log;
mod event_replay;
mod faults;
pub(crate) mod fencing;
mod moved;
mod portal;
mod processes;
mod queued;
mod replay;

use service::webhooks::{self, Attempt, AttemptFilter, Endpoint, EndpointChange, NewEndpoint};
use service::{App, Caller};
use testkit::draft::{checking, statement, txn};
use testkit::receiver::{ReceivedRequest, Receiver};
use testkit::{IssuedKey, Person, World, new_key};

/// A person with a key, an endpoint and its receiver.
pub(crate) struct Fixture {
    pub(crate) world: World,
    pub(crate) person: Person,
    pub(crate) key: IssuedKey,
    pub(crate) receiver: Receiver,
    pub(crate) endpoint: Endpoint,
    pub(crate) secret: String,
}

impl Fixture {
    pub(crate) async fn new() -> Fixture {
        let world = World::new().await;
        let person = world.someone().await;
        let key = person.key(new_key()).await;
        let receiver = Receiver::start().await;
        let (endpoint, secret) = create(&world.app, &key.caller, &receiver.url, &[]).await.unwrap();
        Fixture { world, person, key, receiver, endpoint, secret }
    }

    /// Imports a transaction, which appends `transaction.created` and other events.
    pub(crate) async fn import_transaction(&self, id: &str) {
        let new = txn("2026-03-09", -100, "KROGER #339").id(id);
        self.person.import(statement([checking("A").with(new)])).await;
    }

    /// Lets the endpoint receive only this type of event.
    pub(crate) async fn receive_only(&self, event_type: &str) {
        let (mine, caller, id) =
            (self.world.app.clone(), self.key.caller.clone(), self.endpoint.id);
        let filter_types = Some(vec![event_type.to_owned()]);
        let change = EndpointChange { filter_types, ..EndpointChange::default() };
        let update = move |tx: &mut db::Tx<'_>| webhooks::update(&mine, tx, &caller, id, &change);
        self.world.app.db.write(update).await.unwrap();
    }

    pub(crate) async fn deliver(&self) -> usize {
        webhooks::deliver_once(&self.world.app).await.unwrap()
    }

    pub(crate) async fn attempts(&self) -> Vec<Attempt> {
        let page = service::platform::cursors::Page { cursor: None, limit: 100 };
        let found = webhooks::list_attempts(
            &self.world.app,
            &self.key.caller,
            &AttemptFilter::default(),
            page,
        )
        .await;
        found.unwrap().attempts
    }

    pub(crate) async fn current_endpoint(&self) -> Endpoint {
        webhooks::get(&self.world.app, &self.key.caller, self.endpoint.id).await.unwrap()
    }
}

pub(crate) async fn create(
    app: &App,
    caller: &Caller,
    url: &str,
    types: &[&str],
) -> service::Result<(Endpoint, String)> {
    let filter_types = types.iter().map(|it| (*it).to_owned()).collect();
    let new = NewEndpoint { url: url.to_owned(), description: None, filter_types };
    let (mine, caller) = (app.clone(), caller.clone());
    app.db.write(move |tx| webhooks::create(&mine, tx, &caller, &new)).await
}

/// Verifies a signature with the reference library. The time is passed in, because the clock of the test stands still.
pub(crate) fn is_signed(received: &ReceivedRequest, secret: &str) -> bool {
    let verifier = standardwebhooks::Webhook::new(secret).unwrap();
    let timestamp = received.header("webhook-timestamp").parse().unwrap();
    let expected = verifier.sign(received.header("webhook-id"), timestamp, &received.body).unwrap();
    received.header("webhook-signature").split(' ').any(|it| it == expected)
}

pub(crate) fn body(received: &ReceivedRequest) -> serde_json::Value {
    serde_json::from_slice(&received.body).unwrap()
}
