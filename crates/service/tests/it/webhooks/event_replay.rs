//! Replays of single events: queued by the caller, sent by the dispatcher, one attempt each.

use base::{EndpointId, EventId};
use service::platform::cursors::Page;
use service::webhooks::{
    self, DeliveryStatus, EndpointChange, EndpointStatus, EventFilter, EventStatus, LoggedDelivery,
    LoggedEvent, Trigger, changes,
};
use service::{Caller, Error, Scopes};
use testkit::new_key;
use testkit::receiver::{Receiver, ScriptedResponse};
use wire::v1::Scope;

use super::{Fixture, create, is_signed};

const HOUR: u64 = 3_600;

async fn switch(fixture: &Fixture, status: EndpointStatus) {
    let change = EndpointChange { status: Some(status), ..EndpointChange::default() };
    let (app, caller) = (&fixture.world.app, &fixture.key.caller);
    changes::update(app, caller, fixture.endpoint.id, change).await.unwrap();
}

/// The newest event of a type.
async fn newest(fixture: &Fixture, caller: &Caller, event_type: &str) -> LoggedEvent {
    let filter = EventFilter { event_type: Some(event_type.to_owned()), ..Default::default() };
    let page = Page { cursor: None, limit: 1 };
    let found = webhooks::list_events(&fixture.world.app, caller, &filter, page).await.unwrap();
    found.events.into_iter().next().unwrap()
}

/// An endpoint for `transaction.created`, and one such event that failed there.
async fn with_failed_event() -> (Fixture, EventId) {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    fixture.import_transaction("one").await;
    switch(&fixture, EndpointStatus::Disabled).await;
    switch(&fixture, EndpointStatus::Active).await;
    let event = newest(&fixture, &fixture.key.caller, "transaction.created").await;
    assert_eq!(event.status, EventStatus::Failed);
    (fixture, event.id)
}

async fn replay(
    fixture: &Fixture,
    caller: &Caller,
    event: EventId,
    endpoint: Option<EndpointId>,
) -> service::Result<Vec<LoggedDelivery>> {
    changes::replay_event(&fixture.world.app, caller, event, endpoint).await
}

