//! Programs that propose actions, each with an Idempotency-Key, often twice at the same time on two processes.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::{ATTEMPTS_MAX, rest};
use crate::Storm;
use crate::client::{Call, send};
use crate::history::lock;
use crate::people::Proposed;
use crate::random::Random;

/// A proposal as it is sent, and what the answers said.
pub(crate) struct Attempted {
    pub(crate) person: usize,
    /// The title, by which the action is found in the database.
    pub(crate) title: String,
    pub(crate) call: Call,
    /// The action that the answers named; none if there was no definite answer.
    pub(crate) action_id: Option<String>,
}

pub(crate) async fn run(storm: Arc<Storm>, person: usize, random: Random) {
    let name = random.below(u64::MAX);
    for number in 0.. {
        if storm.are_clients_done() {
            break;
        }
        propose(&storm, person, &format!("{name:x}-{number}"), &random).await;
        rest(&random, 600).await;
    }
}

async fn propose(storm: &Storm, person: usize, name: &str, random: &Random) {
    let is_trade = random.happens(60);
    let (title, call) = proposal(storm, person, name, is_trade);
    let first = random.index(storm.servers.len());
    let second = first + 1 + random.index(storm.servers.len() - 1);
    let answers = match random.happens(50) {
        true => {
            let (one, two) =
                tokio::join!(resolve(storm, first, &call), resolve(storm, second, &call));
            vec![one, two]
        }
        false => vec![resolve(storm, first, &call).await],
    };
    let mut found: Option<Proposed> = None;
    for (action_id, thread_id) in answers.into_iter().flatten() {
        if let Some(known) = found.as_ref().filter(|it| it.action_id != action_id) {
            storm.history.violated(format!(
                "one Idempotency-Key made two actions: {} and {action_id}",
                known.action_id
            ));
        }
        found = Some(Proposed { person, action_id, thread_id, is_trade });
    }
    let action_id = found.as_ref().map(|it| it.action_id.clone());
    lock(&storm.attempted).push(Attempted { person, title, call: call.clone(), action_id });
    let Some(proposed) = found else { return };
    storm.history.count("proposal acknowledged");
    lock(&storm.acknowledged).push(proposed.clone());
    if random.happens(15) {
        repeat(storm, first + 1, &call, &proposed).await;
    }
    if !is_trade && random.happens(40) {
        cancel(storm, &proposed, random).await;
    } else {
        lock(&storm.people[person].undecided).push_back(proposed);
    }
}

/// The title and the request of a proposal with this name.
pub(crate) fn proposal(storm: &Storm, person: usize, name: &str, is_trade: bool) -> (String, Call) {
    let owner = &storm.people[person];
    let title = format!("Storm {name}");
    let body = match is_trade {
        true => json!({
            "action_type": "paper_trade.create",
            "payload": {
                "account_id": owner.paper_account, "symbol": "AAPL", "side": "buy", "quantity": 1,
            },
            "description": title,
        }),
        false => json!({
            "action_type": "custom",
            "payload": { "title": "Look at this", "summary_markdown": "Nothing to do." },
            "description": title,
        }),
    };
    let call = Call::api("POST", "/v1/actions", &owner.writer).json(&body).once(name);
    (title, call)
}

/// Repeats a proposal until it has a definite answer, and returns the ids of the action and of its thread.
pub(crate) async fn resolve(storm: &Storm, first: usize, call: &Call) -> Option<(String, String)> {
    let mut is_any_lost = false;
    for attempt in 0..ATTEMPTS_MAX {
        let Some(answer) = send(storm, first + attempt, call).await else {
            is_any_lost = true;
            tokio::time::sleep(Duration::from_millis(200)).await;
            continue;
        };
        let body = answer.json();
        match answer.status {
            409 if body["error"]["code"] == "IDEMPOTENCY_IN_PROGRESS" => {
                storm.history.count("idempotent request found its twin in progress");
                tokio::time::sleep(answer.retry_after()).await;
            }
            429 => tokio::time::sleep(answer.retry_after()).await,
            _ if answer.is_success() => {
                if answer.header("idempotent-replayed") == "true" {
                    storm.history.count("idempotent request got the stored response");
                    if is_any_lost {
                        storm.history.count("committed change whose answer was lost");
                    }
                }
                let text = |name: &str| body["data"][name].as_str().map(str::to_owned);
                return text("action_id").zip(text("thread_id"));
            }
            status => {
                storm
                    .history
                    .violated(format!("a valid proposal was refused with {status}: {body}"));
                return None;
            }
        }
    }
    None
}

async fn repeat(storm: &Storm, server: usize, call: &Call, proposed: &Proposed) {
    if let Some((again, _)) = resolve(storm, server, call).await
        && again != proposed.action_id
    {
        storm.history.violated(format!("a repeated proposal made another action, {again}"));
    }
}

async fn cancel(storm: &Storm, proposed: &Proposed, random: &Random) {
    let path = format!("/v1/actions/{}/cancel", proposed.action_id);
    let call = Call::api("POST", path, &storm.people[proposed.person].writer);
    let call = call.once(&format!("cancel {}", proposed.action_id).replace(' ', "-"));
    let first = random.index(storm.servers.len());
    if let Some(action) = resolve_status(storm, first, &call).await {
        storm.history.count("proposal withdrawn");
        lock(&storm.expected_status).push((proposed.action_id.clone(), action));
    }
}

/// Repeats a change of an action until it has a definite answer, and returns the status that it leads to.
async fn resolve_status(storm: &Storm, first: usize, call: &Call) -> Option<String> {
    for attempt in 0..ATTEMPTS_MAX {
        match send(storm, first + attempt, call).await {
            Some(answer) if answer.is_success() => {
                return answer.json()["data"]["status"].as_str().map(str::to_owned);
            }
            Some(answer) if matches!(answer.status, 409 | 429) => {
                tokio::time::sleep(answer.retry_after()).await;
            }
            Some(answer) => {
                let text = answer.text();
                storm.history.violated(format!("{} was refused: {text}", call.path));
                return None;
            }
            None => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
    None
}
