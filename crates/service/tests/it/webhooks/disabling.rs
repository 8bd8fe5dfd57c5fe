//! Endpoints that keep failing are disabled on the fifth day by the clock, whether or not anything is due to them.

use service::webhooks::{self, EndpointStatus};
use testkit::receiver::{Receiver, ScriptedResponse};

use super::{Fixture, body, create};

const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;

/// Waits that cover each retry delay with its jitter.
const RETRIES: [u64; 7] = [6, 331, 1_981, 7_921, 19_801, 39_601, 39_601];

/// Lets one delivery fail at every attempt, which takes about 28 hours.
async fn exhaust_one_delivery(fixture: &Fixture, id: &str) {
    fixture.receiver.respond_with((0..8).map(|_| ScriptedResponse::Status(500)));
    fixture.import_transaction(id).await;
    assert_eq!(fixture.deliver().await, 1);
    for wait in RETRIES {
        fixture.world.advance_seconds(wait);
        assert_eq!(fixture.deliver().await, 1);
    }
}

async fn run_step(fixture: &Fixture) -> usize {
    webhooks::disable_failing_once(&fixture.world.app).await.unwrap()
}

async fn with_one_type() -> Fixture {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    fixture
}

#[tokio::test]
async fn an_endpoint_is_disabled_on_the_fifth_day_although_nothing_is_due() {
    let fixture = with_one_type().await;
    let other = Receiver::start().await;
    let app = &fixture.world.app;
    create(app, &fixture.key.caller, &other.url, &["webhook.endpoint_disabled"]).await.unwrap();
    exhaust_one_delivery(&fixture, "one").await;
    let since = fixture.current_endpoint().await.failing_since.unwrap();
    let elapsed = fixture.world.clock.now().as_second() - since.as_second();
    let until_last_second = 5 * DAY - elapsed as u64 - 1;
    fixture.world.advance_seconds(until_last_second);
    assert_eq!(run_step(&fixture).await, 0);
    assert_eq!(fixture.current_endpoint().await.status, EndpointStatus::Active);
    fixture.world.advance_seconds(1);
    assert_eq!(fixture.deliver().await, 0, "nothing is due");
    assert_eq!(run_step(&fixture).await, 1);
    let now = fixture.current_endpoint().await;
    assert_eq!(
        (now.status, now.disabled_reason.as_deref()),
        (EndpointStatus::Disabled, Some("failing"))
    );
    assert_eq!(fixture.deliver().await, 1);
    let event = body(&other.requests()[0]);
    assert_eq!(
        (&event["type"], &event["data"]["reason"]),
        (&serde_json::json!("webhook.endpoint_disabled"), &serde_json::json!("failing"))
    );
    assert_eq!(run_step(&fixture).await, 0);
}

#[tokio::test]
async fn deliveries_that_wait_when_an_endpoint_is_disabled_have_failed() {
    let fixture = with_one_type().await;
    exhaust_one_delivery(&fixture, "one").await;
    fixture.world.advance_seconds(3 * DAY + 17 * HOUR);
    fixture.receiver.respond_with((0..8).map(|_| ScriptedResponse::Status(500)));
    fixture.import_transaction("late").await;
    assert_eq!(fixture.deliver().await, 1);
    fixture.world.advance_seconds(5);
    assert_eq!(run_step(&fixture).await, 0);
    fixture.world.advance_seconds(6 * HOUR);
    assert_eq!(run_step(&fixture).await, 1);
    assert_eq!(fixture.deliver().await, 0);
    let page = service::platform::cursors::Page { cursor: None, limit: 100 };
    let failed = webhooks::list_failed(&fixture.world.app, &fixture.key.caller, None, page).await;
    assert_eq!(failed.unwrap().deliveries.len(), 2);
}

#[tokio::test]
async fn an_endpoint_that_recovered_is_not_disabled() {
    let fixture = with_one_type().await;
    exhaust_one_delivery(&fixture, "one").await;
    // A success ends the failure, and one later failure is no exhausted delivery.
    fixture.import_transaction("two").await;
    assert_eq!(fixture.deliver().await, 1);
    fixture.receiver.respond_with([ScriptedResponse::Status(500)]);
    fixture.import_transaction("three").await;
    assert_eq!(fixture.deliver().await, 1);
    assert!(fixture.current_endpoint().await.failing_since.is_some());
    fixture.world.advance_seconds(6 * DAY);
    assert_eq!(run_step(&fixture).await, 0);
    assert_eq!(fixture.current_endpoint().await.status, EndpointStatus::Active);
}

#[tokio::test]
async fn an_endpoint_without_an_exhausted_delivery_is_not_disabled() {
    let fixture = with_one_type().await;
    fixture.receiver.respond_with([ScriptedResponse::Status(500)]);
    fixture.import_transaction("one").await;
    assert_eq!(fixture.deliver().await, 1);
    // The server was down for six days, so that most of the attempts are still to be made.
    fixture.world.advance_seconds(6 * DAY);
    assert_eq!(run_step(&fixture).await, 0);
    assert_eq!(fixture.deliver().await, 1);
    assert_eq!(fixture.current_endpoint().await.status, EndpointStatus::Active);
    assert_eq!(fixture.current_endpoint().await.failing_since, None);
}

#[tokio::test]
async fn two_processes_disable_an_endpoint_once() {
    let fixture = with_one_type().await;
    exhaust_one_delivery(&fixture, "one").await;
    fixture.world.advance_seconds(5 * DAY);
    let other_process = fixture.world.other_process().await;
    let (one, two) = tokio::join!(
        webhooks::disable_failing_once(&fixture.world.app),
        webhooks::disable_failing_once(&other_process)
    );
    assert_eq!(one.unwrap() + two.unwrap(), 1);
    let user = fixture.person.user.id;
    let events = ::webhooks::outbox::list(&fixture.world.app.db, user, None, 1_000).await.unwrap();
    let told = events.iter().filter(|it| it.event_type == "webhook.endpoint_disabled").count();
    assert_eq!(told, 1);
}
