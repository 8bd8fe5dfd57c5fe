//! Change notifications: requests and pages wait here until an action changes.

use std::time::Duration;

use base::{ThreadId, Timestamp};
use db::params;
use tokio::sync::watch;

use super::action::Action;
use super::read;
use crate::{App, Caller, Result};

pub const WAIT_SECONDS_MAX: u64 = 30;
/// How often a waiting request reads again, because changes made by other processes send no notification here.
const POLL_EVERY: Duration = Duration::from_secs(1);

/// Notifies waiting requests of every change of an action in this process.
pub(crate) struct ChangeNotifier(watch::Sender<Changes>);

#[derive(Clone, Copy, Default)]
struct Changes {
    count: u64,
    /// Set when the server stops, which ends every wait.
    is_stopping: bool,
}

impl Default for ChangeNotifier {
    fn default() -> ChangeNotifier {
        ChangeNotifier(watch::Sender::new(Changes::default()))
    }
}

impl ChangeNotifier {
    pub(crate) fn notify(&self) {
        self.0.send_modify(|it| it.count = it.count.wrapping_add(1));
    }
}

/// Ends all waits, now and in the future, because the server is stopping.
pub fn end_waits(app: &App) {
    app.changes.0.send_modify(|it| it.is_stopping = true);
}

/// The number of requests that wait for a change in this process.
pub fn waiting_count(app: &App) -> usize {
    app.changes.0.receiver_count()
}

/// Notifies waiting requests, for a caller that saved a change in its own transaction.
pub fn notify_changed(app: &App) {
    app.changes.notify();
}

/// A fingerprint of a person's actions, by which an open page recognizes that it is out of date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActionsState {
    pub pending: i64,
    /// Changes whenever an action is created or updated.
    pub stamp: i64,
}

/// Returns the action of a thread: immediately if it is final, otherwise when its status changes or the time is up.
pub async fn wait_for_thread(
    app: &App,
    caller: &Caller,
    thread: ThreadId,
    seconds: u64,
) -> Result<Action> {
    let mut changes = app.changes.0.subscribe();
    let first = read::get_by_thread(app, caller, thread).await?;
    if first.status.is_final() || seconds == 0 {
        return Ok(first);
    }
    let changed = async {
        loop {
            let is_stopping = next_change(&mut changes).await;
            let now = read::get_by_thread(app, caller, thread).await?;
            if is_stopping || now.status != first.status {
                return Ok(now);
            }
        }
    };
    match tokio::time::timeout(bounded(seconds), changed).await {
        Ok(changed) => changed,
        Err(_) => read::get_by_thread(app, caller, thread).await,
    }
}

pub async fn actions_state(app: &App, caller: &Caller) -> Result<ActionsState> {
    caller.require_owner("action")?;
    let read = |row: &db::Row<'_>| {
        let newest: Option<Timestamp> = row.get(1)?;
        Ok(ActionsState {
            pending: row.get(0)?,
            stamp: newest.map_or(0, Timestamp::as_microsecond),
        })
    };
    let found = app.db.first(ACTIONS_STATE, params![caller.user, app.clock.now()], read).await?;
    Ok(found.unwrap_or(ActionsState { pending: 0, stamp: 0 }))
}

/// Returns the state as soon as it differs from a known one, or when the time is up.
pub async fn wait_for_change(
    app: &App,
    caller: &Caller,
    known: ActionsState,
    seconds: u64,
) -> Result<ActionsState> {
    let mut changes = app.changes.0.subscribe();
    let first = actions_state(app, caller).await?;
    if first != known {
        return Ok(first);
    }
    let changed = async {
        loop {
            let is_stopping = next_change(&mut changes).await;
            let now = actions_state(app, caller).await?;
            if is_stopping || now != known {
                return Ok(now);
            }
        }
    };
    tokio::time::timeout(bounded(seconds), changed).await.unwrap_or(Ok(known))
}

fn bounded(seconds: u64) -> Duration {
    Duration::from_secs(seconds.min(WAIT_SECONDS_MAX))
}

/// Waits until something may have changed. Returns whether the server is stopping.
async fn next_change(changes: &mut watch::Receiver<Changes>) -> bool {
    if changes.borrow().is_stopping {
        return true;
    }
    tokio::select! {
        // The sender lives as long as the program. If it did not, polling would suffice.
        _ = changes.changed() => {}
        () = tokio::time::sleep(POLL_EVERY) => {}
    }
    changes.borrow().is_stopping
}

// One statement, so that the count and the stamp belong to the same moment.
const ACTIONS_STATE: &str = "select
    (select cast(count(*) as bigint) from actions
        where user_id = $1 and status = 'pending_approval' and expires_at > $2),
    (select max(updated_at) from actions where user_id = $1)";

pub(super) const STATEMENTS: &[&str] = &[ACTIONS_STATE];
