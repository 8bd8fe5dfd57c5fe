//! Every committed event reached its endpoint, nothing else did, and a repeated delivery has the same body.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::Result;
use base::EventId;
use bytes::Bytes;
use db::params;

use crate::Storm;
use crate::history::lock;

/// How long a delivery that was in flight when its endpoint was deleted or moved may take to arrive on a busy machine.
const IN_FLIGHT_MAX: Duration = Duration::from_secs(5);

pub(super) async fn check(storm: &Storm) -> Result<()> {
    for person in 0..storm.people.len() {
        let received = received(storm, person);
        let events = events(storm, person).await?;
        for missing in events.iter().filter(|it| !received.contains_key(*it)) {
            storm.history.violated(format!("event {missing} never reached its endpoint"));
        }
        for unknown in received.keys().filter(|it| !events.contains(*it)) {
            storm.history.violated(format!("event {unknown} was sent and is not stored"));
        }
        for (event, times) in &received {
            storm.history.count("delivery received");
            if *times > 1 {
                storm.history.count_many("delivery sent again after its lease ended", times - 1);
                storm.history.record(serde_json::json!({ "event": event, "deliveries": times }));
            }
        }
    }
    check_left_addresses(storm);
    Ok(())
}

/// The events that reached the person's endpoint, and how often.
pub(super) fn received(storm: &Storm, person: usize) -> BTreeMap<String, u64> {
    let path = storm.people[person].receiver_path();
    let mut found: BTreeMap<String, (u64, Bytes)> = BTreeMap::new();
    for request in storm.receiver.requests().into_iter().filter(|it| it.path == path) {
        let id = request.header("webhook-id").to_owned();
        let (times, body) = found.entry(id.clone()).or_insert((0, request.body.clone()));
        if *body != request.body {
            storm.history.violated(format!("event {id} was sent with two different bodies"));
        }
        *times += 1;
    }
    found.into_iter().map(|(id, (times, _))| (id, times)).collect()
}

/// The person's events since the endpoint was created.
pub(super) async fn events(storm: &Storm, person: usize) -> Result<BTreeSet<String>> {
    let person = &storm.people[person];
    let text = "select id from events where user_id = $1";
    let read = |row: &db::Row<'_>| row.get::<EventId>(0);
    let stored = storm.app.db.all(text, params![person.user], read).await?;
    let ids = stored.iter().map(EventId::to_string);
    Ok(ids.filter(|it| !person.earlier_events.contains(it)).collect())
}

/// Nothing arrived at an endpoint after its deletion was answered, nor at the old address after it was moved.
fn check_left_addresses(storm: &Storm) {
    let requests = storm.receiver.requests();
    for (path, left_at) in lock(&storm.left_addresses).iter() {
        let allowed_until = storm.history.may_finish_until(*left_at, IN_FLIGHT_MAX);
        for request in requests.iter().filter(|it| it.path == *path) {
            storm.history.count("delivery to an endpoint that was deleted or moved later");
            if request.at > allowed_until {
                let late = request.at.duration_since(*left_at).as_secs_f32();
                storm.history.violated(format!(
                    "{path} got an event {late:.1} s after it was deleted or moved"
                ));
            }
        }
    }
}
