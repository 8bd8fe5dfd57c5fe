//! What is kept how long: payloads thirty days, attempts ninety, tokens of the portal while they are good.

use base::{CLOCK_SKEW_MICROSECONDS, EventId};
use db::params;

use super::claim::LEASE;
use super::portal;
use crate::{App, Error, Result, Tx};

const PAYLOAD_DAYS: i64 = 30;
const ATTEMPT_DAYS: i64 = 90;
const DAY_MICROSECONDS: i64 = 86_400_000_000;
/// So many at once, that nobody waits for it.
const BATCH: i64 = 1_000;
/// And so many times, so that a busy installation keeps up.
const BATCHES_MAX: usize = 200;

/// Forgets what is older, bit by bit; a background step.
pub async fn delete_expired_once(app: &App) -> Result<usize> {
    let mut all = make_future_due(app).await?;
    for _ in 0..BATCHES_MAX {
        let count = delete_batch(app).await?;
        all += count;
        if count < BATCH as usize {
            break;
        }
    }
    Ok(all)
}

/// Makes due what waits for a moment further ahead than any that is ever set: it was set before the clock was set back.
async fn make_future_due(app: &App) -> Result<usize> {
    let now = app.clock.now().as_microsecond();
    let lease_end = now + LEASE + CLOCK_SKEW_MICROSECONDS;
    let farthest = now + DAY_MICROSECONDS;
    let pull = move |tx: &mut Tx<'_>| {
        let pulled = tx.execute(MAKE_FUTURE_DUE, params![now, lease_end, farthest])?;
        if pulled > 0 {
            tx.notify()?;
        }
        Ok::<_, Error>(pulled as usize)
    };
    app.db.write(pull).await
}

async fn delete_batch(app: &App) -> Result<usize> {
    let now = app.clock.now().as_microsecond();
    let forget = move |tx: &mut Tx<'_>| {
        let payloads = now - PAYLOAD_DAYS * DAY_MICROSECONDS;
        let attempts = now - ATTEMPT_DAYS * DAY_MICROSECONDS;
        let mut count = tx.execute(EVENTS, params![payloads, BATCH])?;
        count += tx.execute(ATTEMPTS, params![attempts, BATCH])?;
        let oldest = EventId::first_at(attempts);
        count += tx.execute(DELIVERIES, params![attempts, oldest, BATCH])?;
        count += tx.execute(portal::DELETE_EXPIRED, params![now])?;
        Ok::<_, Error>(count)
    };
    Ok(app.db.write(forget).await? as usize)
}

/// Not what is still to be sent. It is looked for endpoint by endpoint, as deliveries lie: SQLite keeps the order of a
/// cross join, and would otherwise read all of a person's deliveries for each event.
const EVENTS: &str = "delete from events where (user_id, id) in (
    select e.user_id, e.id from events e where e.created_at < $1 and not exists (
        select 1 from webhook_endpoints w cross join deliveries d
        where w.user_id = e.user_id and d.user_id = w.user_id and d.endpoint_id = w.id
        and d.event_id = e.id and d.due_at is not null)
    order by e.created_at limit $2)";
const ATTEMPTS: &str = "delete from attempts where (user_id, id) in (
    select user_id, id from attempts where attempted_at < $1 order by attempted_at limit $2)";
/// Those of old events, which lie first with each endpoint.
const DELIVERIES: &str = "delete from deliveries where (user_id, endpoint_id, event_id) in (
    select d.user_id, d.endpoint_id, d.event_id from webhook_endpoints w cross join deliveries d
    where d.user_id = w.user_id and d.endpoint_id = w.id and d.event_id < $2
    and d.due_at is null and d.updated_at < $1 limit $3)";

/// A first attempt is never later than its lease, and no further one later than a day.
const MAKE_FUTURE_DUE: &str = "update deliveries set due_at = $1
    where due_at > $2 and (attempts = 0 or due_at > $3)";

pub(super) const STATEMENTS: &[&str] = &[EVENTS, ATTEMPTS, DELIVERIES, MAKE_FUTURE_DUE];
