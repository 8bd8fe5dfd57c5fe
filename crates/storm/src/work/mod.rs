//! What clients do in the storm. Each task checks at once what it can, and remembers the rest for the end.

pub(crate) mod decisions;
pub(crate) mod endpoints;
pub(crate) mod floods;
pub(crate) mod imports;
pub(crate) mod proposals;
pub(crate) mod revocations;
pub(crate) mod walks;

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::Storm;
use crate::client::{Answer, Call, send};
use crate::random::Random;

/// How often a request is repeated until it has a definite answer.
const ATTEMPTS_MAX: usize = 60;

/// Starts all clients. Each ends by itself when the storm is over.
pub(crate) fn start(storm: &Arc<Storm>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for person in 0..storm.people.len() {
        let random = |client: u64| Random::new(storm.seed, 1_000 + 100 * person as u64 + client);
        tasks.spawn(proposals::run(storm.clone(), person, random(1)));
        tasks.spawn(proposals::run(storm.clone(), person, random(2)));
        tasks.spawn(decisions::run(storm.clone(), person, random(3)));
        tasks.spawn(decisions::run(storm.clone(), person, random(8)));
        tasks.spawn(walks::run(storm.clone(), person, random(4)));
        tasks.spawn(endpoints::run(storm.clone(), person, random(5)));
        tasks.spawn(revocations::run(storm.clone(), person, random(6)));
        tasks.spawn(imports::run(storm.clone(), person, random(7)));
    }
    tasks.spawn(floods::run(storm.clone(), 0, Random::new(storm.seed, 900)));
    tasks
}

/// A short rest between two operations of a client.
async fn rest(random: &Random, longest_ms: u64) {
    tokio::time::sleep(Duration::from_millis(random.between(longest_ms / 5, longest_ms))).await;
}

/// Repeats a request on one process after the other until it has a definite answer: neither lost nor "later".
async fn send_until_answered(storm: &Storm, first: usize, call: &Call) -> Option<Answer> {
    for attempt in 0..ATTEMPTS_MAX {
        match send(storm, first + attempt, call).await {
            Some(answer) if answer.status == 429 => {
                tokio::time::sleep(answer.retry_after()).await;
            }
            Some(answer) => return Some(answer),
            None => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
    storm.history.violated(format!("no process answers {} {}", call.method, call.path));
    None
}
