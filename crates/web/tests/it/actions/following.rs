//! Following a decision: at once when there is nothing to wait for, else when it changes.

use http::StatusCode;
use serde_json::{Value, json};
use service::access::keys::NewKey;
use testkit::new_key;
use wire::v1::Scope;

use super::{Desk, text};

const BUY: &str = r#"{"symbol": "AAPL", "side": "buy", "quantity": 3}"#;

fn waiting_for(proposed: &Value) -> String {
    format!("/approvals/{}?wait=30", text(proposed, "thread_id"))
}

#[tokio::test]
async fn a_decision_is_told_to_whoever_waits_for_it() {
    let desk = Desk::new().await;
    let made = desk.propose(BUY).await;
    let path = waiting_for(&made);
    let (followed, _) = tokio::join!(desk.get(&path), desk.approve(&made));
    let status = followed.data()["status"].clone();
    assert!(status == "approved" || status == "executed", "{status}");
    let done = desk.get(&path).await.data();
    assert_eq!(done["status"], "executed", "final, so there is nothing to wait for");
    assert_eq!(done["decided_at"], "2026-03-10T14:30:00.000Z");
    assert_eq!(done["executed_at"], "2026-03-10T14:30:00.000Z");
    assert_eq!(done["decision_method"], "click");
    let person = json!({ "type": "person", "id": desk.person.user.id.to_string() });
    assert_eq!(done["decided_by"], person);
    assert_eq!(done["result"].as_object().unwrap().keys().collect::<Vec<_>>(), ["trade_id"]);
}

#[tokio::test]
async fn a_server_that_stops_answers_whoever_waits_at_once() {
    let desk = Desk::new().await;
    let made = desk.propose(BUY).await;
    let path = waiting_for(&made);
    let ended = async { service::actions::end_waits(&desk.world.app) };
    let (followed, ()) = tokio::join!(desk.get(&path), ended);
    assert_eq!(followed.data()["status"], "pending_approval");
    let again = desk.get(&path).await;
    assert_eq!(again.data()["status"], "pending_approval", "nobody is kept waiting from now on");
}

#[tokio::test]
async fn a_rejection_and_a_withdrawal_are_told_too() {
    let desk = Desk::new().await;
    let made = desk.propose(BUY).await;
    let path = waiting_for(&made);
    let (followed, ()) = tokio::join!(desk.get(&path), desk.reject(&made, Some("Too dear")));
    let followed = followed.data();
    assert_eq!(
        (text(&followed, "status"), text(&followed, "rejection_reason")),
        ("rejected", "Too dear")
    );
    assert_eq!(followed["result"], Value::Null);

    let made = desk.propose(BUY).await;
    let (path, cancel) =
        (waiting_for(&made), format!("/actions/{}/cancel", text(&made, "action_id")));
    let (followed, cancelled) = tokio::join!(desk.get(&path), desk.post(&cancel, ""));
    assert_eq!(cancelled.data()["status"], "cancelled");
    assert_eq!(followed.data()["status"], "cancelled");
    assert_eq!(followed.data()["decided_by"], Value::Null, "no person did");
}

#[tokio::test]
async fn whether_or_not_one_waits_the_answer_comes_in_the_end() {
    let desk = Desk::new().await;
    let made = desk.propose(BUY).await;
    let thread = text(&made, "thread_id");
    for query in ["", "?wait=0", "?wait=1"] {
        let answer = desk.get(&format!("/approvals/{thread}{query}")).await;
        assert_eq!(answer.data()["status"], "pending_approval");
    }
}

#[tokio::test]
async fn one_whose_time_is_over_is_expired_to_everyone_at_that_moment() {
    let desk = Desk::new().await;
    let made = desk.propose(BUY).await;
    desk.world.advance_seconds(24 * 3600 - 1);
    let path = waiting_for(&made).replace("wait=30", "wait=0");
    assert_eq!(desk.get(&path).await.data()["status"], "pending_approval");
    desk.world.advance_seconds(1);
    let expired = desk.get(&waiting_for(&made)).await.data();
    assert_eq!(expired["status"], "expired");
    assert_eq!(expired["updated_at"], expired["expires_at"]);
    let listed = desk.get("/actions?status=expired").await.data();
    assert_eq!(listed[0]["action_id"], made["action_id"]);
    assert_eq!(desk.get("/actions?status=pending_approval").await.data(), json!([]));
    let cancel = format!("/actions/{}/cancel", text(&made, "action_id"));
    let refused = desk.post(&cancel, "").await.refusal();
    assert_eq!(refused, "409 CONFLICT: this proposal has expired; it must be proposed again");
}

#[tokio::test]
async fn what_fails_when_it_is_carried_out_says_why() {
    let desk = Desk::new().await;
    let many = r#"{"symbol": "AAPL", "side": "buy", "notional": 60000.00}"#;
    let (first, second) = (desk.propose(many).await, desk.propose(many).await);
    assert_eq!(desk.approve(&first).await["status"], "executed");
    let failed = desk.approve(&second).await;
    assert_eq!(failed["status"], "failed");
    assert_eq!(
        text(&failed, "display_error_message"),
        "This costs $60,000.00, but the account has only $40,000.00 available. Nothing was done."
    );
    assert_eq!((&failed["executed_at"], &failed["result"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn only_a_good_wait_and_a_known_thread_are_taken() {
    let desk = Desk::new().await;
    let made = desk.propose(BUY).await;
    let thread = text(&made, "thread_id");
    for wait in ["31", "-1", "x", "1.5"] {
        let refused = desk.get(&format!("/approvals/{thread}?wait={wait}")).await.refusal();
        assert_eq!(refused, "400 VALIDATION_ERROR wait: wait must be a whole number from 0 to 30");
    }
    let action = text(&made, "action_id");
    for id in [action, "01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a77", "nonsense"] {
        let refused = desk.get(&format!("/approvals/{id}")).await;
        assert_eq!(refused.status, StatusCode::NOT_FOUND, "{id}");
        refused.refusal();
    }
    let upper = desk.get(&format!("/approvals/{}", thread.to_uppercase())).await;
    assert_eq!(upper.status, StatusCode::OK, "a UUID is the same in large letters");
}

#[tokio::test]
async fn another_person_finds_nothing_and_another_key_needs_the_scope() {
    let desk = Desk::new().await;
    let made = desk.propose(BUY).await;
    let (thread, action) = (text(&made, "thread_id"), text(&made, "action_id"));
    let paths = [format!("/v1/approvals/{thread}?wait=30"), format!("/v1/actions/{action}")];
    let sam = desk.world.person("sam@example.com").await;
    let sams = super::posting(&desk.world, &sam.key(new_key()).await.secret);
    let none = desk
        .other(NewKey { scopes: [Scope::ProfileRead].into_iter().collect(), ..new_key() })
        .await;
    let reader = desk
        .other(NewKey { scopes: [Scope::ActionsRead].into_iter().collect(), ..new_key() })
        .await;
    let limited = desk.other(NewKey { accounts: Some(Vec::new()), ..new_key() }).await;
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
