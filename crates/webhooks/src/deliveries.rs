//! Deliveries as their owner sees them: those of one event, and those that failed for good.

use base::{EndpointId, EventId, Timestamp};
use db::params;

use crate::attempts::{self, Attempt, AttemptFilter};
use crate::context::Webhooks;
use crate::endpoint::{EndpointOwner, all_or_one};
use crate::error::{Error, Result};
use crate::event_access::KeyAccess;
use crate::payload;

pub use crate::payload::EventPayload;

/// The delivery of one event to one endpoint.
#[derive(Debug, Clone)]
pub struct DeliveryDetail {
    pub endpoint: EndpointId,
    pub event: EventId,
    pub event_type: String,
    /// `pending`, `retrying`, `delivered` or `failed`.
    pub status: String,
    pub attempts: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// An event with its deliveries and attempts.
#[derive(Debug, Clone)]
pub struct EventDetail {
    /// None once the event has expired.
    pub payload: Option<EventPayload>,
    pub deliveries: Vec<DeliveryDetail>,
    pub attempts: Vec<Attempt>,
}

/// Gets an event with its deliveries and newest attempts. A key sees it if it was sent to one of its endpoints, or if
/// the key may see such events.
pub async fn get_event(
    webhooks: &Webhooks,
    owner: &EndpointOwner,
    id: EventId,
    attempts_max: usize,
) -> Result<EventDetail> {
    let (all, key) = owner.key_params();
    let values = params![owner.user, id, all, key];
    let deliveries = webhooks.db.all(OF_EVENT, values, read).await?;
    let filter = AttemptFilter { event: Some(id), ..AttemptFilter::default() };
    let attempts = attempts::list(webhooks, owner, &filter, None, attempts_max).await?;
    let was_sent = !deliveries.is_empty() || !attempts.is_empty();
    let payload = payload::find(&webhooks.db, owner.user, id).await?;
    let access = KeyAccess::find(&webhooks.db, owner).await?;
    let is_allowed = |it: &EventPayload| access.as_ref().is_none_or(|key| key.allows(it));
    if !was_sent && !payload.as_ref().is_some_and(is_allowed) {
        return Err(Error::NotFound("event"));
    }
    Ok(EventDetail { payload, deliveries, attempts })
}

/// A position in the list of failed deliveries.
pub type FailedPosition = (EventId, EndpointId);

/// The failed deliveries (dead letters) after a position, newest event first.
pub async fn list_failed(
    webhooks: &Webhooks,
    owner: &EndpointOwner,
    endpoint: Option<EndpointId>,
    after: Option<FailedPosition>,
    limit: usize,
) -> Result<Vec<DeliveryDetail>> {
    let first = (EventId::from_bytes([0xff; 16]), EndpointId::from_bytes([0xff; 16]));
    let (event, at) = after.unwrap_or(first);
    let (all_keys, key) = owner.key_params();
    let all_endpoints = all_or_one(endpoint.is_none());
    let only = endpoint.unwrap_or(EndpointId::from_bytes([0; 16]));
    let values = params![owner.user, event, at, all_keys, key, all_endpoints, only, limit as i64];
    Ok(webhooks.db.all(FAILED, values, read).await?)
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

pub(crate) const STATEMENTS: &[&str] = &[OF_EVENT, FAILED];
