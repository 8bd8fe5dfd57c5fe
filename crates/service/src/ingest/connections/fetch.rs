//! Asks a provider for data, and records a failure with the time of the next try.

use std::time::Duration;

use base::draft::AccountKind;
use db::params;
use sources::provider::{Purpose, Remedy, Response, SyncRequest};
use trace::SpanKind;

use super::attention::NeedingAccounts;
use super::connection::conflict;
use super::keys;
use super::lease::SyncLease;
use super::notices::SyncFailure;
use super::schedule::{backoff_seconds, jitter, later, seconds_to_tomorrow};
use crate::platform::person_lock;
use crate::{App, Error, Result};

/// The time limit of a sync. It is shorter than the lease, so that the response can still be stored.
const FETCH_WITHIN: Duration = Duration::from_secs(240);

/// Fetches accounts. A failure is recorded; a response still has to be stored.
pub(super) async fn fetch(
    app: &App,
    lease: &SyncLease,
    purpose: Purpose,
    is_continued: bool,
) -> Result<Response> {
    let started_at = app.clock.now();
    let mut span = app.tracer.start("sync bank", SpanKind::Internal);
    span.set("evenkeel.provider", lease.provider.source().as_str());
    let asked = span.scope(ask(app, lease, purpose, is_continued)).await?;
    let took = app.clock.now().as_microsecond() - started_at.as_microsecond();
    let reason = asked.as_ref().err().map(|it| it.reason);
    app.meters.count_sync(lease.provider.source().as_str(), reason, took);
    if let Some(reason) = reason {
        span.fail(reason);
    }
    drop(span);
    let failure = match asked {
        Ok(response) => return Ok(response),
        Err(failure) => failure,
    };
    record_failure(app, lease, &failure).await?;
    Err(conflict(failure.message))
}

async fn ask(
    app: &App,
    lease: &SyncLease,
    purpose: Purpose,
    is_continued: bool,
) -> Result<Result<Response, SyncFailure>> {
    let provider = lease.provider;
    let Some(access) = &lease.access else { return Ok(Err(SyncFailure::undecryptable(provider))) };
    let context = match keys::context(app, lease.user, provider).await {
        Ok(context) => context,
        // The person's keys cannot be decrypted.
        Err(Error::Conflict { .. }) => return Ok(Err(SyncFailure::undecryptable(provider))),
        Err(error) => return Err(error),
    };
    let key = params![lease.user, lease.id];
    let read = |row: &db::Row<'_>| Ok((row.get::<String>(0)?, row.get::<AccountKind>(1)?));
    let chosen = app.db.all(CHOSEN, key, read).await?;
    let state = lease.state.clone().filter(|_| is_continued);
    let presence = lease.presence.clone();
    let request = SyncRequest { purpose, state, chosen, presence };
    let synced = provider.sync(&context, access, &request);
    Ok(match tokio::time::timeout(FETCH_WITHIN, synced).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) => Err(SyncFailure::from(&error)),
        Err(_) => Err(SyncFailure::too_slow(provider)),
    })
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
    let most = lease.provider.schedule().syncs_a_day;
    let requests = if failure.rate_limited { most } else { 0 };
    let remedy = failure.remedy.filter(|_| needs_action).map(Remedy::as_str);
    let (user, id, until, message) = (lease.user, lease.id, lease.until, failure.message.clone());
    let mine = app.clone();
    let record = move |tx: &mut db::Tx<'_>| {
        // The person may have been deleted meanwhile.
        if !person_lock::lock(tx, user)? {
            return Ok(());
        }
        let needing = NeedingAccounts::read(tx, user, id)?;
        let values = params![user, id, until, failures, &message, status, next, requests, remedy];
        tx.execute(RECORD_FAILURE, values)?;
        needing.publish_new(tx, &mine)
    };
    app.db.write(record).await
}

const CHOSEN: &str = "select external_id, kind from offered_accounts
    where user_id = $1 and connection_id = $2 and choice = 'taken' limit 1000";
const RECORD_FAILURE: &str = "update connections set leased_until = null, failures = $4,
    attention = $5, status = case when $6 = 'needs_attention' then $6 else status end,
    next_sync_at = $7, remedy = $9,
    next_history_at = case when next_history_at is null then next_history_at else $7 end,
    asked_count = case when asked_count < $8 then $8 else asked_count end
    where user_id = $1 and id = $2 and leased_until = $3";

pub(super) const STATEMENTS: &[&str] = &[CHOSEN, RECORD_FAILURE];
