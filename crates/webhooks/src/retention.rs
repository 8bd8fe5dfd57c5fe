//! Retention: payloads are kept for thirty days; events, deliveries and attempts for ninety.

use base::{CLOCK_SKEW_MICROSECONDS, EventId};
use db::{Tx, params};

use crate::context::Webhooks;
use crate::delivery::LEASE;
use crate::error::{Error, Result};

const PAYLOAD_DAYS: i64 = 30;
const EVENT_DAYS: i64 = 90;
const DAY_MICROSECONDS: i64 = 86_400_000_000;
/// Rows of each table that one transaction changes, so that it does not block others for long.
const BATCH: i64 = 1_000;
/// Transactions of one step, enough for a busy installation to keep up.
const BATCHES_MAX: usize = 200;

/// Deletes expired payloads, events, deliveries and attempts in batches, and repairs due times after the clock was set back. A
/// background step; returns how many rows it changed.
pub async fn delete_expired_once(webhooks: &Webhooks) -> Result<usize> {
    let mut all = repair_due_times(webhooks).await?;
    for _ in 0..BATCHES_MAX {
        let count = delete_batch(webhooks).await?;
        all += count;
        if count < BATCH as usize {
            break;
        }
    }
    Ok(all)
}

/// Makes deliveries due whose due time is further ahead than any is ever set to: the clock was set back since.
async fn repair_due_times(webhooks: &Webhooks) -> Result<usize> {
    let write = move |tx: &mut Tx<'_>| {
        let now = tx.now()?.as_microsecond();
        let lease_end = now + LEASE + CLOCK_SKEW_MICROSECONDS;
        let farthest = now + DAY_MICROSECONDS;
        let repaired = tx.execute(REPAIR_DUE_TIMES, params![now, lease_end, farthest])?;
        if repaired > 0 {
            tx.notify()?;
        }
        Ok::<_, Error>(repaired as usize)
    };
    webhooks.db.write(write).await
}

async fn delete_batch(webhooks: &Webhooks) -> Result<usize> {
    let now = webhooks.clock.now().as_microsecond();
    let write = move |tx: &mut Tx<'_>| {
        let payloads = now - PAYLOAD_DAYS * DAY_MICROSECONDS;
        let events = now - EVENT_DAYS * DAY_MICROSECONDS;
        let oldest = EventId::first_at(events);
        let counts = [
            tx.execute(EMPTY_PAYLOADS, params![payloads, BATCH])?,
            tx.execute(DELETE_EVENTS, params![events, oldest, BATCH])?,
            tx.execute(DELETE_ATTEMPTS, params![events, BATCH])?,
            tx.execute(DELETE_DELIVERIES, params![events, oldest, BATCH])?,
        ];
        Ok::<_, Error>(counts.iter().sum::<u64>())
    };
    Ok(webhooks.db.write(write).await? as usize)
}

/// Spares events that are still to be sent. Their deliveries are searched endpoint by endpoint, in the order of the
/// primary key: SQLite keeps the order of a cross join, and would otherwise read all deliveries of a person for each
/// event.
const EMPTY_PAYLOADS: &str = "update events set data = '' where (user_id, id) in (
    select e.user_id, e.id from events e where e.created_at < $1 and e.data <> '' and not exists (
        select 1 from webhook_endpoints w cross join deliveries d
        where w.user_id = e.user_id and d.user_id = w.user_id and d.endpoint_id = w.id
        and d.event_id = e.id and d.due_at is not null)
    order by e.created_at limit $2)";
/// Old events come first in the primary key of each person. One that is still to be sent has its payload, and stays.
const DELETE_EVENTS: &str = "delete from events where (user_id, id) in (
    select e.user_id, e.id from users u cross join events e where e.user_id = u.id
    and e.id < $2 and e.created_at < $1 and e.data = '' limit $3)";
const DELETE_ATTEMPTS: &str = "delete from attempts where (user_id, id) in (
    select user_id, id from attempts where attempted_at < $1 order by attempted_at limit $2)";
/// Deliveries of old events come first in the primary key of each endpoint.
const DELETE_DELIVERIES: &str = "delete from deliveries where (user_id, endpoint_id, event_id) in (
    select d.user_id, d.endpoint_id, d.event_id from webhook_endpoints w cross join deliveries d
    where d.user_id = w.user_id and d.endpoint_id = w.id and d.event_id < $2
    and d.due_at is null and d.updated_at < $1 limit $3)";
/// A first attempt is due at the latest when its lease ends, and a retry within a day.
const REPAIR_DUE_TIMES: &str = "update deliveries set due_at = $1
    where due_at > $2 and (attempts = 0 or due_at > $3)";

pub(crate) const STATEMENTS: &[&str] =
    &[EMPTY_PAYLOADS, DELETE_EVENTS, DELETE_ATTEMPTS, DELETE_DELIVERIES, REPAIR_DUE_TIMES];
