//! Sending again by hand: one delivery at once, or all that failed at an endpoint since a day, as a job.

use std::time::Duration;

use base::{CLOCK_SKEW_MICROSECONDS, EndpointId, EventId, Timestamp, UserId};
use bytes::Bytes;
use db::params;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;
use wire::v1::Code;

use super::attempts::{self, Attempt};
use super::claim::{Delivery, Destination, EVENT, envelope, read_destination};
use super::send::send;
use super::settle::{Outcome, settle_manual};
use super::test_event::DESTINATION;
use super::{EndpointStatus, whose};
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result, Tx};

/// The name of the loop that replays, among the background loops of this process.
pub const REPLAY_LOOP: &str = "replay webhooks";
/// Older payloads are gone.
pub const DAYS_MAX: i64 = 30;
/// What one job sends at most; another one sends the rest.
pub const TOTAL_MAX: i64 = 10_000;
/// Sent side by side by one step.
const BATCH: i64 = 64;
const JOBS_AT_ONCE: usize = 16;
/// Whoever has not settled a batch after this long is dead.
const LEASE_MICROSECONDS: i64 = 45_000_000;
const DAY_MICROSECONDS: i64 = 86_400_000_000;
const SHOWN_MAX: i64 = 20;

base::words!(ReplayStatus {
    Running => "running",
    Done => "done",
    /// The endpoint was switched off on the way.
    Stopped => "stopped",
});

/// The last job of an endpoint that sends again what failed.
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

/// One delivery again, at once: the same event id, signed anew. Nothing repeats it, and a failure counts for nothing.
pub async fn resend(
    app: &App,
    caller: &Caller,
    endpoint: EndpointId,
    event: EventId,
) -> Result<Attempt> {
    require_active(super::get(app, caller, endpoint).await?.status)?;
    let values = params![caller.user, endpoint, event];
    let read = |row: &db::Row<'_>| {
        let due: Option<i64> = row.get(2)?;
        Ok((row.get::<String>(0)?, row.get::<i64>(1)?, due.is_some()))
    };
    let found = app.db.first(DELIVERY, values, read).await?;
    let (event_type, attempts, waits) = found.ok_or(Error::NotFound("delivery"))?;
    if waits {
        return Err(conflict("it is still being tried; wait until it is given up"));
    }
    let to = get_destination(app, caller.user, endpoint).await?;
    let body = find_body(app, caller.user, event).await?;
    let body = body.ok_or_else(|| conflict("what it said was kept for 30 days and is gone"))?;
    let delivery = Delivery { to: to.into(), event, event_type, attempts, body };
    let outcome = send(app, delivery).await;
    let (mine, caller) = (app.clone(), caller.clone());
    let settle = move |tx: &mut Tx<'_>| {
        let made = settle_manual(&mine, tx, &outcome)?;
        attempts::get_in(tx, &caller, made)
    };
    app.db.write(settle).await
}

/// Starts to send again what failed at an endpoint since that moment, oldest first.
pub fn start(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    endpoint: EndpointId,
    since: Timestamp,
) -> Result<Replay> {
    let found = super::get_in(tx, caller, endpoint)?;
    require_active(found.status)?;
    let now = app.clock.now();
    if since > now {
        return Err(Error::invalid("since", "since must be in the past"));
    }
    let oldest = now.as_microsecond() - DAYS_MAX * DAY_MICROSECONDS;
    // Of the oldest day there is, the part that is left.
    if since.as_microsecond() <= oldest - DAY_MICROSECONDS {
        let message = format!("since must be at most {DAYS_MAX} days ago; older payloads are gone");
        return Err(Error::invalid("since", message));
    }
    let oldest = Timestamp::from_microsecond(oldest).unwrap_or(Timestamp::MIN);
    let since = since.max(oldest);
    crate::access::users::lock(tx, caller.user)?;
    let last = tx.first(GET, params![caller.user, endpoint], read)?;
    if last.is_some_and(|it| it.status == ReplayStatus::Running) {
        return Err(conflict(
            "this endpoint is being sent to again already; wait until it is done",
        ));
    }
    let values = params![caller.user, endpoint, since, now];
    let count = tx.first(COUNT, values, |row| row.get::<i64>(0))?.unwrap_or(0);
    if count == 0 {
        return Err(conflict("nothing has failed at this endpoint since then"));
    }
    let (total, nothing) = (count.min(TOTAL_MAX), EventId::from_bytes([0; 16]));
    tx.execute(DELETE, params![caller.user, endpoint])?;
    tx.execute(INSERT, params![caller.user, endpoint, since, total, now, nothing])?;
    let note = Note::new(caller, "webhook.replay", "Sends again what a webhook endpoint missed");
    audit::note(tx, caller.user, now, note.about(endpoint))?;
    let status = ReplayStatus::Running;
    Ok(Replay { endpoint, since, total, done: 0, delivered: 0, status, created_at: now })
}

