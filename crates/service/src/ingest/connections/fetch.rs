//! Sends one request to SimpleFIN, and records a failure with the time of the next try.

use db::params;
use sources::simplefin::{self, AccountSet, Query};

use super::connection::{REQUESTS_A_DAY, conflict};
use super::lease::SyncLease;
use super::notices::SyncFailure;
use super::schedule::{backoff_seconds, jitter, later, seconds_to_tomorrow};
use crate::{App, Result};

/// Fetches accounts. A failure is recorded; a response still has to be stored.
pub(super) async fn fetch(app: &App, lease: &SyncLease, query: &Query) -> Result<AccountSet> {
    let failure = match &lease.access {
        None => SyncFailure::undecryptable(),
        Some(access) => match simplefin::fetch(app.bank_client.http()?, access, query).await {
            Ok(set) => return Ok(set),
            Err(error) => SyncFailure::from(&error),
        },
    };
    record_failure(app, lease, &failure).await?;
    Err(conflict(failure.message))
}

/// Records why a sync failed and releases the lease. The next try waits longer after each failure.
pub(super) async fn record_failure(
    app: &App,
    lease: &SyncLease,
    failure: &SyncFailure,
) -> Result<()> {
    let failures = lease.failures + 1;
    let needs_action = failure.needs_action(failures);
    let status = if needs_action { "needs_attention" } else { "connected" };
    let now = app.db.now().await?;
    let wait =
        if failure.rate_limited { seconds_to_tomorrow(now) } else { backoff_seconds(failures) };
    let next = later(now, wait + jitter(app, wait / 10));
    let requests = if failure.rate_limited { REQUESTS_A_DAY } else { 0 };
    let (user, id, until, message) = (lease.user, lease.id, lease.until, failure.message.clone());
    let record = move |tx: &mut db::Tx<'_>| {
        let values = params![user, id, until, failures, &message, status, next, requests];
        tx.execute(RECORD_FAILURE, values)?;
        Ok(())
    };
    app.db.write(record).await
}

const RECORD_FAILURE: &str = "update connections set leased_until = null, failures = $4,
    attention = $5, status = case when $6 = 'needs_attention' then $6 else status end,
    next_sync_at = $7,
    next_history_at = case when next_history_at is null then next_history_at else $7 end,
    asked_count = case when asked_count < $8 then $8 else asked_count end
    where user_id = $1 and id = $2 and leased_until = $3";

pub(super) const STATEMENTS: &[&str] = &[RECORD_FAILURE];
