//! Processes whose clocks are two minutes ahead and two minutes behind. Leases and due times follow the database's time, so
//! nothing happens twice, early or late.

use std::sync::Arc;

use calc::paper::Side;
use service::ingest::connections;
use service::ingest::imports::files;
use service::{App, Error, actions, insights, webhooks};
use testkit::World;
use testkit::draft::{checking, statement, txn};
use testkit::simplefin::Fault;
use tokio::sync::Notify;

use crate::actions::{ActionsFixture, approve, shares};
use crate::connections::ConnectionsFixture;
use crate::idempotency::{claimed, make, request};
use crate::imports::fencing;
use crate::webhooks::Fixture;
use crate::webhooks::fencing::paused;

/// Longer than the leases of a delivery and of an idempotency key.
const OFF_SECONDS: i64 = 120;

/// Two processes, one ahead and one behind.
async fn skewed(world: &World) -> [App; 2] {
    let ahead = world.other_process_at(world.clock.shifted_by(OFF_SECONDS)).await;
    let behind = world.other_process_at(world.clock.shifted_by(-OFF_SECONDS)).await;
    [ahead, behind]
}

fn reversed<T>([one, two]: [T; 2]) -> [T; 2] {
    [two, one]
}

#[tokio::test]
async fn the_time_of_the_database_does_not_follow_a_process() {
    let world = World::new().await;
    for app in skewed(&world).await {
        assert_eq!(app.db.now().await.unwrap(), world.clock.now());
        assert_ne!(app.clock.now(), world.clock.now());
        let times = app.db.write(|tx| {
            tx.prefetch_now();
            tx.first("select id from users limit 1", &[], |_| Ok(()))?;
            Ok::<_, Error>([tx.now()?, tx.now()?])
        });
        assert_eq!(times.await.unwrap(), [world.clock.now(); 2]);
    }
}

/// Without a test's clock, the server's time counts, which is near this machine's, whatever the process believes.
#[tokio::test]
async fn the_time_of_a_server_is_its_own() {
    let database = testkit::Database::migrated().await;
    let db = database.open().await.with_frozen_clock(&base::Clock::System.shifted_by(3_600));
    let here = base::Clock::System.now();
    let there = db.now().await.unwrap();
    let (first, second) = db
        .write(|tx| {
            tx.prefetch_now();
            tx.first("select id from users limit 1", &[], |_| Ok(()))?;
            Ok::<_, db::Error>((tx.now()?, tx.now()?))
        })
        .await
        .unwrap();
    assert!(there <= first && first <= second);
    assert!(second.duration_since(here).as_secs().abs() < 600, "{second} is not near {here}");
}

#[tokio::test]
async fn a_delivery_claimed_by_one_process_is_not_claimed_by_the_other() {
    for order in [std::convert::identity, reversed::<App>] {
        let fixture = Fixture::new().await;
        fixture.receive_only("transaction.created").await;
        let [first, second] = order(skewed(&fixture.world).await);
        fixture.import_transaction("one").await;
        let sending = paused(&first).await;
        fixture.world.advance_seconds(44);
        assert_eq!(webhooks::deliver_once(&second).await.unwrap(), 0, "it was claimed early");
        assert_eq!(sending.await.unwrap(), 1);
        fixture.world.advance_seconds(60);
        assert_eq!(webhooks::deliver_once(&second).await.unwrap(), 0, "it was sent twice");
        assert_eq!(fixture.receiver.requests().len(), 1);
    }
}

#[tokio::test]
async fn an_event_of_one_process_is_delivered_at_once_by_the_other() {
    for order in [std::convert::identity, reversed::<App>] {
        let fixture = Fixture::new().await;
        fixture.receive_only("transaction.created").await;
        let [first, second] = order(skewed(&fixture.world).await);
        let new = txn("2026-03-09", -100, "KROGER #339").id("one");
        let new = statement([checking("A").with(new)]);
        service::ingest::imports::commit(&first, &fixture.person.caller, new).await.unwrap();
        assert_eq!(webhooks::deliver_once(&second).await.unwrap(), 1);
        // A retry is due five seconds later, for both.
        assert_eq!(webhooks::deliver_once(&first).await.unwrap(), 0);
    }
}

