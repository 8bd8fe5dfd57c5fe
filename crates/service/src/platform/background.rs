//! Health of this process's background loops, for readiness checks and metrics.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// A loop whose steps panicked this often in a row counts as dead until a step succeeds.
const PANICS_MAX: u32 = 3;

#[derive(Default)]
pub struct Background {
    loops: Mutex<BTreeMap<&'static str, Loop>>,
}

struct Loop {
    /// The longest time between two steps of a loop that is alive.
    step_max: Duration,
    stepped_at: Instant,
    failures: u64,
    panics: u64,
    panics_in_a_row: u32,
}

/// The state of one loop, for metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopReport {
    pub name: &'static str,
    pub is_alive: bool,
    /// Steps that failed or timed out.
    pub failures: u64,
    pub panics: u64,
}

impl Background {
    fn loops(&self) -> MutexGuard<'_, BTreeMap<&'static str, Loop>> {
        self.loops.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with(&self, name: &'static str, change: impl FnOnce(&mut Loop)) {
        if let Some(it) = self.loops().get_mut(name) {
            it.stepped_at = Instant::now();
            change(it);
        }
    }

    /// Registers a loop that completes a step at least every `step_max`.
    pub fn start(&self, name: &'static str, step_max: Duration) {
        let stepped_at = Instant::now();
        let fresh = Loop { step_max, stepped_at, failures: 0, panics: 0, panics_in_a_row: 0 };
        self.loops().entry(name).or_insert(fresh);
    }

    pub fn record_step(&self, name: &'static str) {
        self.with(name, |it| it.panics_in_a_row = 0);
    }

    pub fn record_failure(&self, name: &'static str) {
        self.with(name, |it| {
            it.failures += 1;
            it.panics_in_a_row = 0;
        });
    }

    /// Records a panic and returns how many there were in a row.
    pub fn record_panic(&self, name: &'static str) -> u32 {
        let mut in_a_row = 1;
        self.with(name, |it| {
            it.panics += 1;
            it.panics_in_a_row += 1;
            in_a_row = it.panics_in_a_row;
        });
        in_a_row
    }

    pub fn report(&self) -> Vec<LoopReport> {
        let one = |(name, it): (&&'static str, &Loop)| LoopReport {
            name,
            is_alive: it.is_alive(),
            failures: it.failures,
            panics: it.panics,
        };
        self.loops().iter().map(one).collect()
    }

    /// Finds a loop that is no longer alive.
    pub fn find_dead(&self) -> Option<&'static str> {
        self.loops().iter().find(|(_, it)| !it.is_alive()).map(|(name, _)| *name)
    }
}

impl Loop {
    fn is_alive(&self) -> bool {
        self.panics_in_a_row < PANICS_MAX && self.stepped_at.elapsed() <= self.step_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_loop_without_steps_or_with_only_panics_is_dead() {
        let background = Background::default();
        background.start("count", Duration::from_secs(60));
        assert_eq!(background.find_dead(), None);
        tokio::time::advance(Duration::from_secs(61)).await;
        assert_eq!(background.find_dead(), Some("count"));
        background.record_failure("count");
        assert_eq!(background.find_dead(), None, "a failed step does not end the loop");
        assert_eq!(
            (1..=3).map(|_| background.record_panic("count")).collect::<Vec<_>>(),
            [1, 2, 3]
        );
        assert_eq!(background.find_dead(), Some("count"));
        background.record_step("count");
        assert_eq!(background.find_dead(), None);
        let report = background.report();
        assert_eq!((report[0].failures, report[0].panics), (1, 3));
    }
}
