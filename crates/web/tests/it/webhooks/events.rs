//! The event log and replays over the API.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use testkit::receiver::ScriptedResponse;
use testkit::{Person, new_key};
use wire::v1::EventType;

use super::{ENDPOINTS, WebhooksFixture, endpoint_path, text, with_key};

const EVENTS: &str = "/webhooks/events";

fn replay_path(event: &Value) -> String {
    format!("{EVENTS}/{}/replay", text(event, "id"))
}

async fn events(fixture: &WebhooksFixture, query: &str) -> Vec<Value> {
    let data = fixture.get(&format!("{EVENTS}{query}")).await.data();
    data["events"].as_array().unwrap().clone()
}

async fn create_for(fixture: &WebhooksFixture, event_type: &str) -> Value {
    let body = json!({ "url": fixture.receiver.url, "filter_types": [event_type] });
    fixture.post(ENDPOINTS, &body.to_string()).await.data()
}

#[tokio::test]
async fn the_log_is_beside_the_event_types_with_pagination() {
    let fixture = WebhooksFixture::new().await;
    let empty = fixture.get(EVENTS).await.json();
    assert_eq!(empty["data"]["event_types"].as_array().unwrap().len(), EventType::ALL.len());
    assert_eq!(empty["data"]["events"], json!([]));
    let pagination = json!({ "count": 0, "has_more": false, "next_cursor": null, "limit": 50 });
    assert_eq!(empty["pagination"], pagination);

    let endpoint = create_for(&fixture, "transaction.created").await;
    fixture.import_and_deliver("one").await;
    let sent = &events(&fixture, "?event_type=transaction.created").await[0];
    let received: Value = serde_json::from_slice(&fixture.receiver.requests()[0].body).unwrap();
    let expected = json!({
        "id": received["id"],
        "type": "transaction.created",
        "created_at": "2026-03-10T12:00:00.000Z",
        "api_version": received["api_version"],
        "data": received["data"],
        "status": "delivered",
        "deliveries": [{
            "endpoint_id": endpoint["id"],
            "status": "delivered",
            "attempts": 1,
            "next_attempt_at": null,
        }],
    });
    assert_eq!(sent, &expected);
    let unwanted = events(&fixture, "?status=no_endpoint").await;
    assert!(unwanted.iter().any(|it| it["type"] == "account.connected"));
    assert!(unwanted.iter().all(|it| it["deliveries"] == json!([]) && it["data"].is_object()));
    let listed = fixture.get(EVENTS).await;
    assert_eq!(listed.json()["pagination"]["count"], unwanted.len() + 1);

    fixture.world.advance_seconds(31 * 86_400);
    service::webhooks::delete_expired_once(&fixture.world.app).await.unwrap();
    let expired = &events(&fixture, "?event_type=transaction.created").await[0];
    assert_eq!((&expired["data"], &expired["status"]), (&Value::Null, &json!("delivered")));
    assert!(expired.as_object().unwrap().contains_key("data"), "null, never absent");
}

#[tokio::test]
async fn pages_and_filters_of_the_log_agree_with_the_whole() {
    let fixture = WebhooksFixture::new().await;
    create_for(&fixture, "transaction.created").await;
    for id in ["one", "two"] {
        fixture.receiver.respond_with([ScriptedResponse::Status(503)]);
        fixture.import_and_deliver(id).await;
        fixture.world.advance_seconds(1);
    }
    let whole = events(&fixture, "").await;
    assert!(whole.is_sorted_by(|a, b| text(a, "id") > text(b, "id")));
    let (mut seen, mut query) = (Vec::new(), "?limit=2".to_owned());
    loop {
        let page = fixture.get(&format!("{EVENTS}{query}")).await.json();
        seen.extend(page["data"]["events"].as_array().unwrap().clone());
        let Some(cursor) = page["pagination"]["next_cursor"].as_str() else { break };
        let other = fixture.get(&format!("{EVENTS}?status=failed&cursor={cursor}")).await;
        assert!(other.refusal().starts_with("400 VALIDATION_ERROR cursor: "));
        query = format!("?limit=3&cursor={cursor}");
    }
    assert_eq!(seen, whole);
    let at = "2026-03-10T12:00:01.000Z";
    for (query, matches) in [
        (
            "?status=retrying".to_owned(),
            Box::new(|it: &Value| it["status"] == "retrying") as Box<dyn Fn(&Value) -> bool>,
        ),
        (
            "?event_type=balance.updated".to_owned(),
            Box::new(|it: &Value| it["type"] == "balance.updated"),
        ),
        (format!("?start={at}"), Box::new(|it: &Value| text(it, "created_at") >= at)),
        (format!("?end={at}&start={at}"), Box::new(|it: &Value| text(it, "created_at") == at)),
        (
            "?end=2026-03-10T12:00:00.999Z".to_owned(),
            Box::new(|it: &Value| text(it, "created_at") < at),
        ),
    ] {
        let expected: Vec<Value> = whole.iter().filter(|it| matches(it)).cloned().collect();
        assert_eq!(events(&fixture, &query).await, expected, "{query}");
    }
    assert_eq!(events(&fixture, "?status=retrying").await.len(), 2);
    for (query, expected) in [
        (
            "status=gone",
            "status: status must be one of pending, retrying, delivered, failed, no_endpoint",
        ),
        ("start=yesterday", "start: start must be an instant such as 2026-04-10T08:30:00Z"),
        (
            "start=2026-03-10T12:00:00Z&end=2026-03-09T12:00:00Z",
            "end: end must not be before start",
        ),
        ("limit=0", "limit: limit must be a whole number from 1 to 100"),
    ] {
        let refused = fixture.get(&format!("{EVENTS}?{query}")).await.refusal();
        assert_eq!(refused, format!("400 VALIDATION_ERROR {expected}"), "{query}");
    }
}

