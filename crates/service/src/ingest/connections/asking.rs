//! One request: counted before it leaves, by one process alone, and answered with what came or with why nothing did.

use base::{ConnectionId, Date, Timestamp, UserId};
use db::params;
use sources::simplefin::{self, AccessUrl, AccountSet, Query, Trouble};

use super::attention::Failing;
use super::{GONE, REQUESTS_A_DAY, REQUESTS_FOR_HISTORY, conflict};
use crate::{App, Error, Result};

/// A request takes at most two minutes; whoever has not settled after this long is dead.
pub(super) const LEASE_SECONDS: i64 = 300;
const SECOND: i64 = 1_000_000;

/// The right to ask once, and what is known of the connection.
pub(super) struct Turn {
    pub(super) user: UserId,
    pub(super) id: ConnectionId,
    /// Until when it is ours; whoever takes it over or away writes another moment.
    pub(super) until: Timestamp,
    pub(super) failures: i64,
    pub(super) history_from: Option<Date>,
    pub(super) history_empty: i64,
    pub(super) window_days: i64,
    access: Option<AccessUrl>,
}

/// Why the connection cannot be asked now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    Busy,
    Disconnected,
    /// The requests of this day are used up.
    Spent,
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        match refusal {
            Refusal::Busy => {
                conflict("This connection is being synced right now. Look again in a few minutes.")
            }
            Refusal::Disconnected => conflict(GONE),
            Refusal::Spent => conflict(format!(
                "SimpleFIN may be asked {REQUESTS_A_DAY} times a day, and today's requests are \
                 used up. Banks are read only about once a day anyway; syncing goes on by itself \
                 after midnight UTC."
            )),
        }
    }
}

/// What a request is for. What is due may be asked for by another process meanwhile, and is not due then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    Wanted,
    NewestDue,
    HistoryDue,
}

impl Cause {
    fn statement(self) -> &'static str {
        match self {
            Cause::Wanted => TAKE,
            Cause::NewestDue => TAKE_NEWEST,
            Cause::HistoryDue => TAKE_HISTORY,
        }
    }

    /// How many requests of a day may be made for it.
    fn most(self) -> i64 {
        match self {
            Cause::Wanted | Cause::NewestDue => REQUESTS_A_DAY,
            Cause::HistoryDue => REQUESTS_FOR_HISTORY,
        }
    }
}

/// Takes the right to ask once, and counts the request.
pub(super) async fn take_turn(
    app: &App,
    user: UserId,
    id: ConnectionId,
    cause: Cause,
) -> Result<Result<Turn, Refusal>> {
    app.banks.client()?;
    let (now, today) = (app.clock.now(), app.clock.today());
    let (until, most) = (later(now, LEASE_SECONDS), cause.most());
    let taken = app.db.write(move |tx| {
        let values = params![user, id, now, until, today, most];
        let taken = tx.execute(cause.statement(), values)?;
        let found = tx.first(STATE, params![user, id], |row| {
            let asked: (Option<Date>, i64) = (row.get(5)?, row.get(6)?);
            let is_spent = asked.0 == Some(today) && asked.1 >= most;
            let turn = Turn {
                user,
                id,
                until,
                failures: row.get(1)?,
                history_from: row.get(2)?,
                history_empty: row.get(3)?,
                window_days: row.get::<Option<i64>>(4)?.unwrap_or(simplefin::WINDOW_DAYS),
                access: None,
            };
            Ok((row.get::<Option<Vec<u8>>>(0)?, is_spent, turn))
        })?;
        let (sealed, is_spent, turn) = found.ok_or(Error::NotFound("connection"))?;
        Ok::<_, Error>(match sealed {
            None => Err(Refusal::Disconnected),
            Some(sealed) if taken > 0 => Ok((sealed, turn)),
            Some(_) if is_spent => Err(Refusal::Spent),
            Some(_) => Err(Refusal::Busy),
        })
    });
    let open = |(sealed, turn): (Vec<u8>, Turn)| Turn {
        access: app.banks.vault.open(turn.id, &sealed),
        ..turn
    };
    Ok(taken.await?.map(open))
}

