//! Secrets: told once, never kept in an answer, and good for a day after the next.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{ENDPOINTS, Hook, of, text};
use crate::client::Answer;

/// Without the secret, which must be there.
fn without(answer: &Answer) -> (String, Value) {
    let mut data = answer.data();
    let secret = text(&data, "secret").to_owned();
    data["secret"] = Value::Null;
    (secret, data)
}

#[tokio::test]
async fn a_repeated_request_gets_the_first_answer_without_the_secret() {
    let hook = Hook::new().await;
    let client = hook.client.header("idempotency-key", "k-1");
    let create = || client.send(Method::POST, "/v1/webhooks/endpoints", hook.to(""));
    let first = create().await;
    assert_eq!(first.header("idempotent-replayed"), "");
    let (secret, rest) = without(&first);
    for _ in 0..2 {
        let again = create().await;
        assert_eq!(again.header("idempotent-replayed"), "true");
        assert_eq!(again.data(), rest);
    }
    assert_eq!(hook.get(ENDPOINTS).await.data()["endpoints"].as_array().unwrap().len(), 1);

    let rotate = || client.send(Method::POST, "/v1/webhooks/endpoints", "");
    assert!(rotate().await.refusal().starts_with("400 VALIDATION_ERROR url: url is missing"));
    let path = format!("/v1{}/rotate", of(&rest));
    let rotated = client.send(Method::POST, &path, "").await;
    let (newer, rest) = without(&rotated);
    assert_eq!(
        rest,
        json!({ "secret": null, "previous_secret_expires_at": "2026-03-11T12:00:00.000Z" })
    );
    let again = client.send(Method::POST, &path, "").await;
    assert_eq!((again.header("idempotent-replayed"), again.data()), ("true", rest));
    assert_ne!(newer, secret);

    let stored = format!("{:?}", hook.world.stored().await);
    for secret in [&secret, &newer] {
        assert!(!stored.contains(secret.trim_start_matches("whsec_")), "kept in the open");
    }
}

#[tokio::test]
async fn a_repeated_request_asks_nobody_again() {
    let hook = Hook::new().await;
    let made = hook.endpoint().await;
    let client = hook.client.header("idempotency-key", "k-1");
    let path = format!("/v1{}/test", of(&made));
    let first = client.send(Method::POST, &path, "{}").await;
    let again = client.send(Method::POST, &path, "{}").await;
    assert_eq!(first.data(), again.data());
    assert_eq!(again.header("idempotent-replayed"), "true");
    assert_eq!(hook.receiver.requests().len(), 1);

    let refused = client.send(Method::POST, &path, r#"{"event_type": "goal.updated"}"#).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(hook.receiver.requests().len(), 1);
}

#[tokio::test]
async fn what_the_rules_refused_is_kept_and_a_bad_address_can_be_mended() {
    let hook = Hook::new().await;
    for it in 0..5 {
        hook.post(ENDPOINTS, &hook.to(&format!("/{it}"))).await.data();
    }
    let client = hook.client.header("idempotency-key", "k-1");
    let create = || client.send(Method::POST, "/v1/webhooks/endpoints", hook.to("/6"));
    let (first, again) = (create().await, create().await);
    assert_eq!(first.status, StatusCode::CONFLICT);
    assert_eq!(first.json()["error"], again.json()["error"]);
    assert_eq!(again.header("idempotent-replayed"), "true");

    let client = hook.client.header("idempotency-key", "k-2");
    let nobody = "/v1/webhooks/endpoints/ep_01kny3v1m8f2x9q4t7r5c6b8de";
    let change = || client.send(Method::PUT, nobody, r#"{"status": "active"}"#);
    let (first, again) = (change().await, change().await);
    assert_eq!(first.status, StatusCode::NOT_FOUND);
    assert_eq!(again.header("idempotent-replayed"), "true");

    let bad = client.send(Method::POST, "/v1/webhooks/endpoints", r#"{"url": "http://a.b"}"#).await;
    assert_eq!(bad.status, StatusCode::BAD_REQUEST);
    let mended = client.send(Method::POST, "/v1/webhooks/endpoints", hook.to("/7")).await;
    assert_eq!(mended.status, StatusCode::CONFLICT, "a mistake does not use the key up");
}
