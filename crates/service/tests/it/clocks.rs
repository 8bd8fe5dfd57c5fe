//! A clock that was set back: what was stored before it must keep nobody waiting until the clock has caught up.

use db::params;
use service::ingest::connections;
use service::platform::idempotency::{self, Request, StoredResponse};
use service::{Error, insights, webhooks};
use testkit::World;
use testkit::draft::{checking, statement, txn};

use crate::connections::Home;
use crate::webhooks::Fixture;

const HOUR: u64 = 3_600;
const YEAR: i64 = 365 * 86_400 * 1_000_000;

/// Changes rows as a process with another clock would have.
async fn set(world: &World, statement: &'static str, at: i64) {
    let write = move |tx: &mut db::Tx<'_>| Ok::<_, Error>(tx.execute(statement, params![at])?);
    assert!(world.app.db.write(write).await.unwrap() > 0);
}

fn later(world: &World, microseconds: i64) -> i64 {
    world.clock.now().as_microsecond() + microseconds
}

#[tokio::test]
async fn a_connection_goes_on_whose_next_sync_is_years_away() {
    let (home, _) = Home::synced().await;
    home.steps().await;
    let asked = home.asked();
    let far = later(&home.world, YEAR);
    set(&home.world, "update connections set next_sync_at = $1", far).await;
    set(&home.world, "update connections set leased_until = $1", far).await;
    assert_eq!(connections::sync_once(&home.world.app).await.unwrap(), 1);
    assert_eq!(home.asked(), asked + 1);
    // A lease that is under way stays.
    let soon = later(&home.world, 300 * 1_000_000);
    set(&home.world, "update connections set leased_until = $1", soon).await;
    set(&home.world, "update connections set next_sync_at = $1", later(&home.world, 0)).await;
    assert_eq!(connections::sync_once(&home.world.app).await.unwrap(), 0);
}

#[tokio::test]
async fn an_idempotency_key_is_free_whose_lease_is_an_hour_away() {
    let world = World::new().await;
    let robin = world.someone().await;
    let run = async || {
        let (key, scope) = ("a".to_owned(), "POST /v1/goals".to_owned());
        let request = Request { key, scope, fingerprint: [1; 32] };
        let work = |_: &mut db::Tx<'_>| Ok(StoredResponse { status: 201, body: "{}".to_owned() });
        idempotency::run(&world.app, &robin.caller, request, work, |_| None).await
    };
    run().await.unwrap();
    let dead = "update idempotency_keys set status = null, body = null, leased_until = $1";
    set(&world, dead, later(&world, 60_000_000)).await;
    assert!(matches!(run().await, Err(Error::Conflict { .. })), "a claim under way is respected");
    set(&world, dead, later(&world, 3_660_000_000)).await;
    assert!(!run().await.unwrap().replayed);
}

#[tokio::test]
async fn deliveries_of_the_future_are_sent() {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    fixture.world.advance_seconds(HOUR);
    fixture.import_transaction("a").await;
    fixture.world.clock.set_back(std::time::Duration::from_secs(HOUR));
    assert_eq!(fixture.deliver().await, 0);
    webhooks::delete_expired_once(&fixture.world.app).await.unwrap();
    assert_eq!(fixture.deliver().await, 1);
    // A retry that waits for its time does so.
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
async fn figures_of_the_future_are_worked_out_anew() {
    let world = World::new().await;
    let robin = world.someone().await;
    let new = txn("2026-03-09", -100, "KROGER #339").id("a");
    robin.import(statement([checking("A").with(new)])).await;
    set(&world, "update insight_work set wanted_at = $1", later(&world, YEAR)).await;
    assert_eq!(insights::pipeline::run_once(&world.app).await.unwrap(), 0);
    insights::pipeline::queue_new_day_once(&world.app).await.unwrap();
    assert_eq!(insights::pipeline::run_once(&world.app).await.unwrap(), 1);
    assert_eq!(insights::pipeline::queue_new_day_once(&world.app).await.unwrap(), 0);
    set(&world, "update insights set computed_on = $1", 90_000).await;
    assert_eq!(insights::pipeline::queue_new_day_once(&world.app).await.unwrap(), 1);
    assert_eq!(insights::pipeline::run_once(&world.app).await.unwrap(), 1);
    assert_eq!(insights::pipeline::queue_new_day_once(&world.app).await.unwrap(), 0);
}