/// The last job of each endpoint, newest first.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<Replay>> {
    let key = whose(caller)?;
    let (all, key) = super::deliveries::scope(key);
    Ok(app.db.all(LIST, params![caller.user, all, key, SHOWN_MAX], read).await?)
}

fn require_active(status: EndpointStatus) -> Result<()> {
    match status {
        EndpointStatus::Active => Ok(()),
        EndpointStatus::Disabled => Err(conflict("the endpoint is off; enable it first")),
    }
}

fn conflict(message: &str) -> Error {
    Error::Conflict { code: Code::Conflict, message: message.to_owned() }
}

async fn get_destination(app: &App, user: UserId, endpoint: EndpointId) -> Result<Destination> {
    let sealed = app.db.first(DESTINATION, params![user, endpoint], read_destination).await?;
    sealed.ok_or(Error::NotFound("webhook endpoint"))?.decrypt(app, app.clock.now())
}

async fn find_body(app: &App, user: UserId, event: EventId) -> Result<Option<Bytes>> {
    let read = |row: &db::Row<'_>| {
        let (name, data): (&str, &str) = (row.get(0)?, row.get(1)?);
        Ok(Bytes::from(envelope(event, name, row.get(2)?, data)))
    };
    Ok(app.db.first(EVENT, params![user, event], read).await?)
}

/// A job that this process has for the time of its lease.
struct ClaimedReplay {
    user: UserId,
    replay: Replay,
    after: EventId,
    until: i64,
}

/// Works on jobs until told to stop, several side by side: one whose endpoint hangs holds up no other.
pub async fn run_replays(app: App, poll_interval: Duration, mut stop: watch::Receiver<bool>) {
    let mut running = JoinSet::new();
    let mut poll = tokio::time::interval(poll_interval);
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = poll.tick() => {}
            Some(_) = running.join_next() => {}
            _ = stop.wait_for(|stopped| *stopped) => break,
        }
        app.background.note_step(REPLAY_LOOP);
        while running.len() < JOBS_AT_ONCE {
            match claim(&app).await {
                Ok(Some(claimed)) => {
                    let app = app.clone();
                    running.spawn(async move {
                        if let Err(error) = send_batch(&app, claimed).await {
                            tracing::warn!(%error, "sending again failed; it is tried again");
                        }
                    });
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(%error, "what is to be sent again could not be looked for");
                    break;
                }
            }
        }
    }
    while running.join_next().await.is_some() {}
}

/// Sends the next batch of one job: one step, as tests drive it.
pub async fn replay_once(app: &App) -> Result<usize> {
    match claim(app).await? {
        Some(claimed) => send_batch(app, claimed).await,
        None => Ok(0),
    }
}

async fn send_batch(app: &App, claimed: ClaimedReplay) -> Result<usize> {
    let caller = Caller::owner(claimed.user);
    let endpoint = super::get(app, &caller, claimed.replay.endpoint).await?;
    if endpoint.status == EndpointStatus::Disabled {
        return end(app, claimed, ReplayStatus::Stopped).await;
    }
    let left = (claimed.replay.total - claimed.replay.done).min(BATCH);
    let values = params![
        claimed.user,
        endpoint.id,
        claimed.after,
        claimed.replay.since,
        claimed.replay.created_at,
        left
    ];
    let read = |row: &db::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let found: Vec<(EventId, String, i64)> = app.db.all(NEXT_BATCH, values, read).await?;
    let Some(last) = found.last().map(|it| it.0) else {
        return end(app, claimed, ReplayStatus::Done).await;
    };
    let to = std::sync::Arc::new(get_destination(app, claimed.user, endpoint.id).await?);
    let count = found.len();
    let sent = FuturesUnordered::new();
    for (event, event_type, attempts) in found {
        // What it said may have been forgotten since.
        if let Some(body) = find_body(app, claimed.user, event).await? {
            sent.push(send(app, Delivery { to: to.clone(), event, event_type, attempts, body }));
        }
    }
    let outcomes: Vec<Outcome> = sent.collect().await;
    settle(app, claimed, outcomes, count as i64, last).await?;
    Ok(count)
}

