//! Runs due syncs in the background: a few at a time, and beside them those whose bank takes long, so that nobody waits
//! behind another person's hanging bank.

use std::collections::{BTreeSet, VecDeque};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use base::{CLOCK_SKEW_MICROSECONDS, ConnectionId, Timestamp, UserId};
use db::params;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::MissedTickBehavior;

use super::lease::LEASE_SECONDS;
use super::schedule::later;
use super::sync::sync_if_due;
use crate::platform::processes::holder_is_dead;
use crate::{App, Error, Result};

/// The name of the background loop.
pub const SYNC_LOOP: &str = "sync connections";
/// How often the database is asked for due syncs. A choice of accounts or a repair wakes the loop before.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// Due syncs that one look finds; more are found by the next one.
const DUE_MAX: i64 = 5_000;
/// Syncs at a time whose bank answers promptly. Each may hold a whole response in memory.
const PROMPT_MAX: usize = 4;
/// Syncs at a time whose bank takes longer. Most of them hold only a connection on which they wait.
const SLOW_MAX: usize = 200;
/// A sync that takes longer counts as slow and makes room for another one.
const SLOW_AFTER: Duration = Duration::from_secs(1);
/// No sync is ever scheduled further ahead than this.
const NEXT_SECONDS_MAX: i64 = 2 * 86_400;

/// Syncs due connections until the program stops. Processes on one database share the work.
pub async fn run_syncs(app: App, mut stop: watch::Receiver<bool>) {
    let mut dispatcher = Dispatcher::new(&app);
    let mut ticks = tokio::time::interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let is_time_to_look = tokio::select! {
            _ = ticks.tick() => true,
            () = app.bank_client.sync_queued.notified() => true,
            Some(_) = dispatcher.next_ended() => false,
            _ = stop.wait_for(|stopped| *stopped) => break,
        };
        if is_time_to_look {
            dispatcher.look_or_log().await;
        }
    }
    // Those that are under way may end while the program stops; one that is cut off is repeated later.
    dispatcher.queue.clear();
    while dispatcher.next_ended().await.is_some() {}
}

/// Syncs the connections that are due now, each once, and returns how many.
pub async fn sync_once(app: &App) -> Result<usize> {
    let mut dispatcher = Dispatcher::new(app);
    dispatcher.look().await?;
    let mut synced = 0;
    while let Some(count) = dispatcher.next_ended().await {
        synced += count;
    }
    Ok(synced)
}

/// A sync that runs, with its connection and how many syncs it came to, zero or one.
type RunningSync = Pin<Box<dyn Future<Output = (ConnectionId, usize)> + Send>>;

struct Dispatcher {
    app: App,
    /// Due syncs that have not started, the longest due first.
    queue: VecDeque<(UserId, ConnectionId)>,
    running: FuturesUnordered<RunningSync>,
    running_ids: BTreeSet<ConnectionId>,
    prompt: Arc<Semaphore>,
    slow: Arc<Semaphore>,
}

impl Dispatcher {
    fn new(app: &App) -> Dispatcher {
        Dispatcher {
            app: app.clone(),
            queue: VecDeque::new(),
            running: FuturesUnordered::new(),
            running_ids: BTreeSet::new(),
            prompt: Arc::new(Semaphore::new(PROMPT_MAX)),
            slow: Arc::new(Semaphore::new(SLOW_MAX)),
        }
    }

    /// Replaces the queue by what is due now.
    async fn look(&mut self) -> Result<()> {
        let now = self.app.db.now().await?;
        reset_far_schedules(&self.app, now).await?;
        let read = |row: &db::Row<'_>| Ok((row.get::<UserId>(0)?, row.get::<ConnectionId>(1)?));
        let due = self.app.db.all(DUE, params![now, DUE_MAX], read).await?;
        self.queue = due.into_iter().filter(|(_, id)| !self.running_ids.contains(id)).collect();
        Ok(())
    }

    async fn look_or_log(&mut self) {
        match self.look().await {
            Ok(()) => self.app.background.record_step(SYNC_LOOP),
            Err(error) => {
                self.app.background.record_failure(SYNC_LOOP);
                tracing::warn!(%error, "looking for due syncs failed; it will be retried");
            }
        }
    }

    /// Starts queued syncs as there is room, until a running one ends. None if there is nothing to do.
    async fn next_ended(&mut self) -> Option<usize> {
        while !self.queue.is_empty() || !self.running.is_empty() {
            tokio::select! {
                room = self.prompt.clone().acquire_owned(), if !self.queue.is_empty() => {
                    self.start_next(room.ok()?);
                }
                Some((id, count)) = self.running.next(), if !self.running.is_empty() => {
                    self.running_ids.remove(&id);
                    return Some(count);
                }
            }
        }
        None
    }

    fn start_next(&mut self, room: OwnedSemaphorePermit) {
        let Some((user, id)) = self.queue.pop_front() else { return };
        if self.running_ids.insert(id) {
            let (app, slow) = (self.app.clone(), self.slow.clone());
            self.running.push(Box::pin(run_one(app, (user, id), room, slow)));
        }
    }
}

/// Runs one sync. If it is slow, it gives its room to another one, unless too many are slow.
async fn run_one(
    app: App,
    (user, id): (UserId, ConnectionId),
    room: OwnedSemaphorePermit,
    slow: Arc<Semaphore>,
) -> (ConnectionId, usize) {
    let mut synced = pin!(sync_or_log(&app, user, id));
    if let Ok(count) = tokio::time::timeout(SLOW_AFTER, synced.as_mut()).await {
        return (id, count);
    }
    let _room = match slow.try_acquire_owned() {
        Ok(other) => {
            drop(room);
            other
        }
        Err(_) => room,
    };
    (id, synced.await)
}

async fn sync_or_log(app: &App, user: UserId, id: ConnectionId) -> usize {
    match sync_if_due(app, user, id).await {
        Ok(synced) => usize::from(synced),
        // The bank's failure is recorded with the connection, for the person to see.
        Err(Error::Conflict { .. }) => 1,
        Err(error) => {
            tracing::warn!(connection = %id, %error, "sync failed");
            0
        }
    }
}

/// Makes syncs due that are scheduled further ahead than any ever is: they were scheduled before the clock was set back.
async fn reset_far_schedules(app: &App, now: Timestamp) -> Result<()> {
    let farthest = later(now, NEXT_SECONDS_MAX);
    let lease_end = later(now, LEASE_SECONDS).as_microsecond() + CLOCK_SKEW_MICROSECONDS;
    let write = move |tx: &mut db::Tx<'_>| {
        tx.execute(RESET_SYNC, params![now, farthest])?;
        tx.execute(RESET_HISTORY, params![now, farthest])?;
        tx.execute(RESET_LEASE, params![lease_end])?;
        Ok::<_, Error>(())
    };
    app.db.write(write).await
}

const DUE: &str = concat!(
    "select user_id, id from connections where access is not null
    and (next_sync_at <= $1 or next_history_at <= $1 and failures = 0)
    and (leased_until is null or leased_until <= $1 or ",
    holder_is_dead!("process_id", "$1"),
    ") order by next_sync_at limit $2"
);
const RESET_SYNC: &str =
    "update connections set next_sync_at = $1 where access is not null and next_sync_at > $2";
const RESET_HISTORY: &str =
    "update connections set next_history_at = $1 where access is not null and next_history_at > $2";
const RESET_LEASE: &str = "update connections set leased_until = null where leased_until > $1";

pub(super) const STATEMENTS: &[&str] = &[DUE, RESET_SYNC, RESET_HISTORY, RESET_LEASE];
