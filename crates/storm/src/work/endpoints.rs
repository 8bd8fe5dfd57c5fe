//! Operators who create webhook endpoints, move them to another address and delete them. Nothing may be sent to an old
//! address or a deleted endpoint after that was answered, except by a process that was paused while it sent.

use std::sync::Arc;
use std::time::Instant;

use serde_json::json;

use super::{rest, send_until_answered};
use crate::Storm;
use crate::client::Call;
use crate::history::lock;
use crate::random::Random;

pub(crate) async fn run(storm: Arc<Storm>, person: usize, random: Random) {
    for number in 0.. {
        if storm.are_clients_done() {
            break;
        }
        replace(&storm, person, number, &random).await;
        rest(&random, 1_500).await;
    }
}

async fn replace(storm: &Storm, person: usize, number: usize, random: &Random) {
    let owner = &storm.people[person];
    let path = format!("/deleted/{person}/{number}");
    let body = json!({ "url": format!("{}{path}", storm.receiver_url) });
    let create = Call::api("POST", "/v1/webhooks/endpoints", &owner.operator).json(&body);
    let create = create.once(&format!("endpoint-{person}-{number}"));
    let Some(id) = until_created(storm, &create, random).await else { return };
    storm.history.count("webhook endpoint created");
    rest(random, 4_000).await;
    let moved = format!("{path}/moved");
    if random.happens(50) && move_to(storm, person, &id, &moved, random).await {
        storm.history.count("webhook endpoint moved");
        lock(&storm.left_addresses).push((path.clone(), Instant::now()));
        rest(random, 4_000).await;
    }
    let delete = Call::api("DELETE", format!("/v1/webhooks/endpoints/{id}"), &owner.operator);
    let first = random.index(storm.servers.len());
    let Some(answer) = send_until_answered(storm, first, &delete).await else { return };
    // An answer that was lost leaves "not found" to the next request.
    if answer.is_success() || answer.status == 404 {
        storm.history.count("webhook endpoint deleted");
        lock(&storm.left_addresses).extend([path, moved].map(|it| (it, Instant::now())));
    } else {
        storm.history.violated(format!("an endpoint cannot be deleted: {}", answer.text()));
    }
}

/// Moves an endpoint to another path; true once that was answered.
async fn move_to(storm: &Storm, person: usize, id: &str, path: &str, random: &Random) -> bool {
    let key = &storm.people[person].operator;
    let body = json!({ "url": format!("{}{path}", storm.receiver_url) });
    let change = Call::api("PUT", format!("/v1/webhooks/endpoints/{id}"), key).json(&body);
    let change = change.once(&format!("move-{id}"));
    for attempt in 0..60 {
        let first = random.index(storm.servers.len()) + attempt;
        let Some(answer) = send_until_answered(storm, first, &change).await else { return false };
        match answer.status {
            200 => return true,
            409 => tokio::time::sleep(answer.retry_after()).await,
            _ => {
                let text = answer.text();
                storm.history.violated(format!("an endpoint cannot be moved: {text}"));
                return false;
            }
        }
    }
    false
}

/// Repeats the creation until it is answered, and returns the endpoint's id.
async fn until_created(storm: &Storm, create: &Call, random: &Random) -> Option<String> {
    for attempt in 0..60 {
        let first = random.index(storm.servers.len()) + attempt;
        let answer = send_until_answered(storm, first, create).await?;
        if answer.is_success() {
            let id = answer.json()["data"]["id"].as_str().map(str::to_owned);
            if id.is_none() {
                storm.history.violated(format!("an endpoint without an id: {}", answer.text()));
            }
            return id;
        }
        if answer.status != 409 {
            storm.history.violated(format!("an endpoint was refused: {}", answer.text()));
            return None;
        }
        tokio::time::sleep(answer.retry_after()).await;
    }
    None
}
