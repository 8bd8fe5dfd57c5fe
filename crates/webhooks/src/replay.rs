//! Resending by hand: one delivery at once, or all that failed at an endpoint since a moment, as a background job.

use std::sync::Arc;
use std::time::Duration;

use base::{CLOCK_SKEW_MICROSECONDS, EndpointId, EventId, Timestamp, UserId};
use db::{Tx, params};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::attempts::{self, Attempt};
use crate::context::Webhooks;
use crate::delivery::{Delivery, Trigger};
use crate::endpoint::{EndpointOwner, EndpointStatus};
use crate::endpoints;
use crate::error::{Error, Result};
use crate::outcome::Outcome;
use crate::payload;
use crate::send::send;
use crate::settle::settle_manual;

/// How far back a replay can reach: older payloads have expired.
pub const DAYS_MAX: i64 = 30;
/// Deliveries that one replay sends at most; another one sends the rest.
pub const TOTAL_MAX: i64 = 10_000;
/// Deliveries that one step sends concurrently.
const BATCH: i64 = 64;
/// Replays that one process works on concurrently.
const REPLAYS_AT_ONCE: usize = 16;
/// How long a claimed replay belongs to its process. One that has not settled a batch after this long is dead.
const LEASE_MICROSECONDS: i64 = 45_000_000;
const DAY_MICROSECONDS: i64 = 86_400_000_000;
/// Replays that a list returns.
const LIST_MAX: i64 = 20;

base::words!(ReplayStatus {
    Running => "running",
    Done => "done",
    /// The endpoint was disabled while it ran.
    Stopped => "stopped",
});

db::word_columns!(ReplayStatus);

/// The last replay of an endpoint.
#[derive(Debug, Clone)]
pub struct Replay {
    pub endpoint: EndpointId,
    pub since: Timestamp,
    pub total: i64,
    pub done: i64,
    pub delivered: i64,
    pub status: ReplayStatus,
    pub created_at: Timestamp,
}

/// Sends one delivery again, at once: the same event id, with a new signature. It is not retried, and a failure does
/// not count against the endpoint.
pub async fn resend(
    webhooks: &Webhooks,
    owner: &EndpointOwner,
    endpoint: EndpointId,
    event: EventId,
) -> Result<Attempt> {
    require_active(endpoints::get(webhooks, owner, endpoint).await?.status)?;
    let user = owner.user;
    let read = |row: &db::Row<'_>| {
        let due: Option<i64> = row.get(2)?;
        Ok((row.get::<String>(0)?, row.get::<i64>(1)?, due.is_some()))
    };
    let found = webhooks.db.first(DELIVERY, params![user, endpoint, event], read).await?;
    let (event_type, attempts, is_waiting) = found.ok_or(Error::NotFound("delivery"))?;
    if is_waiting {
        return Err(Error::conflict(
            "this delivery is still being retried; wait until it has ended",
        ));
    }
    let stored = endpoints::get_destination(webhooks, user, endpoint).await?;
    let to = stored.decrypt(&webhooks.cipher, webhooks.clock.now())?;
    let body = payload::find_body(&webhooks.db, user, event).await?;
    let expired =
        || Error::conflict("the payload of this event has expired; payloads are kept for 30 days");
    let body = body.ok_or_else(expired)?;
    let (to, trigger) = (Arc::new(to), Trigger::Manual);
    let delivery = Delivery { to, event, event_type, attempts, body, trigger };
    let outcome = send(webhooks, delivery).await;
    let mine = webhooks.clone();
    let write = move |tx: &mut Tx<'_>| {
        let id = settle_manual(&mine, tx, &outcome)?;
        attempts::get_in(tx, user, id)
    };
    webhooks.db.write(write).await
}

/// Starts to resend the deliveries that failed at an endpoint since a moment, oldest first. The caller holds the lock
/// on the person's row, so that an endpoint has one replay at a time.
pub fn start(
    tx: &mut Tx<'_>,
    owner: &EndpointOwner,
    endpoint: EndpointId,
    since: Timestamp,
) -> Result<Replay> {
    require_active(endpoints::get_in(tx, owner, endpoint)?.status)?;
    let (user, now) = (owner.user, tx.now()?);
    if since > now {
        return Err(Error::invalid("since", "since must be in the past"));
    }
    let oldest = now.as_microsecond() - DAYS_MAX * DAY_MICROSECONDS;
    // The oldest day is allowed, although only part of it is left.
    if since.as_microsecond() <= oldest - DAY_MICROSECONDS {
        let message =
            format!("since must be at most {DAYS_MAX} days ago; older payloads have expired");
        return Err(Error::invalid("since", message));
    }
    let oldest = Timestamp::from_microsecond(oldest).unwrap_or(Timestamp::MIN);
    let since = since.max(oldest);
    let last = tx.first(GET, params![user, endpoint], read)?;
    if last.is_some_and(|it| it.status == ReplayStatus::Running) {
        return Err(Error::conflict(
            "a replay of this endpoint is already running; wait until it is done",
        ));
    }
    let values = params![user, endpoint, since, now];
    let count = tx.first(COUNT, values, |row| row.get::<i64>(0))?.unwrap_or(0);
    if count == 0 {
        return Err(Error::conflict("no delivery to this endpoint has failed since then"));
    }
    let (total, first) = (count.min(TOTAL_MAX), EventId::from_bytes([0; 16]));
    tx.execute(DELETE, params![user, endpoint])?;
    tx.execute(INSERT, params![user, endpoint, since, total, now, first])?;
    let status = ReplayStatus::Running;
    Ok(Replay { endpoint, since, total, done: 0, delivered: 0, status, created_at: now })
}

