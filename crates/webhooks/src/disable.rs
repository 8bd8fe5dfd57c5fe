//! Disabling endpoints: by their owner, after 410 Gone, after five days of failures, or because their key ended.

use base::{EndpointId, KeyId, Timestamp, UserId};
use db::{Tx, params};
use wire::v1::Event;

use crate::context::Webhooks;
use crate::endpoint::{DisabledEndpoint, DisabledReason, EndpointRef};
use crate::error::{Error, Result};
use crate::outbox;

/// An endpoint to which a delivery was exhausted is disabled once it has had no success for so long.
const FAILING_MICROSECONDS_MAX: i64 = 5 * 86_400 * 1_000_000;
/// Endpoints that one step disables.
const BATCH: i64 = 1_000;

/// Disables an endpoint: its waiting deliveries fail, and the other endpoints of its key get an event about it.
pub(crate) fn disable(
    webhooks: &Webhooks,
    tx: &mut Tx<'_>,
    endpoint: &EndpointRef,
    reason: DisabledReason,
) -> Result<()> {
    let at = tx.now()?;
    let EndpointRef { user, key, id } = *endpoint;
    if tx.execute(DISABLE, params![user, id, reason.as_str(), at])? == 0 {
        return Ok(());
    }
    fail_pending(webhooks, tx, user, id, at)?;
    (webhooks.on_disabled)(tx, &DisabledEndpoint { endpoint: *endpoint, reason, at })?;
    let event = Event::EndpointDisabled { endpoint_id: id.to_string(), reason: reason.as_str() };
    outbox::append_for_key(webhooks, tx, user, key, &event)
}

/// Fails the deliveries that wait for an endpoint, and releases those that are queued in this process.
pub(crate) fn fail_pending(
    webhooks: &Webhooks,
    tx: &mut Tx<'_>,
    user: UserId,
    id: EndpointId,
    now: Timestamp,
) -> Result<()> {
    tx.execute(FAIL_PENDING, params![user, id, now])?;
    invalidate_queue(webhooks, tx, id)
}

/// After the commit, deliveries that this process and others have queued for the endpoint are released and read again.
pub(crate) fn invalidate_queue(webhooks: &Webhooks, tx: &mut Tx<'_>, id: EndpointId) -> Result<()> {
    let limiter = webhooks.limiter.clone();
    tx.on_commit(move || limiter.invalidate(id));
    Ok(tx.notify_of(&id.to_string())?)
}

/// Disables the endpoints of a key that is being revoked.
pub fn disable_for_key(
    webhooks: &Webhooks,
    tx: &mut Tx<'_>,
    user: UserId,
    key: KeyId,
) -> Result<()> {
    let ids: Vec<EndpointId> = tx.all(ACTIVE_OF_KEY, params![user, key], |row| row.get(0))?;
    for id in ids {
        disable(webhooks, tx, &EndpointRef { user, key, id }, DisabledReason::KeyEnded)?;
    }
    Ok(())
}

/// Disables the endpoints of keys that have expired, and fails deliveries that were written for an endpoint while it
/// was being disabled and would otherwise wait forever. A background step; returns how many it changed.
pub async fn disable_ended_once(webhooks: &Webhooks) -> Result<usize> {
    let mine = webhooks.clone();
    let write = move |tx: &mut Tx<'_>| {
        let now = tx.now()?;
        let ended = tx.all(ENDED, params![now, BATCH], read_ref)?;
        for it in &ended {
            disable(&mine, tx, it, DisabledReason::KeyEnded)?;
        }
        let stranded = tx.execute(FAIL_STRANDED, params![now])?;
        Ok::<_, Error>(ended.len() + stranded as usize)
    };
    webhooks.db.write(write).await
}

