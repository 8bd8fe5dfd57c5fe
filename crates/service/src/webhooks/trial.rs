//! Trying an endpoint: one attempt at once, no second one, and nothing held against it.

use base::{EndpointId, EventId};
use bytes::Bytes;
use db::params;
use serde_json::json;
use wire::v1::EventType;

use super::attempts::{self, Attempt};
use super::claim::{Job, envelope, read_address};
use super::engine::attempt;
use super::settle::insert_attempt;
use crate::{App, Caller, Error, Result, Tx};

pub struct Trial {
    pub endpoint: EndpointId,
    pub event: EventId,
    pub event_type: String,
    pub delivered: bool,
    pub attempt: Attempt,
}

/// Sends an example event, of a type that may be chosen.
pub async fn test(
    app: &App,
    caller: &Caller,
    id: EndpointId,
    event_type: Option<&str>,
) -> Result<Trial> {
    super::get(app, caller, id).await?;
    let name = event_type.unwrap_or("webhook.test");
    let known = EventType::find(name).ok_or_else(|| {
        Error::invalid(
            "event_type",
            format!("event_type knows no {name}; see GET /webhooks/events"),
        )
    })?;
    let now = app.clock.now();
    let sealed = app.db.first(ADDRESS, params![caller.user, id], read_address).await?;
    let to = sealed.ok_or(Error::NotFound("webhook endpoint"))?.open(app, now)?;
    let event: EventId = app.ids.make();
    let data = json!({ "test": true, "endpoint_id": id.to_string() }).to_string();
    let body = Bytes::from(envelope(event, known.name, now, &data));
    let event_type = known.name.to_owned();
    let job = Job { to: to.into(), event, event_type, attempts: 0, body };
    let outcome = attempt(app, job).await;
    let (mine, user, delivered) = (app.clone(), caller.user, outcome.is_good);
    let save = move |tx: &mut Tx<'_>| {
        tx.execute(
            INSERT_EVENT,
            params![user, event, outcome.event_type.as_str(), data.as_str(), now],
        )?;
        insert_attempt(&mine, tx, &outcome, "test", None)
    };
    let made = app.db.write(save).await?;
    let attempt = attempts::get(app, caller, made).await?;
    Ok(Trial { endpoint: id, event, event_type: known.name.to_owned(), delivered, attempt })
}

const ADDRESS: &str = "select user_id, id, key_id, url, secret, previous_secret, previous_until
    from webhook_endpoints where user_id = $1 and id = $2";
const INSERT_EVENT: &str =
    "insert into events (user_id, id, type, data, created_at) values ($1, $2, $3, $4, $5)";

pub(super) const STATEMENTS: &[&str] = &[ADDRESS, INSERT_EVENT];
