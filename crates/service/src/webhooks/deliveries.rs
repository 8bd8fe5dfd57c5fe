//! What was payload to whom: one event and how it stands at each endpoint, and what was given up.

use base::{EndpointId, EventId, KeyId, Timestamp};
use db::params;

use super::claim::{EVENT, envelope};
use super::{attempts, whose};
use crate::platform::cursors::{self, Page};
use crate::{App, Caller, Error, Result};

/// One event for one endpoint.
#[derive(Debug, Clone)]
pub struct DeliveryDetail {
    pub endpoint: EndpointId,
    pub event: EventId,
    pub event_type: String,
    /// pending, retrying, delivered or failed.
    pub status: String,
    pub attempts: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// An event as receivers get it.
#[derive(Debug, Clone)]
pub struct EventPayload {
    pub id: EventId,
    pub event_type: String,
    pub created_at: Timestamp,
    pub body: String,
}

/// An event, and who was to hear of it.
#[derive(Debug, Clone)]
pub struct EventDetail {
    /// Payloads are kept for thirty days, what came of them for ninety.
    pub payload: Option<EventPayload>,
    pub deliveries: Vec<DeliveryDetail>,
    pub attempts: Vec<attempts::Attempt>,
}

#[derive(Debug, Clone)]
pub struct FailedPage {
    pub deliveries: Vec<DeliveryDetail>,
    pub next_cursor: Option<String>,
}

/// One event. To a key it is there only if one of the key's endpoints was to hear of it.
pub async fn get_event(app: &App, caller: &Caller, id: EventId) -> Result<EventDetail> {
    let key = whose(caller)?;
    let (all, nobody) = scope(key);
    let deliveries = app.db.all(OF_EVENT, params![caller.user, id, all, nobody], read).await?;
    let filter = attempts::AttemptFilter { event: Some(id), ..attempts::AttemptFilter::default() };
    let newest = Page { cursor: None, limit: cursors::LIMIT_MAX };
    let attempts = attempts::list(app, caller, &filter, newest).await?.attempts;
    let concerns = key.is_none() || !deliveries.is_empty() || !attempts.is_empty();
    let payload =
        app.db.first(EVENT, params![caller.user, id], |row| read_payload(id, row)).await?;
    if !concerns || (payload.is_none() && deliveries.is_empty() && attempts.is_empty()) {
        return Err(Error::NotFound("event"));
    }
    Ok(EventDetail { payload, deliveries, attempts })
}

/// The dead letters: deliveries that nobody tries any more, the newest event first.
pub async fn list_failed(
    app: &App,
    caller: &Caller,
    endpoint: Option<EndpointId>,
    page: Page<'_>,
) -> Result<FailedPage> {
    let key = whose(caller)?;
    let text = format!("{endpoint:?} {key:?}");
    let list = cursors::Scope { user: caller.user, list: "dead letters", filter: &text };
    let now = app.clock.now();
    let (event, at) = match page.cursor {
        Some(cursor) => parse_cursor(&app.cursors.open(&list, now, cursor)?)?,
        None => (EventId::from_bytes([0xff; 16]), EndpointId::from_bytes([0xff; 16])),
    };
    let (all, nobody) = scope(key);
    let one = attempts::said(endpoint.is_none());
    let only = endpoint.unwrap_or(EndpointId::from_bytes([0; 16]));
    let limit = page.limit as i64 + 1;
    let values = params![caller.user, event, at, all, nobody, one, only, limit];
    let mut deliveries = app.db.all(FAILED, values, read).await?;
    let more = deliveries.len() > page.limit;
    deliveries.truncate(page.limit);
    let next_cursor = match deliveries.last().filter(|_| more) {
        Some(it) => {
            let position = [&it.event.as_bytes()[..], &it.endpoint.as_bytes()[..]].concat();
            Some(app.cursors.seal(&list, now, &app.entropy, &position)?)
        }
        None => None,
    };
    Ok(FailedPage { deliveries, next_cursor })
}

fn parse_cursor(bytes: &[u8]) -> Result<(EventId, EndpointId)> {
    let other = || Error::internal("a cursor of another shape");
    let (event, endpoint) = bytes.split_at_checked(16).ok_or_else(other)?;
    let event = <[u8; 16]>::try_from(event).map_err(|_| other())?;
    let endpoint = <[u8; 16]>::try_from(endpoint).map_err(|_| other())?;
    Ok((EventId::from_bytes(event), EndpointId::from_bytes(endpoint)))
}

/// All of the person's endpoints, or those of one key, as both engines compare it.
pub(super) fn scope(key: Option<KeyId>) -> (&'static str, KeyId) {
    (attempts::said(key.is_none()), key.unwrap_or(KeyId::from_bytes([0; 16])))
}

fn read(row: &db::Row<'_>) -> db::Result<DeliveryDetail> {
    Ok(DeliveryDetail {
        endpoint: row.get(0)?,
        event: row.get(1)?,
        event_type: row.get(2)?,
        status: row.get(3)?,
        attempts: row.get(4)?,
        created_at: row.get(5)?,
        updated_at: row.get(6)?,
    })
}

fn read_payload(id: EventId, row: &db::Row<'_>) -> db::Result<EventPayload> {
    let (name, data, at): (String, &str, Timestamp) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let body = envelope(id, &name, at, data);
    let body = String::from_utf8_lossy(&body).into_owned();
    Ok(EventPayload { id, event_type: name, created_at: at, body })
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "select d.endpoint_id, d.event_id, d.event_type, d.status, d.attempts, d.created_at,
            d.updated_at from webhook_endpoints e join deliveries d
            on d.user_id = e.user_id and d.endpoint_id = e.id ",
            $rest
        )
    };
}

const OF_EVENT: &str = select!(
    "and d.event_id = $2 where e.user_id = $1 and ($3 = 'all' or e.key_id = $4)
    order by d.endpoint_id limit 1000"
);
const FAILED: &str = select!(
    "where e.user_id = $1 and d.user_id = $1 and d.status = 'failed'
    and (d.event_id, d.endpoint_id) < ($2, $3) and ($4 = 'all' or e.key_id = $5)
    and ($6 = 'all' or e.id = $7) order by d.event_id desc, d.endpoint_id desc limit $8"
);

pub(super) const STATEMENTS: &[&str] = &[OF_EVENT, FAILED];
