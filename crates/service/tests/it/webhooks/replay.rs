//! Resending by hand: one delivery, or all that failed since a moment.

use base::{EventId, Timestamp};
use service::platform::cursors::Page;
use service::webhooks::replay::{self, Replay, ReplayStatus};
use service::webhooks::{
    self, AttemptStatus, DeliveryDetail, DeliveryStatus, EndpointChange, EndpointStatus, Trigger,
};
use service::{Caller, Error};
use testkit::new_key;
use testkit::receiver::ScriptedResponse;

use super::{Fixture, is_signed};

const HOUR: u64 = 3_600;

async fn change(fixture: &Fixture, change: EndpointChange) {
    let (mine, caller, id) =
        (fixture.world.app.clone(), fixture.key.caller.clone(), fixture.endpoint.id);
    let update = move |tx: &mut db::Tx<'_>| webhooks::update(&mine, tx, &caller, id, &change);
    fixture.world.app.db.write(update).await.unwrap();
}

async fn switch(fixture: &Fixture, status: EndpointStatus) {
    change(fixture, EndpointChange { status: Some(status), ..EndpointChange::default() }).await;
}

/// A fixture with failed deliveries: they waited while the endpoint was disabled.
async fn with_failed_deliveries(count: usize) -> Fixture {
    let fixture = Fixture::new().await;
    let filter_types = Some(vec!["transaction.created".to_owned()]);
    change(&fixture, EndpointChange { filter_types, ..EndpointChange::default() }).await;
    for number in 0..count {
        fixture.import_transaction(&format!("n{number}")).await;
    }
    switch(&fixture, EndpointStatus::Disabled).await;
    switch(&fixture, EndpointStatus::Active).await;
    fixture
}

async fn failed_deliveries(fixture: &Fixture, caller: &Caller) -> Vec<DeliveryDetail> {
    let page = Page { cursor: None, limit: 100 };
    webhooks::list_failed(&fixture.world.app, caller, None, page).await.unwrap().deliveries
}

async fn start(fixture: &Fixture, since: Timestamp) -> service::Result<Replay> {
    let (mine, caller, id) =
        (fixture.world.app.clone(), fixture.key.caller.clone(), fixture.endpoint.id);
    let start = move |tx: &mut db::Tx<'_>| replay::start(&mine, tx, &caller, id, since);
    fixture.world.app.db.write(start).await
}

fn ago(fixture: &Fixture, seconds: i64) -> Timestamp {
    Timestamp::from_second(fixture.world.clock.now().as_second() - seconds).unwrap()
}

async fn last_replay(fixture: &Fixture) -> Replay {
    replay::list(&fixture.world.app, &fixture.key.caller).await.unwrap().remove(0)
}

