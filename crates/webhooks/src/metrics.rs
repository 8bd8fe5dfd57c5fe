//! Metrics of events and deliveries.

use base::Timestamp;
use base::metrics::{ByLabel, Counter, Histogram, MetricFamily};

use crate::delivery::Trigger;
use crate::outcome::Outcome;

pub(crate) struct Meters {
    events: Counter,
    /// By outcome and trigger.
    attempts: ByLabel<(&'static str, &'static str), Counter>,
    seconds: Histogram,
    lag: Histogram,
    lost_leases: Counter,
}

impl Default for Meters {
    fn default() -> Meters {
        Meters {
            events: Counter::default(),
            attempts: ByLabel::default(),
            seconds: Histogram::short(),
            lag: Histogram::long(),
            lost_leases: Counter::default(),
        }
    }
}

/// An attempt as it is counted once its outcome is committed.
pub(crate) struct CountedAttempt {
    outcome: &'static str,
    trigger: &'static str,
    duration_ms: i64,
    /// From the event to its delivery, in microseconds; none unless it was delivered on schedule.
    lag: Option<i64>,
}

impl CountedAttempt {
    pub(crate) fn new(outcome: &Outcome, next: Option<i64>, now: Timestamp) -> CountedAttempt {
        let is_timely = outcome.is_success && outcome.trigger == Trigger::Scheduled;
        let lag = now.as_microsecond() - outcome.event.milliseconds() * 1_000;
        CountedAttempt {
            outcome: outcome.delivery_status(next),
            trigger: outcome.trigger.as_str(),
            duration_ms: outcome.duration_ms,
            lag: is_timely.then_some(lag),
        }
    }
}

impl Meters {
    pub(crate) fn count_events(&self, count: usize) {
        self.events.add(count as u64);
    }

    pub(crate) fn count_attempts(&self, attempts: &[CountedAttempt]) {
        for it in attempts {
            self.attempts.with(&(it.outcome, it.trigger), Counter::increment);
            self.seconds.observe_microseconds(it.duration_ms * 1_000);
            if let Some(lag) = it.lag {
                self.lag.observe_microseconds(lag);
            }
        }
    }

    /// Counts outcomes that were dropped, because another process had taken over their lease.
    pub(crate) fn count_lost_leases(&self, count: usize) {
        self.lost_leases.add(count as u64);
    }

    pub(crate) fn lost_leases(&self) -> u64 {
        self.lost_leases.get()
    }

    pub(crate) fn families(&self) -> Vec<MetricFamily> {
        vec![
            MetricFamily::counter("events_appended", "Events that were written")
                .with(&[], &self.events),
            MetricFamily::counter(
                "deliveries",
                "Attempts to deliver an event, by what they came to and what triggered them",
            )
            .with_all(["outcome", "trigger"], &self.attempts, |(outcome, trigger)| {
                [(*outcome).to_owned(), (*trigger).to_owned()]
            }),
            MetricFamily::histogram("delivery_seconds", "Time of an attempt")
                .with(&[], &self.seconds),
            MetricFamily::histogram(
                "delivery_lag_seconds",
                "Time from an event to its delivery, with retries",
            )
            .with(&[], &self.lag),
        ]
    }
}