/// The last replay of each endpoint, newest first.
pub async fn list(webhooks: &Webhooks, owner: &EndpointOwner) -> Result<Vec<Replay>> {
    let (all, key) = owner.key_params();
    Ok(webhooks.db.all(LIST, params![owner.user, all, key, LIST_MAX], read).await?)
}

fn require_active(status: EndpointStatus) -> Result<()> {
    match status {
        EndpointStatus::Active => Ok(()),
        EndpointStatus::Disabled => {
            Err(Error::conflict("the endpoint is disabled; enable it first"))
        }
    }
}

/// A replay that this process has claimed until the end of its lease.
struct ClaimedReplay {
    user: UserId,
    replay: Replay,
    /// The last event that was sent; the next batch begins after it.
    after: EventId,
    leased_until: i64,
}

/// Sends replays until `stop` is set, several concurrently, so that an endpoint that hangs delays no other. `on_step`
/// is called before each search for replays.
pub async fn run(
    webhooks: Webhooks,
    poll_interval: Duration,
    on_step: impl Fn() + Send + Sync,
    mut stop: watch::Receiver<bool>,
) {
    let mut running = JoinSet::new();
    let mut poll = tokio::time::interval(poll_interval);
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = poll.tick() => {}
            Some(_) = running.join_next() => {}
            _ = stop.wait_for(|stopped| *stopped) => break,
        }
        on_step();
        while running.len() < REPLAYS_AT_ONCE {
            match claim(&webhooks).await {
                Ok(Some(claimed)) => {
                    let webhooks = webhooks.clone();
                    running.spawn(async move {
                        if let Err(error) = send_batch(&webhooks, claimed).await {
                            tracing::warn!(%error, "a webhook replay failed; trying again after its lease");
                        }
                    });
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(%error, "webhook replays could not be claimed; trying again");
                    break;
                }
            }
        }
    }
    while running.join_next().await.is_some() {}
}

/// Sends the next batch of one replay: one step, as tests drive it.
pub async fn replay_once(webhooks: &Webhooks) -> Result<usize> {
    match claim(webhooks).await? {
        Some(claimed) => send_batch(webhooks, claimed).await,
        None => Ok(0),
    }
}

async fn send_batch(webhooks: &Webhooks, claimed: ClaimedReplay) -> Result<usize> {
    let (user, id) = (claimed.user, claimed.replay.endpoint);
    let endpoint = endpoints::get(webhooks, &EndpointOwner::person(user), id).await?;
    if endpoint.status == EndpointStatus::Disabled {
        return end(webhooks, claimed, ReplayStatus::Stopped).await;
    }
    let replay = &claimed.replay;
    let left = (replay.total - replay.done).min(BATCH);
    let values = params![user, id, claimed.after, replay.since, replay.created_at, left];
    let read = |row: &db::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let found: Vec<(EventId, String, i64)> = webhooks.db.all(NEXT_BATCH, values, read).await?;
    let Some(last) = found.last().map(|it| it.0) else {
        return end(webhooks, claimed, ReplayStatus::Done).await;
    };
    let count = found.len();
    let mut bodies = Vec::with_capacity(count);
    for (event, event_type, attempts) in found {
        // The payload may have expired since the replay was started.
        if let Some(body) = payload::find_body(&webhooks.db, user, event).await? {
            bodies.push((event, event_type, attempts, body));
        }
    }
    // Read last: a change of the endpoint that was answered before now applies to the whole batch.
    let stored = endpoints::get_destination(webhooks, user, id).await?;
    let to = Arc::new(stored.decrypt(&webhooks.cipher, webhooks.clock.now())?);
    let sent = FuturesUnordered::new();
    for (event, event_type, attempts, body) in bodies {
        let (to, trigger) = (to.clone(), Trigger::Manual);
        let delivery = Delivery { to, event, event_type, attempts, body, trigger };
        sent.push(send(webhooks, delivery));
    }
    let outcomes: Vec<Outcome> = sent.collect().await;
    settle_batch(webhooks, claimed, outcomes, count as i64, last).await?;
    Ok(count)
}

