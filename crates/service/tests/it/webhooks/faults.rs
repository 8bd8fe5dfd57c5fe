//! What receivers, processes and time do to deliveries.

use service::webhooks::{self, EndpointStatus};
use testkit::receiver::ScriptedResponse;

use super::{Line, body, create};

const HOUR: u64 = 3_600;

#[tokio::test]
async fn an_endpoint_that_fails_is_asked_eight_times_over_28_hours_and_never_early() {
    let line = Line::new().await;
    line.only("transaction.created").await;
    line.receiver.respond_with((0..20).map(|_| ScriptedResponse::Status(500)));
    line.happens("one").await;
    assert_eq!(line.deliver().await, 1);
    let mut ids = vec![line.receiver.requests()[0].header("webhook-id").to_owned()];
    for delay in [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000] {
        // A second before its time nothing is sent, and after a tenth more it surely is.
        line.world.advance_seconds(delay - 1);
        assert_eq!(line.deliver().await, 0, "{delay}");
        line.world.advance_seconds(1 + delay / 10 + 1);
        assert_eq!(line.deliver().await, 1, "{delay}");
        ids.push(line.receiver.requests().last().unwrap().header("webhook-id").to_owned());
    }
    ids.dedup();
    assert_eq!(ids.len(), 1);
    line.world.advance_seconds(100 * HOUR);
    assert_eq!(line.deliver().await, 0);
    let attempts = line.attempts().await;
    assert_eq!(attempts.len(), 8);
    assert!(attempts.iter().all(|it| it.event_status == "failed" && it.code == Some(500)));
    assert_eq!((attempts[0].attempt, attempts[7].attempt), (8, 1));
    assert_eq!(attempts[0].next_at, None);
    // Exhausted, but nothing has failed for five days yet.
    assert_eq!(line.now().await.status, EndpointStatus::Active);
}

#[tokio::test]
async fn each_attempt_is_signed_anew_with_its_own_time() {
    let line = Line::new().await;
    line.only("transaction.created").await;
    line.receiver.respond_with([ScriptedResponse::Status(503)]);
    line.happens("one").await;
    line.deliver().await;
    line.world.advance_seconds(6);
    line.deliver().await;
    let heard = line.receiver.requests();
    assert_eq!(heard[0].body, heard[1].body);
    assert_ne!(heard[0].header("webhook-timestamp"), heard[1].header("webhook-timestamp"));
    assert!(heard.iter().all(|it| super::is_signed(it, &line.secret)));
    let last = &line.attempts().await[0];
    assert_eq!((last.event_status.as_str(), last.attempt), ("delivered", 2));
    assert_eq!(line.now().await.failing_since, None);
}

