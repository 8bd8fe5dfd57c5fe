//! Test events, and the list of delivery attempts.

use http::StatusCode;
use serde_json::{Value, json};
use testkit::receiver::ScriptedResponse;
use wire::v1::EventType;

use super::{ENDPOINTS, WebhooksFixture, endpoint_path, text};

#[tokio::test]
async fn a_test_event_returns_its_outcome_whatever_it_is() {
    let fixture = WebhooksFixture::new().await;
    let made = fixture.create_endpoint().await;
    let path = format!("{}/test", endpoint_path(&made));
    fixture.receiver.respond_with([
        ScriptedResponse::Text(200, "thanks".to_owned()),
        ScriptedResponse::Text(500, "not today".to_owned()),
        ScriptedResponse::WithHeader(302, "location", "https://169.254.169.254/"),
        ScriptedResponse::Status(410),
    ]);
    let outcome = |status: &str, code: Value, body: Value, error: Value| {
        json!({
            "endpoint_id": made["id"],
            "event_type": "webhook.test",
            "url": fixture.receiver.url,
            "attempt": 1,
            "max_attempts": 1,
            "trigger": "test",
            "status": status,
            "response_status_code": code,
            "response_body": body,
            "error": error,
            "duration_ms": 0,
            "attempted_at": "2026-03-10T12:00:00.000Z",
            "next_attempt_at": null,
            "event_status": if status == "succeeded" { "delivered" } else { "failed" },
        })
    };
    for mut expected in [
        outcome("succeeded", json!(200), json!("thanks"), Value::Null),
        outcome("failed", json!(500), json!("not today"), Value::Null),
        outcome("failed", json!(302), json!(""), json!("redirect")),
        outcome("failed", json!(410), json!(""), Value::Null),
    ] {
        let result = fixture.post(&path, "").await.data();
        let delivery = &result["delivery"];
        expected["id"] = delivery["id"].clone();
        expected["event_id"] = result["event_id"].clone();
        assert_eq!(delivery, &expected);
        assert!(text(delivery, "id").starts_with("att_"));
        let delivered = text(delivery, "status") == "succeeded";
        let envelope = json!({
            "event_id": result["event_id"],
            "event_type": "webhook.test",
            "endpoint_id": made["id"],
            "delivered": delivered,
            "delivery": delivery,
        });
        assert_eq!(result, envelope);
    }
    let now = fixture.get(&endpoint_path(&made)).await.data();
    assert_eq!((&now["status"], &now["failing_since"]), (&json!("active"), &Value::Null));
    assert_eq!(fixture.get("/webhooks/deliveries").await.data().as_array().unwrap().len(), 4);
    let requests = fixture.receiver.requests();
    let body: Value = serde_json::from_slice(&requests[0].body).unwrap();
    assert_eq!(body["data"], json!({ "test": true, "endpoint_id": made["id"] }));
}