async fn claim(webhooks: &Webhooks) -> Result<Option<ClaimedReplay>> {
    let write = move |tx: &mut Tx<'_>| {
        let now = tx.now()?;
        let leased_until = now.as_microsecond() + LEASE_MICROSECONDS;
        let read = |row: &db::Row<'_>| {
            let (user, after) = (row.get(7)?, row.get(8)?);
            Ok(ClaimedReplay { user, replay: read(row)?, after, leased_until })
        };
        let latest_lease = leased_until + CLOCK_SKEW_MICROSECONDS;
        Ok::<_, Error>(tx.first(CLAIM, params![now, leased_until, latest_lease], read)?)
    };
    webhooks.db.write(write).await
}

/// Writes the attempts of a batch and the progress of the replay. A process that lost its lease writes only the
/// attempts.
async fn settle_batch(
    webhooks: &Webhooks,
    claimed: ClaimedReplay,
    outcomes: Vec<Outcome>,
    count: i64,
    last: EventId,
) -> Result<()> {
    let mine = webhooks.clone();
    let write = move |tx: &mut Tx<'_>| {
        for outcome in &outcomes {
            settle_manual(&mine, tx, outcome)?;
        }
        let delivered = outcomes.iter().filter(|it| it.is_success).count() as i64;
        let (user, endpoint, now) = (claimed.user, claimed.replay.endpoint, tx.now()?);
        let values = params![user, endpoint, claimed.leased_until, count, delivered, last, now];
        tx.execute(ADVANCE, values)?;
        Ok::<_, Error>(())
    };
    webhooks.db.write(write).await
}

async fn end(webhooks: &Webhooks, claimed: ClaimedReplay, status: ReplayStatus) -> Result<usize> {
    let write = move |tx: &mut Tx<'_>| {
        let now = tx.now()?;
        let (user, endpoint) = (claimed.user, claimed.replay.endpoint);
        let values = params![user, endpoint, claimed.leased_until, status.as_str(), now];
        Ok::<_, Error>(tx.execute(END, values)?)
    };
    webhooks.db.write(write).await?;
    Ok(0)
}

fn read(row: &db::Row<'_>) -> db::Result<Replay> {
    Ok(Replay {
        endpoint: row.get(0)?,
        since: row.get(1)?,
        total: row.get(2)?,
        done: row.get(3)?,
        delivered: row.get(4)?,
        status: row.get(5)?,
        created_at: row.get(6)?,
    })
}

const DELIVERY: &str = "select event_type, attempts, due_at from deliveries
    where user_id = $1 and endpoint_id = $2 and event_id = $3";
const COUNT: &str = "select cast(count(*) as bigint) from deliveries where user_id = $1
    and endpoint_id = $2 and status = 'failed' and updated_at >= $3 and updated_at <= $4";
const GET: &str = "select endpoint_id, since, total, done, delivered, progress, created_at
    from replays where user_id = $1 and endpoint_id = $2";
const DELETE: &str = "delete from replays where user_id = $1 and endpoint_id = $2";
const INSERT: &str = "insert into replays (user_id, endpoint_id, since, total, done, delivered,
    progress, after_event, due_at, created_at, updated_at)
    values ($1, $2, $3, $4, 0, 0, 'running', $6, $5, $5, $5)";
const LIST: &str = "select r.endpoint_id, r.since, r.total, r.done, r.delivered, r.progress,
    r.created_at from replays r join webhook_endpoints e on e.user_id = r.user_id
    and e.id = r.endpoint_id where r.user_id = $1 and ($2 = 'all' or e.key_id = $3)
    order by r.created_at desc, r.endpoint_id limit $4";
/// Tests the lease again outside the subquery, so that two processes never both get the replay. A lease further ahead
/// than any can be (`$3`) was taken before the clock was set back, and counts as ended.
const CLAIM: &str = "update replays set due_at = $2 where (due_at <= $1 or due_at > $3)
    and (user_id, endpoint_id) in (select user_id, endpoint_id from replays
        where due_at <= $1 or due_at > $3 order by due_at, endpoint_id limit 1)
    returning endpoint_id, since, total, done, delivered, progress, created_at, user_id,
    after_event";
/// Each failed delivery once, in the order of events: one that fails again lies before `after_event`, and one that
/// failed after the replay was started is too new.
const NEXT_BATCH: &str = "select event_id, event_type, attempts from deliveries where user_id = $1
    and endpoint_id = $2 and event_id > $3 and status = 'failed' and updated_at >= $4
    and updated_at <= $5 order by event_id limit $6";
const ADVANCE: &str = "update replays set done = done + $4, delivered = delivered + $5,
    after_event = $6, due_at = $7, updated_at = $7
    where user_id = $1 and endpoint_id = $2 and due_at = $3";
const END: &str = "update replays set progress = $4, due_at = null, updated_at = $5
    where user_id = $1 and endpoint_id = $2 and due_at = $3";

pub(crate) const STATEMENTS: &[&str] =
    &[DELIVERY, COUNT, GET, DELETE, INSERT, LIST, CLAIM, NEXT_BATCH, ADVANCE, END];
