//! Processes that die, stop or are paused: their claims end with them, and what they write afterwards is refused.

use std::sync::Arc;

use base::ConnectionId;
use service::ingest::connections;
use service::ingest::imports::files::{self, State};
use service::platform::processes;
use service::{App, Error, Result};
use testkit::World;
use testkit::simplefin::Fault;
use tokio::sync::Notify;

use crate::connections::ConnectionsFixture;
use crate::idempotency::{claimed, make, request};
use crate::imports::fencing;

/// How long a process counts as alive without news.
const ALIVE_SECONDS: u64 = 10;

/// Another process, which has registered.
async fn registered(world: &World) -> App {
    let app = world.other_process().await;
    processes::register(&app).await.unwrap();
    app
}

fn retry_after<T: std::fmt::Debug>(outcome: Result<T>) -> i64 {
    match outcome {
        Err(Error::InProgress { retry_after_seconds }) => retry_after_seconds,
        other => panic!("not in progress: {other:?}"),
    }
}

#[tokio::test]
async fn a_retry_after_a_crash_succeeds_as_soon_as_the_process_counts_as_dead() {
    let world = World::new().await;
    let robin = world.someone().await;
    let (dying, other) = (registered(&world).await, registered(&world).await);
    let running = make(&dying, &robin.caller, request("a"), "Boat");
    let crashed = claimed(&world, &dying, "a", running).await;
    let retry = || make(&other, &robin.caller, request("a"), "Boat");
    assert_eq!(retry_after(retry().await), 1, "it may be running");
    world.advance_seconds(6);
    let wait = retry_after(retry().await);
    assert_eq!(wait, 4, "there was no news for six seconds");
    world.advance_seconds(wait as u64);
    assert!(!retry().await.unwrap().replayed);
    // The process was only paused: its change is refused, and it gets the stored response when it asks again.
    assert_eq!(retry_after(crashed.await), 1);
    assert!(make(&dying, &robin.caller, request("a"), "Boat").await.unwrap().replayed);
    let goals = service::ledger::goals::list(&other, &robin.caller, None).await.unwrap();
    assert_eq!(goals.len(), 1);
}

#[tokio::test]
async fn a_claim_of_a_process_that_lives_is_respected_until_its_lease_ends() {
    let world = World::new().await;
    let robin = world.someone().await;
    let (slow, other) = (registered(&world).await, registered(&world).await);
    let running = make(&slow, &robin.caller, request("a"), "Boat");
    let running = claimed(&world, &slow, "a", running).await;
    let retry = || make(&other, &robin.caller, request("a"), "Boat");
    for _ in 0..7 {
        world.advance_seconds(8);
        processes::renew_once(&slow).await.unwrap();
        assert_eq!(retry_after(retry().await), 1);
    }
    world.advance_seconds(4);
    assert!(!retry().await.unwrap().replayed);
    assert!(running.await.is_err());
}

#[tokio::test]
async fn the_claims_of_a_process_that_stops_end_at_once() {
    let world = World::new().await;
    let robin = world.someone().await;
    let (stopping, other) = (registered(&world).await, registered(&world).await);
    let running = make(&stopping, &robin.caller, request("a"), "Boat");
    let running = claimed(&world, &stopping, "a", running).await;
    processes::leave(&stopping).await.unwrap();
    // Otherwise both claims would have the same lease, which real time rules out.
    world.clock.advance(std::time::Duration::from_micros(1));
    assert!(!make(&other, &robin.caller, request("a"), "Boat").await.unwrap().replayed);
    assert!(running.await.is_err());
}

#[tokio::test]
async fn a_process_whose_row_is_gone_registers_again() {
    let world = World::new().await;
    let app = registered(&world).await;
    let count = async || {
        let sql = "select cast(count(*) as bigint) from processes";
        world.app.db.first(sql, &[], |row| row.get::<i64>(0)).await.unwrap().unwrap()
    };
    assert_eq!(count().await, 1);
    processes::leave(&app).await.unwrap();
    assert_eq!(count().await, 0);
    processes::renew_once(&app).await.unwrap();
    assert_eq!(count().await, 1);
    // Rows of processes that ended long ago are deleted by others.
    world.advance_seconds(3_700);
    let other = registered(&world).await;
    assert_eq!(count().await, 1);
    processes::leave(&other).await.unwrap();
}

#[tokio::test]
async fn a_file_of_a_process_that_died_can_be_imported_after_seconds() {
    let world = World::new().await;
    let (robin, id) = fencing::staged(&world).await;
    let (dying, other) = (registered(&world).await, registered(&world).await);
    let crashed = fencing::paused(&world, &dying, &robin.caller, id).await;
    assert!(files::commit(&other, &robin.caller, id).await.is_err());
    let state = async || files::get(&other, &robin.caller, id).await.unwrap().state;
    assert_eq!(state().await, State::Committing);
    world.advance_seconds(ALIVE_SECONDS);
    assert_eq!(state().await, State::Open);
    let committed = files::commit(&other, &robin.caller, id).await.unwrap();
    assert!(crashed.await.is_err(), "it was only paused, and wrote after it had lost the file");
    fencing::is_imported_once(&world, &robin, &committed).await;
}

/// A sync whose process is paused while the bank answers.
async fn while_paused(during: impl AsyncFnOnce(&ConnectionsFixture, ConnectionId)) {
    let (fixture, id) = ConnectionsFixture::synced().await;
    fixture.run_due_syncs().await;
    let paused = registered(&fixture.world).await;
    let (requests, release) = (fixture.request_count(), Arc::new(Notify::new()));
    fixture.fail_next(Fault::Held(release.clone()));
    let robin = fixture.caller();
    let other = async {
        while fixture.request_count() == requests {
            tokio::task::yield_now().await;
        }
        assert!(fixture.try_sync(id).await.is_err(), "the paused process may be alive");
        during(&fixture, id).await;
        release.notify_one();
    };
    let (synced, ()) = tokio::join!(connections::sync(&paused, &robin, id), other);
    let refused = synced.unwrap_err().to_string();
    assert!(refused.contains("nothing was imported"), "{refused}");
}

#[tokio::test]
async fn a_sync_of_a_process_that_died_is_repeated_after_seconds() {
    while_paused(async |fixture, id| {
        fixture.world.advance_seconds(ALIVE_SECONDS);
        fixture.sync(id).await;
    })
    .await;
}

#[tokio::test]
async fn a_sync_that_outlasts_its_lease_is_refused_after_another_one() {
    while_paused(async |fixture, id| {
        fixture.world.advance_seconds(301);
        fixture.sync(id).await;
    })
    .await;
}
