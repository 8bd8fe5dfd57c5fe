//! Test events: one attempt at once, which is neither retried nor counted against the endpoint.

use base::{EndpointId, EventId, TimeZone, Timestamp};
use bytes::Bytes;
use db::{Tx, params};
use serde_json::json;
use wire::json::{Day, Moment};
use wire::v1::EventType;

use crate::attempts::{self, Attempt};
use crate::context::Webhooks;
use crate::delivery::{Delivery, Trigger};
use crate::endpoint::EndpointOwner;
use crate::endpoints;
use crate::error::{Error, Result};
use crate::outcome::Outcome;
use crate::payload;
use crate::send;
use crate::settle::insert_attempt;

/// The result of a test.
pub struct TestResult {
    pub endpoint: EndpointId,
    pub event: EventId,
    pub event_type: String,
    pub delivered: bool,
    pub attempt: Attempt,
}

/// A test event that was sent and not saved yet.
pub struct SentTest {
    event: EventId,
    event_type: &'static str,
    at: Timestamp,
    data: String,
    outcome: Outcome,
}

/// Sends an example of a type of event to an endpoint.
pub async fn send_test(
    webhooks: &Webhooks,
    owner: &EndpointOwner,
    id: EndpointId,
    event_type: Option<&str>,
) -> Result<SentTest> {
    endpoints::get(webhooks, owner, id).await?;
    let name = event_type.unwrap_or("webhook.test");
    let known = EventType::find(name).ok_or_else(|| {
        let name = endpoints::shorten_name(name);
        let message = format!("event_type is unknown: {name}; see GET /webhooks/events");
        Error::invalid("event_type", message)
    })?;
    let at = webhooks.clock.now();
    let stored = endpoints::get_destination(webhooks, owner.user, id).await?;
    let to = stored.decrypt(&webhooks.cipher, at)?;
    let event: EventId = webhooks.ids.make();
    let data = example(webhooks, known.name, id)?;
    let body = Bytes::from(payload::body(event, known.name, at, &data));
    let (event_type, trigger) = (known.name.to_owned(), Trigger::Test);
    let delivery = Delivery { to: to.into(), event, event_type, attempts: 0, body, trigger };
    let outcome = send::send(webhooks, delivery).await;
    Ok(SentTest { event, event_type: known.name, at, data, outcome })
}

/// The data of an example event, marked as a test, so that a receiver can be developed with it.
fn example(webhooks: &Webhooks, name: &str, endpoint: EndpointId) -> Result<String> {
    let (at, today) = (Moment(webhooks.clock.now()), Day(webhooks.clock.today_in(TimeZone::utc())));
    let mut data = match wire::v1::example(name, at, today) {
        Some(event) => serde_json::to_value(event),
        None => Ok(json!({ "endpoint_id": endpoint.to_string() })),
    }
    .map_err(|error| Error::internal(format!("writing an example: {error}")))?;
    data["test"] = json!(true);
    Ok(data.to_string())
}

impl SentTest {
    /// Saves the event and its attempt, unless the endpoint was deleted meanwhile.
    pub fn save(
        self,
        webhooks: &Webhooks,
        tx: &mut Tx<'_>,
        owner: &EndpointOwner,
    ) -> Result<TestResult> {
        let endpoint = endpoints::get_in(tx, owner, self.outcome.to.id)?.id;
        let SentTest { event, event_type, at, data, outcome } = self;
        let (user, key, data) = (owner.user, outcome.to.key, data.as_str());
        tx.execute(INSERT_EVENT, params![user, event, event_type, data, at, key])?;
        let id = insert_attempt(webhooks, tx, &outcome)?;
        let attempt = attempts::get_in(tx, user, id)?;
        let (event_type, delivered) = (event_type.to_owned(), outcome.is_success);
        Ok(TestResult { endpoint, event, event_type, delivered, attempt })
    }
}

const INSERT_EVENT: &str = "insert into events (user_id, id, type, data, created_at, key_id)
    values ($1, $2, $3, $4, $5, $6)";

pub(crate) const STATEMENTS: &[&str] = &[INSERT_EVENT];
