//! When a connection is synced next: backoff after failures, and jitter so that installations do not sync in step.

use base::Timestamp;

use crate::App;

const SECOND: i64 = 1_000_000;

/// One hour after the first failure, then twice as long each time, up to a day.
pub(super) fn backoff_seconds(failures: i64) -> i64 {
    (3_600 << failures.saturating_sub(1).clamp(0, 5)).min(86_400)
}

/// Seconds until the next midnight UTC, when the count of requests starts over.
pub(super) fn seconds_to_tomorrow(now: Timestamp) -> i64 {
    86_400 - now.as_second().rem_euclid(86_400)
}

pub(super) fn later(now: Timestamp, seconds: i64) -> Timestamp {
    let at = now.as_microsecond().saturating_add(seconds.saturating_mul(SECOND));
    Timestamp::from_microsecond(at).unwrap_or(Timestamp::MAX)
}

/// A random number of seconds below `most`.
pub(super) fn jitter(app: &App, most: i64) -> i64 {
    i64::from(u32::from_le_bytes(app.entropy.bytes())) % most.max(1)
}

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