async fn claim(app: &App) -> Result<Option<ClaimedReplay>> {
    let now = app.clock.now();
    let until = now.as_microsecond() + LEASE_MICROSECONDS;
    let take = move |tx: &mut Tx<'_>| {
        let read = |row: &db::Row<'_>| {
            Ok(ClaimedReplay { user: row.get(7)?, replay: read(row)?, after: row.get(8)?, until })
        };
        let lease_end = until + CLOCK_SKEW_MICROSECONDS;
        Ok::<_, Error>(tx.first(CLAIM, params![now, until, lease_end], read)?)
    };
    app.db.write(take).await
}

/// What came of a batch, and how far the job is. Whoever lost the job meanwhile writes down the attempts alone.
async fn settle(
    app: &App,
    claimed: ClaimedReplay,
    outcomes: Vec<Outcome>,
    count: i64,
    last: EventId,
) -> Result<()> {
    let mine = app.clone();
    let write = move |tx: &mut Tx<'_>| {
        for outcome in &outcomes {
            settle_manual(&mine, tx, outcome)?;
        }
        let good = outcomes.iter().filter(|it| it.is_success).count() as i64;
        let now = mine.clock.now();
        let values =
            params![claimed.user, claimed.replay.endpoint, claimed.until, count, good, last, now];
        tx.execute(ADVANCE, values)?;
        Ok::<_, Error>(())
    };
    app.db.write(write).await
}

async fn end(app: &App, claimed: ClaimedReplay, status: ReplayStatus) -> Result<usize> {
    let now = app.clock.now();
    let write = move |tx: &mut Tx<'_>| {
        let values =
            params![claimed.user, claimed.replay.endpoint, claimed.until, status.as_str(), now];
        Ok::<_, Error>(tx.execute(END, values)?)
    };
    app.db.write(write).await?;
    Ok(0)
}

fn read(row: &db::Row<'_>) -> db::Result<Replay> {
    let unknown = || db::Error::Decode { column: 5, reason: "an unknown progress".to_owned() };
    Ok(Replay {
        endpoint: row.get(0)?,
        since: row.get(1)?,
        total: row.get(2)?,
        done: row.get(3)?,
        delivered: row.get(4)?,
        status: ReplayStatus::parse(row.get(5)?).ok_or_else(unknown)?,
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
/// The time is asked for again outside: two that look at once never both have it. A lease further ahead than any was taken
/// before the clock was set back.
const CLAIM: &str = "update replays set due_at = $2 where (due_at <= $1 or due_at > $3)
    and (user_id, endpoint_id) in (select user_id, endpoint_id from replays
        where due_at <= $1 or due_at > $3 order by due_at, endpoint_id limit 1)
    returning endpoint_id, since, total, done, delivered, progress, created_at, user_id,
    after_event";
/// Each once, in the order of events: what fails again is behind, what fails meanwhile is too new.
const NEXT_BATCH: &str = "select event_id, event_type, attempts from deliveries where user_id = $1
    and endpoint_id = $2 and event_id > $3 and status = 'failed' and updated_at >= $4
    and updated_at <= $5 order by event_id limit $6";
const ADVANCE: &str = "update replays set done = done + $4, delivered = delivered + $5,
    after_event = $6, due_at = $7, updated_at = $7
    where user_id = $1 and endpoint_id = $2 and due_at = $3";
const END: &str = "update replays set progress = $4, due_at = null, updated_at = $5
    where user_id = $1 and endpoint_id = $2 and due_at = $3";

pub(super) const STATEMENTS: &[&str] =
    &[DELIVERY, COUNT, GET, DELETE, INSERT, LIST, CLAIM, NEXT_BATCH, ADVANCE, END];