/// Disables the endpoints that have been failing for five days, whether or not anything is due to them. A background
/// step; returns how many it disabled.
pub async fn disable_failing_once(webhooks: &Webhooks) -> Result<usize> {
    let mine = webhooks.clone();
    let write = move |tx: &mut Tx<'_>| {
        let since = failing_since_max(tx.now()?);
        let mut disabled = 0;
        for it in tx.all(FAILING, params![since, BATCH], read_ref)? {
            if tx.first(LOCK_FAILING, params![it.user, it.id, since], |_| Ok(()))?.is_some() {
                disable(&mine, tx, &it, DisabledReason::Failing)?;
                disabled += 1;
            }
        }
        Ok::<_, Error>(disabled)
    };
    webhooks.db.write(write).await
}

/// Records that a delivery to an endpoint was exhausted, and disables the endpoint if it has been failing for five days.
pub(crate) fn record_exhausted(
    webhooks: &Webhooks,
    tx: &mut Tx<'_>,
    endpoint: &EndpointRef,
    now: Timestamp,
) -> Result<()> {
    let EndpointRef { user, id, .. } = *endpoint;
    tx.execute(MARK_EXHAUSTED, params![user, id, now])?;
    let values = params![user, id, failing_since_max(now)];
    match tx.first(IS_FAILING, values, |_| Ok(()))? {
        Some(()) => disable(webhooks, tx, endpoint, DisabledReason::Failing),
        None => Ok(()),
    }
}

/// The latest beginning of a failure that has now lasted long enough to disable an endpoint.
fn failing_since_max(now: Timestamp) -> i64 {
    now.as_microsecond() - FAILING_MICROSECONDS_MAX
}

fn read_ref(row: &db::Row<'_>) -> db::Result<EndpointRef> {
    Ok(EndpointRef { user: row.get(0)?, key: row.get(1)?, id: row.get(2)? })
}

const DISABLE: &str = "update webhook_endpoints set status = 'disabled', disabled_reason = $3,
    updated_at = $4, version = version + 1 where user_id = $1 and id = $2 and status = 'active'";
const FAIL_PENDING: &str = "update deliveries set status = 'failed', due_at = null, updated_at = $3
    where user_id = $1 and endpoint_id = $2 and due_at is not null";
const ACTIVE_OF_KEY: &str = "select id from webhook_endpoints
    where user_id = $1 and key_id = $2 and status = 'active' order by id";
const ENDED: &str = "select e.user_id, e.key_id, e.id from webhook_endpoints e
    join api_keys k on k.user_id = e.user_id and k.id = e.key_id
    where e.status = 'active' and (k.revoked_at is not null or k.expires_at <= $1)
    order by e.id limit $2";
const FAILING: &str = "select e.user_id, e.key_id, e.id from webhook_endpoints e
    where e.status = 'active' and e.failing_since <= $1 and e.exhausted_at >= e.failing_since
    order by e.id limit $2";
/// Locks the endpoint: one whose delivery succeeds at the same time is read again after that, and no longer matches.
const LOCK_FAILING: &str = "select e.id from webhook_endpoints e where e.user_id = $1 and e.id = $2
    and e.status = 'active' and e.failing_since <= $3 and e.exhausted_at >= e.failing_since
    for update of e";
const IS_FAILING: &str = "select id from webhook_endpoints where user_id = $1 and id = $2
    and status = 'active' and failing_since <= $3 and exhausted_at >= failing_since";
const MARK_EXHAUSTED: &str =
    "update webhook_endpoints set exhausted_at = $3 where user_id = $1 and id = $2";
const FAIL_STRANDED: &str =
    "update deliveries set status = 'failed', due_at = null, updated_at = $1
    where due_at is not null
    and exists (select 1 from webhook_endpoints e where e.user_id = deliveries.user_id
        and e.id = deliveries.endpoint_id and e.status = 'disabled')";

pub(crate) const STATEMENTS: &[&str] = &[
    DISABLE,
    FAIL_PENDING,
    ACTIVE_OF_KEY,
    ENDED,
    FAILING,
    LOCK_FAILING,
    IS_FAILING,
    MARK_EXHAUSTED,
    FAIL_STRANDED,
];
