//! Webhooks as a capability: who may manage which endpoints, fresh proof of sign-in, and the audit trail. Endpoints,
//! the outbox and deliveries themselves are in the crate `webhooks`.

pub mod changes;
mod lists;
pub mod portal;
pub mod replay;

use std::time::Duration;

use ::webhooks::{
    DisabledEndpoint, EndpointOwner, disable, dispatch, endpoints, retention, test_event,
};
use base::{EndpointId, KeyId, Timestamp};
use tokio::sync::watch;
use wire::v1::Scope;

use crate::access::{sessions, users};
use crate::platform::audit::{self, Actor, Note};
use crate::{App, Caller, Credential, Error, Result, Tx};

pub use ::webhooks::attempts::{Attempt, AttemptFilter};
pub use ::webhooks::deliveries::{DeliveryDetail, EventDetail, EventPayload};
pub use ::webhooks::dispatch::POLL_INTERVAL;
pub use ::webhooks::endpoints::{
    DESCRIPTION_LENGTH_MAX, EndpointChange, NewEndpoint, URL_LENGTH_MAX,
};
pub use ::webhooks::event_log::{
    EventFilter, EventStatus, LoggedDelivery, LoggedEvent, SCAN_MAX as EVENT_SCAN_MAX,
};
pub use ::webhooks::health::EndpointHealth;
pub use ::webhooks::signatures::{SignedMessage, SigningSecret, VerificationError, verify};
pub use ::webhooks::test_event::{SentTest, TestResult};
pub use ::webhooks::{
    AttemptStatus, DeliveryStatus, DisabledReason, Endpoint, EndpointStatus, Trigger,
};
pub use lists::{
    AttemptPage, EventPage, FailedPage, get_event, list_attempts, list_events, list_failed,
};

/// The name of the sending loop among the background loops of this process.
pub const SEND_LOOP: &str = "send webhooks";
/// The name of the replay loop among the background loops of this process.
pub const REPLAY_LOOP: &str = "replay webhooks";

/// The endpoints that a caller may manage: a key those that it created, a person all of theirs.
fn owner(caller: &Caller) -> Result<EndpointOwner> {
    caller.require(Scope::WebhooksManage)?;
    let key = match &caller.credential {
        Credential::Key { id, .. } => Some(*id),
        Credential::Grant { .. } => return Err(Error::KeyRequired),
        Credential::Session { .. } | Credential::Owner => None,
    };
    Ok(EndpointOwner { user: caller.user, key })
}

pub async fn list(app: &App, caller: &Caller) -> Result<Vec<Endpoint>> {
    Ok(endpoints::list(&app.webhooks, &owner(caller)?).await?)
}

pub async fn get(app: &App, caller: &Caller, id: EndpointId) -> Result<Endpoint> {
    Ok(endpoints::get(&app.webhooks, &owner(caller)?, id).await?)
}

/// How well an endpoint responds. None if nothing but tests was sent to it.
pub async fn health(app: &App, caller: &Caller, id: EndpointId) -> Result<Option<EndpointHealth>> {
    Ok(::webhooks::health::get(&app.webhooks, &owner(caller)?, id).await?)
}

/// Checks that a URL may be sent to, before it is written anywhere.
pub async fn check_url(app: &App, url: &str) -> Result<()> {
    Ok(endpoints::check_url(&app.webhooks, url).await?)
}

/// Creates an endpoint for the calling key, and returns it with its secret, which is not shown again.
pub fn create(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    new: &NewEndpoint,
) -> Result<(Endpoint, String)> {
    let Some(key) = owner(caller)?.key else { return Err(Error::KeyRequired) };
    create_for_key(app, tx, caller, key, new)
}

/// Creates an endpoint for a key that the person chose. A key creates endpoints for itself alone.
pub fn create_for_key(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    key: KeyId,
    new: &NewEndpoint,
) -> Result<(Endpoint, String)> {
    if owner(caller)?.key.is_some_and(|own| own != key) {
        return Err(Error::NotFound("key"));
    }
    sessions::require_proof_in(tx, app, caller)?;
    users::lock(tx, caller.user)?;
    let (endpoint, secret) = endpoints::create(&app.webhooks, tx, caller.user, key, new)?;
    let note = Note::new(caller, "webhook.create", "Created a webhook endpoint").about(endpoint.id);
    audit::note(tx, caller.user, app.clock.now(), note)?;
    Ok((endpoint, secret))
}

pub fn update(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    id: EndpointId,
    change: &EndpointChange,
) -> Result<Endpoint> {
    users::lock(tx, caller.user)?;
    let before = endpoints::get_in(tx, &owner(caller)?, id)?;
    // A new URL may belong to somebody else, who would receive everything from now on.
    if change.url.as_ref().is_some_and(|url| *url != before.url) {
        sessions::require_proof_in(tx, app, caller)?;
    }
    let endpoint = endpoints::update(&app.webhooks, tx, before, change)?;
    let note = Note::new(caller, "webhook.update", "Changed a webhook endpoint").about(id);
    audit::note(tx, caller.user, app.clock.now(), note)?;
    Ok(endpoint)
}

