//! Trying an endpoint: one attempt at once, no second one, and nothing held against it.

use base::{EndpointId, EventId, Timestamp};
use bytes::Bytes;
use db::params;
use serde_json::json;
use wire::json::{Day, Moment};
use wire::v1::EventType;

use super::attempts::{self, Attempt};
use super::claim::{Delivery, envelope, read_destination};
use super::send::send;
use super::settle::{Outcome, insert_attempt};
use super::shown;
use crate::{App, Caller, Error, Result, Tx};

pub struct TestResult {
    pub endpoint: EndpointId,
    pub event: EventId,
    pub event_type: String,
    pub delivered: bool,
    pub attempt: Attempt,
}

/// What came of one attempt, not yet written down.
pub struct SentTest {
    event: EventId,
    event_type: &'static str,
    at: Timestamp,
    data: String,
    outcome: Outcome,
}

/// Sends an example event, of a type that may be chosen, and writes down what came of it.
pub async fn test(
    app: &App,
    caller: &Caller,
    id: EndpointId,
    event_type: Option<&str>,
) -> Result<TestResult> {
    let tried = send_test(app, caller, id, event_type).await?;
    let (mine, caller) = (app.clone(), caller.clone());
    app.db.write(move |tx| tried.save(&mine, tx, &caller)).await
}

/// Sends it.
pub async fn send_test(
    app: &App,
    caller: &Caller,
    id: EndpointId,
    event_type: Option<&str>,
) -> Result<SentTest> {
    super::get(app, caller, id).await?;
    let name = event_type.unwrap_or("webhook.test");
    let known = EventType::find(name).ok_or_else(|| {
        let message = format!("event_type knows no {}; see GET /webhooks/events", shown(name));
        Error::invalid("event_type", message)
    })?;
    let at = app.clock.now();
    let sealed = app.db.first(DESTINATION, params![caller.user, id], read_destination).await?;
    let to = sealed.ok_or(Error::NotFound("webhook endpoint"))?.decrypt(app, at)?;
    let event: EventId = app.ids.make();
    let data = example(app, known.name, id)?;
    let body = Bytes::from(envelope(event, known.name, at, &data));
    let event_type = known.name.to_owned();
    let delivery = Delivery { to: to.into(), event, event_type, attempts: 0, body };
    let outcome = send(app, delivery).await;
    Ok(SentTest { event, event_type: known.name, at, data, outcome })
}

/// As such an event would have it, so that a receiver can be tried with it, and marked as what it is.
fn example(app: &App, name: &str, endpoint: EndpointId) -> Result<String> {
    let (at, today) = (Moment(app.clock.now()), Day(app.clock.today()));
    let mut data = match wire::v1::example(name, at, today) {
        Some(event) => serde_json::to_value(event),
        None => Ok(json!({ "endpoint_id": endpoint.to_string() })),
    }
    .map_err(|error| Error::internal(format!("writing an example: {error}")))?;
    data["test"] = json!(true);
    Ok(data.to_string())
}

impl SentTest {
    /// Writes it down, unless the endpoint was deleted meanwhile.
    pub fn save(self, app: &App, tx: &mut Tx<'_>, caller: &Caller) -> Result<TestResult> {
        let endpoint = super::get_in(tx, caller, self.outcome.to.id)?.id;
        let SentTest { event, event_type, at, data, outcome } = self;
        tx.execute(INSERT_EVENT, params![caller.user, event, event_type, data.as_str(), at])?;
        let made = insert_attempt(app, tx, &outcome, "test")?;
        let attempt = attempts::get_in(tx, caller, made)?;
        let (event_type, delivered) = (event_type.to_owned(), outcome.is_success);
        Ok(TestResult { endpoint, event, event_type, delivered, attempt })
    }
}

pub(super) const DESTINATION: &str =
    "select user_id, id, key_id, url, secret, previous_secret, previous_until
    from webhook_endpoints where user_id = $1 and id = $2";
const INSERT_EVENT: &str =
    "insert into events (user_id, id, type, data, created_at) values ($1, $2, $3, $4, $5)";

pub(super) const STATEMENTS: &[&str] = &[DESTINATION, INSERT_EVENT];
