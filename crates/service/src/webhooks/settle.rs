//! What comes of an attempt: delivered, tried again later, or given up; and an endpoint that gets nothing more.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{AttemptId, EndpointId, EventId, Timestamp};
use db::{Param, params};

use super::claim::{Delivery, Destination};
use super::{DisabledReason, disable};
use crate::{App, Error, Result, Tx};

/// Seconds after an attempt that failed until the next, by the specification. There is no ninth attempt.
const SCHEDULE: [i64; 7] = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];
pub(super) const ATTEMPTS_MAX: i64 = SCHEDULE.len() as i64 + 1;
/// Without a single success for so long, an endpoint that used up all attempts gets nothing more.
const FAILING_SECONDS_MAX: i64 = 5 * 86_400;
const GONE: i64 = 410;
/// So few are changed one after the other; of more the order is not said.
const ORDERED_BATCH: usize = 16;

pub(super) struct Outcome {
    pub(super) to: Arc<Destination>,
    pub(super) event: EventId,
    pub(super) event_type: String,
    /// 1 for the first.
    pub(super) attempt: i64,
    pub(super) at: Timestamp,
    pub(super) duration_ms: i64,
    pub(super) code: Option<i64>,
    pub(super) body: Option<String>,
    pub(super) retry_after: Option<String>,
    pub(super) error: Option<&'static str>,
    pub(super) is_success: bool,
    /// The lease under which it was tried; none for an attempt by hand.
    pub(super) leased_until: Option<i64>,
}

impl Outcome {
    pub(super) fn new(delivery: Delivery, at: Timestamp, duration_ms: i64) -> Outcome {
        Outcome {
            to: delivery.to,
            event: delivery.event,
            event_type: delivery.event_type,
            attempt: delivery.attempts + 1,
            at,
            duration_ms,
            code: None,
            body: None,
            retry_after: None,
            error: None,
            is_success: false,
            leased_until: None,
        }
    }

    /// How it stands with the event after this.
    fn event_status(&self, next: Option<i64>) -> &'static str {
        match (self.is_success, next) {
            (true, _) => "delivered",
            (false, Some(_)) => "retrying",
            (false, None) => "failed",
        }
    }

    /// When to try again, never earlier than the schedule says; none when it is over.
    fn next_attempt_at(&self, app: &App, now: Timestamp) -> Option<i64> {
        if self.is_success || self.code == Some(GONE) {
            return None;
        }
        let delay = *SCHEDULE.get(usize::try_from(self.attempt - 1).ok()?)?;
        let asked =
            self.retry_after.as_deref().and_then(|it| parse_retry_after(it, now)).unwrap_or(0);
        let delay = asked.clamp(delay, 2 * delay) * 1_000_000;
        // Up to a tenth more, so that what failed together does not come back together.
        let jitter = u64::from_be_bytes(app.entropy.bytes()) % (delay as u64 / 10 + 1);
        Some(now.as_microsecond() + delay + jitter as i64)
    }
}

/// What `Retry-After` says: seconds, or a date.
fn parse_retry_after(text: &str, now: Timestamp) -> Option<i64> {
    if let Ok(seconds) = text.trim().parse::<i64>() {
        return Some(seconds.max(0));
    }
    let at = jiff::fmt::rfc2822::parse(text.trim()).ok()?;
    Some((at.timestamp().as_second() - now.as_second()).max(0))
}

/// Writes down what came of attempts, all in one transaction.
pub(super) async fn settle(app: &App, outcomes: Vec<Outcome>) -> Result<()> {
    if outcomes.is_empty() {
        return Ok(());
    }
    let mine = app.clone();
    app.db.write(move |tx| settle_in(&mine, tx, &outcomes)).await
}

