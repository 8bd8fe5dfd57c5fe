//! Deliveries when receivers fail, processes die and time passes.

use service::webhooks::{self, AttemptStatus, DeliveryStatus, EndpointStatus, Trigger};
use testkit::receiver::ScriptedResponse;

use super::{Fixture, body, create};

const HOUR: u64 = 3_600;

#[tokio::test]
async fn a_failing_endpoint_is_tried_eight_times_over_28_hours_and_never_early() {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    fixture.receiver.respond_with((0..20).map(|_| ScriptedResponse::Status(500)));
    fixture.import_transaction("one").await;
    assert_eq!(fixture.deliver().await, 1);
    let mut ids = vec![fixture.receiver.requests()[0].header("webhook-id").to_owned()];
    for delay in [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000] {
        // Nothing is sent a second before the delay; with the jitter of a tenth it is.
        fixture.world.advance_seconds(delay - 1);
        assert_eq!(fixture.deliver().await, 0, "{delay}");
        fixture.world.advance_seconds(1 + delay / 10 + 1);
        assert_eq!(fixture.deliver().await, 1, "{delay}");
        ids.push(fixture.receiver.requests().last().unwrap().header("webhook-id").to_owned());
    }
    ids.dedup();
    assert_eq!(ids.len(), 1);
    fixture.world.advance_seconds(100 * HOUR);
    assert_eq!(fixture.deliver().await, 0);
    let attempts = fixture.attempts().await;
    assert_eq!(attempts.len(), 8);
    assert!(
        attempts.iter().all(|it| it.event_status == DeliveryStatus::Failed && it.code == Some(500))
    );
    assert_eq!((attempts[0].attempt, attempts[7].attempt), (8, 1));
    assert_eq!(attempts[0].next_at, None);
    // All attempts are used up, but the endpoint has not failed for five days yet.
    assert_eq!(fixture.current_endpoint().await.status, EndpointStatus::Active);
}

#[tokio::test]
async fn each_attempt_is_signed_anew_with_its_own_time() {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    fixture.receiver.respond_with([ScriptedResponse::Status(503)]);
    fixture.import_transaction("one").await;
    fixture.deliver().await;
    fixture.world.advance_seconds(6);
    fixture.deliver().await;
    let received = fixture.receiver.requests();
    assert_eq!(received[0].body, received[1].body);
    assert_ne!(received[0].header("webhook-timestamp"), received[1].header("webhook-timestamp"));
    assert!(received.iter().all(|it| super::is_signed(it, &fixture.secret)));
    let last = &fixture.attempts().await[0];
    assert_eq!((last.event_status, last.attempt), (DeliveryStatus::Delivered, 2));
    assert_eq!(fixture.current_endpoint().await.failing_since, None);
}

#[tokio::test]
async fn only_2xx_answers_are_success() {
    for (response, good, error) in [
        (ScriptedResponse::Status(200), true, None),
        (ScriptedResponse::Status(204), true, None),
        (
            ScriptedResponse::WithHeader(301, "location", "https://localhost/elsewhere"),
            false,
            Some("redirect"),
        ),
        (ScriptedResponse::Status(400), false, None),
        (ScriptedResponse::Status(429), false, None),
        (ScriptedResponse::Text(200, "x".repeat(200_000)), true, None),
        (ScriptedResponse::Text(500, "x".repeat(200_000)), false, Some("body_too_large")),
    ] {
        let fixture = Fixture::new().await;
        fixture.receive_only("transaction.created").await;
        fixture.receiver.respond_with([response.clone()]);
        fixture.import_transaction("one").await;
        fixture.deliver().await;
        let attempt = &fixture.attempts().await[0];
        assert_eq!(attempt.status == AttemptStatus::Succeeded, good, "{response:?}");
        assert_eq!(attempt.error.as_deref(), error, "{response:?}");
        assert!(attempt.body.as_ref().is_none_or(|it| it.len() <= 1_024));
        // No redirect was followed.
        assert_eq!(fixture.receiver.requests().len(), 1);
    }
}

#[tokio::test]
async fn retry_after_delays_a_retry_up_to_twice_the_usual_time() {
    for (retry_after, least, most) in [("7", 7, 8), ("9999", 10, 11), ("1", 5, 6)] {
        let fixture = Fixture::new().await;
        fixture.receive_only("transaction.created").await;
        fixture.receiver.respond_with([ScriptedResponse::WithHeader(
            429,
            "retry-after",
            retry_after,
        )]);
        fixture.import_transaction("one").await;
        fixture.deliver().await;
        fixture.world.advance_seconds(least - 1);
        assert_eq!(fixture.deliver().await, 0, "{retry_after}");
        fixture.world.advance_seconds(most - least + 2);
        assert_eq!(fixture.deliver().await, 1, "{retry_after}");
    }
}

#[tokio::test]
async fn a_gone_endpoint_is_disabled_and_the_keys_other_endpoints_get_an_event() {
    let fixture = Fixture::new().await;
    let app = &fixture.world.app;
    let other = testkit::receiver::Receiver::start().await;
    create(app, &fixture.key.caller, &other.url, &["webhook.endpoint_disabled"]).await.unwrap();
    fixture.receiver.respond_with([ScriptedResponse::Status(410)]);
    fixture.import_transaction("one").await;
    fixture.deliver().await;
    let now = fixture.current_endpoint().await;
    assert_eq!(
        (now.status, now.disabled_reason.as_deref()),
        (EndpointStatus::Disabled, Some("gone"))
    );
    fixture.deliver().await;
    let event = body(&other.requests()[0]);
    assert_eq!(event["type"], "webhook.endpoint_disabled");
    assert_eq!(event["data"]["endpoint_id"], fixture.endpoint.id.to_string());
    fixture.world.advance_seconds(100 * HOUR);
    let before = fixture.receiver.requests().len();
    fixture.import_transaction("two").await;
    fixture.deliver().await;
    assert_eq!(fixture.receiver.requests().len(), before);
}

