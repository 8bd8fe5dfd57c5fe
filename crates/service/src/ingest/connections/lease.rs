//! The sync lease: one process at a time may send a request for a connection, and each request counts toward the day's
//! limit.

use base::draft::Source;
use base::{ConnectionId, Date, TimeZone, Timestamp, UserId};
use db::params;
use sources::provider::{Presence, Provider, Secret};

use super::connection::{conflict, provider_of};
use super::schedule::later;
use crate::platform::processes::holder_is_dead;
use crate::{App, Error};

/// How long a sync may take, by the database's time. A request takes at most two minutes. The lease of a process that
/// dies ends with it.
pub(super) const LEASE_SECONDS: i64 = 300;

/// The right to send one request, and the state of the connection at that time.
pub(super) struct SyncLease {
    pub(super) user: UserId,
    pub(super) id: ConnectionId,
    pub(super) provider: &'static dyn Provider,
    /// When the lease ends; also the fencing token, because every new lease has another end.
    pub(super) until: Timestamp,
    pub(super) failures: i64,
    pub(super) history_from: Option<Date>,
    /// Periods in a row without any transaction, going back in time.
    pub(super) history_empty: i64,
    /// The longest range of dates to request; none if the provider remembers what was fetched.
    pub(super) window_days: Option<i64>,
    /// What the provider needs to continue where the last sync ended.
    pub(super) state: Option<String>,
    /// None if the stored access cannot be decrypted.
    pub(super) access: Option<Secret>,
    /// The person who waits for the answer.
    pub(super) presence: Option<Presence>,
}

/// Why a sync could not start, or why it failed.
pub(super) enum SyncError {
    /// Another process holds the lease, or the sync is no longer due.
    Busy,
    Disconnected(&'static dyn Provider),
    /// The requests of this day, so many, are used up.
    RequestsUsedUp(&'static dyn Provider, i64),
    Failed(Error),
}

impl From<Error> for SyncError {
    fn from(error: Error) -> SyncError {
        SyncError::Failed(error)
    }
}

impl From<db::Error> for SyncError {
    fn from(error: db::Error) -> SyncError {
        SyncError::Failed(error.into())
    }
}

impl From<SyncError> for Error {
    fn from(error: SyncError) -> Error {
        match error {
            SyncError::Busy => {
                conflict("This connection is syncing right now. Check again in a few minutes.")
            }
            SyncError::Disconnected(provider) => conflict(provider.disconnected_message()),
            SyncError::RequestsUsedUp(provider, most) => conflict(format!(
                "You've used today's {} {} requests. Syncing resumes automatically after midnight \
                 UTC. Most banks update only about once a day.",
                most,
                provider.name()
            )),
            SyncError::Failed(error) => error,
        }
    }
}

/// The trigger of a sync. A scheduled sync starts only while it is still due, since another process may have done it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trigger {
    Requested,
    NewestDue,
    HistoryDue,
}

impl Trigger {
    fn statement(self, is_attended: bool) -> &'static str {
        match self {
            Trigger::Requested if is_attended => ACQUIRE_ATTENDED,
            Trigger::Requested => ACQUIRE,
            Trigger::NewestDue => ACQUIRE_NEWEST,
            Trigger::HistoryDue => ACQUIRE_HISTORY,
        }
    }

    fn requests_max(self, provider: &dyn Provider, is_attended: bool) -> i64 {
        let schedule = provider.schedule();
        match (self, schedule.attended_syncs_a_day) {
            (Trigger::Requested, Some(attended)) if is_attended => attended,
            (Trigger::Requested | Trigger::NewestDue, _) => schedule.syncs_a_day,
            (Trigger::HistoryDue, _) => schedule.history_syncs_a_day,
        }
    }
}