fn settle_in(app: &App, tx: &mut Tx<'_>, outcomes: &[Outcome]) -> Result<()> {
    let now = app.clock.now();
    update_endpoints(tx, outcomes, now)?;
    let nexts: Vec<Option<i64>> = outcomes.iter().map(|it| it.next_attempt_at(app, now)).collect();
    let values: Vec<[Param<'_>; 9]> = outcomes
        .iter()
        .zip(&nexts)
        .map(|(it, next)| {
            let (user, endpoint, event) = (it.to.user.into(), it.to.id.into(), it.event.into());
            let (status, attempt) = (it.event_status(*next).into(), it.attempt.into());
            let before = (it.attempt - 1).into();
            let lease = it.leased_until.into();
            [user, endpoint, event, status, attempt, (*next).into(), now.into(), before, lease]
        })
        .collect();
    let counts = tx.execute_each(SETTLE, &values)?;
    let of = |touched: u64| {
        let each = outcomes.iter().zip(&nexts).zip(&counts);
        each.filter(move |it| *it.1 == touched).map(|it| (it.0.0, *it.0.1))
    };
    let settled: Vec<(&Outcome, Option<i64>)> = of(1).collect();
    insert_attempts(app, tx, "scheduled", &settled)?;
    settle_late(app, tx, of(0).map(|it| it.0).collect(), now)?;
    let mut given_up: BTreeMap<EndpointId, (Arc<Destination>, bool)> = BTreeMap::new();
    for (it, _) in settled.iter().filter(|(it, next)| !it.is_success && next.is_none()) {
        let entry = given_up.entry(it.to.id).or_insert_with(|| (it.to.clone(), false));
        entry.1 |= it.code == Some(GONE);
    }
    for (to, gone) in given_up.values() {
        disable_if_hopeless(app, tx, to, *gone, now)?;
    }
    Ok(())
}

/// Before anything else, and in the order of ids: whoever deletes an endpoint, or settles for it in another process, waits here
/// and not for what we hold.
fn update_endpoints(tx: &mut Tx<'_>, outcomes: &[Outcome], now: Timestamp) -> Result<()> {
    let mut endpoints: BTreeMap<EndpointId, (&Destination, Option<i64>, Option<i64>)> =
        BTreeMap::new();
    for it in outcomes {
        let (_, succeeded, failed) = endpoints.entry(it.to.id).or_insert((&it.to, None, None));
        let which = if it.is_success { succeeded } else { failed };
        *which = Some(now.as_microsecond());
    }
    let values = endpoints.values().map(|(to, succeeded, failed)| -> [Param<'_>; 4] {
        [to.user.into(), to.id.into(), (*succeeded).into(), (*failed).into()]
    });
    for some in values.collect::<Vec<_>>().chunks(ORDERED_BATCH) {
        tx.execute_each(UPDATE_ENDPOINT, some)?;
    }
    Ok(())
}

/// What was on its way when its endpoint was switched off has arrived or not all the same. Of the rest somebody whose lease
/// was over was first, or a deletion.
fn settle_late(app: &App, tx: &mut Tx<'_>, outcomes: Vec<&Outcome>, now: Timestamp) -> Result<()> {
    let values = outcomes.iter().map(|it| -> [Param<'_>; 7] {
        let (user, endpoint, event) = (it.to.user.into(), it.to.id.into(), it.event.into());
        let (status, attempt) = (it.event_status(None).into(), it.attempt.into());
        [user, endpoint, event, status, attempt, now.into(), (it.attempt - 1).into()]
    });
    let counts = tx.execute_each(SETTLE_LATE, &values.collect::<Vec<_>>())?;
    let settled = outcomes.into_iter().zip(counts).filter(|it| it.1 == 1);
    let settled: Vec<(&Outcome, Option<i64>)> = settled.map(|it| (it.0, None)).collect();
    insert_attempts(app, tx, "scheduled", &settled).map(drop)
}

/// What came of an attempt by hand: a success counts, a failure does not, and who is gone is gone.
pub(super) fn settle_manual(app: &App, tx: &mut Tx<'_>, it: &Outcome) -> Result<AttemptId> {
    let now = app.clock.now();
    // First of all, as everywhere; it holds the endpoint even where it notes nothing.
    let arrived = it.is_success.then_some(now.as_microsecond());
    if tx.execute(UPDATE_ENDPOINT, params![it.to.user, it.to.id, arrived, NOTHING])? == 0 {
        return Err(Error::NotFound("webhook endpoint"));
    }
    if it.is_success {
        tx.execute(MARK_DELIVERED, params![it.to.user, it.to.id, it.event, now])?;
    }
    tx.execute(COUNT_MANUAL, params![it.to.user, it.to.id, it.event])?;
    let id = insert_attempt(app, tx, it, "manual")?;
    if it.code == Some(GONE) {
        disable::disable(app, tx, &it.to.endpoint_ref(), DisabledReason::Gone)?;
    }
    Ok(id)
}

/// One attempt by hand.
pub(super) fn insert_attempt(
    app: &App,
    tx: &mut Tx<'_>,
    it: &Outcome,
    trigger: &str,
) -> Result<AttemptId> {
    let made = insert_attempts(app, tx, trigger, &[(it, None)])?;
    made.first().copied().ok_or_else(|| Error::internal("an attempt was not written down"))
}

/// What was tried, each with the moment of the next try.
fn insert_attempts(
    app: &App,
    tx: &mut Tx<'_>,
    trigger: &str,
    settled: &[(&Outcome, Option<i64>)],
) -> Result<Vec<AttemptId>> {
    let ids: Vec<AttemptId> = settled.iter().map(|_| app.ids.make()).collect();
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
            trigger.into(),
            status.into(),
            it.code.into(),
            it.body.as_deref().into(),
            it.error.into(),
            it.duration_ms.into(),
            it.at.into(),
            (*next).into(),
        ]
    });
    tx.insert_many("attempts", ATTEMPT, values)?;
    Ok(ids)
}