#[tokio::test]
async fn after_five_days_without_a_success_an_endpoint_is_disabled() {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    fixture.receiver.respond_with((0..200).map(|_| ScriptedResponse::Status(500)));
    fixture.import_transaction("first").await;
    let mut hours = 0;
    while fixture.current_endpoint().await.status == EndpointStatus::Active {
        assert!(hours < 200, "it was never disabled");
        if hours == 96 {
            fixture.import_transaction("later").await;
        }
        fixture.deliver().await;
        fixture.world.advance_seconds(HOUR);
        hours += 1;
    }
    assert!(hours >= 120, "{hours}");
    let now = fixture.current_endpoint().await;
    assert_eq!(now.disabled_reason.as_deref(), Some("failing"));
    assert_eq!(fixture.deliver().await, 0);
}

#[tokio::test]
async fn a_delivery_of_a_dead_process_is_claimed_again_after_its_lease() {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    fixture.receiver.respond_with([ScriptedResponse::Never]);
    fixture.import_transaction("one").await;
    let app = fixture.world.app.clone();
    let dying = tokio::spawn(async move { webhooks::deliver_once(&app).await });
    fixture.receiver.wait_for_requests(1).await;
    dying.abort();
    let _ = dying.await;
    // Claimed by the dead process until its lease ends.
    assert_eq!(fixture.deliver().await, 0);
    fixture.world.advance_seconds(46);
    assert_eq!(fixture.deliver().await, 1);
    let received = fixture.receiver.requests();
    assert_eq!(received[0].header("webhook-id"), received[1].header("webhook-id"));
    assert_eq!(fixture.attempts().await.len(), 1);
}

#[tokio::test]
async fn two_processes_share_the_work_and_send_nothing_twice() {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    for number in 0..40 {
        fixture.import_transaction(&format!("n{number}")).await;
    }
    let other_process = fixture.world.other_process().await;
    let (one, two) = tokio::join!(
        webhooks::deliver_once(&fixture.world.app),
        webhooks::deliver_once(&other_process)
    );
    let mut count = one.unwrap() + two.unwrap();
    count += fixture.deliver().await;
    assert_eq!(count, 40);
    let mut ids: Vec<String> =
        fixture.receiver.requests().iter().map(|it| it.header("webhook-id").to_owned()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 40);
    assert_eq!(fixture.receiver.requests().len(), 40);
}

#[tokio::test]
async fn the_sending_loop_sends_a_new_event_immediately_and_stops_on_request() {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let sending =
        tokio::spawn(webhooks::run(fixture.world.app.clone(), webhooks::POLL_INTERVAL, stopped));
    fixture.import_transaction("one").await;
    fixture.receiver.wait_for_requests(1).await;
    fixture.import_transaction("two").await;
    fixture.receiver.wait_for_requests(2).await;
    stop.send(true).unwrap();
    sending.await.unwrap();
    assert!(fixture.attempts().await.iter().all(|it| it.event_status == DeliveryStatus::Delivered));
}

#[tokio::test]
async fn a_test_is_one_attempt_that_does_not_count() {
    let fixture = Fixture::new().await;
    fixture.receiver.respond_with([ScriptedResponse::Text(500, "no".to_owned())]);
    let app = &fixture.world.app;
    let failed = webhooks::test(app, &fixture.key.caller, fixture.endpoint.id, None).await.unwrap();
    assert!(!failed.delivered);
    assert_eq!(failed.attempt.trigger, Trigger::Test);
    assert_eq!(failed.attempt.body.as_deref(), Some("no"));
    assert_eq!(fixture.current_endpoint().await.failing_since, None);
    fixture.world.advance_seconds(HOUR);
    assert_eq!(fixture.deliver().await, 0);
    let good = webhooks::test(app, &fixture.key.caller, fixture.endpoint.id, Some("score.updated"));
    assert!(good.await.unwrap().delivered);
    assert_eq!(body(&fixture.receiver.requests()[1])["type"], "score.updated");
}

#[tokio::test]
async fn payloads_are_kept_thirty_days_and_attempts_ninety() {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    fixture.import_transaction("one").await;
    fixture.deliver().await;
    let count = |table: &'static str, stored: &std::collections::BTreeMap<String, Vec<String>>| {
        stored[table].len()
    };
    fixture.world.advance_seconds(31 * 24 * HOUR);
    webhooks::delete_expired_once(&fixture.world.app).await.unwrap();
    let caller = &fixture.key.caller;
    let event = fixture.attempts().await[0].event;
    let event = webhooks::get_event(&fixture.world.app, caller, event).await.unwrap();
    assert_eq!(event.payload.unwrap().body, None, "the event is kept without its payload");
    let stored = fixture.world.stored().await;
    assert!(count("events", &stored) > 0 && count("attempts", &stored) == 1);
    fixture.world.advance_seconds(60 * 24 * HOUR);
    webhooks::delete_expired_once(&fixture.world.app).await.unwrap();
    let stored = fixture.world.stored().await;
    assert_eq!((count("attempts", &stored), count("deliveries", &stored)), (0, 0));
    assert_eq!(count("events", &stored), 0);
}