#[tokio::test]
async fn a_dead_letter_is_listed_and_replayed_once_for_its_idempotency_key() {
    let fixture = WebhooksFixture::new().await;
    let made = create_for(&fixture, "transaction.created").await;
    fixture.receiver.respond_with([ScriptedResponse::Status(410)]);
    fixture.import_and_deliver("one").await;
    let failed = events(&fixture, "?status=failed").await;
    assert_eq!(failed.len(), 1);
    let path = replay_path(&failed[0]);
    let refused = fixture.post(&path, "").await.refusal();
    assert!(
        refused.starts_with("409 CONFLICT: the endpoints where this event failed are disabled")
    );
    fixture.put(&made, r#"{"status": "active"}"#).await.data();

    let client = fixture.client.header("idempotency-key", "once");
    let first = client.send(Method::POST, &format!("/v1{path}"), "").await;
    let expected = json!({
        "event_id": failed[0]["id"],
        "deliveries": [{
            "endpoint_id": made["id"],
            "status": "pending",
            "attempts": 1,
            "next_attempt_at": "2026-03-10T12:00:00.000Z",
        }],
    });
    assert_eq!(first.data(), expected);
    assert_eq!(fixture.receiver.requests().len(), 1, "it is queued, not sent");
    let again = client.send(Method::POST, &format!("/v1{path}"), "").await;
    assert_eq!((again.header("idempotent-replayed"), again.data()), ("true", expected));
    service::webhooks::deliver_once(&fixture.world.app).await.unwrap();
    assert_eq!(fixture.receiver.requests().len(), 2);
    assert!(events(&fixture, "?status=failed").await.is_empty());
    let attempts = fixture.get("/webhooks/deliveries").await.data();
    assert_eq!((&attempts[0]["trigger"], &attempts[0]["attempt"]), (&json!("manual"), &json!(2)));

    let body = format!(r#"{{"endpoint_id": "{}"}}"#, text(&made, "id"));
    let answer = fixture.post(&path, &body).await.data();
    assert_eq!(answer["deliveries"][0]["attempts"], 2);
    for (body, expected) in [
        (r#"{"endpoint": "ep_1"}"#, "400 VALIDATION_ERROR endpoint"),
        (r#"{"endpoint_id": "evt_1"}"#, "400 VALIDATION_ERROR endpoint_id"),
        (r#"{"endpoint_id": "ep_01kny3v1m8f2x9q4t7r5c6b8de"}"#, "404 NOT_FOUND"),
    ] {
        let refused = fixture.post(&path, body).await.refusal();
        assert!(refused.starts_with(expected), "{refused}");
    }
}

async fn refusals(fixture: &WebhooksFixture, person: &Person, path: &str) -> String {
    let client = with_key(&fixture.world, &person.key(new_key()).await.secret);
    client.send(Method::POST, &format!("/v1{path}"), "").await.refusal()
}

#[tokio::test]
async fn events_of_others_and_unknown_ones_are_not_found() {
    let fixture = WebhooksFixture::new().await;
    let made = fixture.create_endpoint().await;
    fixture.import_and_deliver("one").await;
    let own = events(&fixture, "").await;
    let sam = fixture.world.person("sam@example.com").await;
    let expected = "404 NOT_FOUND: there is no such event";
    assert_eq!(refusals(&fixture, &sam, &replay_path(&own[0])).await, expected);
    for id in ["evt_01kny3v1m8f2x9q4t7r5c6b8de", "evt_1", "ep_01kny3v1m8f2x9q4t7r5c6b8de"] {
        let path = format!("{EVENTS}/{id}/replay");
        assert_eq!(fixture.post(&path, "").await.refusal(), expected, "{id}");
    }
    let wrong = fixture.send(Method::GET, &replay_path(&own[0]), "").await;
    assert_eq!(wrong.status, StatusCode::METHOD_NOT_ALLOWED);
    let test = format!("{}/test", endpoint_path(&made));
    let test = fixture.post(&test, "").await.data();
    let path = format!("{EVENTS}/{}/replay", text(&test, "event_id"));
    let refused = fixture.post(&path, "").await.refusal();
    assert_eq!(refused, "409 CONFLICT: this is a test event; send another test instead");
}
