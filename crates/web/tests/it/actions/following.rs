//! Waiting for a decision: the response comes at once if the status is final, otherwise when it changes.

use http::StatusCode;
use serde_json::{Value, json};
use service::access::keys::NewKey;
use testkit::new_key;
use wire::v1::Scope;

use super::{TradingFixture, text};

const BUY: &str = r#"{"symbol": "AAPL", "side": "buy", "quantity": 3}"#;

fn wait_path(proposed: &Value) -> String {
    format!("/approvals/{}?wait=30", text(proposed, "thread_id"))
}

#[tokio::test]
async fn a_waiting_request_is_answered_when_the_person_decides() {
    let fixture = TradingFixture::new().await;
    let made = fixture.propose(BUY).await;
    let path = wait_path(&made);
    let (followed, _) = tokio::join!(fixture.get(&path), fixture.approve(&made));
    let status = followed.data()["status"].clone();
    assert!(status == "approved" || status == "executed", "{status}");
    let done = fixture.get(&path).await.data();
    assert_eq!(done["status"], "executed", "the status is final, so the request does not wait");
    assert_eq!(done["decided_at"], "2026-03-10T14:30:00.000Z");
    assert_eq!(done["executed_at"], "2026-03-10T14:30:00.000Z");
    assert_eq!(done["decision_method"], "click");
    let person = json!({ "type": "person", "id": fixture.person.user.id.to_string() });
    assert_eq!(done["decided_by"], person);
    assert_eq!(done["result"].as_object().unwrap().keys().collect::<Vec<_>>(), ["trade_id"]);
}

#[tokio::test]
async fn a_stopping_server_answers_waiting_requests_at_once() {
    let fixture = TradingFixture::new().await;
    let made = fixture.propose(BUY).await;
    let path = wait_path(&made);
    let ended = async { service::actions::end_waits(&fixture.world.app) };
    let (followed, ()) = tokio::join!(fixture.get(&path), ended);
    assert_eq!(followed.data()["status"], "pending_approval");
    let again = fixture.get(&path).await;
    assert_eq!(again.data()["status"], "pending_approval", "no later request waits");
}

#[tokio::test]
async fn a_waiting_request_is_answered_on_rejection_and_withdrawal() {
    let fixture = TradingFixture::new().await;
    let made = fixture.propose(BUY).await;
    let path = wait_path(&made);
    let (followed, ()) = tokio::join!(fixture.get(&path), fixture.reject(&made, Some("Too dear")));
    let followed = followed.data();
    assert_eq!(
        (text(&followed, "status"), text(&followed, "rejection_reason")),
        ("rejected", "Too dear")
    );
    assert_eq!(followed["result"], Value::Null);

    let made = fixture.propose(BUY).await;
    let (path, cancel) =
        (wait_path(&made), format!("/actions/{}/cancel", text(&made, "action_id")));
    let (followed, cancelled) = tokio::join!(fixture.get(&path), fixture.post(&cancel, ""));
    assert_eq!(cancelled.data()["status"], "cancelled");
    assert_eq!(followed.data()["status"], "cancelled");
    assert_eq!(followed.data()["decided_by"], Value::Null, "no person decided");
}

#[tokio::test]
async fn a_request_returns_the_pending_status_when_its_wait_is_over() {
    let fixture = TradingFixture::new().await;
    let made = fixture.propose(BUY).await;
    let thread = text(&made, "thread_id");
    for query in ["", "?wait=0", "?wait=1"] {
        let answer = fixture.get(&format!("/approvals/{thread}{query}")).await;
        assert_eq!(answer.data()["status"], "pending_approval");
    }
}

