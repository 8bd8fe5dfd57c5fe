//! Endpoints that get nothing more: switched off, gone, failing for too long, or without a key.

use base::{EndpointId, KeyId, Timestamp, UserId};
use db::params;
use wire::v1::Event;

use super::DisabledReason;
use crate::platform::audit::{self, Actor, Note};
use crate::{App, Error, Result, Tx, outbox};

/// Endpoints of keys that ended, in one go.
const ENDED_MAX: i64 = 1_000;

/// An endpoint and whose it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct EndpointRef {
    pub(super) user: UserId,
    pub(super) key: KeyId,
    pub(super) id: EndpointId,
}

/// Nothing more is sent there; what waits becomes a dead letter, and the key's other endpoints are told.
pub(super) fn disable(
    app: &App,
    tx: &mut Tx<'_>,
    it: &EndpointRef,
    reason: DisabledReason,
) -> Result<()> {
    let now = app.clock.now();
    if tx.execute(DISABLE, params![it.user, it.id, reason.as_str(), now])? == 0 {
        return Ok(());
    }
    fail_pending(app, tx, it.user, it.id, now)?;
    let details = match reason {
        DisabledReason::Gone => "Disabled a webhook endpoint: it says that it is gone",
        DisabledReason::KeyEnded => "Disabled a webhook endpoint: its key has ended",
        _ => "Disabled a webhook endpoint: nothing has arrived there for five days",
    };
    let note = Note::new(Actor::system(), "webhook.disable", details).about(it.id);
    audit::note(tx, it.user, now, note)?;
    let endpoint_id = it.id.to_string();
    let event = Event::EndpointDisabled { endpoint_id, reason: reason.as_str() };
    outbox::append_for_key(app, tx, it.user, it.key, &event)
}

/// What waits for it goes to the dead letters, and what stands in line in this process is not sent.
pub(super) fn fail_pending(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    id: EndpointId,
    now: Timestamp,
) -> Result<()> {
    tx.execute(STOP, params![user, id, now])?;
    invalidate_queue(app, tx, id);
    Ok(())
}

/// What stands in line for it in this process looks at it anew, once this is kept.
pub(super) fn invalidate_queue(app: &App, tx: &mut Tx<'_>, id: EndpointId) {
    let limiter = app.webhooks.limiter.clone();
    tx.on_commit(move || limiter.invalidate(id));
}

/// The endpoints of a key that is revoked.
pub(crate) fn disable_for_key(app: &App, tx: &mut Tx<'_>, user: UserId, key: KeyId) -> Result<()> {
    let ids: Vec<EndpointId> = tx.all(OF_KEY, params![user, key], |row| row.get(0))?;
    for id in ids {
        disable(app, tx, &EndpointRef { user, key, id }, DisabledReason::KeyEnded)?;
    }
    Ok(())
}

/// The endpoints of keys whose time is over; and what was written for an endpoint while it was being switched off, and
/// would wait there for ever. A background step.
pub async fn disable_ended_once(app: &App) -> Result<usize> {
    let mine = app.clone();
    let end = move |tx: &mut Tx<'_>| {
        let now = mine.clock.now();
        let read = |row: &db::Row<'_>| {
            Ok(EndpointRef { user: row.get(0)?, key: row.get(1)?, id: row.get(2)? })
        };
        let ended: Vec<EndpointRef> = tx.all(ENDED, params![now, ENDED_MAX], read)?;
        for it in &ended {
            disable(&mine, tx, it, DisabledReason::KeyEnded)?;
        }
        let stranded = tx.execute(STRANDED, params![now])?;
        Ok::<_, Error>(ended.len() + stranded as usize)
    };
    app.db.write(end).await
}

const DISABLE: &str = "update webhook_endpoints set status = 'disabled', disabled_reason = $3,
    updated_at = $4 where user_id = $1 and id = $2 and status = 'active'";
const STOP: &str = "update deliveries set status = 'failed', due_at = null, updated_at = $3
    where user_id = $1 and endpoint_id = $2 and due_at is not null";
const OF_KEY: &str = "select id from webhook_endpoints
    where user_id = $1 and key_id = $2 and status = 'active' order by id";
const ENDED: &str = "select e.user_id, e.key_id, e.id from webhook_endpoints e
    join api_keys k on k.user_id = e.user_id and k.id = e.key_id
    where e.status = 'active' and (k.revoked_at is not null or k.expires_at <= $1)
    order by e.id limit $2";
const STRANDED: &str = "update deliveries set status = 'failed', due_at = null, updated_at = $1
    where due_at is not null
    and endpoint_id in (select id from webhook_endpoints where status = 'disabled')";

pub(super) const STATEMENTS: &[&str] = &[DISABLE, STOP, OF_KEY, ENDED, STRANDED];
