//! A program that exceeds its rate limit on all processes at once. In any window, no more requests are accepted than the
//! limit allows.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::rest;
use crate::Storm;
use crate::client::{Call, PATIENCE, send_within};
use crate::history::lock;
use crate::random::Random;

/// The limit of each key, and its window.
pub(crate) const REQUESTS: usize = 100;
pub(crate) const WINDOW: Duration = Duration::from_secs(20);
/// Requests that are sent at once.
const BURST: usize = 24;

/// When an accepted request was sent and answered. It was counted in between.
pub(crate) type Accepted = (Instant, Instant);

pub(crate) async fn run(storm: Arc<Storm>, person: usize, random: Random) {
    let key = storm.people[person].flooder.clone();
    while !storm.are_clients_done() {
        let flooded = flood(&storm, &key, BURST, PATIENCE).await;
        lock(&storm.accepted).extend(flooded.accepted);
        rest(&random, 1_200).await;
    }
}

/// What became of requests that were sent at once.
#[derive(Default)]
pub(crate) struct Flooded {
    pub(crate) accepted: Vec<Accepted>,
    /// Requests without a definite answer. Some of them may have been accepted.
    pub(crate) unanswered: usize,
}

enum Outcome {
    Accepted(Accepted),
    Refused,
    Unanswered,
}

/// Sends requests to all processes at once, and waits for each answer at most this long.
pub(crate) async fn flood(
    storm: &Arc<Storm>,
    key: &str,
    requests: usize,
    patience: Duration,
) -> Flooded {
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..requests {
        let (storm, call) = (storm.clone(), Call::api("GET", "/v1/me", key));
        tasks.spawn(async move {
            let began = Instant::now();
            match send_within(&storm, number, &call, patience).await.map(|it| it.status) {
                Some(200) => Outcome::Accepted((began, Instant::now())),
                Some(429) => {
                    storm.history.count("request refused by the rate limit");
                    Outcome::Refused
                }
                Some(status) => {
                    storm.history.violated(format!("a valid key got {status}"));
                    Outcome::Refused
                }
                None => Outcome::Unanswered,
            }
        });
    }
    let mut flooded = Flooded::default();
    for outcome in tasks.join_all().await {
        match outcome {
            Outcome::Accepted(accepted) => flooded.accepted.push(accepted),
            Outcome::Refused => {}
            Outcome::Unanswered => flooded.unanswered += 1,
        }
    }
    flooded
}

/// The most requests that were certainly accepted within one window.
pub(crate) fn most_in_a_window(accepted: &[Accepted]) -> usize {
    let within =
        |from: Instant| accepted.iter().filter(|it| it.0 >= from && it.1 <= from + WINDOW).count();
    accepted.iter().map(|it| within(it.0)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_that_lie_wholly_within_a_window_count() {
        let start = Instant::now();
        let request = |from: u64, until: u64| {
            (start + Duration::from_secs(from), start + Duration::from_secs(until))
        };
        let accepted =
            [request(0, 1), request(5, 6), request(19, 20), request(19, 21), request(24, 25)];
        assert_eq!(most_in_a_window(&accepted), 4);
        assert_eq!(most_in_a_window(&accepted[..3]), 3);
        assert_eq!(most_in_a_window(&[]), 0);
    }
}