/// Asks. What goes wrong is written down, with when to try again; what came is still to be settled.
pub(super) async fn ask(app: &App, turn: &Turn, query: &Query) -> Result<AccountSet> {
    let failing = match &turn.access {
        None => Failing::unreadable(),
        Some(access) => match simplefin::fetch(app.banks.client()?, access, query).await {
            Ok(set) => return Ok(set),
            Err(trouble) => Failing::of(&trouble),
        },
    };
    fail(app, turn, &failing).await?;
    Err(conflict(failing.words))
}

/// Asks another time, later after each failure.
pub(super) async fn fail(app: &App, turn: &Turn, failing: &Failing) -> Result<()> {
    let failures = turn.failures + 1;
    let needs_person = failing.needs_person(failures);
    let status = if needs_person { "needs_attention" } else { "connected" };
    let now = app.clock.now();
    let wait = if failing.spent { seconds_to_tomorrow(now) } else { backoff_seconds(failures) };
    let next = later(now, wait + jitter(app, wait / 10));
    let spent = if failing.spent { REQUESTS_A_DAY } else { 0 };
    let (user, id, until, words) = (turn.user, turn.id, turn.until, failing.words.clone());
    let values = move |tx: &mut db::Tx<'_>| {
        tx.execute(FAIL, params![user, id, until, failures, &words, status, next, spent])?;
        Ok(())
    };
    app.db.write(values).await
}

/// An hour at first, then twice as long each time, up to a day.
fn backoff_seconds(failures: i64) -> i64 {
    (3_600 << failures.saturating_sub(1).clamp(0, 5)).min(86_400)
}

pub(super) fn seconds_to_tomorrow(now: Timestamp) -> i64 {
    86_400 - now.as_second().rem_euclid(86_400)
}

pub(super) fn later(now: Timestamp, seconds: i64) -> Timestamp {
    let at = now.as_microsecond().saturating_add(seconds.saturating_mul(SECOND));
    Timestamp::from_microsecond(at).unwrap_or(Timestamp::MAX)
}

/// A number of seconds below `most`, so that not all installations ask at once.
pub(super) fn jitter(app: &App, most: i64) -> i64 {
    i64::from(u32::from_le_bytes(app.entropy.bytes())) % most.max(1)
}

impl Failing {
    pub(super) fn of(trouble: &Trouble) -> Failing {
        Failing {
            words: trouble.to_string(),
            passes: trouble.passes(),
            spent: matches!(trouble, Trouble::RateLimited),
        }
    }
}

// What was due stays so when the process dies, and is taken again after the lease.
macro_rules! take {
    ($and:literal) => {
        concat!(
            "update connections set leased_until = $4,
            asked_count = case when asked_on = $5 then asked_count + 1 else 1 end, asked_on = $5
            where user_id = $1 and id = $2 and source = 'simplefin' and access is not null
            and (leased_until is null or leased_until <= $3)
            and (asked_on is distinct from $5 or asked_count < $6)",
            $and
        )
    };
}
const TAKE: &str = take!("");
const TAKE_NEWEST: &str = take!(" and next_sync_at <= $3");
const TAKE_HISTORY: &str = take!(" and next_history_at <= $3 and failures = 0");
const STATE: &str = "select access, failures, history_from, history_empty, window_days,
    asked_on, asked_count from connections where user_id = $1 and id = $2 and source = 'simplefin'";
const FAIL: &str = "update connections set leased_until = null, failures = $4, attention = $5,
    status = case when $6 = 'needs_attention' then $6 else status end, next_sync_at = $7,
    next_history_at = case when next_history_at is null then next_history_at else $7 end,
    asked_count = case when asked_count < $8 then $8 else asked_count end
    where user_id = $1 and id = $2 and leased_until = $3";

pub(super) const STATEMENTS: &[&str] = &[TAKE, TAKE_NEWEST, TAKE_HISTORY, STATE, FAIL];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_waits_twice_as_long_up_to_a_day() {
        let hours: Vec<i64> = (1..8).map(|it| backoff_seconds(it) / 3_600).collect();
        assert_eq!(hours, [1, 2, 4, 8, 16, 24, 24]);
    }

    #[test]
    fn tomorrow_begins_at_midnight() {
        for (now, seconds) in [("2026-03-10T23:59:59Z", 1), ("2026-03-10T00:00:00Z", 86_400)] {
            assert_eq!(seconds_to_tomorrow(now.parse().unwrap()), seconds);
        }
    }
}
