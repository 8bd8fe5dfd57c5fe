//! Programs that walk through a list page by page, each page from another process, while the list grows.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::rest;
use crate::Storm;
use crate::client::{Call, send};
use crate::history::lock;
use crate::random::Random;

pub(crate) async fn run(storm: Arc<Storm>, person: usize, random: Random) {
    while !storm.are_clients_done() {
        walk(&storm, person, &random).await;
        rest(&random, 2_000).await;
    }
}

/// Each action that was acknowledged before the walk appears exactly once.
async fn walk(storm: &Storm, person: usize, random: &Random) {
    let known: Vec<String> = {
        let acknowledged = lock(&storm.acknowledged);
        let own = acknowledged.iter().filter(|it| it.person == person);
        own.map(|it| it.action_id.clone()).collect()
    };
    let mut seen = BTreeSet::new();
    let mut cursor = String::new();
    let mut server = random.index(storm.servers.len());
    let mut failures = 0;
    loop {
        let path = match cursor.is_empty() {
            true => "/v1/actions?limit=20".to_owned(),
            false => format!("/v1/actions?limit=20&cursor={cursor}"),
        };
        server += 1;
        let call = Call::api("GET", path, &storm.people[person].reader);
        let answer = match send(storm, server, &call).await {
            Some(answer) if answer.status == 429 => {
                tokio::time::sleep(answer.retry_after()).await;
                continue;
            }
            Some(answer) => answer,
            None if failures > 10 => return,
            None => {
                failures += 1;
                continue;
            }
        };
        if !answer.is_success() {
            let text = answer.text();
            storm.history.violated(format!("a page of a list was refused: {text}"));
            return;
        }
        let body = answer.json();
        for action in body["data"].as_array().into_iter().flatten() {
            let id = action["action_id"].as_str().unwrap_or_default().to_owned();
            if !seen.insert(id.clone()) {
                storm.history.violated(format!("a list showed action {id} twice"));
            }
        }
        match body["pagination"]["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => break,
        }
    }
    for id in known.iter().filter(|it| !seen.contains(*it)) {
        storm.history.violated(format!("a list left out action {id}, which was there before"));
    }
    storm.history.count("list walked to its end");
}