/// Acquires the lease and counts the request. Where the provider's limit is only for requests without the person, those
/// that the person waits for are counted by themselves.
pub(super) async fn acquire(
    app: &App,
    user: UserId,
    id: ConnectionId,
    trigger: Trigger,
    presence: Option<Presence>,
) -> Result<SyncLease, SyncError> {
    app.bank_client.http()?;
    let mine = app.clone();
    let acquired = app.db.write(move |tx| {
        let source = tx.first(SOURCE, params![user, id], |row| row.get::<Source>(0))?;
        let provider = provider_of(source.ok_or(Error::NotFound("connection"))?)?;
        let is_attended = presence.is_some() && provider.schedule().attended_syncs_a_day.is_some();
        let most = trigger.requests_max(provider, is_attended);
        let now = tx.now()?;
        // The day is the database's too, so that processes whose clocks differ share one day's requests.
        let (until, today) = (later(now, LEASE_SECONDS), TimeZone::utc().date_at(now));
        let values = params![user, id, now, until, today, most, mine.process.holder()];
        let acquired = tx.execute(trigger.statement(is_attended), values)?;
        let found = tx.first(STATE, params![user, id], |row| {
            let counted = if is_attended { row.get::<i64>(8)? } else { row.get::<i64>(6)? };
            let requests: (Option<Date>, i64) = (row.get(5)?, counted);
            let is_used_up = requests.0 == Some(today) && requests.1 >= most;
            let lease = SyncLease {
                user,
                id,
                provider,
                until,
                failures: row.get(1)?,
                history_from: row.get(2)?,
                history_empty: row.get(3)?,
                window_days: row.get::<Option<i64>>(4)?.or(provider.schedule().window_days),
                state: row.get(7)?,
                access: None,
                presence: presence.clone(),
            };
            Ok((row.get::<Option<Vec<u8>>>(0)?, is_used_up, lease))
        })?;
        let (encrypted, is_used_up, lease) = found.ok_or(Error::NotFound("connection"))?;
        match encrypted {
            None => Err(SyncError::Disconnected(provider)),
            Some(encrypted) if acquired > 0 => Ok((encrypted, lease)),
            Some(_) if is_used_up => Err(SyncError::RequestsUsedUp(provider, most)),
            Some(_) => Err(SyncError::Busy),
        }
    });
    let (encrypted, lease) = acquired.await?;
    Ok(SyncLease {
        access: app.bank_client.vault.decrypt(lease.id.as_bytes(), &encrypted),
        ..lease
    })
}

// The sync stays due until its response is stored, so another process repeats it if this one dies.
macro_rules! acquire {
    ($counted:literal, $other:literal, $and:literal) => {
        concat!(
            "update connections set leased_until = $4, process_id = $7, ",
            $counted,
            " = case when asked_on = $5 then ",
            $counted,
            " + 1 else 1 end, ",
            $other,
            " = case when asked_on = $5 then ",
            $other,
            " else 0 end, asked_on = $5
            where user_id = $1 and id = $2 and access is not null
            and (leased_until is null or leased_until <= $3 or ",
            holder_is_dead!("process_id", "$3"),
            ") and (asked_on is distinct from $5 or ",
            $counted,
            " < $6)",
            $and
        )
    };
}
const ACQUIRE: &str = acquire!("asked_count", "attended_count", "");
const ACQUIRE_ATTENDED: &str = acquire!("attended_count", "asked_count", "");
const ACQUIRE_NEWEST: &str = acquire!("asked_count", "attended_count", " and next_sync_at <= $3");
const ACQUIRE_HISTORY: &str =
    acquire!("asked_count", "attended_count", " and next_history_at <= $3 and failures = 0");
const SOURCE: &str = "select source from connections where user_id = $1 and id = $2";
const STATE: &str = "select access, failures, history_from, history_empty, window_days,
    asked_on, asked_count, sync_state, attended_count from connections where user_id = $1 and id = $2";

pub(super) const STATEMENTS: &[&str] =
    &[ACQUIRE, ACQUIRE_ATTENDED, ACQUIRE_NEWEST, ACQUIRE_HISTORY, SOURCE, STATE];
