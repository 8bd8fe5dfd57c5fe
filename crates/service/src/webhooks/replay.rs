//! Resending by hand: one delivery at once, one event through the queue, or all that failed at an endpoint since a moment, as a background job.

use ::webhooks::attempts::Attempt;
use ::webhooks::event_log::LoggedDelivery;
use ::webhooks::{event_replay, replay};
use base::{EndpointId, EventId, Timestamp};

use super::owner;
use crate::access::users;
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Result, Tx};

pub use ::webhooks::replay::{DAYS_MAX, Replay, ReplayStatus, TOTAL_MAX};

/// Sends one delivery again, at once: the same event id, with a new signature. It is not retried, and a failure does
/// not count against the endpoint.
pub async fn resend(
    app: &App,
    caller: &Caller,
    endpoint: EndpointId,
    event: EventId,
) -> Result<Attempt> {
    Ok(replay::resend(&app.webhooks, &owner(caller)?, endpoint, event).await?)
}

/// Starts to resend the deliveries that failed at an endpoint since a moment, oldest first.
pub fn start(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    endpoint: EndpointId,
    since: Timestamp,
) -> Result<Replay> {
    let owner = owner(caller)?;
    users::lock(tx, caller.user)?;
    let started = replay::start(tx, &owner, endpoint, since)?;
    let note = Note::new(caller, "webhook.replay", "Started a replay of failed webhook deliveries");
    audit::note(tx, caller.user, app.clock.now(), note.about(endpoint))?;
    Ok(started)
}

/// Queues one event for one endpoint, or without one for every endpoint where it failed; an event that was never sent
/// goes to every active endpoint that may receive it. Returns what was queued.
pub fn replay_event(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    event: EventId,
    endpoint: Option<EndpointId>,
) -> Result<Vec<LoggedDelivery>> {
    let owner = owner(caller)?;
    users::lock(tx, caller.user)?;
    let queued = event_replay::replay_event(&app.webhooks, tx, &owner, event, endpoint)?;
    let note = Note::new(caller, "webhook.replay_event", "Replayed a webhook event").about(event);
    audit::note(tx, caller.user, app.clock.now(), note)?;
    Ok(queued)
}

/// The last replay of each endpoint, newest first.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<Replay>> {
    Ok(replay::list(&app.webhooks, &owner(caller)?).await?)
}
