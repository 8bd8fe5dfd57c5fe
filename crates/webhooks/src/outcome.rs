//! The outcome of an attempt, and when the next attempt is due.

use std::sync::Arc;

use base::{Entropy, EventId, Timestamp};

use crate::delivery::{Delivery, Destination, Trigger};

/// Seconds from a failed attempt to the next, by the specification. There is no ninth attempt.
const RETRY_SCHEDULE: [i64; 7] = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];
pub(crate) const ATTEMPTS_MAX: i64 = RETRY_SCHEDULE.len() as i64 + 1;
/// The status by which a receiver says that it will never accept anything again.
const GONE: i64 = 410;

/// The outcome of one attempt.
pub(crate) struct Outcome {
    pub(crate) to: Arc<Destination>,
    pub(crate) event: EventId,
    pub(crate) event_type: String,
    /// The number of the attempt, 1 for the first.
    pub(crate) attempt: i64,
    pub(crate) at: Timestamp,
    pub(crate) duration_ms: i64,
    /// The HTTP status, where there was an answer.
    pub(crate) code: Option<i64>,
    pub(crate) body: Option<String>,
    pub(crate) retry_after: Option<String>,
    pub(crate) error: Option<&'static str>,
    pub(crate) is_success: bool,
    pub(crate) trigger: Trigger,
    /// The end of the lease under which it was sent; none for an attempt made by hand.
    pub(crate) leased_until: Option<i64>,
}

impl Outcome {
    pub(crate) fn new(delivery: Delivery, at: Timestamp, duration_ms: i64) -> Outcome {
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
            trigger: delivery.trigger,
            leased_until: None,
        }
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.code == Some(GONE)
    }

    /// The status of the delivery after this attempt, given when the next one is due.
    pub(crate) fn delivery_status(&self, next_attempt_at: Option<i64>) -> &'static str {
        match (self.is_success, next_attempt_at) {
            (true, _) => "delivered",
            (false, Some(_)) => "retrying",
            (false, None) => "failed",
        }
    }

    /// When to try again, in microseconds; none after a success, 410 Gone, an attempt by hand or the last attempt. `Retry-After` can double
    /// the wait of the schedule and never shorten it.
    pub(crate) fn next_attempt_at(&self, entropy: &Entropy, now: Timestamp) -> Option<i64> {
        if self.is_success || self.is_gone() || self.trigger != Trigger::Scheduled {
            return None;
        }
        let delay = *RETRY_SCHEDULE.get(usize::try_from(self.attempt - 1).ok()?)?;
        let asked = self.retry_after.as_deref().and_then(|it| parse_retry_after(it, now));
        let delay = asked.unwrap_or(0).clamp(delay, 2 * delay) * 1_000_000;
        // Up to a tenth of jitter, so that deliveries that failed together are not retried together.
        let jitter = u64::from_be_bytes(entropy.bytes()) % (delay as u64 / 10 + 1);
        Some(now.as_microsecond() + delay + jitter as i64)
    }
}

/// The seconds that a `Retry-After` header asks for, written as a number or as a date.
fn parse_retry_after(text: &str, now: Timestamp) -> Option<i64> {
    if let Ok(seconds) = text.trim().parse::<i64>() {
        return Some(seconds.max(0));
    }
    let at = jiff::fmt::rfc2822::parse(text.trim()).ok()?;
    Some((at.timestamp().as_second() - now.as_second()).max(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_a_number_of_seconds_or_a_date() {
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
