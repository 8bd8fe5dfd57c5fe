//! When connections are asked, and for what: the newest days often, the past once, all within the day's requests.

use base::{
    CLOCK_SKEW_MICROSECONDS, ConnectionId, Date, Timestamp, UserId, date_from_days, days_from_date,
};
use db::params;
use futures_util::{StreamExt as _, stream};
use sources::simplefin::Query;

use super::asking::{
    Cause, LEASE_SECONDS, Refusal, ask, jitter, later, seconds_to_tomorrow, take_turn,
};
use super::finished;
use super::settling::{Purpose, Settled, settle};
use crate::ingest::imports::Summary;
use crate::{App, Caller, Error, Result};

/// Late and pending ones are looked for this many days before what was last seen whole.
const OVERLAP_DAYS: i64 = 14;
/// Banks ahead of UTC have tomorrow's date already, and the end is not included.
const AHEAD_DAYS: i64 = 2;
/// Connections that one step asks, and how many of them at a time.
const DUE_MAX: i64 = 50;
const AT_ONCE: usize = 4;
/// No connection waits for longer than this until it is asked again.
const NEXT_SECONDS_MAX: i64 = 2 * 86_400;

/// What a sync brought.
#[derive(Debug, Clone)]
pub struct SyncResult {
    pub summary: Summary,
    /// What SimpleFIN said of the connection; plain text, partly in its words.
    pub attention: Option<String>,
    /// Accounts that were not told whole; each says why.
    pub accounts_with_problems: usize,
}

impl From<Settled> for SyncResult {
    fn from(settled: Settled) -> SyncResult {
        let Settled { summary, attention, troubled } = settled;
        SyncResult { summary, attention, accounts_with_problems: troubled }
    }
}

/// Asks for what is new, now. It counts towards the day's requests; the past is left to the background step.
pub async fn sync(app: &App, caller: &Caller, connection: ConnectionId) -> Result<SyncResult> {
    caller.require_owner("connection")?;
    let (app, user) = (app.clone(), caller.user);
    finished(async move { Ok(newest(&app, user, connection, Cause::Wanted).await??.into()) }).await
}

/// Asks for one more part of the past, now. None when all of it was asked for, or all that today's requests allow.
pub async fn sync_history(
    app: &App,
    caller: &Caller,
    connection: ConnectionId,
) -> Result<Option<SyncResult>> {
    caller.require_owner("connection")?;
    let (app, user) = (app.clone(), caller.user);
    finished(async move {
        if !Due::of(&app, user, connection).await?.history {
            return Ok(None);
        }
        match history(&app, user, connection).await? {
            Ok(settled) => Ok(Some(settled.into())),
            Err(Refusal::Spent) => Ok(None),
            Err(refusal) => Err(refusal.into()),
        }
    })
    .await
}

/// Asks the connections that are due, each once. Several processes on one database share them.
pub async fn sync_once(app: &App) -> Result<usize> {
    let now = app.clock.now();
    pull_in(app, now).await?;
    let read = |row: &db::Row<'_>| Ok((row.get::<UserId>(0)?, row.get::<ConnectionId>(1)?));
    let due = app.db.all(DUE, params![now, DUE_MAX], read).await?;
    let asked = stream::iter(due).map(|(user, id)| async move {
        match serve(app, user, id).await {
            Ok(asked) => usize::from(asked),
            // What is the bank's trouble is written down with the connection, for its person.
            Err(Error::Conflict { .. }) => 1,
            Err(error) => {
                tracing::warn!(connection = %id, %error, "a connection could not be synced");
                0
            }
        }
    });
    let asked: Vec<usize> = asked.buffer_unordered(AT_ONCE).collect().await;
    Ok(asked.into_iter().sum())
}

/// Makes due what waits for a moment further ahead than any that is ever set: it was set before the clock was set back.
async fn pull_in(app: &App, now: Timestamp) -> Result<()> {
    let farthest = later(now, NEXT_SECONDS_MAX);
    let lease_end = later(now, LEASE_SECONDS).as_microsecond() + CLOCK_SKEW_MICROSECONDS;
    let write = move |tx: &mut db::Tx<'_>| {
        tx.execute(PULL_IN, params![now, farthest])?;
        tx.execute(PULL_IN_HISTORY, params![now, farthest])?;
        tx.execute(FREE, params![lease_end])?;
        Ok::<_, Error>(())
    };
    app.db.write(write).await
}

/// Which accounts there are, for the person to choose from. What goes wrong is not the caller's: the connection is there
/// and due, so that the background step looks again.
pub(super) async fn look(app: &App, user: UserId, id: ConnectionId) {
    let looked = async {
        let turn = take_turn(app, user, id, Cause::Wanted).await??;
        let query = Query { balances_only: true, ..Query::default() };
        let set = ask(app, &turn, &query).await?;
        settle(app, turn, set, Purpose::Look).await
    };
    match looked.await {
        Ok(_) | Err(Error::Conflict { .. }) => {}
        Err(error) => tracing::warn!(connection = %id, %error, "a first look failed"),
    }
}

/// What a connection waits for.
struct Due {
    newest: bool,
    history: bool,
}

impl Due {
    async fn of(app: &App, user: UserId, id: ConnectionId) -> Result<Due> {
        let now = app.clock.now();
        let key = params![user, id];
        let found = app.db.first(DUE_OF, key, |row| {
            let is_due = |at: Option<Timestamp>| at.is_some_and(|it| it <= now);
            let history = is_due(row.get(1)?) && row.get::<i64>(2)? == 0;
            Ok(Due { newest: is_due(row.get(0)?), history })
        });
        found.await?.ok_or(Error::NotFound("connection"))
    }
}

