//! Waiting for news: whoever follows an action or keeps a page open is told when something changes.

use std::time::Duration;

use base::{ThreadId, Timestamp};
use db::params;
use tokio::sync::watch;

use super::{Action, read};
use crate::{App, Caller, Result};

pub const WAIT_SECONDS_MAX: u64 = 30;
/// Another process on the same database rings no bell of ours.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Rung at every change of an action in this process.
pub(crate) struct Bell(watch::Sender<News>);

#[derive(Clone, Copy, Default)]
struct News {
    changes: u64,
    /// The server is stopping, and every wait ends with what is known.
    is_over: bool,
}

impl Default for Bell {
    fn default() -> Bell {
        Bell(watch::Sender::new(News::default()))
    }
}

impl Bell {
    pub(crate) fn ring(&self) {
        self.0.send_modify(|it| it.changes = it.changes.wrapping_add(1));
    }
}

/// Ends every wait with what is known, now and from now on: a server that stops must not keep anyone waiting.
pub fn end_waits(app: &App) {
    app.bell.0.send_modify(|it| it.is_over = true);
}

/// Tells whoever waits to look again; for whoever saved a change in a transaction of their own.
pub fn ring(app: &App) {
    app.bell.ring();
}

/// What a page needs to know to tell whether it is still true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pulse {
    pub pending: i64,
    /// Differs whenever an action was made or moved.
    pub stamp: i64,
}

/// The action of a thread: at once when it is final, else when its status changes or the time is up.
pub async fn wait_for_thread(
    app: &App,
    caller: &Caller,
    thread: ThreadId,
    seconds: u64,
) -> Result<Action> {
    let mut news = app.bell.0.subscribe();
    let first = read::thread(app, caller, thread).await?;
    if first.status.is_final() || seconds == 0 {
        return Ok(first);
    }
    let changed = async {
        loop {
            let is_over = next(&mut news).await;
            let now = read::thread(app, caller, thread).await?;
            if is_over || now.status != first.status {
                return Ok(now);
            }
        }
    };
    match tokio::time::timeout(bounded(seconds), changed).await {
        Ok(changed) => changed,
        Err(_) => read::thread(app, caller, thread).await,
    }
}

pub async fn pulse(app: &App, caller: &Caller) -> Result<Pulse> {
    caller.require_owner("action")?;
    let read = |row: &db::Row<'_>| {
        let newest: Option<Timestamp> = row.get(1)?;
        Ok(Pulse { pending: row.get(0)?, stamp: newest.map_or(0, Timestamp::as_microsecond) })
    };
    let found = app.db.first(PULSE, params![caller.user, app.clock.now()], read).await?;
    Ok(found.unwrap_or(Pulse { pending: 0, stamp: 0 }))
}

/// The pulse, as soon as it differs from one that is known or the time is up.
pub async fn wait_for_pulse(
    app: &App,
    caller: &Caller,
    known: Pulse,
    seconds: u64,
) -> Result<Pulse> {
    let mut news = app.bell.0.subscribe();
    let first = pulse(app, caller).await?;
    if first != known {
        return Ok(first);
    }
    let changed = async {
        loop {
            let is_over = next(&mut news).await;
            let now = pulse(app, caller).await?;
            if is_over || now != known {
                return Ok(now);
            }
        }
    };
    tokio::time::timeout(bounded(seconds), changed).await.unwrap_or(Ok(known))
}

fn bounded(seconds: u64) -> Duration {
    Duration::from_secs(seconds.min(WAIT_SECONDS_MAX))
}

/// Waits until something may have changed. Returns whether waiting is over.
async fn next(news: &mut watch::Receiver<News>) -> bool {
    if news.borrow().is_over {
        return true;
    }
    tokio::select! {
        // The bell lives as long as the program; if it did not, looking again would do.
        _ = news.changed() => {}
        () = tokio::time::sleep(LOOK_AGAIN) => {}
    }
    news.borrow().is_over
}

// One statement: with two, a change between them would give a count and a stamp that never belonged together.
const PULSE: &str = "select
    (select cast(count(*) as bigint) from actions
        where user_id = $1 and status = 'pending_approval' and expires_at > $2),
    (select max(updated_at) from actions where user_id = $1)";

pub(super) const STATEMENTS: &[&str] = &[PULSE];
