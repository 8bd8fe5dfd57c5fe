//! After the storm the clocks are still wrong, and nothing else is: the rate limit is exact, and each event is delivered
//! exactly once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::deliveries::{events, received};
use crate::Storm;
use crate::work::floods::{REQUESTS, WINDOW, flood};
use crate::work::proposals::{proposal, resolve};

const PROPOSALS: usize = 30;
const ROUNDS: usize = 20;
/// How long deliveries may take on a busy machine.
const DELIVERY_MAX: Duration = Duration::from_secs(30);

pub(crate) async fn calm(storm: &Arc<Storm>) -> Result<()> {
    exact_limit(storm).await?;
    exactly_once(storm).await
}

/// Of three times as many requests as the limit allows, over all processes, exactly the limit is accepted.
async fn exact_limit(storm: &Arc<Storm>) -> Result<()> {
    let mut measured = 0;
    for key in &storm.people[0].unused {
        let began = Instant::now();
        let flooded = flood(storm, key, 3 * REQUESTS, WINDOW).await;
        let accepted = flooded.accepted.len();
        // On a very busy machine a second window may begin, or an answer may be missing.
        let is_incomplete = flooded.unanswered > 0 && accepted <= REQUESTS;
        if began.elapsed() >= WINDOW || is_incomplete {
            continue;
        }
        measured += 1;
        if accepted != REQUESTS {
            storm
                .history
                .violated(format!("{accepted} of {REQUESTS} requests were accepted in calm"));
        }
        storm.history.count("exact limit over all processes");
        if measured == ROUNDS {
            break;
        }
    }
    ensure!(measured == ROUNDS, "requests were not answered within the window of the rate limit");
    Ok(())
}

async fn exactly_once(storm: &Storm) -> Result<()> {
    let person = 0;
    let before = events(storm, person).await?;
    for number in 0..PROPOSALS {
        let (_, call) = proposal(storm, person, &format!("calm-{number}"), false);
        if resolve(storm, number, &call).await.is_none() {
            storm.history.violated("a proposal was not answered in calm");
        }
    }
    let new: BTreeSet<String> = events(storm, person).await?.difference(&before).cloned().collect();
    ensure!(new.len() >= PROPOSALS, "{PROPOSALS} proposals made {} events", new.len());
    let began = Instant::now();
    while new.iter().any(|it| !received(storm, person).contains_key(it)) {
        if began.elapsed() > DELIVERY_MAX {
            storm.history.violated("an event was not delivered in calm");
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    // A second delivery of the same event would come from another process at its next poll.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let received = received(storm, person);
    for event in new.iter().filter(|it| received.get(*it).is_some_and(|times| *times > 1)) {
        storm.history.violated(format!("event {event} was delivered twice in calm"));
    }
    Ok(())
}