#[tokio::test]
async fn a_test_event_may_have_any_type_and_a_disabled_endpoint() {
    let fixture = WebhooksFixture::new().await;
    let made = fixture.create_endpoint().await;
    let path = format!("{}/test", endpoint_path(&made));
    fixture.put(&made, r#"{"status": "disabled"}"#).await.data();
    let result = fixture.post(&path, r#"{"event_type": "goal.updated"}"#).await.data();
    assert_eq!(
        (&result["event_type"], &result["delivered"]),
        (&json!("goal.updated"), &json!(true))
    );
    let refused = fixture.post(&path, r#"{"event_type": "goal.update"}"#).await.refusal();
    let expected = format!(
        "400 VALIDATION_ERROR event_type: event_type must be one of {}",
        EventType::NAMES.join(", ")
    );
    assert_eq!(refused, expected);

    let closed = fixture.post(ENDPOINTS, r#"{"url": "https://127.0.0.1:1/"}"#).await.data();
    let result = fixture.post(&format!("{}/test", endpoint_path(&closed)), "").await;
    assert_eq!(result.status, StatusCode::OK);
    let delivery = result.data()["delivery"].clone();
    assert_eq!((&delivery["error"], &delivery["response_body"]), (&json!("connect"), &Value::Null));
}

#[tokio::test]
async fn every_event_type_is_listed_with_its_description() {
    let fixture = WebhooksFixture::new().await;
    let listed = fixture.get("/webhooks/events").await.data();
    let types = listed["event_types"].as_array().unwrap();
    assert_eq!(types.len(), EventType::ALL.len());
    let first = json!({ "type": "account.connected", "description": "A new financial account was linked." });
    assert_eq!(types[0], first);
    let specified = [
        "account.connected",
        "account.disconnected",
        "transaction.created",
        "balance.updated",
        "score.updated",
    ];
    for name in specified {
        assert!(types.iter().any(|it| it["type"] == name), "{name}");
    }
}

#[tokio::test]
async fn deliveries_are_listed_newest_first_and_by_each_filter() {
    let fixture = WebhooksFixture::new().await;
    let one = fixture.create_endpoint().await;
    let other = fixture.post(ENDPOINTS, &fixture.endpoint_body("/other")).await.data();
    fixture.receiver.respond_with([ScriptedResponse::Text(503, "busy".to_owned())]);
    fixture.import_and_deliver("one").await;
    let all = fixture.get("/webhooks/deliveries").await;
    let pagination = &all.json()["pagination"];
    let all = all.data();
    let all = all.as_array().unwrap();
    assert_eq!(pagination["count"], all.len());
    assert_eq!((&pagination["limit"], &pagination["has_more"]), (&json!(50), &json!(false)));
    assert!(all.is_sorted_by(|a, b| text(a, "id") > text(b, "id")));

    let failed = fixture.get("/webhooks/deliveries?status=failed").await.data();
    let it = &failed[0];
    assert_eq!(failed.as_array().unwrap().len(), 1);
    let expected = json!({
        "id": it["id"],
        "endpoint_id": it["endpoint_id"],
        "event_id": it["event_id"],
        "event_type": it["event_type"],
        "url": it["url"],
        "attempt": 1,
        "max_attempts": 8,
        "trigger": "scheduled",
        "status": "failed",
        "response_status_code": 503,
        "response_body": "busy",
        "error": null,
        "duration_ms": 0,
        "attempted_at": "2026-03-10T12:00:00.000Z",
        "next_attempt_at": it["next_attempt_at"],
        "event_status": "retrying",
    });
    assert_eq!(it, &expected);
    assert!(text(it, "next_attempt_at").starts_with("2026-03-10T12:00:05."), "{it}");

    for (query, name, value) in [
        ("endpoint_id", "endpoint_id", text(&one, "id")),
        ("endpoint_id", "endpoint_id", text(&other, "id")),
        ("event_id", "event_id", text(it, "event_id")),
        ("event_type", "event_type", "transaction.created"),
        ("status", "status", "succeeded"),
    ] {
        let found = fixture.get(&format!("/webhooks/deliveries?{query}={value}")).await.data();
        let matching: Vec<&Value> = all.iter().filter(|it| it[name] == value).collect();
        assert!(!matching.is_empty() && matching.len() < all.len(), "{query}={value}");
        assert_eq!(found.as_array().unwrap().iter().collect::<Vec<_>>(), matching);
    }
    let both = format!("?status=failed&endpoint_id={}", text(it, "endpoint_id"));
    assert_eq!(fixture.get(&format!("/webhooks/deliveries{both}")).await.data(), failed);
    let none = "/webhooks/deliveries?event_id=evt_01kny3v1m8f2x9q4t7r5c6b8de";
    assert_eq!(fixture.get(none).await.data(), json!([]));
}

#[tokio::test]
async fn paging_returns_each_delivery_once_while_more_are_made() {
    let fixture = WebhooksFixture::new().await;
    fixture.create_endpoint().await;
    for id in ["one", "two", "three"] {
        fixture.import_and_deliver(id).await;
    }
    let before = fixture.get("/webhooks/deliveries").await.data();
    let (mut seen, mut query) = (Vec::new(), "limit=2".to_owned());
    loop {
        let page = fixture.get(&format!("/webhooks/deliveries?{query}")).await.json();
        seen.extend(page["data"].as_array().unwrap().clone());
        let Some(cursor) = page["pagination"]["next_cursor"].as_str() else { break };
        query = format!("limit=3&cursor={cursor}");
        if seen.len() == 2 {
            let other =
                fixture.get(&format!("/webhooks/deliveries?status=failed&cursor={cursor}")).await;
            assert!(other.refusal().starts_with("400 VALIDATION_ERROR cursor: "));
            fixture.import_and_deliver("meanwhile").await;
        }
    }
    assert_eq!(&json!(seen), &before);
}

#[tokio::test]
async fn invalid_filters_get_specific_errors() {
    let fixture = WebhooksFixture::new().await;
    for (query, expected) in [
        ("status=pending", "status: status must be one of succeeded, failed".to_owned()),
        (
            "even_type=goal.updated",
            "even_type: even_type is not known here; did you mean event_type?".to_owned(),
        ),
        (
            "event_type=goal",
            format!("event_type: event_type must be one of {}", EventType::NAMES.join(", ")),
        ),
        (
            "event_id=ep_01kny3v1m8f2x9q4t7r5c6b8de",
            "event_id: event_id must look like evt_ followed by 26 letters and digits".to_owned(),
        ),
        ("limit=101", "limit: limit must be a whole number from 1 to 100".to_owned()),
        (
            "cursor=abc",
            "cursor: invalid or expired cursor: start again without it, and keep the filters the same between pages"
                .to_owned(),
        ),
    ] {
        let refused = fixture.get(&format!("/webhooks/deliveries?{query}")).await.refusal();
        assert_eq!(refused, format!("400 VALIDATION_ERROR {expected}"), "{query}");
    }
}
