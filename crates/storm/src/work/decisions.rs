//! People who decide about proposals on the pages, sometimes differently in two windows at once.

use std::sync::Arc;

use super::rest;
use crate::Storm;
use crate::client::{Answer, send};
use crate::history::lock;
use crate::people::{Person, Proposed};
use crate::random::Random;

/// How often a decision is repeated if nobody says what came of it.
const TRIES: usize = 8;

pub(crate) async fn run(storm: Arc<Storm>, person: usize, random: Random) {
    while !storm.are_clients_done() {
        match storm.people[person].next_undecided() {
            Some(proposed) => decide(&storm, &proposed, &random).await,
            None => rest(&random, 300).await,
        }
    }
}

/// Decides until the page says that it is decided, or gives up and leaves it to the check at the end.
async fn decide(storm: &Storm, proposed: &Proposed, random: &Random) {
    let owner = &storm.people[proposed.person];
    let server = random.index(storm.servers.len());
    for attempt in 0..TRIES {
        let page = owner.page(format!("/approvals/{}", proposed.thread_id));
        let Some(page) = send(storm, server + attempt, &page).await else { continue };
        if is_signed_out(storm, &page) {
            return;
        }
        let text = page.text();
        let Some(digest) = hidden_value(&text, "digest") else { return };
        let price = hidden_value(&text, "price").unwrap_or_default();
        let seen = (digest.as_str(), price.as_str());
        let approves = random.happens(65);
        let is_done = if random.happens(25) {
            let (one, two) = tokio::join!(
                submit(storm, (owner, server + attempt), proposed, (seen, true)),
                submit(storm, (owner, server + attempt + 1), proposed, (seen, false))
            );
            if one && two {
                storm.history.violated(format!("{} was approved and rejected", proposed.action_id));
            }
            storm.history.count("opposite decisions at the same time");
            one || two
        } else {
            submit(storm, (owner, server + attempt), proposed, (seen, approves)).await
        };
        if is_done {
            return;
        }
        rest(random, 400).await;
    }
}

/// Sends a decision; true if it was acknowledged.
async fn submit(
    storm: &Storm,
    (owner, server): (&Person, usize),
    proposed: &Proposed,
    ((digest, price), approves): ((&str, &str), bool),
) -> bool {
    let decision = if approves { "approve" } else { "reject" };
    let path = format!("/approvals/{}/decide", proposed.thread_id);
    let fields = [("decision", decision), ("digest", digest), ("price", price)];
    let Some(answer) = send(storm, server, &owner.form(path, &fields)).await else { return false };
    if answer.status != 303 || is_signed_out(storm, &answer) {
        // The page is shown again with the reason: it was decided before, or the price has changed.
        return false;
    }
    storm.history.count(if approves { "proposal approved" } else { "proposal rejected" });
    lock(&storm.decided).push((proposed.clone(), approves));
    true
}

/// Whether a valid session was refused, which must not happen.
fn is_signed_out(storm: &Storm, answer: &Answer) -> bool {
    let is_out = answer.header("location").starts_with("/sign-in");
    if is_out {
        storm.history.violated("a valid session was refused");
    }
    is_out
}

/// The value of a hidden field of a page.
fn hidden_value(page: &str, name: &str) -> Option<String> {
    let rest = page.split_once(&format!("name=\"{name}\" value=\""))?.1;
    rest.split_once('"').map(|(value, _)| value.to_owned())
}