pub fn delete(app: &App, tx: &mut Tx<'_>, caller: &Caller, id: EndpointId) -> Result<()> {
    users::lock(tx, caller.user)?;
    endpoints::delete(&app.webhooks, tx, &owner(caller)?, id)?;
    let note = Note::new(caller, "webhook.delete", "Deleted a webhook endpoint").about(id);
    audit::note(tx, caller.user, app.clock.now(), note)
}

/// Replaces the secret of an endpoint, and returns the new one with the moment until which the old one signs beside it.
pub fn rotate_secret(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    id: EndpointId,
) -> Result<(String, Timestamp)> {
    sessions::require_proof_in(tx, app, caller)?;
    users::lock(tx, caller.user)?;
    let rotated = endpoints::rotate_secret(&app.webhooks, tx, &owner(caller)?, id)?;
    let note = Note::new(caller, "webhook.rotate", "Rotated the secret of a webhook endpoint");
    audit::note(tx, caller.user, app.clock.now(), note.about(id))?;
    Ok(rotated)
}

/// Sends a test event, of a type that may be chosen, and saves the result.
pub async fn test(
    app: &App,
    caller: &Caller,
    id: EndpointId,
    event_type: Option<&str>,
) -> Result<TestResult> {
    let sent = send_test(app, caller, id, event_type).await?;
    let (mine, caller) = (app.clone(), caller.clone());
    app.db.write(move |tx| save_test(&mine, tx, &caller, sent)).await
}

/// Sends a test event without saving the result.
pub async fn send_test(
    app: &App,
    caller: &Caller,
    id: EndpointId,
    event_type: Option<&str>,
) -> Result<SentTest> {
    Ok(test_event::send_test(&app.webhooks, &owner(caller)?, id, event_type).await?)
}

/// Saves a test event that was sent, unless its endpoint was deleted meanwhile.
pub fn save_test(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    sent: SentTest,
) -> Result<TestResult> {
    Ok(sent.save(&app.webhooks, tx, &owner(caller)?)?)
}

/// Sends every delivery that is due and writes the results: one step, as tests drive it.
pub async fn deliver_once(app: &App) -> Result<usize> {
    Ok(dispatch::deliver_once(&app.webhooks).await?)
}

/// Sends deliveries until `stop` is set; requests in flight then end and are settled.
pub async fn run(app: App, poll_interval: Duration, stop: watch::Receiver<bool>) {
    let on_step = || app.background.record_step(SEND_LOOP);
    dispatch::run(app.webhooks.clone(), poll_interval, on_step, stop).await;
}

/// Sends replays until `stop` is set.
pub async fn run_replays(app: App, poll_interval: Duration, stop: watch::Receiver<bool>) {
    let on_step = || app.background.record_step(REPLAY_LOOP);
    ::webhooks::replay::run(app.webhooks.clone(), poll_interval, on_step, stop).await;
}

/// Sends the next batch of one replay: one step, as tests drive it.
pub async fn replay_once(app: &App) -> Result<usize> {
    Ok(::webhooks::replay::replay_once(&app.webhooks).await?)
}

/// Disables the endpoints of keys that have expired. A background step.
pub async fn disable_ended_once(app: &App) -> Result<usize> {
    Ok(disable::disable_ended_once(&app.webhooks).await?)
}

/// Disables the endpoints that have been failing for five days. A background step.
pub async fn disable_failing_once(app: &App) -> Result<usize> {
    Ok(disable::disable_failing_once(&app.webhooks).await?)
}

/// Deletes payloads, deliveries, attempts and portal tokens that have expired. A background step.
pub async fn delete_expired_once(app: &App) -> Result<usize> {
    let count = retention::delete_expired_once(&app.webhooks).await?;
    Ok(count + portal::delete_expired(app).await?)
}

/// Writes the audit entry of an endpoint that was disabled automatically, in the same transaction.
pub(crate) fn record_disabled(tx: &mut Tx<'_>, it: &DisabledEndpoint) -> ::webhooks::Result<()> {
    let details = match it.reason {
        DisabledReason::Gone => "Disabled a webhook endpoint: the receiver answered 410 Gone",
        DisabledReason::KeyEnded => {
            "Disabled a webhook endpoint: its API key was revoked or has expired"
        }
        _ => "Disabled a webhook endpoint: no delivery has succeeded for five days",
    };
    let note = Note::new(Actor::system(), "webhook.disable", details).about(it.endpoint.id);
    Ok(audit::note(tx, it.endpoint.user, it.at, note)?)
}
