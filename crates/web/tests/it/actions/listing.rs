//! The list of actions, its filters and cursors, and withdrawing.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use service::access::keys::NewKey;
use service::actions::{Kind, Status};
use testkit::new_key;
use wire::v1::Scope;

use super::{TradingFixture, members, text};

/// Creates seven proposals of three kinds, one after the other.
async fn proposals(fixture: &TradingFixture) -> Vec<Value> {
    let mut made = Vec::new();
    for count in 1..=5 {
        made.push(
            fixture
                .propose(&format!(r#"{{"symbol": "VTI", "side": "buy", "quantity": {count}}}"#))
                .await,
        );
    }
    made.push(fixture.propose_action("custom", json!({ "title": "Call the bank" })).await.data());
    made.push(fixture.post("/paper-trading/accounts", "{}").await.data());
    made
}

fn ids(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|it| text(it, "action_id").to_owned()).collect()
}

#[tokio::test]
async fn paging_returns_every_action_once_newest_first() {
    let fixture = TradingFixture::new().await;
    let made = proposals(&fixture).await;
    let mut seen = Vec::new();
    let mut path = "/actions?limit=3".to_owned();
    loop {
        let page = fixture.get(&path).await.json();
        assert_eq!(members(&page), ["data", "meta", "pagination"]);
        assert_eq!(members(&page["pagination"]), ["count", "has_more", "limit", "next_cursor"]);
        assert_eq!(
            (&page["pagination"]["count"], &page["pagination"]["limit"]),
            (&json!(ids(&page["data"]).len()), &json!(3))
        );
        seen.extend(ids(&page["data"]));
        if page["pagination"]["has_more"] == false {
            assert_eq!(page["pagination"]["next_cursor"], Value::Null);
            break;
        }
        // A proposal created meanwhile is newer than the cursor, so it is on no later page.
        fixture.propose(r#"{"symbol": "VTI", "side": "buy", "quantity": 9}"#).await;
        path = format!("/actions?limit=3&cursor={}", text(&page["pagination"], "next_cursor"));
    }
    assert_eq!(seen.len(), 8, "seven, and the account of the fixture");
    let mut expected = ids(&json!(made));
    expected.reverse();
    assert_eq!(seen[..7], expected);
}

#[tokio::test]
async fn filters_apply_and_are_bound_to_the_cursor() {
    let fixture = TradingFixture::new().await;
    let made = proposals(&fixture).await;
    fixture.approve(&made[0]).await;
    fixture.reject(&made[1], None).await;
    let count = async |query: &str| {
        let data = fixture.get(&format!("/actions?{query}")).await.data();
        data.as_array().unwrap().len()
    };
    assert_eq!(count("status=pending_approval").await, 5);
    assert_eq!(count("status=executed").await, 2);
    assert_eq!(count("status=rejected&action_kind=trade").await, 1);
    assert_eq!(count("action_kind=trade").await, 5);
    assert_eq!(count("action_kind=unknown").await, 1);
    for status in Status::ALL {
        assert!(count(&format!("status={}", status.as_str())).await < 8);
    }
    for kind in Kind::ALL {
        assert!(count(&format!("action_kind={}", kind.as_str())).await < 8);
    }
    let page = fixture.get("/actions?action_kind=trade&limit=2").await.json();
    let cursor = text(&page["pagination"], "next_cursor");
    let expected = "400 VALIDATION_ERROR cursor: invalid or expired cursor: start again without it, \
                    and keep the filters the same between pages";
    for query in ["", "&action_kind=transfer", "&action_kind=trade&status=executed"] {
        let refused = fixture.get(&format!("/actions?cursor={cursor}{query}")).await.refusal();
        assert_eq!(refused, expected, "{query}");
    }
    let good = fixture.get(&format!("/actions?cursor={cursor}&action_kind=trade&limit=50")).await;
    assert_eq!(good.data().as_array().unwrap().len(), 3);
    let wrong = fixture.get("/actions?status=open").await.refusal();
    assert_eq!(
        wrong,
        "400 VALIDATION_ERROR status: status must be one of pending_approval, approved, executing, \
         executed, failed, rejected, expired, cancelled"
    );
    let wrong = fixture.get("/actions?kind=trade").await.refusal();
    assert_eq!(
        wrong,
        "400 VALIDATION_ERROR kind: kind is not known here; known are cursor, limit, status, \
         action_kind"
    );
}

#[tokio::test]
async fn a_key_needs_the_scope_and_a_limited_key_sees_only_its_own_actions() {
    let fixture = TradingFixture::new().await;
    fixture.propose(r#"{"symbol": "VTI", "side": "buy", "quantity": 1}"#).await;
    let narrow = fixture
        .client_with_key(NewKey {
            scopes: [Scope::ActionsWrite].into_iter().collect(),
            ..new_key()
        })
        .await;
    let refused = narrow.get("/v1/actions").await.refusal();
    assert_eq!(refused, "403 INSUFFICIENT_SCOPE: this token lacks the scope actions:read");
    let limited = fixture.client_with_key(NewKey { accounts: Some(Vec::new()), ..new_key() }).await;
    assert_eq!(limited.get("/v1/actions").await.data(), json!([]));
    let body = json!({ "action_type": "custom", "payload": { "title": "Mine" } }).to_string();
    let made = limited.send(Method::POST, "/v1/actions", body).await.data();
    assert_eq!(ids(&limited.get("/v1/actions").await.data()), [text(&made, "action_id")]);
    let sam = fixture.world.person("sam@example.com").await;
    let sams = super::json_client(&fixture.world, &sam.key(new_key()).await.secret);
    assert_eq!(sams.get("/v1/actions").await.data(), json!([]));
}

#[tokio::test]
async fn a_proposal_can_be_withdrawn_once_and_only_by_its_proposer() {
    let fixture = TradingFixture::new().await;
    let made = fixture.propose(r#"{"symbol": "VTI", "side": "buy", "quantity": 1}"#).await;
    let path = format!("/actions/{}/cancel", text(&made, "action_id"));
    let other = fixture.client_with_key(new_key()).await;
    let refused = other.send(Method::POST, &format!("/v1{path}"), "").await.refusal();
    assert_eq!(refused, "409 CONFLICT: only the key or app that proposed this can withdraw it");
    let odd = fixture.post(&path, r#"{"reason": "x"}"#).await.refusal();
    assert_eq!(odd, "400 VALIDATION_ERROR reason: reason is not known here, which takes none");

    let client = fixture.client.header("idempotency-key", "cancel-1");
    let done = client.send(Method::POST, &format!("/v1{path}"), "{}").await;
    assert_eq!(done.data()["status"], "cancelled");
    assert_eq!(done.data().get("approval_url"), None, "only a new proposal has the two URLs");
    let again = client.send(Method::POST, &format!("/v1{path}"), "{}").await;
    assert_eq!((again.data(), again.header("idempotent-replayed")), (done.data(), "true"));
    let late = fixture.post(&path, "").await.refusal();
    assert_eq!(late, "409 CONFLICT: this proposal was withdrawn");

    let decided = fixture.trade(r#"{"symbol": "VTI", "side": "buy", "quantity": 1}"#).await;
    let late = fixture.post(&format!("/actions/{}/cancel", text(&decided, "action_id")), "").await;
    assert_eq!(late.refusal(), "409 CONFLICT: this proposal was already executed");
    let nobodys = fixture.post("/actions/01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a77/cancel", "").await;
    assert_eq!(nobodys.status, StatusCode::NOT_FOUND);
}
