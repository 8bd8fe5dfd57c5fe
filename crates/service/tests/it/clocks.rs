//! A clock that was set back: times stored before must not block anything until the clock has caught up.

use db::params;
use service::ingest::connections;
use service::platform::idempotency::{self, Request, StoredResponse};
use service::{Error, insights, webhooks};
use testkit::World;
use testkit::draft::{checking, statement, txn};

use crate::connections::ConnectionsFixture;
use crate::webhooks::Fixture;

const HOUR: u64 = 3_600;
const YEAR: i64 = 365 * 86_400 * 1_000_000;

/// Sets a time column as a process with another clock would have.
async fn set(world: &World, statement: &'static str, at: i64) {
    let write = move |tx: &mut db::Tx<'_>| Ok::<_, Error>(tx.execute(statement, params![at])?);
    assert!(world.app.db.write(write).await.unwrap() > 0);
}

fn later(world: &World, microseconds: i64) -> i64 {
    world.clock.now().as_microsecond() + microseconds
}

#[tokio::test]
async fn a_connection_whose_next_sync_is_a_year_away_is_synced() {
    let (fixture, _) = ConnectionsFixture::synced().await;
    fixture.run_due_syncs().await;
    let requests = fixture.request_count();
    let far = later(&fixture.world, YEAR);
    set(&fixture.world, "update connections set next_sync_at = $1", far).await;
    set(&fixture.world, "update connections set leased_until = $1", far).await;
    assert_eq!(connections::sync_once(&fixture.world.app).await.unwrap(), 1);
    assert_eq!(fixture.request_count(), requests + 1);
    // A current lease is respected.
    let soon = later(&fixture.world, 300 * 1_000_000);
    set(&fixture.world, "update connections set leased_until = $1", soon).await;
    set(&fixture.world, "update connections set next_sync_at = $1", later(&fixture.world, 0)).await;
    assert_eq!(connections::sync_once(&fixture.world.app).await.unwrap(), 0);
}

#[tokio::test]
async fn an_idempotency_key_whose_lease_ends_in_an_hour_is_free() {
    let world = World::new().await;
    let robin = world.someone().await;
    let run = async || {
        let (key, scope) = ("a".to_owned(), "POST /v1/goals".to_owned());
        let request = Request { key, scope, fingerprint: [1; 32] };
        let work = |_: &mut db::Tx<'_>| Ok(StoredResponse { status: 201, body: "{}".to_owned() });
        idempotency::run(&world.app, &robin.caller, request, work, |_| None).await
    };
    run().await.unwrap();
    let claimed = "update idempotency_keys set status = null, body = null, leased_until = $1";
    set(&world, claimed, later(&world, 60_000_000)).await;
    assert!(matches!(run().await, Err(Error::InProgress { .. })), "a current claim is respected");
    set(&world, claimed, later(&world, 3_660_000_000)).await;
    assert!(!run().await.unwrap().replayed);
}

#[tokio::test]
async fn deliveries_due_in_the_future_are_sent() {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    fixture.world.advance_seconds(HOUR);
    fixture.import_transaction("a").await;
    fixture.world.clock.set_back(std::time::Duration::from_secs(HOUR));
    assert_eq!(fixture.deliver().await, 0);
    webhooks::delete_expired_once(&fixture.world.app).await.unwrap();
    assert_eq!(fixture.deliver().await, 1);
    // A retry that is due within hours still waits.
    fixture.import_transaction("b").await;
    let wait = "update deliveries set attempts = 1, due_at = $1 where due_at is not null";
    set(&fixture.world, wait, later(&fixture.world, 10 * 3_600 * 1_000_000)).await;
    webhooks::delete_expired_once(&fixture.world.app).await.unwrap();
    assert_eq!(fixture.deliver().await, 0);
    set(&fixture.world, wait, later(&fixture.world, YEAR)).await;
    webhooks::delete_expired_once(&fixture.world.app).await.unwrap();
    assert_eq!(fixture.deliver().await, 1);
}

#[tokio::test]
async fn insights_dated_in_the_future_are_recomputed() {
    let world = World::new().await;
    let robin = world.someone().await;
    let new = txn("2026-03-09", -100, "KROGER #339").id("a");
    robin.import(statement([checking("A").with(new)])).await;
    set(&world, "update insight_work set wanted_at = $1", later(&world, YEAR)).await;
    assert_eq!(insights::pipeline::run_once(&world.app).await.unwrap(), 0);
    insights::pipeline::queue_new_day_once(&world.app).await.unwrap();
    assert_eq!(insights::pipeline::run_once(&world.app).await.unwrap(), 1);
    assert_eq!(insights::pipeline::queue_new_day_once(&world.app).await.unwrap(), 0);
    set(&world, "update insights set day_ends_at = $1", later(&world, YEAR)).await;
    assert_eq!(insights::pipeline::queue_new_day_once(&world.app).await.unwrap(), 1);
    assert_eq!(insights::pipeline::run_once(&world.app).await.unwrap(), 1);
    assert_eq!(insights::pipeline::queue_new_day_once(&world.app).await.unwrap(), 0);
}
