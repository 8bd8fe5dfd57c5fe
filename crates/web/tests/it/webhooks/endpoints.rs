//! Creating, updating, disabling and deleting endpoints, and how many a key may have.

use futures_util::future::join_all;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use service::access::keys::NewKey;
use testkit::new_key;
use testkit::receiver::ScriptedResponse;

use super::{ENDPOINTS, WebhooksFixture, endpoint_path, text, with_key};

const LIMIT_REACHED: &str = "409 ENDPOINT_LIMIT_REACHED: this key has 5 active endpoints already; \
    disable or delete one first";

#[tokio::test]
async fn an_endpoint_is_created_read_updated_and_deleted() {
    let fixture = WebhooksFixture::new().await;
    let body = json!({
        "url": fixture.receiver.url,
        "description": "Household dashboard",
        "filter_types": ["transaction.created", "balance.updated", "transaction.created"],
    });
    let made = fixture.post(ENDPOINTS, &body.to_string()).await.data();
    let mut expected = json!({
        "id": made["id"],
        "url": fixture.receiver.url,
        "description": "Household dashboard",
        "filter_types": ["balance.updated", "transaction.created"],
        "status": "active",
        "disabled_reason": null,
        "failing_since": null,
        "last_delivery_at": null,
        "created_at": "2026-03-10T12:00:00.000Z",
        "updated_at": "2026-03-10T12:00:00.000Z",
        "secret": made["secret"],
    });
    assert_eq!(made, expected);
    assert!(text(&made, "id").starts_with("ep_") && text(&made, "secret").starts_with("whsec_"));

    expected.as_object_mut().unwrap().remove("secret");
    assert_eq!(fixture.get(&endpoint_path(&made)).await.data(), expected);
    assert_eq!(fixture.get(ENDPOINTS).await.data(), json!({ "endpoints": [expected] }));

    fixture.world.advance_seconds(60);
    let changed = fixture.put(&made, r#"{"status": "disabled"}"#).await.data();
    expected["status"] = json!("disabled");
    expected["disabled_reason"] = json!("manual");
    expected["updated_at"] = json!("2026-03-10T12:01:00.000Z");
    assert_eq!(changed, expected);
    assert_eq!(fixture.get(&endpoint_path(&made)).await.data(), expected);

    let deleted = fixture.send(Method::DELETE, &endpoint_path(&made), "").await;
    assert_eq!(deleted.data(), json!({ "deleted": true }));
    assert_eq!(fixture.get(ENDPOINTS).await.data(), json!({ "endpoints": [] }));
    let gone = fixture.get(&endpoint_path(&made)).await.refusal();
    assert_eq!(gone, "404 NOT_FOUND: there is no such webhook endpoint");
    let deliveries = format!("/webhooks/deliveries?endpoint_id={}", text(&made, "id"));
    let gone = fixture.get(&deliveries).await.refusal();
    assert_eq!(gone, "404 NOT_FOUND endpoint_id: there is no such webhook endpoint");
}

#[tokio::test]
async fn an_update_changes_only_what_it_names_and_null_clears_only_the_description() {
    let fixture = WebhooksFixture::new().await;
    let new = format!(
        r#"{{"url": "{}", "description": "A", "filter_types": ["goal.updated"]}}"#,
        fixture.receiver.url
    );
    let made = fixture.post(ENDPOINTS, &new).await.data();
    let elsewhere = fixture.endpoint_body("/elsewhere");
    for (body, name, expected) in [
        ("{}", "description", json!("A")),
        (r#"{"description": "Ü\" <b>"}"#, "description", json!("Ü\" <b>")),
        (r#"{"url": null, "status": null}"#, "description", json!("Ü\" <b>")),
        (r#"{"filter_types": []}"#, "filter_types", json!([])),
        (r#"{"description": null}"#, "description", Value::Null),
        (&elsewhere, "url", json!(format!("{}/elsewhere", fixture.receiver.url))),
        (r#"{"description": "B"}"#, "description", json!("B")),
        (r#"{"description": ""}"#, "description", Value::Null),
    ] {
        let before = fixture.get(&endpoint_path(&made)).await.data();
        let mut after = before.clone();
        after[name] = expected;
        assert_eq!(fixture.put(&made, body).await.data(), after, "{body}");
    }
    let plain = format!(r#"{{"url": "{}", "description": null}}"#, fixture.receiver.url);
    assert_eq!(fixture.post(ENDPOINTS, &plain).await.data()["description"], Value::Null);
}

#[tokio::test]
async fn a_key_has_at_most_five_active_endpoints_created_or_enabled() {
    let fixture = WebhooksFixture::new().await;
    let requests = (0..9).map(|it| {
        let body = fixture.endpoint_body(&format!("/{it}"));
        let fixture = &fixture;
        async move { fixture.post(ENDPOINTS, &body).await }
    });
    let answers = join_all(requests).await;
    let (made, refused): (Vec<_>, Vec<_>) =
        answers.iter().partition(|it| it.status == StatusCode::OK);
    assert_eq!((made.len(), refused.len()), (5, 4));
    assert!(refused.iter().all(|it| it.refusal() == LIMIT_REACHED));

    let first = made[0].data();
    assert_eq!(fixture.put(&first, r#"{"status": "disabled"}"#).await.status, StatusCode::OK);
    fixture.create_endpoint().await;
    assert_eq!(fixture.put(&first, r#"{"status": "active"}"#).await.refusal(), LIMIT_REACHED);
    let moved = fixture.put(&first, r#"{"description": "Asleep"}"#).await.data();
    assert_eq!(text(&moved, "status"), "disabled", "a disabled endpoint can be changed");
    fixture.send(Method::DELETE, &endpoint_path(&made[1].data()), "").await.data();
    let enabled = fixture.put(&first, r#"{"status": "active"}"#).await.data();
    assert_eq!((&enabled["status"], &enabled["disabled_reason"]), (&json!("active"), &Value::Null));

    let other = with_key(&fixture.world, &fixture.person.key(new_key()).await.secret);
    let own = other.send(Method::POST, "/v1/webhooks/endpoints", fixture.endpoint_body("")).await;
    assert_eq!(own.status, StatusCode::OK, "another key has its own limit");
}

#[tokio::test]
async fn an_endpoint_that_responds_410_is_disabled_and_can_be_enabled() {
    let fixture = WebhooksFixture::new().await;
    let made = fixture.create_endpoint().await;
    fixture.receiver.respond_with([ScriptedResponse::Status(410)]);
    fixture.import_and_deliver("one").await;
    let now = fixture.get(&endpoint_path(&made)).await.data();
    assert_eq!((text(&now, "status"), text(&now, "disabled_reason")), ("disabled", "gone"));
    assert_eq!(text(&now, "failing_since"), "2026-03-10T12:00:00.000Z");
    let enabled = fixture.put(&made, r#"{"status": "active"}"#).await.data();
    assert_eq!(
        (&enabled["disabled_reason"], &enabled["failing_since"]),
        (&Value::Null, &Value::Null)
    );
    fixture.import_and_deliver("two").await;
    let now = fixture.get(&endpoint_path(&made)).await.data();
    assert_eq!(text(&now, "last_delivery_at"), "2026-03-10T12:00:00.000Z");
}

#[tokio::test]
async fn a_key_limited_to_some_accounts_gets_only_their_events() {
    let fixture = WebhooksFixture::new().await;
    fixture.import_and_deliver("one").await;
    let accounts = Some(vec![fixture.person.account("A").await]);
    let key = fixture.person.key(NewKey { accounts, ..new_key() }).await.secret;
    let limited = with_key(&fixture.world, &key);
    let made = limited
        .send(Method::POST, "/v1/webhooks/endpoints", fixture.endpoint_body(""))
        .await
        .data();
    fixture.import_and_deliver("two").await;
    let deliveries = limited.get("/v1/webhooks/deliveries").await.data();
    let types: Vec<&str> =
        deliveries.as_array().unwrap().iter().map(|it| text(it, "event_type")).collect();
    assert_eq!(types, ["transaction.created"], "{deliveries}");
    assert_eq!(deliveries[0]["endpoint_id"], made["id"]);
}