#[tokio::test]
async fn a_proposal_is_expired_everywhere_at_its_expiry() {
    let fixture = TradingFixture::new().await;
    let made = fixture.propose(BUY).await;
    fixture.world.advance_seconds(24 * 3600 - 1);
    let path = wait_path(&made).replace("wait=30", "wait=0");
    assert_eq!(fixture.get(&path).await.data()["status"], "pending_approval");
    fixture.world.advance_seconds(1);
    let expired = fixture.get(&wait_path(&made)).await.data();
    assert_eq!(expired["status"], "expired");
    assert_eq!(expired["updated_at"], expired["expires_at"]);
    let listed = fixture.get("/actions?status=expired").await.data();
    assert_eq!(listed[0]["action_id"], made["action_id"]);
    assert_eq!(fixture.get("/actions?status=pending_approval").await.data(), json!([]));
    let cancel = format!("/actions/{}/cancel", text(&made, "action_id"));
    let refused = fixture.post(&cancel, "").await.refusal();
    assert_eq!(refused, "409 CONFLICT: this proposal has expired; it must be proposed again");
}

#[tokio::test]
async fn a_proposal_that_fails_to_execute_has_an_error_message() {
    let fixture = TradingFixture::new().await;
    let many = r#"{"symbol": "AAPL", "side": "buy", "notional": 60000.00}"#;
    let (first, second) = (fixture.propose(many).await, fixture.propose(many).await);
    assert_eq!(fixture.approve(&first).await["status"], "executed");
    let failed = fixture.approve(&second).await;
    assert_eq!(failed["status"], "failed");
    assert_eq!(
        text(&failed, "display_error_message"),
        "This costs $60,000.00, but the account has only $40,000.00 available. Nothing was done."
    );
    assert_eq!((&failed["executed_at"], &failed["result"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn an_invalid_wait_or_an_unknown_thread_is_refused() {
    let fixture = TradingFixture::new().await;
    let made = fixture.propose(BUY).await;
    let thread = text(&made, "thread_id");
    for wait in ["31", "-1", "x", "1.5"] {
        let refused = fixture.get(&format!("/approvals/{thread}?wait={wait}")).await.refusal();
        assert_eq!(refused, "400 VALIDATION_ERROR wait: wait must be a whole number from 0 to 30");
    }
    let action = text(&made, "action_id");
    for id in [action, "01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a77", "nonsense"] {
        let refused = fixture.get(&format!("/approvals/{id}")).await;
        assert_eq!(refused.status, StatusCode::NOT_FOUND, "{id}");
        refused.refusal();
    }
    let upper = fixture.get(&format!("/approvals/{}", thread.to_uppercase())).await;
    assert_eq!(upper.status, StatusCode::OK, "a UUID is case-insensitive");
}

#[tokio::test]
async fn another_person_gets_not_found_and_another_key_needs_the_scope() {
    let fixture = TradingFixture::new().await;
    let made = fixture.propose(BUY).await;
    let (thread, action) = (text(&made, "thread_id"), text(&made, "action_id"));
    let paths = [format!("/v1/approvals/{thread}?wait=30"), format!("/v1/actions/{action}")];
    let sam = fixture.world.person("sam@example.com").await;
    let sams = super::json_client(&fixture.world, &sam.key(new_key()).await.secret);
    let none = fixture
        .client_with_key(NewKey { scopes: [Scope::ProfileRead].into_iter().collect(), ..new_key() })
        .await;
    let reader = fixture
        .client_with_key(NewKey { scopes: [Scope::ActionsRead].into_iter().collect(), ..new_key() })
        .await;
    let limited = fixture.client_with_key(NewKey { accounts: Some(Vec::new()), ..new_key() }).await;
    for path in &paths {
        let unknown = "404 NOT_FOUND: there is no such action";
        assert_eq!(sams.get(path).await.refusal(), unknown, "{path}");
        assert_eq!(limited.get(path).await.refusal(), unknown, "{path}");
        let lacking = "403 INSUFFICIENT_SCOPE: this token lacks the scope actions:read";
        assert_eq!(none.get(path).await.refusal(), lacking, "{path}");
    }
    assert_eq!(reader.get(&paths[1]).await.data()["action_id"], action);
    let cancel = format!("/v1/actions/{action}/cancel");
    let cancelled = sams.send(http::Method::POST, &cancel, "").await;
    assert_eq!(cancelled.refusal(), "404 NOT_FOUND: there is no such action");
}
