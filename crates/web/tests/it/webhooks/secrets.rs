//! Signing secrets: returned once, never in a replayed response, and valid for a day after a rotation.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{ENDPOINTS, WebhooksFixture, endpoint_path, text};
use crate::client::Answer;

/// The secret, and the response's data without it.
fn split_secret(answer: &Answer) -> (String, Value) {
    let mut data = answer.data();
    let secret = text(&data, "secret").to_owned();
    data["secret"] = Value::Null;
    (secret, data)
}

#[tokio::test]
async fn a_replayed_response_has_no_secret() {
    let fixture = WebhooksFixture::new().await;
    let client = fixture.client.header("idempotency-key", "k-1");
    let create = || client.send(Method::POST, "/v1/webhooks/endpoints", fixture.endpoint_body(""));
    let first = create().await;
    assert_eq!(first.header("idempotent-replayed"), "");
    let (secret, rest) = split_secret(&first);
    for _ in 0..2 {
        let again = create().await;
        assert_eq!(again.header("idempotent-replayed"), "true");
        assert_eq!(again.data(), rest);
    }
    assert_eq!(fixture.get(ENDPOINTS).await.data()["endpoints"].as_array().unwrap().len(), 1);

    let rotate = || client.send(Method::POST, "/v1/webhooks/endpoints", "");
    assert!(rotate().await.refusal().starts_with("400 VALIDATION_ERROR url: url is missing"));
    let path = format!("/v1{}/rotate", endpoint_path(&rest));
    let rotated = client.send(Method::POST, &path, "").await;
    let (newer, rest) = split_secret(&rotated);
    assert_eq!(
        rest,
        json!({ "secret": null, "previous_secret_expires_at": "2026-03-11T12:00:00.000Z" })
    );
    let again = client.send(Method::POST, &path, "").await;
    assert_eq!((again.header("idempotent-replayed"), again.data()), ("true", rest));
    assert_ne!(newer, secret);

    let stored = format!("{:?}", fixture.world.stored().await);
    for secret in [&secret, &newer] {
        assert!(
            !stored.contains(secret.trim_start_matches("whsec_")),
            "a secret is stored unencrypted"
        );
    }
}

#[tokio::test]
async fn a_replayed_test_sends_no_second_event() {
    let fixture = WebhooksFixture::new().await;
    let made = fixture.create_endpoint().await;
    let client = fixture.client.header("idempotency-key", "k-1");
    let path = format!("/v1{}/test", endpoint_path(&made));
    let first = client.send(Method::POST, &path, "{}").await;
    let again = client.send(Method::POST, &path, "{}").await;
    assert_eq!(first.data(), again.data());
    assert_eq!(again.header("idempotent-replayed"), "true");
    assert_eq!(fixture.receiver.requests().len(), 1);

    let refused = client.send(Method::POST, &path, r#"{"event_type": "goal.updated"}"#).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(fixture.receiver.requests().len(), 1);
}

#[tokio::test]
async fn a_refusal_is_replayed_and_an_invalid_url_can_be_corrected() {
    let fixture = WebhooksFixture::new().await;
    for it in 0..5 {
        fixture.post(ENDPOINTS, &fixture.endpoint_body(&format!("/{it}"))).await.data();
    }
    let client = fixture.client.header("idempotency-key", "k-1");
    let create =
        || client.send(Method::POST, "/v1/webhooks/endpoints", fixture.endpoint_body("/6"));
    let (first, again) = (create().await, create().await);
    assert_eq!(first.status, StatusCode::CONFLICT);
    assert_eq!(first.json()["error"], again.json()["error"]);
    assert_eq!(again.header("idempotent-replayed"), "true");

    let client = fixture.client.header("idempotency-key", "k-2");
    let nobody = "/v1/webhooks/endpoints/ep_01kny3v1m8f2x9q4t7r5c6b8de";
    let change = || client.send(Method::PUT, nobody, r#"{"status": "active"}"#);
    let (first, again) = (change().await, change().await);
    assert_eq!(first.status, StatusCode::NOT_FOUND);
    assert_eq!(again.header("idempotent-replayed"), "true");

    let bad = client.send(Method::POST, "/v1/webhooks/endpoints", r#"{"url": "http://a.b"}"#).await;
    assert_eq!(bad.status, StatusCode::BAD_REQUEST);
    let corrected =
        client.send(Method::POST, "/v1/webhooks/endpoints", fixture.endpoint_body("/7")).await;
    assert_eq!(corrected.status, StatusCode::CONFLICT, "an invalid URL does not use up the key");
}
