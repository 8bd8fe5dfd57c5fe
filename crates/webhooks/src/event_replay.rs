//! Replaying one event: its deliveries are queued, and the dispatcher sends them. A replay is one attempt by hand.

use base::{EndpointId, EventId};
use db::{Tx, params};

use crate::context::Webhooks;
use crate::delivery::DeliveryStatus;
use crate::endpoint::{Endpoint, EndpointOwner, EndpointStatus};
use crate::endpoints;
use crate::error::{Error, Result};
use crate::event_access::KeyAccess;
use crate::event_log::{LoggedDelivery, deliveries_in};
use crate::fan_out::dispatch_on_commit;
use crate::payload::{self, EventPayload};

/// Queues an event for one endpoint, or without one for every endpoint where it failed. An event that was never sent
/// goes to every active endpoint whose key may see it. Returns what was queued. The caller holds the lock on the
/// person's row.
pub fn replay_event(
    webhooks: &Webhooks,
    tx: &mut Tx<'_>,
    owner: &EndpointOwner,
    id: EventId,
    endpoint: Option<EndpointId>,
) -> Result<Vec<LoggedDelivery>> {
    let (event, deliveries) = find(tx, owner, id)?;
    let targets = match endpoint {
        Some(id) => vec![named_target(tx, owner, &event, &deliveries, id)?],
        None => default_targets(tx, owner, &event, &deliveries)?,
    };
    if event.data.is_none() {
        return Err(Error::conflict(
            "the payload of this event has expired; payloads are kept for 30 days",
        ));
    }
    let now = tx.now()?;
    let mut queued = Vec::with_capacity(targets.len());
    for endpoint in targets {
        let before = deliveries.iter().find(|it| it.endpoint == endpoint);
        match before {
            Some(_) => tx.execute(QUEUE, params![owner.user, endpoint, id, now])?,
            None => {
                let values = params![owner.user, endpoint, id, event.event_type.as_str(), now];
                tx.execute(INSERT, values)?
            }
        };
        queued.push(LoggedDelivery {
            endpoint,
            status: DeliveryStatus::Pending,
            attempts: before.map_or(0, |it| it.attempts),
            next_attempt_at: Some(now),
        });
    }
    dispatch_on_commit(webhooks, tx, true, Vec::new())?;
    Ok(queued)
}

/// The event and its deliveries, if the owner may see it.
fn find(
    tx: &mut Tx<'_>,
    owner: &EndpointOwner,
    id: EventId,
) -> Result<(EventPayload, Vec<LoggedDelivery>)> {
    let not_found = || Error::NotFound("event");
    let event = payload::find_in(tx, owner.user, id)?.ok_or_else(not_found)?;
    let deliveries = deliveries_in(tx, owner, id)?;
    if let Some(key) = owner.key.filter(|_| deliveries.is_empty())
        && !KeyAccess::get_in(tx, owner.user, key)?.allows(&event)
    {
        return Err(not_found());
    }
    if tx.first(IS_TEST, params![owner.user, id], |_| Ok(()))?.is_some() {
        return Err(Error::conflict("this is a test event; send another test instead"));
    }
    Ok((event, deliveries))
}

/// The endpoint that the caller named, if the event can be queued for it.
fn named_target(
    tx: &mut Tx<'_>,
    owner: &EndpointOwner,
    event: &EventPayload,
    deliveries: &[LoggedDelivery],
    id: EndpointId,
) -> Result<EndpointId> {
    let endpoint = endpoints::get_in(tx, owner, id)?;
    if endpoint.status == EndpointStatus::Disabled {
        return Err(Error::conflict("the endpoint is disabled; enable it first"));
    }
    match deliveries.iter().find(|it| it.endpoint == id) {
        Some(it) if it.next_attempt_at.is_some() => Err(still_sending()),
        Some(_) => Ok(id),
        None if may_receive(tx, &endpoint, event)? => Ok(id),
        None => Err(Error::conflict(
            "the key of this endpoint may not see this event; choose an endpoint of another key",
        )),
    }
}

/// The active endpoints where the event failed, or if it was never sent, those that may receive it.
fn default_targets(
    tx: &mut Tx<'_>,
    owner: &EndpointOwner,
    event: &EventPayload,
    deliveries: &[LoggedDelivery],
) -> Result<Vec<EndpointId>> {
    let active = endpoints::list_active_in(tx, owner)?;
    if deliveries.is_empty() {
        let mut targets = Vec::new();
        for endpoint in &active {
            if may_receive(tx, endpoint, event)? {
                targets.push(endpoint.id);
            }
        }
        let message = "no active endpoint may receive this event; create or enable one first";
        return if targets.is_empty() { Err(Error::conflict(message)) } else { Ok(targets) };
    }
    let has_failed = |it: &&LoggedDelivery| it.status == DeliveryStatus::Failed;
    let failed: Vec<EndpointId> =
        deliveries.iter().filter(has_failed).map(|it| it.endpoint).collect();
    let is_active = |id: &EndpointId| active.iter().any(|it| it.id == *id);
    let targets: Vec<EndpointId> = failed.iter().copied().filter(is_active).collect();
    if !targets.is_empty() {
        return Ok(targets);
    }
    Err(if !failed.is_empty() {
        Error::conflict("the endpoints where this event failed are disabled; enable one first")
    } else if deliveries.iter().any(|it| it.next_attempt_at.is_some()) {
        still_sending()
    } else {
        Error::conflict(
            "every delivery of this event succeeded; name an endpoint_id to send it there again",
        )
    })
}

fn may_receive(tx: &mut Tx<'_>, endpoint: &Endpoint, event: &EventPayload) -> Result<bool> {
    Ok(KeyAccess::get_in(tx, endpoint.user, endpoint.key)?.allows(event))
}

fn still_sending() -> Error {
    Error::conflict("this event is still being sent; wait until that has ended")
}

/// The condition on what is due keeps a delivery as it is that was queued at the same time.
const QUEUE: &str = "update deliveries set status = 'pending', due_at = $4, replayed_at = $4,
    updated_at = $4 where user_id = $1 and endpoint_id = $2 and event_id = $3 and due_at is null";
const INSERT: &str = "insert into deliveries (user_id, endpoint_id, event_id, event_type, status,
    attempts, due_at, replayed_at, created_at, updated_at)
    values ($1, $2, $3, $4, 'pending', 0, $5, $5, $5, $5)";
const IS_TEST: &str = "select id from attempts where event_id = $2
    and coalesce(user_id, $1) = $1 and trigger_kind = 'test' limit 1";

pub(crate) const STATEMENTS: &[&str] = &[QUEUE, INSERT, IS_TEST];
