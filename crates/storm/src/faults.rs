//! The plan of faults, drawn from the seed: what happens to which process, when, and for how long.

use std::time::Duration;

use crate::random::Random;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// SIGKILL, and a restart at once.
    Kill,
    /// SIGSTOP for longer than a process counts as alive, then SIGCONT.
    Pause,
    /// SIGSTOP for longer than the lease of a delivery, then SIGCONT.
    LongPause,
    /// SIGSTOP for longer than the lease of an idempotent request, then SIGCONT. Only in runs of three minutes and more.
    LongestPause,
    /// The wire to the database passes nothing on, in both directions.
    Silence,
    /// The database gets and executes what is sent, and no answer comes back.
    LoseAnswers,
    /// Each message to and from the database is late.
    Slow,
    /// The wire to the database is cut, and new connections are refused.
    Cut,
    /// PostgreSQL ends the connections of the process.
    Terminate,
}

impl Fault {
    /// What the report calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Fault::Kill => "fault: process killed and restarted",
            Fault::Pause => "fault: process paused for longer than it counts as alive",
            Fault::LongPause => "fault: process paused for longer than the lease of a delivery",
            Fault::LongestPause => {
                "fault: process paused for longer than the lease of an idempotent request"
            }
            Fault::Silence => "fault: wire to the database silent",
            Fault::LoseAnswers => "fault: wire to the database loses answers",
            Fault::Slow => "fault: wire to the database slow",
            Fault::Cut => "fault: wire to the database cut",
            Fault::Terminate => "fault: connections ended by PostgreSQL",
        }
    }

    /// The shortest and the longest time that it lasts, in milliseconds.
    fn length(self) -> (u64, u64) {
        match self {
            Fault::Kill => (200, 3_000),
            Fault::Pause => (11_000, 14_000),
            Fault::LongPause => (46_000, 49_000),
            Fault::LongestPause => (61_000, 90_000),
            Fault::Silence => (5_000, 8_000),
            Fault::LoseAnswers => (3_000, 7_000),
            Fault::Slow => (4_000, 7_000),
            Fault::Cut => (500, 3_000),
            Fault::Terminate => (200, 1_000),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlannedFault {
    /// Since the beginning of the storm.
    pub(crate) at: Duration,
    pub(crate) length: Duration,
    pub(crate) process: usize,
    pub(crate) fault: Fault,
}

impl PlannedFault {
    fn end(&self) -> Duration {
        self.at + self.length
    }
}

/// A round has each kind of fault at least once. One with the longest pause takes two minutes.
pub(crate) const ROUND: Duration = Duration::from_secs(60);
/// The kinds that each round begins with, besides the long pause.
const FIRST: [Fault; 8] = [
    Fault::Kill,
    Fault::Pause,
    Fault::Silence,
    Fault::LoseAnswers,
    Fault::Slow,
    Fault::Cut,
    Fault::Terminate,
    Fault::Kill,
];

/// The faults of a run in the order of their beginning. A process has one fault at a time.
pub(crate) fn plan(seed: u64, processes: usize, total: Duration) -> Vec<PlannedFault> {
    let random = Random::new(seed, 0);
    let mut planned = Vec::new();
    let mut begin = Duration::ZERO;
    while begin < total {
        // The first minute of every run has the same faults, however long the run is.
        let is_double = begin > Duration::ZERO && total - begin >= 2 * ROUND;
        let (pause, length) = match is_double {
            true => (Fault::LongestPause, 2 * ROUND),
            false => (Fault::LongPause, ROUND),
        };
        let end = total.min(begin + length);
        plan_round(&random, processes, pause, (begin, end), &mut planned);
        begin = end;
    }
    planned.sort_by_key(|it| (it.at, it.process));
    planned
}

fn plan_round(
    random: &Random,
    processes: usize,
    pause: Fault,
    (begin, end): (Duration, Duration),
    planned: &mut Vec<PlannedFault>,
) {
    let mut lanes: Vec<Lane> = (0..processes)
        .map(|process| Lane { process, free_at: begin + millis(random, 500, 2_500) })
        .collect();
    let sleeper = random.index(processes);
    lanes[sleeper].add(random, pause, end, planned);
    let mut first = FIRST;
    random.shuffle(&mut first);
    for fault in first {
        let Some(lane) = lanes.iter_mut().min_by_key(|it| it.free_at) else { return };
        lane.add(random, fault, end, planned);
    }
    for lane in &mut lanes {
        for _ in 0..processes * 8 {
            lane.add(random, FIRST[random.index(FIRST.len())], end, planned);
        }
    }
}

/// When PostgreSQL crashes: once in each minute. The first crashes leave time for work before and after them.
pub(crate) fn plan_crashes(seed: u64, total: Duration) -> Vec<Duration> {
    let random = Random::new(seed, 1);
    let mut planned = Vec::new();
    let mut begin = Duration::ZERO;
    while begin + ROUND <= total {
        planned.push(begin + millis(&random, 15_000, 45_000));
        begin += ROUND;
    }
    planned
}

/// One process and the time until which its faults are planned.
struct Lane {
    process: usize,
    free_at: Duration,
}

impl Lane {
    /// Adds a fault, and a rest after it, if it ends in time.
    fn add(&mut self, random: &Random, fault: Fault, end: Duration, all: &mut Vec<PlannedFault>) {
        let (shortest, longest) = fault.length();
        let length = millis(random, shortest, longest);
        let (at, rest) = (self.free_at, millis(random, 1_000, 2_500));
        let planned = PlannedFault { at, length, process: self.process, fault };
        if planned.end() <= end {
            self.free_at = planned.end() + rest;
            all.push(planned);
        }
    }
}

fn millis(random: &Random, first: u64, last: u64) -> Duration {
    Duration::from_millis(random.between(first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_has_every_kind_of_fault_whatever_the_seed() {
        for seed in 0..500 {
            let planned = plan(seed, 3, ROUND);
            for fault in FIRST.into_iter().chain([Fault::LongPause]) {
                assert!(planned.iter().any(|it| it.fault == fault), "seed {seed} lacks {fault:?}");
            }
            assert!(planned.iter().all(|it| it.end() <= ROUND), "seed {seed} is too long");
            assert_eq!(plan_crashes(seed, ROUND).len(), 1);
        }
    }

    #[test]
    fn ten_minutes_have_pauses_of_more_than_a_minute() {
        for seed in 0..100 {
            let planned = plan(seed, 3, 10 * ROUND);
            let longest = planned.iter().filter(|it| it.fault == Fault::LongestPause);
            assert_eq!(longest.count(), 4, "seed {seed}");
            assert!(planned.iter().all(|it| it.end() <= 10 * ROUND), "seed {seed} is too long");
            let minute = plan(seed, 3, ROUND);
            let first: Vec<_> = planned.iter().filter(|it| it.at < ROUND).collect();
            assert_eq!(first, minute.iter().collect::<Vec<_>>(), "seed {seed}");
        }
    }

    #[test]
    fn a_process_has_one_fault_at_a_time() {
        for seed in 0..100 {
            let planned = plan(seed, 3, 3 * ROUND);
            for process in 0..3 {
                let own: Vec<_> = planned.iter().filter(|it| it.process == process).collect();
                assert!(own.windows(2).all(|it| it[0].end() < it[1].at), "seed {seed}: {own:?}");
            }
        }
    }

    #[test]
    fn a_seed_always_gives_the_same_plan_and_another_seed_another_one() {
        assert_eq!(plan(7, 3, ROUND), plan(7, 3, ROUND));
        assert_ne!(plan(7, 3, ROUND), plan(8, 3, ROUND));
    }
}