fn is_conflict<T: std::fmt::Debug>(result: service::Result<T>, expected: &str) {
    match result {
        Err(Error::Conflict { message, .. }) => assert!(message.contains(expected), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_failed_delivery_is_resent_with_its_id_and_a_new_signature() {
    let fixture = with_failed_deliveries(1).await;
    let (app, caller) = (&fixture.world.app, &fixture.key.caller);
    let delivery = failed_deliveries(&fixture, caller).await.remove(0);
    fixture.world.advance_seconds(HOUR);
    fixture.receiver.respond_with([ScriptedResponse::Status(500)]);
    let first = replay::resend(app, caller, delivery.endpoint, delivery.event).await.unwrap();
    assert_eq!((first.trigger, first.status), (Trigger::Manual, AttemptStatus::Failed));
    assert_eq!((first.event_status, first.next_at), (DeliveryStatus::Failed, None));
    // A failed resend does not count, and is not retried.
    assert_eq!(fixture.current_endpoint().await.failing_since, None);
    fixture.world.advance_seconds(HOUR);
    assert_eq!(fixture.deliver().await, 0);
    let second = replay::resend(app, caller, delivery.endpoint, delivery.event).await.unwrap();
    let expected = (DeliveryStatus::Delivered, first.attempt + 1);
    assert_eq!((second.event_status, second.attempt), expected);
    assert!(fixture.current_endpoint().await.last_delivery_at.is_some());
    assert!(failed_deliveries(&fixture, caller).await.is_empty());
    let received = fixture.receiver.requests();
    assert_eq!(received.len(), 2);
    assert!(received.iter().all(|it| it.header("webhook-id") == delivery.event.to_string()));
    assert!(received.iter().all(|it| is_signed(it, &fixture.secret)));
    assert_ne!(received[0].header("webhook-timestamp"), received[1].header("webhook-timestamp"));
}

#[tokio::test]
async fn waiting_disabled_expired_and_foreign_deliveries_are_not_resent() {
    let fixture = with_failed_deliveries(1).await;
    let (app, caller) = (&fixture.world.app, &fixture.key.caller);
    let delivery = failed_deliveries(&fixture, caller).await.remove(0);
    let again = |caller: Caller, event: EventId| {
        let app = fixture.world.app.clone();
        async move { replay::resend(&app, &caller, delivery.endpoint, event).await }
    };
    let other = fixture.person.key(new_key()).await;
    let found = again(other.caller, delivery.event).await;
    assert!(matches!(found, Err(Error::NotFound(_))), "{found:?}");
    let found = again(caller.clone(), EventId::from_bytes([7; 16])).await;
    assert!(matches!(found, Err(Error::NotFound(_))), "{found:?}");

    fixture.import_transaction("waits").await;
    let waiting = webhooks::get_event(app, caller, delivery.event).await.unwrap();
    assert_eq!(waiting.deliveries[0].status, "failed");
    let stored = ::webhooks::outbox::list(&app.db, caller.user, None, 100).await.unwrap();
    let newest = stored.iter().rfind(|it| it.event_type == "transaction.created").unwrap().id;
    is_conflict(again(caller.clone(), newest).await, "still being retried");

    switch(&fixture, EndpointStatus::Disabled).await;
    is_conflict(again(caller.clone(), delivery.event).await, "enable it first");
    is_conflict(start(&fixture, ago(&fixture, 60)).await, "enable it first");
    switch(&fixture, EndpointStatus::Active).await;
    fixture.world.advance_seconds(31 * 24 * HOUR);
    webhooks::delete_expired_once(app).await.unwrap();
    is_conflict(again(caller.clone(), delivery.event).await, "kept for 30 days");
    assert!(fixture.receiver.requests().is_empty());
}

#[tokio::test]
async fn a_replay_sends_each_failed_delivery_once_and_reports_its_progress() {
    let fixture = with_failed_deliveries(70).await;
    fixture.receiver.respond_with((0..3).map(|_| ScriptedResponse::Status(500)));
    let made = start(&fixture, ago(&fixture, 60)).await.unwrap();
    assert_eq!((made.total, made.done, made.status), (70, 0, ReplayStatus::Running));
    is_conflict(start(&fixture, ago(&fixture, 60)).await, "already");
    // One step sends one batch.
    assert_eq!(webhooks::replay_once(&fixture.world.app).await.unwrap(), 64);
    let now = last_replay(&fixture).await;
    assert_eq!((now.done, now.delivered, now.status), (64, 61, ReplayStatus::Running));
    assert_eq!(webhooks::replay_once(&fixture.world.app).await.unwrap(), 6);
    assert_eq!(webhooks::replay_once(&fixture.world.app).await.unwrap(), 0);
    let now = last_replay(&fixture).await;
    assert_eq!((now.done, now.delivered, now.status), (70, 67, ReplayStatus::Done));
    assert_eq!(fixture.receiver.requests().len(), 70);
    // Deliveries that failed again stay failed, and another replay sends them.
    assert_eq!(failed_deliveries(&fixture, &fixture.key.caller).await.len(), 3);
    assert!(fixture.attempts().await.iter().all(|it| it.trigger == Trigger::Manual));
    assert_eq!(start(&fixture, ago(&fixture, 60)).await.unwrap().total, 3);
    webhooks::replay_once(&fixture.world.app).await.unwrap();
    assert!(failed_deliveries(&fixture, &fixture.key.caller).await.is_empty());
}

#[tokio::test]
async fn a_replay_reaches_back_to_its_moment_and_at_most_thirty_days() {
    let fixture = with_failed_deliveries(2).await;
    fixture.world.advance_seconds(48 * HOUR);
    fixture.import_transaction("later").await;
    switch(&fixture, EndpointStatus::Disabled).await;
    switch(&fixture, EndpointStatus::Active).await;
    let refused = start(&fixture, ago(&fixture, -1)).await;
    assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    let refused = start(&fixture, ago(&fixture, 31 * 86_400)).await;
    assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    assert_eq!(start(&fixture, ago(&fixture, 86_400)).await.unwrap().total, 1);
    webhooks::replay_once(&fixture.world.app).await.unwrap();
    assert_eq!(fixture.receiver.requests().len(), 1);
    webhooks::replay_once(&fixture.world.app).await.unwrap();
    assert_eq!(last_replay(&fixture).await.status, ReplayStatus::Done);
    assert_eq!(start(&fixture, ago(&fixture, 30 * 86_400)).await.unwrap().total, 2);
    let other = fixture.person.key(new_key()).await;
    assert!(replay::list(&fixture.world.app, &other.caller).await.unwrap().is_empty());
    let person = fixture.person.session().await;
    assert_eq!(replay::list(&fixture.world.app, &person).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_replay_of_a_dead_process_is_taken_over_and_a_disabled_endpoint_stops_it() {
    let fixture = with_failed_deliveries(2).await;
    start(&fixture, ago(&fixture, 60)).await.unwrap();
    fixture.receiver.respond_with([ScriptedResponse::Never, ScriptedResponse::Never]);
    let app = fixture.world.app.clone();
    let dying = tokio::spawn(async move { webhooks::replay_once(&app).await });
    fixture.receiver.wait_for_requests(2).await;
    dying.abort();
    let _ = dying.await;
    let other_process = fixture.world.other_process().await;
    assert_eq!(webhooks::replay_once(&other_process).await.unwrap(), 0);
    assert_eq!(last_replay(&fixture).await.done, 0);
    fixture.world.advance_seconds(46);
    assert_eq!(webhooks::replay_once(&other_process).await.unwrap(), 2);
    assert_eq!(last_replay(&fixture).await.delivered, 2);

    let fixture = with_failed_deliveries(2).await;
    start(&fixture, ago(&fixture, 60)).await.unwrap();
    switch(&fixture, EndpointStatus::Disabled).await;
    assert_eq!(webhooks::replay_once(&fixture.world.app).await.unwrap(), 0);
    assert_eq!(last_replay(&fixture).await.status, ReplayStatus::Stopped);
    assert!(fixture.receiver.requests().is_empty());
}

#[tokio::test]
async fn a_gone_answer_to_a_resend_disables_the_endpoint() {
    let fixture = with_failed_deliveries(1).await;
    let caller = &fixture.key.caller;
    let delivery = failed_deliveries(&fixture, caller).await.remove(0);
    fixture.receiver.respond_with([ScriptedResponse::Status(410)]);
    let app = &fixture.world.app;
    replay::resend(app, caller, delivery.endpoint, delivery.event).await.unwrap();
    assert_eq!(fixture.current_endpoint().await.disabled_reason.as_deref(), Some("gone"));
}

/// Two replays of one person; the receiver of the first never answers.
#[tokio::test]
async fn a_hanging_endpoint_delays_no_other_replay() {
    let fixture = with_failed_deliveries(3).await;
    let other = testkit::receiver::Receiver::start().await;
    let (hanging, _) =
        super::create(&fixture.world.app, &fixture.key.caller, &other.url, &[]).await.unwrap();
    fixture.import_transaction("for both").await;
    let (mine, caller, id) = (fixture.world.app.clone(), fixture.key.caller.clone(), hanging.id);
    let since = ago(&fixture, 60);
    let both = move |tx: &mut db::Tx<'_>| {
        for status in [EndpointStatus::Disabled, EndpointStatus::Active] {
            let change = EndpointChange { status: Some(status), ..EndpointChange::default() };
            webhooks::update(&mine, tx, &caller, id, &change)?;
        }
        replay::start(&mine, tx, &caller, id, since)
    };
    fixture.world.app.db.write(both).await.unwrap();
    start(&fixture, since).await.unwrap();
    other.respond_with([
        ScriptedResponse::Never,
        ScriptedResponse::Never,
        ScriptedResponse::Never,
        ScriptedResponse::Never,
    ]);
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let app = fixture.world.app.clone();
    let running = tokio::spawn(webhooks::run_replays(app, webhooks::POLL_INTERVAL, stopped));
    other.wait_for_requests(1).await;
    fixture.receiver.wait_for_requests(3).await;
    running.abort();
    drop(stop);
}

#[tokio::test]
async fn a_replay_continues_if_its_lease_was_taken_before_the_clock_was_set_back() {
    let fixture = with_failed_deliveries(2).await;
    start(&fixture, ago(&fixture, 60)).await.unwrap();
    let lease = async |seconds: i64| {
        let at = fixture.world.clock.now().as_microsecond() + seconds * 1_000_000;
        let write = move |tx: &mut db::Tx<'_>| {
            Ok::<_, Error>(tx.execute("update replays set due_at = $1", db::params![at])?)
        };
        assert_eq!(fixture.world.app.db.write(write).await.unwrap(), 1);
    };
    lease(45).await;
    assert_eq!(
        webhooks::replay_once(&fixture.world.app).await.unwrap(),
        0,
        "another process works on it"
    );
    lease(3_600 + 45).await;
    assert_eq!(webhooks::replay_once(&fixture.world.app).await.unwrap(), 2);
}
