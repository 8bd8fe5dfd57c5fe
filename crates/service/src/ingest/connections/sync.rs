//! Syncs connections: new transactions several times a day, history one period at a time, within the day's requests.

use base::{ConnectionId, Date, TimeZone, Timestamp, UserId, date_from_days, days_from_date};
use db::params;
use sources::provider::{Presence, Purpose};

use super::connection::run_to_completion;
use super::fetch::fetch;
use super::lease::{SyncError, SyncLease, Trigger, acquire};
use super::schedule::{jitter, later, seconds_to_tomorrow};
pub use super::store::SyncResult;
use super::store::{HISTORY_DAYS, store};
use crate::{App, Caller, Credential, Error, Result};

/// Each sync repeats this many days before the last complete one, to find late and pending transactions.
const OVERLAP_DAYS: i64 = 14;
/// Banks ahead of UTC already have tomorrow's date, and the end of a range is not included.
const AHEAD_DAYS: i64 = 2;

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

/// Fetches the accounts that the person can choose from, and wakes the background loop, because access that is new or
/// was repaired makes the connection due. A failure is not returned: the background loop tries again.
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
    app.bank_client.sync_queued.notify_one();
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
pub(super) async fn sync_if_due(app: &App, user: UserId, id: ConnectionId) -> Result<bool> {
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

const DUE_OF: &str = "select next_sync_at, next_history_at, failures from connections
    where user_id = $1 and id = $2 and (access is not null or disconnected_at is not null)";
const SELECTED: &str = "select cast(count(*) as bigint), cast(min(coalesce(good_at, 0)) as bigint)
    from offered_accounts where user_id = $1 and connection_id = $2 and choice = 'taken'";
const POSTPONE: &str = "update connections set next_sync_at = $4,
    next_history_at = case when next_history_at is null then next_history_at else $4 end
    where user_id = $1 and id = $2 and next_sync_at <= $3";
const POSTPONE_HISTORY: &str = "update connections set next_history_at = $4
    where user_id = $1 and id = $2 and next_history_at <= $3";

pub(super) const STATEMENTS: &[&str] = &[DUE_OF, SELECTED, POSTPONE, POSTPONE_HISTORY];

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