#[tokio::test]
async fn a_running_request_is_not_repeated_by_the_other() {
    for order in [std::convert::identity, reversed::<App>] {
        let world = World::new().await;
        let robin = world.someone().await;
        let [first, second] = order(skewed(&world).await);
        let running = make(&first, &robin.caller, request("a"), "Boat");
        let running = claimed(&world, &first, "a", running).await;
        let other = make(&second, &robin.caller, request("a"), "Boat").await;
        assert!(matches!(other, Err(Error::InProgress { .. })), "{other:?}");
        assert!(!running.await.unwrap().replayed);
        assert!(make(&second, &robin.caller, request("a"), "Boat").await.unwrap().replayed);
    }
}

#[tokio::test]
async fn a_file_being_imported_by_one_process_is_left_alone_by_the_other() {
    for order in [std::convert::identity, reversed::<App>] {
        let world = World::new().await;
        let (robin, id) = fencing::staged(&world).await;
        let [first, second] = order(skewed(&world).await);
        let running = fencing::paused(&world, &first, &robin.caller, id).await;
        world.advance_seconds(500);
        let refused = files::commit(&second, &robin.caller, id).await.unwrap_err();
        assert!(refused.to_string().contains("is being imported right now"), "{refused}");
        assert!(files::discard(&second, &robin.caller, id).await.is_err());
        let committed = running.await.unwrap();
        fencing::is_imported_once(&world, &robin, &committed).await;
    }
}

#[tokio::test]
async fn a_bank_is_asked_once_by_both() {
    for order in [std::convert::identity, reversed::<App>] {
        let (fixture, _) = ConnectionsFixture::synced().await;
        fixture.run_due_syncs().await;
        fixture.world.advance_seconds(2 * 86_400);
        let [first, second] = order(skewed(&fixture.world).await);
        let (requests, release) = (fixture.request_count(), Arc::new(Notify::new()));
        fixture.fail_next(Fault::Held(release.clone()));
        let other = async {
            while fixture.request_count() == requests {
                tokio::task::yield_now().await;
            }
            fixture.world.advance_seconds(290);
            assert_eq!(connections::sync_once(&second).await.unwrap(), 0);
            release.notify_one();
        };
        let (synced, ()) = tokio::join!(connections::sync_once(&first), other);
        assert_eq!((synced.unwrap(), fixture.request_count()), (1, requests + 1));
    }
}

#[tokio::test]
async fn a_trade_approved_on_one_process_is_executed_at_once_by_the_other() {
    for order in [std::convert::identity, reversed::<App>] {
        let fixture = ActionsFixture::new().await;
        let [first, second] = order(skewed(&fixture.world).await);
        let trade = fixture.order(Side::Buy, "VTI", shares("1"));
        let trade = fixture.propose(trade).await.unwrap();
        // Without a fresh price the process that approves it cannot execute it, as if it had been killed.
        let price = fixture.price("VTI").await;
        fixture.world.market.set_at("VTI", "50", testkit::at("2026-03-01T15:00:00Z"));
        let waiting = approve(&first, &fixture.session, &trade, Some(price)).await.unwrap();
        assert_eq!(waiting.status, actions::Status::Approved);
        fixture.world.market.set("VTI", "50", None);
        assert_eq!(actions::execute_once(&second).await.unwrap(), 1);
        assert_eq!(fixture.get(trade.id).await.status, actions::Status::Executed);
    }
}

#[tokio::test]
async fn insights_of_one_process_are_recomputed_at_once_by_the_other() {
    for order in [std::convert::identity, reversed::<App>] {
        let world = World::new().await;
        let robin = world.someone().await;
        let [first, second] = order(skewed(&world).await);
        let new = txn("2026-03-09", -100, "KROGER #339").id("a");
        let new = statement([checking("A").with(new)]);
        service::ingest::imports::commit(&first, &robin.caller, new).await.unwrap();
        assert_eq!(insights::pipeline::run_once(&second).await.unwrap(), 1);
        for app in [&first, &second] {
            assert_eq!(insights::pipeline::queue_new_day_once(app).await.unwrap(), 0);
        }
    }
}
