//! Claiming due deliveries by lease: of each endpoint as many as the limiter allows, so that none delays the others.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::{EndpointId, EventId, Timestamp};
use bytes::Bytes;
use db::{Param, Tx, params};
use futures_util::{StreamExt as _, TryStreamExt as _};

use crate::context::Webhooks;
use crate::delivery::{Delivery, Destination, Lease, Trigger, read_destination};
use crate::error::Result;
use crate::payload;

/// Endpoints that one claim looks at.
const ENDPOINTS_MAX: i64 = 2_000;
/// The least share of one endpoint when more is due than can be claimed.
const SHARE_MIN: usize = 8;
/// Endpoints whose due deliveries are read concurrently.
const READS_AT_ONCE: usize = 16;

/// The deliveries of one endpoint that were claimed.
pub(crate) struct Batch {
    pub(crate) endpoint: EndpointId,
    pub(crate) deliveries: Vec<Delivery>,
    pub(crate) lease: Lease,
    /// Whether more is due than could be claimed.
    pub(crate) has_more: bool,
}

/// An endpoint with its due deliveries, not yet claimed.
struct Due {
    to: Arc<Destination>,
    rows: Vec<DueRow>,
    has_more: bool,
}

struct DueRow {
    event: EventId,
    event_type: String,
    attempts: i64,
    /// None where the payload has expired after thirty days.
    body: Option<Bytes>,
    trigger: Trigger,
}

/// Claims due deliveries: of each endpoint up to `limit_of` it, and in total up to `limit`.
pub(crate) async fn claim(
    webhooks: &Webhooks,
    limit_of: impl Fn(EndpointId) -> usize,
    limit: usize,
) -> Result<Vec<Batch>> {
    let taken_at = webhooks.clock.now();
    let now = webhooks.db.now().await?;
    let ready = webhooks.db.all(READY, params![now, ENDPOINTS_MAX], read_destination).await?;
    let lease = Lease::new(now, taken_at);
    let (mut batches, mut reading, mut left) = (Vec::new(), Vec::new(), limit);
    let fair_share = (limit / ready.len().max(1)).max(SHARE_MIN);
    for found in ready {
        let share = limit_of(found.id).min(left).min(fair_share);
        if share == 0 {
            let (endpoint, deliveries) = (found.id, Vec::new());
            batches.push(Batch { endpoint, deliveries, lease, has_more: true });
        } else if let Some(to) = found.decrypt_or_log(&webhooks.cipher, now) {
            left -= share;
            reading.push(read_due(webhooks, Arc::new(to), share, now));
        }
    }
    let reading = futures_util::stream::iter(reading).buffer_unordered(READS_AT_ONCE);
    let mut due: Vec<Due> = reading.try_collect().await?;
    // All processes lock endpoints in the same order, so that two of them never wait for each other.
    due.sort_by_key(|it| it.to.id);
    if !due.is_empty() {
        batches.extend(webhooks.db.write(move |tx| claim_due(tx, due, now, lease)).await?);
    }
    Ok(batches)
}

async fn read_due(
    webhooks: &Webhooks,
    to: Arc<Destination>,
    limit: usize,
    now: Timestamp,
) -> Result<Due> {
    let read = |row: &db::Row<'_>| {
        let (event, event_type): (EventId, String) = (row.get(0)?, row.get(1)?);
        let (data, at): (Option<&str>, Option<Timestamp>) = (row.get(3)?, row.get(4)?);
        let body = data.and_then(payload::kept).zip(at);
        let body = body.map(|(data, at)| payload::body(event, &event_type, at, data).into());
        let replayed_at: Option<i64> = row.get(5)?;
        let trigger = replayed_at.map_or(Trigger::Scheduled, |_| Trigger::Manual);
        Ok(DueRow { event, event_type, attempts: row.get(2)?, body, trigger })
    };
    let rows = webhooks.db.all(DUE, params![to.id, now, limit as i64, to.user], read).await?;
    let has_more = rows.len() == limit;
    Ok(Due { to, rows, has_more })
}

