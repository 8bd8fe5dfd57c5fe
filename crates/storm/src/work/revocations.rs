//! People who revoke API keys. A second after the answer, no process accepts the key.

use std::sync::Arc;
use std::time::Duration;

use super::rest;
use crate::Storm;
use crate::client::{Call, send};
use crate::history::lock;
use crate::people::REVOKED_KEYS;
use crate::random::Random;

/// How soon a revocation reaches every process.
const REACHES_ALL_WITHIN: Duration = Duration::from_secs(1);

pub(crate) async fn run(storm: Arc<Storm>, person: usize, random: Random) {
    let rest_ms = longest_rest_ms(storm.length);
    while !storm.are_clients_done() {
        let key = lock(&storm.people[person].short_lived).pop();
        let Some((id, secret)) = key else { return };
        // Every process has used the key, and so may remember it.
        use_everywhere(&storm, &secret, |status| match status {
            401 => Some("a valid key was refused"),
            _ => None,
        })
        .await;
        if revoke(&storm, person, &id.to_string(), &random).await {
            storm.history.count("key revoked");
            tokio::time::sleep(REACHES_ALL_WITHIN).await;
            expect_refused(&storm, &secret).await;
            lock(&storm.revoked).push(secret);
        }
        rest(&random, rest_ms).await;
    }
}

/// A rest after each revocation with which the keys last for the whole storm: half of the longest rest on average.
fn longest_rest_ms(length: Duration) -> u64 {
    let share = length.as_millis() / REVOKED_KEYS as u128;
    u64::try_from(2 * share).unwrap_or(u64::MAX).max(2_500)
}

/// A revoked key is refused by every process.
pub(crate) async fn expect_refused(storm: &Storm, secret: &str) {
    // Many wrong keys from one address are refused with 429 without a look at them.
    use_everywhere(storm, secret, |status| match status {
        401 | 429 => None,
        _ => Some("a revoked key was accepted"),
    })
    .await;
}

async fn use_everywhere(storm: &Storm, secret: &str, judge: impl Fn(u16) -> Option<&'static str>) {
    for server in 0..storm.servers.len() {
        let Some(answer) = send(storm, server, &Call::api("GET", "/v1/me", secret)).await else {
            continue;
        };
        if let Some(wrong) = judge(answer.status) {
            storm.history.violated(format!("{wrong} by process {server} ({})", answer.status));
        }
    }
}

/// Revokes a key on the page; true once that was answered.
async fn revoke(storm: &Storm, person: usize, id: &str, random: &Random) -> bool {
    let owner = &storm.people[person];
    let form = owner.form(format!("/settings/keys/{id}/revoke"), &[]);
    let first = random.index(storm.servers.len());
    for attempt in 0..30 {
        match send(storm, first + attempt, &form).await {
            // "Not found" means that an earlier request revoked it and its answer was lost.
            Some(answer) if answer.status == 303 || answer.status == 404 => {
                if answer.header("location").starts_with("/sign-in") {
                    storm.history.violated("a valid session was refused");
                    return false;
                }
                return true;
            }
            Some(answer) if answer.status == 429 => {
                tokio::time::sleep(answer.retry_after()).await;
            }
            Some(answer) => {
                storm.history.violated(format!("a key cannot be revoked: {}", answer.status));
                return false;
            }
            None => tokio::time::sleep(Duration::from_millis(300)).await,
        }
    }
    false
}
