//! Syncs connections: new transactions several times a day, history one period at a time, within the day's requests.

use base::{
    CLOCK_SKEW_MICROSECONDS, ConnectionId, Date, TimeZone, Timestamp, UserId, date_from_days,
    days_from_date,
};
use db::params;
use futures_util::{StreamExt as _, stream};
use sources::provider::{Presence, Purpose};

use super::connection::run_to_completion;
use super::fetch::fetch;
use super::lease::{LEASE_SECONDS, SyncError, SyncLease, Trigger, acquire};
use super::schedule::{jitter, later, seconds_to_tomorrow};
pub use super::store::SyncResult;
use super::store::{HISTORY_DAYS, store};
use crate::platform::processes::holder_is_dead;
use crate::{App, Caller, Credential, Error, Result};

/// Each sync repeats this many days before the last complete one, to find late and pending transactions.
const OVERLAP_DAYS: i64 = 14;
/// Banks ahead of UTC already have tomorrow's date, and the end of a range is not included.
const AHEAD_DAYS: i64 = 2;
/// Connections that one background step syncs, and how many of them at a time.
const DUE_MAX: i64 = 50;
const CONCURRENT_SYNCS: usize = 4;
/// No sync is ever scheduled further ahead than this.
const NEXT_SECONDS_MAX: i64 = 2 * 86_400;

/// Syncs new transactions now, which counts toward the day's requests. History is left to the background step.
pub async fn sync(app: &App, caller: &Caller, connection: ConnectionId) -> Result<SyncResult> {
    caller.require_owner("connection")?;
    let (app, user) = (app.clone(), caller.user);
    let presence = presence_of(caller);
    let work =
        async move { Ok(sync_newest(&app, user, connection, Trigger::Requested, presence).await?) };
    run_to_completion(work).await
}

/// A person who asked for a sync in a browser, whose bank need not count it as one in the background.
fn presence_of(caller: &Caller) -> Option<Presence> {
    match &caller.credential {
        Credential::Session { address: Some(address), .. } => Some(Presence {
            address: address.to_string(),
            user_agent: concat!("Evenkeel/", env!("CARGO_PKG_VERSION")).to_owned(),
        }),
        _ => None,
    }
}