/// Says whether it was asked.
async fn serve(app: &App, user: UserId, id: ConnectionId) -> Result<bool> {
    let due = Due::of(app, user, id).await?;
    let (ended, postpone) = match due {
        Due { newest: true, .. } => (newest(app, user, id, Cause::NewestDue).await?, POSTPONE),
        Due { history: true, .. } => (history(app, user, id).await?, POSTPONE_HISTORY),
        _ => return Ok(false),
    };
    if let Err(Refusal::Spent) = ended {
        let now = app.clock.now();
        let tomorrow = later(now, seconds_to_tomorrow(now) + jitter(app, 3_600));
        app.db
            .write(move |tx| {
                tx.execute(postpone, params![user, id, now, tomorrow])?;
                Ok::<_, Error>(())
            })
            .await?;
    }
    Ok(ended.is_ok())
}

async fn newest(
    app: &App,
    user: UserId,
    id: ConnectionId,
    cause: Cause,
) -> Result<Result<Settled, Refusal>> {
    let turn = match take_turn(app, user, id, cause).await? {
        Ok(turn) => turn,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let key = params![user, id];
    let whole =
        app.db.first(WHOLE, key, |row| Ok((row.get::<i64>(0)?, row.get::<Option<i64>>(1)?)));
    let (query, purpose) = match whole.await? {
        None | Some((0, _)) => (Query { balances_only: true, ..Query::default() }, Purpose::Look),
        Some((_, whole_at)) => {
            let whole_at = whole_at.and_then(|it| Timestamp::from_microsecond(it).ok());
            let (start, end) = window(app.clock.today(), turn.window_days, whole_at);
            let span = Query { start: Some(start), end: Some(end), ..Query::default() };
            (Query { pending: true, ..span }, Purpose::Newest(start, end))
        }
    };
    let set = ask(app, &turn, &query).await?;
    settle(app, turn, set, purpose).await.map(Ok)
}

async fn history(app: &App, user: UserId, id: ConnectionId) -> Result<Result<Settled, Refusal>> {
    let turn = match take_turn(app, user, id, Cause::HistoryDue).await? {
        Ok(turn) => turn,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let end = turn.history_from.unwrap_or_else(|| app.clock.today());
    let start = date_from_days(days_from_date(end) - turn.window_days);
    let query = Query { start: Some(start), end: Some(end), ..Query::default() };
    let set = ask(app, &turn, &query).await?;
    settle(app, turn, set, Purpose::History(start, end)).await.map(Ok)
}

/// The days to ask for, where all accounts were told whole at a moment, or some never were.
fn window(today: Date, most_days: i64, whole_at: Option<Timestamp>) -> (Date, Date) {
    let end = days_from_date(today) + AHEAD_DAYS;
    let longest = end - most_days;
    let start = match whole_at.map(|it| it.as_second().div_euclid(86_400)) {
        Some(whole_on) if whole_on > 0 => longest.max(whole_on - OVERLAP_DAYS),
        _ => longest,
    };
    (date_from_days(start), date_from_days(end))
}

const DUE: &str = "select user_id, id from connections where access is not null
    and (next_sync_at <= $1 or next_history_at <= $1 and failures = 0)
    and (leased_until is null or leased_until <= $1)
    order by next_sync_at limit $2";
const DUE_OF: &str = "select next_sync_at, next_history_at, failures from connections
    where user_id = $1 and id = $2 and source = 'simplefin'";
const WHOLE: &str = "select cast(count(*) as bigint), cast(min(coalesce(good_at, 0)) as bigint)
    from offered_accounts where user_id = $1 and connection_id = $2 and choice = 'taken'";
const POSTPONE: &str = "update connections set next_sync_at = $4,
    next_history_at = case when next_history_at is null then next_history_at else $4 end
    where user_id = $1 and id = $2 and next_sync_at <= $3";
const POSTPONE_HISTORY: &str = "update connections set next_history_at = $4
    where user_id = $1 and id = $2 and next_history_at <= $3";

const PULL_IN: &str =
    "update connections set next_sync_at = $1 where access is not null and next_sync_at > $2";
const PULL_IN_HISTORY: &str =
    "update connections set next_history_at = $1 where access is not null and next_history_at > $2";
const FREE: &str = "update connections set leased_until = null where leased_until > $1";

pub(super) const STATEMENTS: &[&str] =
    &[DUE, DUE_OF, WHOLE, POSTPONE, POSTPONE_HISTORY, PULL_IN, PULL_IN_HISTORY, FREE];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_days_overlap_with_what_was_seen_and_are_never_too_many() {
        let today: Date = "2026-03-10".parse().unwrap();
        let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        for (whole_at, start) in [
            (None, "2026-01-27"),
            (at("1970-01-01T00:00:00Z"), "2026-01-27"),
            (at("2026-03-10T06:00:00Z"), "2026-02-24"),
            (at("2026-02-20T23:00:00Z"), "2026-02-06"),
            (at("2025-12-01T00:00:00Z"), "2026-01-27"),
        ] {
            let (first, end) = window(today, 44, whole_at);
            assert_eq!(
                (first.to_string(), end.to_string()),
                (start.to_owned(), "2026-03-12".to_owned())
            );
        }
    }
}
