//! Only the person can decide, in the web app: no key and no app token can, whatever its scopes.

use http::{Method, StatusCode};
use serde_json::Value;
use service::Scopes;
use service::access::keys::NewKey;
use service::access::oauth;
use testkit::new_key;
use wire::v1::Scope;

use super::{TradingFixture, text};
use crate::client::Client;

/// Every path that might accept a decision.
fn decision_paths(proposed: &Value) -> Vec<String> {
    let (thread, action) = (text(proposed, "thread_id"), text(proposed, "action_id"));
    let verbs = ["approve", "reject", "decide", "decision", "execute", "confirm", "undo"];
    let mut paths = Vec::new();
    for base in [format!("/v1/approvals/{thread}"), format!("/v1/actions/{action}")] {
        paths.extend(verbs.map(|it| format!("{base}/{it}")));
        paths.push(base);
    }
    for id in [thread, action] {
        paths.extend(verbs.map(|it| format!("/approvals/{id}/{it}")));
        paths.push(format!("/approvals/{id}"));
    }
    paths.extend(["/passkeys/approve/start", "/passkeys/approve/finish"].map(str::to_owned));
    paths
}

async fn assert_still_pending(fixture: &TradingFixture, proposed: &Value) {
    let now = fixture.get(&format!("/approvals/{}", text(proposed, "thread_id"))).await.data();
    assert_eq!(now["status"], "pending_approval");
    assert_eq!((&now["decided_at"], &now["decided_by"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn no_key_can_decide_whatever_its_scopes() {
    let fixture = TradingFixture::new().await;
    let made = fixture.propose(r#"{"symbol": "AAPL", "side": "buy", "quantity": 1}"#).await;
    let one = |it: Scope| [it].into_iter().collect::<Scopes>();
    let sets = [Scopes::all()].into_iter().chain(Scope::ALL.map(one));
    for scopes in sets {
        let key = fixture.person.key(NewKey { scopes, ..new_key() }).await;
        assert_refused_everywhere(&fixture, &key.secret, &made).await;
    }
    assert_still_pending(&fixture, &made).await;
}

async fn assert_refused_everywhere(fixture: &TradingFixture, token: &str, made: &Value) {
    let forms = [
        ("application/json", "{\"decision\": \"approve\", \"approved\": true}".to_owned()),
        ("application/x-www-form-urlencoded", "decision=approve".to_owned()),
    ];
    for (kind, body) in &forms {
        // Refused requests count against the key's rate limit too.
        fixture.world.advance_seconds(61);
        let cookie = format!("evenkeel_session={token}");
        let client = Client::with_token(&fixture.world, token).header("content-type", kind);
        let client = client.header("cookie", &cookie);
        for path in decision_paths(made) {
            for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
                let answer = client.send(method.clone(), &path, body.clone()).await;
                let status = answer.status;
                if path.starts_with("/v1") {
                    let closed = [StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED];
                    assert!(closed.contains(&status), "{method} {path}: {status}");
                } else {
                    // The pages accept only sessions: a request with a bearer token is sent to sign in.
                    assert_ne!(status, StatusCode::OK, "{method} {path}");
                    let to = answer.header("location");
                    assert!(!status.is_redirection() || to.starts_with("/sign-in"), "{path}: {to}");
                }
            }
        }
    }
}

#[tokio::test]
async fn an_app_token_can_propose_and_follow_but_not_decide() {
    let fixture = crate::oauth::OauthFixture::new().await;
    let scopes: Vec<&str> = Scope::ALL
        .iter()
        .filter(|it| **it != Scope::WebhooksManage)
        .map(|it| it.as_str())
        .collect();
    let access = fixture.access(&scopes).await;
    let client = Client::with_token(&fixture.world, &access);
    let client = client.header("content-type", "application/json");
    let made = client.send(Method::POST, "/v1/paper-trading/accounts", "{}").await.data();
    assert_eq!(made["proposed_by"]["type"], "app");
    assert_eq!(made["proposed_by"]["label"], "Ledger Lens");
    let path = format!("/v1/approvals/{}", text(&made, "thread_id"));
    assert_eq!(client.get(&path).await.data()["status"], "pending_approval");
    for path in decision_paths(&made) {
        for method in [Method::POST, Method::PUT] {
            let status = client.send(method.clone(), &path, "{}").await.status;
            assert!(!status.is_success(), "{method} {path}: {status}");
        }
    }
    assert_eq!(client.get(&path).await.data()["status"], "pending_approval");
    let reading = fixture.access(&["paper:read", "actions:read"]).await;
    let reading = Client::with_token(&fixture.world, &reading);
    let listed = reading.get("/v1/actions").await.data();
    assert_eq!(listed[0]["action_id"], made["action_id"]);
    let refused = reading.send(Method::POST, "/v1/paper-trading/accounts", "").await.refusal();
    assert_eq!(refused, "403 INSUFFICIENT_SCOPE: this token lacks the scope paper:trade");
    assert!(oauth::access_tokens::is_access_token(&access));
}