/// Claims each delivery by its key and only while it is still due: if two processes try, one of them gets it.
fn claim_due(tx: &mut Tx<'_>, due: Vec<Due>, now: Timestamp, lease: Lease) -> Result<Vec<Batch>> {
    if tx.is_citus() {
        // Endpoints on different nodes cannot be locked by one statement.
        for to in due.iter().map(|it| &it.to) {
            tx.first(LOCK_ENDPOINT, params![to.user, to.id], |_| Ok(()))?;
        }
    } else {
        tx.all(LOCK_READY, params![now, ENDPOINTS_MAX], |_| Ok(()))?;
    }
    let values: Vec<[Param<'_>; 6]> = due
        .iter()
        .flat_map(|it| it.rows.iter().map(move |row| (&it.to, row)))
        .map(|(to, row)| {
            let (user, endpoint, event) = (to.user.into(), to.id.into(), row.event.into());
            [user, endpoint, event, now.into(), lease.until.into(), row.attempts.into()]
        })
        .collect();
    let mut claimed = tx.execute_each(CLAIM, &values)?.into_iter();
    let mut batches = Vec::with_capacity(due.len());
    for Due { to, rows, has_more } in due {
        let mut deliveries = Vec::with_capacity(rows.len());
        for row in rows {
            if claimed.next() != Some(1) {
                continue;
            }
            let DueRow { event, event_type, attempts, body, trigger } = row;
            let to = to.clone();
            match body {
                Some(body) => {
                    let delivery = Delivery { to, event, event_type, attempts, body, trigger };
                    deliveries.push(delivery);
                }
                None => drop(tx.execute(FAIL_EXPIRED, params![to.user, to.id, event, now])?),
            }
        }
        batches.push(Batch { endpoint: to.id, deliveries, lease, has_more });
    }
    Ok(batches)
}

/// Releases claimed deliveries that were not sent, each with its lease, so that any process can claim them.
pub(crate) async fn release(webhooks: &Webhooks, released: Vec<(Delivery, Lease)>) -> Result<()> {
    let write = move |tx: &mut Tx<'_>| {
        let now = tx.now()?;
        let endpoints: BTreeSet<_> =
            released.iter().map(|(it, _)| (it.to.id, it.to.user)).collect();
        for (id, user) in endpoints {
            tx.first(LOCK_ENDPOINT, params![user, id], |_| Ok(()))?;
        }
        let each = released.iter().map(|(it, lease)| -> [Param<'_>; 5] {
            let (user, endpoint, event) = (it.to.user.into(), it.to.id.into(), it.event.into());
            [user, endpoint, event, now.into(), lease.until.into()]
        });
        tx.execute_each(RELEASE, &each.collect::<Vec<_>>()).map(drop)?;
        Ok(tx.notify()?)
    };
    webhooks.db.write(write).await
}

const READY: &str = "select e.user_id, e.id, e.key_id, e.url, e.secret, e.previous_secret,
    e.previous_until, e.version from webhook_endpoints e
    join api_keys k on k.user_id = e.user_id and k.id = e.key_id
    where e.status = 'active' and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > $1)
    and exists (select 1 from deliveries d
        where d.user_id = e.user_id and d.endpoint_id = e.id and d.due_at <= $1)
    order by e.id limit $2";
const DUE: &str = "select d.event_id, d.event_type, d.attempts,
    (select e.data from events e where e.user_id = $4 and e.id = d.event_id),
    (select e.created_at from events e where e.user_id = $4 and e.id = d.event_id),
    d.replayed_at from deliveries d where d.user_id = $4 and d.endpoint_id = $1 and d.due_at <= $2
    order by d.due_at, d.event_id limit $3";
/// Locks the endpoints that `READY` finds, so that none is disabled or deleted while its deliveries are being claimed.
const LOCK_READY: &str = "select e.id from webhook_endpoints e where e.status = 'active'
    and exists (select 1 from deliveries d
        where d.user_id = e.user_id and d.endpoint_id = e.id and d.due_at <= $1)
    order by e.id limit $2 for share of e";
const LOCK_ENDPOINT: &str =
    "select e.id from webhook_endpoints e where e.user_id = $1 and e.id = $2 for share of e";
/// The condition on `due_at` is written so that it does not match the index of due deliveries: without statistics
/// PostgreSQL would walk that index for every row instead of using the primary key.
const CLAIM: &str = "update deliveries set due_at = $5 where user_id = $1 and endpoint_id = $2
    and event_id = $3 and coalesce(due_at, $5) <= $4 and attempts = $6";
const RELEASE: &str = "update deliveries set due_at = $4 where user_id = $1 and endpoint_id = $2
    and event_id = $3 and coalesce(due_at, $4) = $5";
const FAIL_EXPIRED: &str = "update deliveries set status = 'failed', due_at = null, updated_at = $4
    where user_id = $1 and endpoint_id = $2 and event_id = $3";

pub(crate) const STATEMENTS: &[&str] =
    &[READY, DUE, LOCK_READY, LOCK_ENDPOINT, CLAIM, RELEASE, FAIL_EXPIRED];
