//! Settling attempts: a delivery is delivered, retried later or failed, and an endpoint that keeps failing is disabled.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{AttemptId, EndpointId, Timestamp};
use db::{Param, Tx, params};

use crate::context::Webhooks;
use crate::delivery::{Destination, Trigger};
use crate::disable::{disable, record_exhausted};
use crate::endpoint::DisabledReason;
use crate::error::{Error, Result};
use crate::metrics::CountedAttempt;
use crate::outcome::Outcome;

/// Up to this many rows, `execute_each` changes them one after the other; the order of more is not defined.
const ORDERED_BATCH: usize = 16;

/// Writes the outcomes of attempts in one transaction.
pub(crate) async fn settle(webhooks: &Webhooks, outcomes: Vec<Outcome>) -> Result<()> {
    if outcomes.is_empty() {
        return Ok(());
    }
    let mine = webhooks.clone();
    webhooks.db.write(move |tx| settle_in(&mine, tx, &outcomes)).await
}

fn settle_in(webhooks: &Webhooks, tx: &mut Tx<'_>, outcomes: &[Outcome]) -> Result<()> {
    let now = tx.now()?;
    update_endpoints(tx, outcomes, now)?;
    let next_attempts: Vec<Option<i64>> =
        outcomes.iter().map(|it| it.next_attempt_at(&webhooks.entropy, now)).collect();
    let values: Vec<[Param<'_>; 9]> = outcomes
        .iter()
        .zip(&next_attempts)
        .map(|(it, next)| {
            let (user, endpoint, event) = (it.to.user.into(), it.to.id.into(), it.event.into());
            let (status, attempt) = (it.delivery_status(*next).into(), it.attempt.into());
            let before = (it.attempt - 1).into();
            let lease = it.leased_until.into();
            [user, endpoint, event, status, attempt, (*next).into(), now.into(), before, lease]
        })
        .collect();
    let changed = tx.execute_each(SETTLE, &values)?;
    let with_count = |count: u64| {
        let each = outcomes.iter().zip(&next_attempts).zip(&changed);
        each.filter(move |it| *it.1 == count).map(|it| (it.0.0, *it.0.1))
    };
    let settled: Vec<(&Outcome, Option<i64>)> = with_count(1).collect();
    insert_attempts(webhooks, tx, &settled)?;
    let dropped: Vec<&Outcome> = with_count(0).map(|it| it.0).collect();
    let lost = dropped.len() - settle_late(webhooks, tx, dropped, now)?;
    count_on_commit(webhooks, tx, &settled, lost, now);
    let mut given_up: BTreeMap<EndpointId, (Arc<Destination>, bool)> = BTreeMap::new();
    let counts = |it: &Outcome| it.trigger == Trigger::Scheduled || it.is_gone();
    let has_failed = |it: &Outcome| !it.is_success && counts(it);
    for (it, _) in settled.iter().filter(|(it, next)| next.is_none() && has_failed(it)) {
        let entry = given_up.entry(it.to.id).or_insert_with(|| (it.to.clone(), false));
        entry.1 |= it.is_gone();
    }
    for (to, is_gone) in given_up.values() {
        let endpoint = to.endpoint_ref();
        match is_gone {
            true => disable(webhooks, tx, &endpoint, DisabledReason::Gone)?,
            false => record_exhausted(webhooks, tx, &endpoint, now)?,
        }
    }
    Ok(())
}

/// Records on each endpoint when it last succeeded, or since when it fails. This comes first and in the order of ids: a
/// transaction that deletes an endpoint, or settles for it in another process, waits here and not in a deadlock later.
fn update_endpoints(tx: &mut Tx<'_>, outcomes: &[Outcome], now: Timestamp) -> Result<()> {
    let mut endpoints: BTreeMap<EndpointId, (&Destination, Option<i64>, Option<i64>)> =
        BTreeMap::new();
    for it in outcomes {
        let (_, succeeded, failed) = endpoints.entry(it.to.id).or_insert((&it.to, None, None));
        match (it.is_success, it.trigger) {
            (true, _) => *succeeded = Some(now.as_microsecond()),
            (false, Trigger::Scheduled) => *failed = Some(now.as_microsecond()),
            // A failed attempt by hand does not count against the endpoint.
            (false, _) => {}
        }
    }
    let values = endpoints.values().map(|(to, succeeded, failed)| -> [Param<'_>; 4] {
        [to.user.into(), to.id.into(), (*succeeded).into(), (*failed).into()]
    });
    for batch in values.collect::<Vec<_>>().chunks(ORDERED_BATCH) {
        tx.execute_each(UPDATE_ENDPOINT, batch)?;
    }
    Ok(())
}

/// Settles attempts that were in flight when their endpoint was disabled, which had failed their deliveries. Outcomes
/// that this does not match either are dropped: another process took over the lease first, or the endpoint was deleted.
/// Returns how many were settled.
fn settle_late(
    webhooks: &Webhooks,
    tx: &mut Tx<'_>,
    outcomes: Vec<&Outcome>,
    now: Timestamp,
) -> Result<usize> {
    let values = outcomes.iter().map(|it| -> [Param<'_>; 7] {
        let (user, endpoint, event) = (it.to.user.into(), it.to.id.into(), it.event.into());
        let (status, attempt) = (it.delivery_status(None).into(), it.attempt.into());
        [user, endpoint, event, status, attempt, now.into(), (it.attempt - 1).into()]
    });
    let changed = tx.execute_each(SETTLE_LATE, &values.collect::<Vec<_>>())?;
    let settled = outcomes.into_iter().zip(changed).filter(|it| it.1 == 1);
    let settled: Vec<(&Outcome, Option<i64>)> = settled.map(|it| (it.0, None)).collect();
    count_on_commit(webhooks, tx, &settled, 0, now);
    insert_attempts(webhooks, tx, &settled).map(|it| it.len())
}

/// Counts settled attempts, and those whose lease was lost, once the transaction is committed.
fn count_on_commit(
    webhooks: &Webhooks,
    tx: &mut Tx<'_>,
    settled: &[(&Outcome, Option<i64>)],
    lost: usize,
    now: Timestamp,
) {
    let counted: Vec<CountedAttempt> =
        settled.iter().map(|(it, next)| CountedAttempt::new(it, *next, now)).collect();
    if counted.is_empty() && lost == 0 {
        return;
    }
    let webhooks = webhooks.clone();
    tx.on_commit(move || {
        webhooks.meters.count_attempts(&counted);
        webhooks.meters.count_lost_leases(lost);
    });
}

/// Settles an attempt made by hand: a success counts, a failure does not, and 410 Gone disables the endpoint.
pub(crate) fn settle_manual(
    webhooks: &Webhooks,
    tx: &mut Tx<'_>,
    outcome: &Outcome,
) -> Result<AttemptId> {
    let now = tx.now()?;
    let (user, endpoint, event) = (outcome.to.user, outcome.to.id, outcome.event);
    // First, as in every transaction that settles. It locks the endpoint even where it changes nothing.
    let succeeded = outcome.is_success.then_some(now.as_microsecond());
    if tx.execute(UPDATE_ENDPOINT, params![user, endpoint, succeeded, NO_FAILURE])? == 0 {
        return Err(Error::NotFound("webhook endpoint"));
    }
    if outcome.is_success {
        tx.execute(MARK_DELIVERED, params![user, endpoint, event, now])?;
    }
    tx.execute(COUNT_ATTEMPT, params![user, endpoint, event])?;
    let id = insert_attempt(webhooks, tx, outcome)?;
    count_on_commit(webhooks, tx, &[(outcome, None)], 0, now);
    if outcome.is_gone() {
        disable(webhooks, tx, &outcome.to.endpoint_ref(), DisabledReason::Gone)?;
    }
    Ok(id)
}

/// Inserts one attempt made by hand.
pub(crate) fn insert_attempt(
    webhooks: &Webhooks,
    tx: &mut Tx<'_>,
    outcome: &Outcome,
) -> Result<AttemptId> {
    let ids = insert_attempts(webhooks, tx, &[(outcome, None)])?;
    ids.first().copied().ok_or_else(|| Error::internal("an attempt was not inserted"))
}

/// Inserts attempts, each with the moment of the next.
fn insert_attempts(
    webhooks: &Webhooks,
    tx: &mut Tx<'_>,
    settled: &[(&Outcome, Option<i64>)],
) -> Result<Vec<AttemptId>> {
    let ids: Vec<AttemptId> = settled.iter().map(|_| webhooks.ids.make()).collect();
    let values = settled.iter().zip(&ids).map(|((it, next), id)| {
        let status = if it.is_success { "succeeded" } else { "failed" };
        [
            it.to.user.into(),
            (*id).into(),
            it.to.id.into(),
            it.to.key.into(),
            it.event.into(),
            it.event_type.as_str().into(),
            it.to.url.as_str().into(),
            it.attempt.into(),
            it.trigger.as_str().into(),
            status.into(),
            it.code.into(),
            it.body.as_deref().into(),
            it.error.into(),
            it.duration_ms.into(),
            it.at.into(),
            (*next).into(),
        ]
    });
    tx.insert_many("attempts", ATTEMPT_COLUMNS, values)?;
    Ok(ids)
}

/// Settles a delivery that is still open. A success counts whichever process sent it. A failure counts only under its
/// own lease: when another process has taken over the delivery, that one decides when it is tried again. The condition
/// is on the status and not on what is due, so that PostgreSQL uses the primary key and not the index of due
/// deliveries.
const SETTLE: &str =
    "update deliveries set status = $4, attempts = $5, due_at = $6, updated_at = $7
    where user_id = $1 and endpoint_id = $2 and event_id = $3 and attempts = $8
    and status in ('pending', 'retrying')
    and ($4 = 'delivered' or coalesce(due_at, 0) = $9)";
const NO_FAILURE: Option<i64> = None;
const SETTLE_LATE: &str = "update deliveries set status = $4, attempts = $5, updated_at = $6
    where user_id = $1 and endpoint_id = $2 and event_id = $3 and attempts = $7
    and coalesce(status, '') = 'failed'";
const COUNT_ATTEMPT: &str = "update deliveries set attempts = attempts + 1
    where user_id = $1 and endpoint_id = $2 and event_id = $3 and due_at is null";
const MARK_DELIVERED: &str = "update deliveries set status = 'delivered', updated_at = $4
    where user_id = $1 and endpoint_id = $2 and event_id = $3 and due_at is null";
const ATTEMPT_COLUMNS: [&str; 16] = [
    "user_id",
    "id",
    "endpoint_id",
    "key_id",
    "event_id",
    "event_type",
    "url",
    "attempt",
    "trigger_kind",
    "status",
    "response_code",
    "response_body",
    "error",
    "duration_ms",
    "attempted_at",
    "next_attempt_at",
];
/// `$3` is the moment of a success and `$4` the moment of a failure, null where there was none.
const UPDATE_ENDPOINT: &str =
    "update webhook_endpoints set last_delivery_at = coalesce($3, last_delivery_at),
    failing_since = case when $3 is null then coalesce(failing_since, $4) else $4 end,
    exhausted_at = case when $3 is null then exhausted_at end
    where user_id = $1 and id = $2";

pub(crate) const STATEMENTS: &[&str] =
    &[SETTLE, SETTLE_LATE, COUNT_ATTEMPT, MARK_DELIVERED, UPDATE_ENDPOINT];