fn assert_conflict<T: std::fmt::Debug>(result: service::Result<T>, expected: &str) {
    match result {
        Err(Error::Conflict { message, .. }) => assert!(message.contains(expected), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_failed_event_is_queued_and_sent_by_the_dispatcher_with_its_id() {
    let (fixture, event) = with_failed_event().await;
    let caller = &fixture.key.caller;
    let queued = replay(&fixture, caller, event, None).await.unwrap();
    assert_eq!(queued.len(), 1);
    assert_eq!(
        (queued[0].endpoint, queued[0].status),
        (fixture.endpoint.id, DeliveryStatus::Pending)
    );
    assert!(fixture.receiver.requests().is_empty(), "nothing is sent inside the request");
    assert_conflict(replay(&fixture, caller, event, None).await, "still being sent");
    let id = Some(fixture.endpoint.id);
    assert_conflict(replay(&fixture, caller, event, id).await, "still being sent");
    assert_eq!(fixture.deliver().await, 1);
    let received = fixture.receiver.requests();
    assert_eq!(received[0].header("webhook-id"), event.to_string());
    assert!(is_signed(&received[0], &fixture.secret));
    let now = newest(&fixture, caller, "transaction.created").await;
    assert_eq!((now.id, now.status), (event, EventStatus::Delivered));
    assert_eq!(fixture.attempts().await[0].trigger, Trigger::Manual);
    // Delivered everywhere: only an endpoint that is named gets it once more.
    assert_conflict(replay(&fixture, caller, event, None).await, "name an endpoint_id");
    assert_eq!(replay(&fixture, caller, event, id).await.unwrap()[0].attempts, 1);
    assert_eq!(fixture.deliver().await, 1);
    assert_eq!(fixture.attempts().await[0].attempt, 2);
}

#[tokio::test]
async fn a_replay_that_fails_is_not_retried_and_does_not_count() {
    let (fixture, event) = with_failed_event().await;
    let caller = &fixture.key.caller;
    fixture.receiver.respond_with([ScriptedResponse::Status(500)]);
    replay(&fixture, caller, event, None).await.unwrap();
    assert_eq!(fixture.deliver().await, 1);
    assert_eq!(fixture.current_endpoint().await.failing_since, None);
    let now = newest(&fixture, caller, "transaction.created").await;
    assert_eq!((now.status, now.deliveries[0].next_attempt_at), (EventStatus::Failed, None));
    fixture.world.advance_seconds(100 * HOUR);
    assert_eq!(fixture.deliver().await, 0);
    fixture.receiver.respond_with([ScriptedResponse::Status(410)]);
    replay(&fixture, caller, event, None).await.unwrap();
    assert_eq!(fixture.deliver().await, 1);
    assert_eq!(fixture.current_endpoint().await.disabled_reason.as_deref(), Some("gone"));
    assert_conflict(replay(&fixture, caller, event, None).await, "enable one first");
    let named = replay(&fixture, caller, event, Some(fixture.endpoint.id)).await;
    assert_conflict(named, "enable it first");
}

#[tokio::test]
async fn a_replay_of_a_dead_process_is_sent_after_its_lease() {
    let (fixture, event) = with_failed_event().await;
    fixture.receiver.respond_with([ScriptedResponse::Never]);
    replay(&fixture, &fixture.key.caller, event, None).await.unwrap();
    let app = fixture.world.app.clone();
    let dying = tokio::spawn(async move { webhooks::deliver_once(&app).await });
    fixture.receiver.wait_for_requests(1).await;
    dying.abort();
    let _ = dying.await;
    fixture.world.advance_seconds(46);
    assert_eq!(fixture.deliver().await, 1);
    let attempts = fixture.attempts().await;
    assert_eq!((attempts.len(), attempts[0].trigger), (1, Trigger::Manual));
}

#[tokio::test]
async fn the_sending_loop_sends_a_replay_immediately() {
    let (fixture, event) = with_failed_event().await;
    let (stop, stopped) = tokio::sync::watch::channel(false);
    // A poll would come far too late for this test.
    let poll = std::time::Duration::from_secs(3_600);
    let sending = tokio::spawn(webhooks::run(fixture.world.app.clone(), poll, stopped));
    tokio::task::yield_now().await;
    replay(&fixture, &fixture.key.caller, event, None).await.unwrap();
    fixture.receiver.wait_for_requests(1).await;
    stop.send(true).unwrap();
    sending.await.unwrap();
}

#[tokio::test]
async fn an_event_that_was_never_sent_goes_to_every_active_endpoint_that_may_see_it() {
    let fixture = Fixture::new().await;
    fixture.receive_only("goal.updated").await;
    let (app, caller) = (&fixture.world.app, &fixture.key.caller);
    let second = Receiver::start().await;
    create(app, caller, &second.url, &["goal.updated"]).await.unwrap();
    let scopes = Scopes::from_iter([Scope::AccountsRead, Scope::WebhooksManage]);
    let narrow = fixture.person.key(service::access::keys::NewKey { scopes, ..new_key() }).await;
    let blind = Receiver::start().await;
    let (blind_endpoint, _) =
        create(app, &narrow.caller, &blind.url, &["account.connected"]).await.unwrap();
    fixture.import_transaction("one").await;
    fixture.deliver().await;
    let event = newest(&fixture, caller, "transaction.created").await;
    assert_eq!(event.status, EventStatus::NoEndpoint);
    let person = fixture.person.session().await;
    let named = replay(&fixture, &person, event.id, Some(blind_endpoint.id)).await;
    assert_conflict(named, "may not see this event");
    let refused = replay(&fixture, &narrow.caller, event.id, None).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
    assert_eq!(replay(&fixture, caller, event.id, None).await.unwrap().len(), 2);
    assert_eq!(fixture.deliver().await, 2);
    for receiver in [&fixture.receiver, &second] {
        let received = receiver.requests();
        assert_eq!(received.len(), 1);
        assert_eq!(received[0].header("webhook-id"), event.id.to_string());
    }
    assert!(blind.requests().len() <= 1, "only account.connected");
    let now = newest(&fixture, caller, "transaction.created").await;
    assert_eq!(now.status, EventStatus::Delivered);
}

#[tokio::test]
async fn expired_foreign_and_test_events_are_refused() {
    let (fixture, event) = with_failed_event().await;
    let (app, caller) = (&fixture.world.app, &fixture.key.caller);
    let kim = fixture.world.person("kim@example.com").await;
    let foreign = kim.key(new_key()).await.caller;
    for (caller, id) in [(&foreign, event), (caller, EventId::from_bytes([7; 16]))] {
        let refused = replay(&fixture, caller, id, None).await;
        assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
    }
    let other = fixture.person.key(new_key()).await.caller;
    let refused = replay(&fixture, &other, event, Some(fixture.endpoint.id)).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "another key's endpoint: {refused:?}");
    assert_conflict(replay(&fixture, &other, event, None).await, "no active endpoint");
    let test = webhooks::test(app, caller, fixture.endpoint.id, None).await.unwrap();
    assert_conflict(replay(&fixture, caller, test.event, None).await, "another test");
    fixture.world.advance_seconds(31 * 24 * HOUR);
    webhooks::delete_expired_once(app).await.unwrap();
    assert_conflict(replay(&fixture, caller, event, None).await, "kept for 30 days");
    assert_eq!(fixture.deliver().await, 0);
}