/// Syncs one more period of history now. None when history is complete, or today's requests for it are used up.
pub async fn sync_history(
    app: &App,
    caller: &Caller,
    connection: ConnectionId,
) -> Result<Option<SyncResult>> {
    caller.require_owner("connection")?;
    let (app, user) = (app.clone(), caller.user);
    run_to_completion(async move {
        if !Due::get(&app, user, connection).await?.history {
            return Ok(None);
        }
        match sync_period(&app, user, connection).await {
            Ok(result) => Ok(Some(result)),
            Err(SyncError::RequestsUsedUp(..)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    })
    .await
}

/// Syncs the connections that are due, each once, and returns how many. Processes on one database share the work.
pub async fn sync_once(app: &App) -> Result<usize> {
    let now = app.db.now().await?;
    reset_far_schedules(app, now).await?;
    let read = |row: &db::Row<'_>| Ok((row.get::<UserId>(0)?, row.get::<ConnectionId>(1)?));
    let due = app.db.all(DUE, params![now, DUE_MAX], read).await?;
    let synced = stream::iter(due).map(|(user, id)| async move {
        match sync_if_due(app, user, id).await {
            Ok(synced) => usize::from(synced),
            // The bank's failure is recorded with the connection, for the person to see.
            Err(Error::Conflict { .. }) => 1,
            Err(error) => {
                tracing::warn!(connection = %id, %error, "sync failed");
                0
            }
        }
    });
    let synced: Vec<usize> = synced.buffer_unordered(CONCURRENT_SYNCS).collect().await;
    Ok(synced.into_iter().sum())
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

/// Fetches the accounts that the person can choose from. A failure is not returned: the connection exists and is due, so
/// the background step tries again.
pub(super) async fn discover_accounts(app: &App, caller: &Caller, id: ConnectionId) {
    let (user, presence) = (caller.user, presence_of(caller));
    let discovered = async {
        let lease = acquire(app, user, id, Trigger::Requested, presence).await?;
        let response = fetch(app, &lease, Purpose::Discover, true).await?;
        store(app, lease, response, Purpose::Discover).await
    };
    match discovered.await {
        Ok(_) | Err(Error::Conflict { .. }) => {}
        Err(error) => tracing::warn!(connection = %id, %error, "discovering accounts failed"),
    }
}

/// Which syncs of a connection are due.
struct Due {
    newest: bool,
    history: bool,
}

impl Due {
    async fn get(app: &App, user: UserId, id: ConnectionId) -> Result<Due> {
        let now = app.db.now().await?;
        let key = params![user, id];
        let found = app.db.first(DUE_OF, key, |row| {
            let is_due = |at: Option<Timestamp>| at.is_some_and(|it| it <= now);
            let history = is_due(row.get(1)?) && row.get::<i64>(2)? == 0;
            Ok(Due { newest: is_due(row.get(0)?), history })
        });
        found.await?.ok_or(Error::NotFound("connection"))
    }
}

/// Syncs a connection if it is still due, and returns whether a request was sent.
async fn sync_if_due(app: &App, user: UserId, id: ConnectionId) -> Result<bool> {
    let due = Due::get(app, user, id).await?;
    let (synced, postpone) = match due {
        Due { newest: true, .. } => {
            (sync_newest(app, user, id, Trigger::NewestDue, None).await, POSTPONE)
        }
        Due { history: true, .. } => (sync_period(app, user, id).await, POSTPONE_HISTORY),
        _ => return Ok(false),
    };
    match synced {
        Ok(_) => Ok(true),
        Err(SyncError::Busy | SyncError::Disconnected(_)) => Ok(false),
        Err(SyncError::RequestsUsedUp(..)) => {
            let now = app.db.now().await?;
            let tomorrow = later(now, seconds_to_tomorrow(now) + jitter(app, 3_600));
            let write = move |tx: &mut db::Tx<'_>| {
                tx.execute(postpone, params![user, id, now, tomorrow])?;
                Ok::<_, Error>(())
            };
            app.db.write(write).await?;
            Ok(false)
        }
        Err(SyncError::Failed(error)) => Err(error),
    }
}

async fn sync_newest(
    app: &App,
    user: UserId,
    id: ConnectionId,
    trigger: Trigger,
    presence: Option<Presence>,
) -> Result<SyncResult, SyncError> {
    let lease = acquire(app, user, id, trigger, presence).await?;
    let key = params![user, id];
    let selected = app
        .db
        .first(SELECTED, key, |row| Ok((row.get::<i64>(0)?, row.get::<Option<i64>>(1)?)))
        .await?;
    // An account that was never complete needs everything from the beginning.
    let complete_at = selected.and_then(|(_, complete_at)| complete_at).filter(|it| *it > 0);
    let purpose = match selected {
        None | Some((0, _)) => Purpose::Discover,
        Some(_) => {
            let complete_at = complete_at.and_then(|it| Timestamp::from_microsecond(it).ok());
            let today = app.clock.today_in(TimeZone::utc());
            let (start, end) = window(today, window_days(&lease), complete_at);
            Purpose::Newest(start, end)
        }
    };
    let response = fetch(app, &lease, purpose, complete_at.is_some()).await?;
    Ok(store(app, lease, response, purpose).await?)
}

fn window_days(lease: &SyncLease) -> i64 {
    lease.window_days.unwrap_or(HISTORY_DAYS)
}

/// Syncs the period of history before the earliest one that was fetched.
async fn sync_period(app: &App, user: UserId, id: ConnectionId) -> Result<SyncResult, SyncError> {
    let lease = acquire(app, user, id, Trigger::HistoryDue, None).await?;
    let end = lease.history_from.unwrap_or_else(|| app.clock.today_in(TimeZone::utc()));
    let start = date_from_days(days_from_date(end) - window_days(&lease));
    let purpose = Purpose::History(start, end);
    let response = fetch(app, &lease, purpose, true).await?;
    Ok(store(app, lease, response, purpose).await?)
}

/// The days to request. `complete_at` is when all selected accounts were last complete; none if some never were.
fn window(today: Date, most_days: i64, complete_at: Option<Timestamp>) -> (Date, Date) {
    let end = days_from_date(today) + AHEAD_DAYS;
    let longest = end - most_days;
    let start = match complete_at.map(|it| it.as_second().div_euclid(86_400)) {
        Some(complete_on) if complete_on > 0 => longest.max(complete_on - OVERLAP_DAYS),
        _ => longest,
    };
    (date_from_days(start), date_from_days(end))
}

const DUE: &str = concat!(
    "select user_id, id from connections where access is not null
    and (next_sync_at <= $1 or next_history_at <= $1 and failures = 0)
    and (leased_until is null or leased_until <= $1 or ",
    holder_is_dead!("process_id", "$1"),
    ") order by next_sync_at limit $2"
);
const DUE_OF: &str = "select next_sync_at, next_history_at, failures from connections
    where user_id = $1 and id = $2 and (access is not null or disconnected_at is not null)";
const SELECTED: &str = "select cast(count(*) as bigint), cast(min(coalesce(good_at, 0)) as bigint)
    from offered_accounts where user_id = $1 and connection_id = $2 and choice = 'taken'";
const POSTPONE: &str = "update connections set next_sync_at = $4,
    next_history_at = case when next_history_at is null then next_history_at else $4 end
    where user_id = $1 and id = $2 and next_sync_at <= $3";
const POSTPONE_HISTORY: &str = "update connections set next_history_at = $4
    where user_id = $1 and id = $2 and next_history_at <= $3";

const RESET_SYNC: &str =
    "update connections set next_sync_at = $1 where access is not null and next_sync_at > $2";
const RESET_HISTORY: &str =
    "update connections set next_history_at = $1 where access is not null and next_history_at > $2";
const RESET_LEASE: &str = "update connections set leased_until = null where leased_until > $1";

pub(super) const STATEMENTS: &[&str] =
    &[DUE, DUE_OF, SELECTED, POSTPONE, POSTPONE_HISTORY, RESET_SYNC, RESET_HISTORY, RESET_LEASE];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requested_days_overlap_the_last_complete_sync_and_stay_within_the_window() {
        let today: Date = "2026-03-10".parse().unwrap();
        let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        for (complete_at, start) in [
            (None, "2026-01-27"),
            (at("1970-01-01T00:00:00Z"), "2026-01-27"),
            (at("2026-03-10T06:00:00Z"), "2026-02-24"),
            (at("2026-02-20T23:00:00Z"), "2026-02-06"),
            (at("2025-12-01T00:00:00Z"), "2026-01-27"),
        ] {
            let (first, end) = window(today, 44, complete_at);
            assert_eq!(
                (first.to_string(), end.to_string()),
                (start.to_owned(), "2026-03-12".to_owned())
            );
        }
    }
}