#[tokio::test]
async fn only_two_hundreds_are_success() {
    for (says, good, error) in [
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
        let line = Line::new().await;
        line.only("transaction.created").await;
        line.receiver.respond_with([says.clone()]);
        line.happens("one").await;
        line.deliver().await;
        let attempt = &line.attempts().await[0];
        assert_eq!(attempt.status == "succeeded", good, "{says:?}");
        assert_eq!(attempt.error.as_deref(), error, "{says:?}");
        assert!(attempt.body.as_ref().is_none_or(|it| it.len() <= 1_024));
        // Nothing was followed.
        assert_eq!(line.receiver.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_receiver_may_ask_for_twice_the_time_and_no_more() {
    for (asked, least, most) in [("7", 7, 8), ("9999", 10, 11), ("1", 5, 6)] {
        let line = Line::new().await;
        line.only("transaction.created").await;
        line.receiver.respond_with([ScriptedResponse::WithHeader(429, "retry-after", asked)]);
        line.happens("one").await;
        line.deliver().await;
        line.world.advance_seconds(least - 1);
        assert_eq!(line.deliver().await, 0, "{asked}");
        line.world.advance_seconds(most - least + 2);
        assert_eq!(line.deliver().await, 1, "{asked}");
    }
}

#[tokio::test]
async fn what_is_gone_gets_nothing_more_and_its_neighbours_are_told() {
    let line = Line::new().await;
    let app = &line.world.app;
    let other = testkit::receiver::Receiver::start().await;
    create(app, &line.key.caller, &other.url, &["webhook.endpoint_disabled"]).await.unwrap();
    line.receiver.respond_with([ScriptedResponse::Status(410)]);
    line.happens("one").await;
    line.deliver().await;
    let now = line.now().await;
    assert_eq!(
        (now.status, now.disabled_reason.as_deref()),
        (EndpointStatus::Disabled, Some("gone"))
    );
    line.deliver().await;
    let told = body(&other.requests()[0]);
    assert_eq!(told["type"], "webhook.endpoint_disabled");
    assert_eq!(told["data"]["endpoint_id"], line.endpoint.id.to_string());
    line.world.advance_seconds(100 * HOUR);
    let before = line.receiver.requests().len();
    line.happens("two").await;
    line.deliver().await;
    assert_eq!(line.receiver.requests().len(), before);
}

#[tokio::test]
async fn after_five_days_without_a_success_an_endpoint_is_disabled() {
    let line = Line::new().await;
    line.only("transaction.created").await;
    line.receiver.respond_with((0..200).map(|_| ScriptedResponse::Status(500)));
    line.happens("first").await;
    let mut hours = 0;
    while line.now().await.status == EndpointStatus::Active {
        assert!(hours < 200, "it was never disabled");
        if hours == 96 {
            line.happens("later").await;
        }
        line.deliver().await;
        line.world.advance_seconds(HOUR);
        hours += 1;
    }
    assert!(hours >= 120, "{hours}");
    let now = line.now().await;
    assert_eq!(now.disabled_reason.as_deref(), Some("failing"));
    assert_eq!(line.deliver().await, 0);
}

#[tokio::test]
async fn whoever_dies_with_a_delivery_gives_it_back() {
    let line = Line::new().await;
    line.only("transaction.created").await;
    line.receiver.respond_with([ScriptedResponse::Never]);
    line.happens("one").await;
    let app = line.world.app.clone();
    let dying = tokio::spawn(async move { webhooks::deliver_once(&app).await });
    line.receiver.wait_for_requests(1).await;
    dying.abort();
    let _ = dying.await;
    // Claimed, and not yet given back.
    assert_eq!(line.deliver().await, 0);
    line.world.advance_seconds(46);
    assert_eq!(line.deliver().await, 1);
    let heard = line.receiver.requests();
    assert_eq!(heard[0].header("webhook-id"), heard[1].header("webhook-id"));
    assert_eq!(line.attempts().await.len(), 1);
}

#[tokio::test]
async fn two_processes_share_the_work_and_send_nothing_twice() {
    let line = Line::new().await;
    line.only("transaction.created").await;
    for number in 0..40 {
        line.happens(&format!("n{number}")).await;
    }
    let other_process = line.world.other_process().await;
    let (one, two) = tokio::join!(
        webhooks::deliver_once(&line.world.app),
        webhooks::deliver_once(&other_process)
    );
    let mut count = one.unwrap() + two.unwrap();
    count += line.deliver().await;
    assert_eq!(count, 40);
    let mut ids: Vec<String> =
        line.receiver.requests().iter().map(|it| it.header("webhook-id").to_owned()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 40);
    assert_eq!(line.receiver.requests().len(), 40);
}

#[tokio::test]
async fn the_running_engine_hears_of_an_event_at_once_and_stops_when_told() {
    let line = Line::new().await;
    line.only("transaction.created").await;
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let engine =
        tokio::spawn(webhooks::run(line.world.app.clone(), webhooks::POLL_INTERVAL, stopped));
    line.happens("one").await;
    line.receiver.wait_for_requests(1).await;
    line.happens("two").await;
    line.receiver.wait_for_requests(2).await;
    stop.send(true).unwrap();
    engine.await.unwrap();
    assert!(line.attempts().await.iter().all(|it| it.event_status == "delivered"));
}

#[tokio::test]
async fn a_trial_is_one_attempt_that_counts_for_nothing() {
    let line = Line::new().await;
    line.receiver.respond_with([ScriptedResponse::Text(500, "no".to_owned())]);
    let app = &line.world.app;
    let failed = webhooks::test(app, &line.key.caller, line.endpoint.id, None).await.unwrap();
    assert!(!failed.delivered);
    assert_eq!(failed.attempt.trigger, "test");
    assert_eq!(failed.attempt.body.as_deref(), Some("no"));
    assert_eq!(line.now().await.failing_since, None);
    line.world.advance_seconds(HOUR);
    assert_eq!(line.deliver().await, 0);
    let good = webhooks::test(app, &line.key.caller, line.endpoint.id, Some("score.updated"));
    assert!(good.await.unwrap().delivered);
    assert_eq!(body(&line.receiver.requests()[1])["type"], "score.updated");
}

#[tokio::test]
async fn payloads_are_kept_thirty_days_and_attempts_ninety() {
    let line = Line::new().await;
    line.only("transaction.created").await;
    line.happens("one").await;
    line.deliver().await;
    let count = |table: &'static str, stored: &std::collections::BTreeMap<String, Vec<String>>| {
        stored[table].len()
    };
    line.world.advance_seconds(31 * 24 * HOUR);
    webhooks::delete_expired_once(&line.world.app).await.unwrap();
    let stored = line.world.stored().await;
    assert_eq!((count("events", &stored), count("attempts", &stored)), (0, 1));
    line.world.advance_seconds(60 * 24 * HOUR);
    webhooks::delete_expired_once(&line.world.app).await.unwrap();
    let stored = line.world.stored().await;
    assert_eq!((count("attempts", &stored), count("deliveries", &stored)), (0, 0));
}
