//! Changes to webhook endpoints that open a transaction of their own, for the pages. The API runs the same changes
//! inside the transaction of its idempotent response.

use base::{EndpointId, EventId, KeyId, Timestamp};

use super::replay::{self, Replay};
use super::{Endpoint, EndpointChange, LoggedDelivery, NewEndpoint};
use crate::{App, Caller, Result};

/// Creates an endpoint for one of the caller's keys, and returns it with its secret.
pub async fn create_for_key(
    app: &App,
    caller: &Caller,
    key: KeyId,
    new: NewEndpoint,
) -> Result<(Endpoint, String)> {
    let (mine, caller) = (app.clone(), caller.clone());
    app.db.write(move |tx| super::create_for_key(&mine, tx, &caller, key, &new)).await
}

pub async fn update(
    app: &App,
    caller: &Caller,
    id: EndpointId,
    change: EndpointChange,
) -> Result<Endpoint> {
    let (mine, caller) = (app.clone(), caller.clone());
    app.db.write(move |tx| super::update(&mine, tx, &caller, id, &change)).await
}

pub async fn delete(app: &App, caller: &Caller, id: EndpointId) -> Result<()> {
    let (mine, caller) = (app.clone(), caller.clone());
    app.db.write(move |tx| super::delete(&mine, tx, &caller, id)).await
}

/// Replaces the secret of an endpoint, and returns the new one with the end of the old one.
pub async fn rotate_secret(
    app: &App,
    caller: &Caller,
    id: EndpointId,
) -> Result<(String, Timestamp)> {
    let (mine, caller) = (app.clone(), caller.clone());
    app.db.write(move |tx| super::rotate_secret(&mine, tx, &caller, id)).await
}

/// Starts to resend the failed deliveries of an endpoint.
pub async fn start_replay(
    app: &App,
    caller: &Caller,
    id: EndpointId,
    since: Timestamp,
) -> Result<Replay> {
    let (mine, caller) = (app.clone(), caller.clone());
    app.db.write(move |tx| replay::start(&mine, tx, &caller, id, since)).await
}

/// Queues one event for one endpoint, or for every endpoint where it failed.
pub async fn replay_event(
    app: &App,
    caller: &Caller,
    event: EventId,
    endpoint: Option<EndpointId>,
) -> Result<Vec<LoggedDelivery>> {
    let (mine, caller) = (app.clone(), caller.clone());
    app.db.write(move |tx| replay::replay_event(&mine, tx, &caller, event, endpoint)).await
}