/// What it means for an endpoint that something was given up.
fn disable_if_hopeless(
    app: &App,
    tx: &mut Tx<'_>,
    to: &Destination,
    gone: bool,
    now: Timestamp,
) -> Result<()> {
    if gone {
        return disable::disable(app, tx, &to.endpoint_ref(), DisabledReason::Gone);
    }
    let since =
        tx.first(FAILING_SINCE, params![to.user, to.id], |row| row.get::<Option<i64>>(0))?;
    let since = since.flatten().unwrap_or(i64::MAX);
    if now.as_microsecond().saturating_sub(since) >= FAILING_SECONDS_MAX * 1_000_000 {
        disable::disable(app, tx, &to.endpoint_ref(), DisabledReason::Failing)?;
    }
    Ok(())
}

/// By its status and not by what is due, which would let PostgreSQL take the index of that for the better one. What
/// arrived has arrived, whoever sent it. A failure counts only under its own lease: when another process has taken the
/// delivery over, that one decides when it is tried again.
const SETTLE: &str =
    "update deliveries set status = $4, attempts = $5, due_at = $6, updated_at = $7
    where user_id = $1 and endpoint_id = $2 and event_id = $3 and attempts = $8
    and status in ('pending', 'retrying')
    and ($4 = 'delivered' or coalesce(due_at, 0) = $9)";
const NOTHING: Option<i64> = None;
const SETTLE_LATE: &str = "update deliveries set status = $4, attempts = $5, updated_at = $6
    where user_id = $1 and endpoint_id = $2 and event_id = $3 and attempts = $7
    and coalesce(status, '') = 'failed'";
const COUNT_MANUAL: &str = "update deliveries set attempts = attempts + 1
    where user_id = $1 and endpoint_id = $2 and event_id = $3 and due_at is null";
const MARK_DELIVERED: &str = "update deliveries set status = 'delivered', updated_at = $4
    where user_id = $1 and endpoint_id = $2 and event_id = $3 and due_at is null";
const ATTEMPT: [&str; 16] = [
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
/// When something arrived, and since when nothing has.
const UPDATE_ENDPOINT: &str =
    "update webhook_endpoints set last_delivery_at = coalesce($3, last_delivery_at),
    failing_since = case when $3 is null then coalesce(failing_since, $4) else $4 end
    where user_id = $1 and id = $2";
const FAILING_SINCE: &str =
    "select failing_since from webhook_endpoints where user_id = $1 and id = $2";
pub(super) const STATEMENTS: &[&str] =
    &[SETTLE, SETTLE_LATE, COUNT_MANUAL, MARK_DELIVERED, UPDATE_ENDPOINT, FAILING_SINCE];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_that_a_receiver_asks_for_is_seconds_or_a_date() {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        for (text, expected) in [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("-5", Some(0)),
            ("Tue, 10 Mar 2026 12:01:00 GMT", Some(60)),
            ("Tue, 10 Mar 2026 11:00:00 GMT", Some(0)),
            ("soon", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(parse_retry_after(text, now), expected, "{text}");
        }
    }
}
