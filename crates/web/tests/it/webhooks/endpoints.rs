//! Endpoints from the first to the fifth.

use futures_util::future::join_all;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use service::access::keys::NewKey;
use testkit::new_key;
use testkit::receiver::ScriptedResponse;

use super::{ENDPOINTS, Hook, of, text, with_key};

const FULL: &str = "409 ENDPOINT_LIMIT_REACHED: this key has 5 active endpoints already; \
    disable or delete one first";

#[tokio::test]
async fn an_endpoint_is_made_read_changed_and_deleted() {
    let hook = Hook::new().await;
    let body = json!({
        "url": hook.receiver.url,
        "description": "Household dashboard",
        "filter_types": ["transaction.created", "balance.updated", "transaction.created"],
    });
    let made = hook.post(ENDPOINTS, &body.to_string()).await.data();
    let mut expected = json!({
        "id": made["id"],
        "url": hook.receiver.url,
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
    assert_eq!(hook.get(&of(&made)).await.data(), expected);
    assert_eq!(hook.get(ENDPOINTS).await.data(), json!({ "endpoints": [expected] }));

    hook.world.advance_seconds(60);
    let changed = hook.put(&made, r#"{"status": "disabled"}"#).await.data();
    expected["status"] = json!("disabled");
    expected["disabled_reason"] = json!("manual");
    expected["updated_at"] = json!("2026-03-10T12:01:00.000Z");
    assert_eq!(changed, expected);
    assert_eq!(hook.get(&of(&made)).await.data(), expected);

    let deleted = hook.send(Method::DELETE, &of(&made), "").await;
    assert_eq!(deleted.data(), json!({ "deleted": true }));
    assert_eq!(hook.get(ENDPOINTS).await.data(), json!({ "endpoints": [] }));
    for path in [of(&made), format!("/webhooks/deliveries?endpoint_id={}", text(&made, "id"))] {
        let gone = hook.get(&path).await.refusal();
        assert_eq!(gone, "404 NOT_FOUND: there is no such webhook endpoint");
    }
}

#[tokio::test]
async fn a_change_touches_what_it_names_and_null_clears_a_description_alone() {
    let hook = Hook::new().await;
    let new = format!(
        r#"{{"url": "{}", "description": "A", "filter_types": ["goal.updated"]}}"#,
        hook.receiver.url
    );
    let made = hook.post(ENDPOINTS, &new).await.data();
    let elsewhere = hook.to("/elsewhere");
    for (body, name, expected) in [
        ("{}", "description", json!("A")),
        (r#"{"description": "Ü\" <b>"}"#, "description", json!("Ü\" <b>")),
        (r#"{"url": null, "status": null}"#, "description", json!("Ü\" <b>")),
        (r#"{"filter_types": []}"#, "filter_types", json!([])),
        (r#"{"description": null}"#, "description", Value::Null),
        (&elsewhere, "url", json!(format!("{}/elsewhere", hook.receiver.url))),
        (r#"{"description": "B"}"#, "description", json!("B")),
        (r#"{"description": ""}"#, "description", Value::Null),
    ] {
        let before = hook.get(&of(&made)).await.data();
        let mut after = before.clone();
        after[name] = expected;
        assert_eq!(hook.put(&made, body).await.data(), after, "{body}");
    }
    let plain = format!(r#"{{"url": "{}", "description": null}}"#, hook.receiver.url);
    assert_eq!(hook.post(ENDPOINTS, &plain).await.data()["description"], Value::Null);
}

#[tokio::test]
async fn a_key_has_five_active_endpoints_and_no_sixth_by_making_or_waking_one() {
    let hook = Hook::new().await;
    let asked = (0..9).map(|it| {
        let body = hook.to(&format!("/{it}"));
        let hook = &hook;
        async move { hook.post(ENDPOINTS, &body).await }
    });
    let answers = join_all(asked).await;
    let (made, refused): (Vec<_>, Vec<_>) =
        answers.iter().partition(|it| it.status == StatusCode::OK);
    assert_eq!((made.len(), refused.len()), (5, 4));
    assert!(refused.iter().all(|it| it.refusal() == FULL));

    let first = made[0].data();
    assert_eq!(hook.put(&first, r#"{"status": "disabled"}"#).await.status, StatusCode::OK);
    hook.endpoint().await;
    assert_eq!(hook.put(&first, r#"{"status": "active"}"#).await.refusal(), FULL);
    let moved = hook.put(&first, r#"{"description": "Asleep"}"#).await.data();
    assert_eq!(text(&moved, "status"), "disabled", "what sleeps can be changed");
    hook.send(Method::DELETE, &of(&made[1].data()), "").await.data();
    let woken = hook.put(&first, r#"{"status": "active"}"#).await.data();
    assert_eq!((&woken["status"], &woken["disabled_reason"]), (&json!("active"), &Value::Null));

    let other = with_key(&hook.world, &hook.person.key(new_key()).await.secret);
    let own = other.send(Method::POST, "/v1/webhooks/endpoints", hook.to("")).await;
    assert_eq!(own.status, StatusCode::OK, "another key has five of its own");
}

#[tokio::test]
async fn an_endpoint_that_is_gone_says_so_and_can_be_woken() {
    let hook = Hook::new().await;
    let made = hook.endpoint().await;
    hook.receiver.respond_with([ScriptedResponse::Status(410)]);
    hook.happens("one").await;
    let now = hook.get(&of(&made)).await.data();
    assert_eq!((text(&now, "status"), text(&now, "disabled_reason")), ("disabled", "gone"));
    assert_eq!(text(&now, "failing_since"), "2026-03-10T12:00:00.000Z");
    let woken = hook.put(&made, r#"{"status": "active"}"#).await.data();
    assert_eq!((&woken["disabled_reason"], &woken["failing_since"]), (&Value::Null, &Value::Null));
    hook.happens("two").await;
    let now = hook.get(&of(&made)).await.data();
    assert_eq!(text(&now, "last_delivery_at"), "2026-03-10T12:00:00.000Z");
}

#[tokio::test]
async fn a_key_that_sees_some_accounts_keeps_endpoints_too() {
    let hook = Hook::new().await;
    hook.happens("one").await;
    let accounts = Some(vec![hook.person.account("A").await]);
    let key = hook.person.key(NewKey { accounts, ..new_key() }).await.secret;
    let limited = with_key(&hook.world, &key);
    let made = limited.send(Method::POST, "/v1/webhooks/endpoints", hook.to("")).await.data();
    hook.happens("two").await;
    let told = limited.get("/v1/webhooks/deliveries").await.data();
    let types: Vec<&str> =
        told.as_array().unwrap().iter().map(|it| text(it, "event_type")).collect();
    assert_eq!(types, ["transaction.created"], "{told}");
    assert_eq!(told[0]["endpoint_id"], made["id"]);
}
