//! Authentication and scopes: which requests are accepted, and how the others are refused.

use axum::body::Body;
use http::{Method, Request, StatusCode};
use service::Scopes;
use service::access::keys;
use testkit::draft::{checking, statement, txn};
use testkit::{World, new_key};
use tower::ServiceExt as _;
use web::api::Endpoint;
use wire::v1::Scope;

use crate::client::Client;

const METADATA: &str =
    "resource_metadata=\"http://evenkeel.test/.well-known/oauth-protected-resource/v1\"";

#[tokio::test]
async fn a_missing_or_malformed_token_is_answered_with_a_challenge() {
    let world = World::new().await;
    let person = world.person("robin@example.com").await;
    let good = person.key(new_key()).await.secret;

    let none = Client::anonymous(&world).get("/v1/accounts").await;
    assert_eq!(
        none.refusal(),
        "401 UNAUTHENTICATED: send a token as Authorization: Bearer <token>"
    );
    assert_eq!(none.header("www-authenticate"), format!("Bearer realm=\"evenkeel\", {METADATA}"));

    let mut broken = good.clone();
    broken.replace_range(5..6, if &good[5..6] == "a" { "b" } else { "a" });
    for token in [broken.as_str(), "ek_", "something", &good[..40]] {
        let refused = Client::with_token(&world, token).get("/v1/accounts").await;
        assert_eq!(refused.refusal(), "401 UNAUTHENTICATED: the token is malformed", "{token}");
        assert!(refused.header("www-authenticate").contains("error=\"invalid_token\""));
        assert!(refused.header("ratelimit").is_empty(), "an invalid token gets no rate limit");
    }
}

#[tokio::test]
async fn invalid_authorization_headers_are_refused_and_the_scheme_is_case_insensitive() {
    let world = World::new().await;
    let person = world.person("robin@example.com").await;
    let good = person.key(new_key()).await.secret;
    let client = Client::anonymous(&world);
    for value in ["Basic abc", "Bearer", "Bearer ", good.as_str(), "bearer\u{e9}"] {
        let answer = client.header("authorization", value).get("/v1/me").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{value}");
    }
    let lower = client.header("authorization", &format!("bearer {good}")).get("/v1/me").await;
    assert_eq!(lower.status, StatusCode::OK);
    let twice = client
        .header("authorization", &format!("Bearer {good}"))
        .header("authorization", &format!("Bearer {good}"));
    assert_eq!(twice.get("/v1/me").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_revoked_key_is_refused_at_the_next_request_and_an_expired_one_at_its_expiry() {
    let world = World::new().await;
    let person = world.person("robin@example.com").await;
    let key = person.key(new_key()).await;
    let client = Client::with_token(&world, &key.secret);
    assert_eq!(client.get("/v1/me").await.status, StatusCode::OK);
    keys::revoke(&world.app, &person.caller, key.id).await.unwrap();
    let refusal = client.get("/v1/me").await.refusal();
    assert_eq!(refusal, "401 UNAUTHENTICATED: the token is unknown or was revoked");

    let soon = testkit::at("2026-03-10T12:00:01Z");
    let key = person.key(keys::NewKey { expires_at: Some(soon), ..new_key() }).await;
    let client = Client::with_token(&world, &key.secret);
    assert_eq!(client.get("/v1/me").await.status, StatusCode::OK);
    world.advance_seconds(1);
    let refusal = client.get("/v1/me").await.refusal();
    assert_eq!(refusal, "401 UNAUTHENTICATED: the token has expired");
}

#[tokio::test]
async fn each_endpoint_requires_exactly_its_own_scopes() {
    let world = World::new().await;
    let person = world.person("robin@example.com").await;
    for endpoint in web::api::ENDPOINTS {
        let path = sample_path(endpoint);
        let ask = async |scopes: Scopes| {
            let key = person.key(keys::NewKey { scopes, ..new_key() }).await;
            let client = Client::with_token(&world, &key.secret);
            let answer = client.send(endpoint.method.as_str().parse().unwrap(), &path, "").await;
            keys::revoke(&world.app, &person.caller, key.id).await.unwrap();
            answer
        };
        for needed in endpoint.scopes {
            let others: Scopes = Scope::ALL.into_iter().filter(|it| it != needed).collect();
            let refused = ask(others).await;
            let expected = format!("403 INSUFFICIENT_SCOPE: this token lacks the scope {needed}");
            assert_eq!(refused.refusal(), expected);
            let challenge = refused.header("www-authenticate");
            assert!(
                challenge.contains(&format!("error=\"insufficient_scope\", scope=\"{needed}\""))
            );
        }
        let answer = ask(endpoint.scopes.iter().copied().collect()).await;
        assert_ne!(answer.status, StatusCode::FORBIDDEN, "{path}");
    }
}

#[tokio::test]
async fn all_missing_scopes_are_named_at_once() {
    let world = World::new().await;
    let person = world.person("robin@example.com").await;
    let scopes = Scope::ALL.into_iter().filter(|it| *it != Scope::GoalsRead);
    let scopes = scopes.filter(|it| *it != Scope::ScoresRead && *it != Scope::ActionsWrite);
    let scopes = scopes.filter(|it| *it != Scope::TransactionsRead);
    let key = person.key(keys::NewKey { scopes: scopes.collect(), ..new_key() }).await;
    let client = Client::with_token(&world, &key.secret);
    let refused = client.get("/v1/me/summary").await;
    assert_eq!(
        refused.refusal(),
        "403 INSUFFICIENT_SCOPE: this token lacks the scopes transactions:read, goals:read and scores:read"
    );
    let challenge = refused.header("www-authenticate");
    let expected =
        "error=\"insufficient_scope\", scope=\"transactions:read goals:read scores:read\"";
    assert!(challenge.contains(expected) && challenge.contains(METADATA), "{challenge}");
    // The scopes of a proposal depend on its type.
    let body = r#"{"action_type": "transaction.rename", "payload": {"counterparty_name": "A",
        "transaction_ids": ["txn_01kny3v1m8f2x9q4t7r5c6b8de"]}}"#;
    let client = client.header("content-type", "application/json");
    let refused = client.send(Method::POST, "/v1/actions", body).await;
    assert!(
        refused
            .header("www-authenticate")
            .contains("error=\"insufficient_scope\", scope=\"transactions:read actions:write\""),
        "{}",
        refused.refusal()
    );
}

/// The path of the endpoint with the example ids of its parameters.
pub(crate) fn sample_path(endpoint: &Endpoint) -> String {
    let path = endpoint.path_parameters.iter().fold(endpoint.path.to_owned(), |path, it| {
        path.replace(&format!("{{{}}}", it.name), it.example)
    });
    format!("/v1{path}")
}

#[tokio::test]
async fn another_persons_ids_look_exactly_like_ids_that_do_not_exist() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let sam = world.person("sam@example.com").await;
    sam.import(statement([checking("Sam's").with(txn("2026-03-01", -100, "X"))])).await;
    let theirs = sam.account("Sam's").await;
    let client = Client::of(&world, &robin).await;
    let nobodys = "acc_01kny3v1m8f2x9q4t7r5c6b8de";
    for id in [theirs.to_string().as_str(), nobodys] {
        for path in [format!("/v1/accounts/{id}"), format!("/v1/accounts/{id}/balances")] {
            let refusal = client.get(&path).await.refusal();
            assert_eq!(refusal, "404 NOT_FOUND: there is no such account", "{path}");
        }
        for list in ["transactions", "investments", "recurring"] {
            let refusal = client.get(&format!("/v1/{list}?account_id={id}")).await.refusal();
            assert_eq!(refusal, "404 NOT_FOUND account_id: there is no such account", "{list}");
        }
    }
    let odd = client.get("/v1/accounts/not-an-id/balances").await.refusal();
    assert_eq!(odd, "404 NOT_FOUND: there is no such account");
    assert_eq!(client.get("/v1/transactions").await.data(), serde_json::json!([]));
    assert_eq!(client.get("/v1/accounts").await.data()["accounts"], serde_json::json!([]));
}

#[tokio::test]
async fn bad_tokens_from_one_address_are_rate_limited_while_valid_keys_work() {
    let world = World::new().await;
    let person = world.person("robin@example.com").await;
    let good = person.key(new_key()).await.secret;
    let bad = Client::with_token(&world, "ek_guess");
    let mut refused = 0;
    for _ in 0..70 {
        let answer = bad.get("/v1/me").await;
        if answer.status == StatusCode::TOO_MANY_REQUESTS {
            assert!(answer.header("retry-after").parse::<u32>().unwrap() > 0);
            refused += 1;
        }
    }
    assert_eq!(refused, 10);
    let answer = Client::with_token(&world, &good).get("/v1/me").await;
    assert_eq!(answer.status, StatusCode::OK);
}

#[tokio::test]
async fn a_token_in_the_query_is_ignored() {
    let world = World::new().await;
    let person = world.person("robin@example.com").await;
    let good = person.key(new_key()).await.secret;
    let answer = Client::anonymous(&world).get(&format!("/v1/me?access_token={good}")).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn an_authorization_header_that_is_not_text_is_refused() {
    let world = World::new().await;
    let settings = web::Settings {
        public_url: "http://evenkeel.test".to_owned(),
        serve_metrics: false,
        ..web::Settings::default()
    };
    let router = web::routers(world.app.clone(), settings).main;
    let value = http::HeaderValue::from_bytes(b"Bearer \xff\xfe").unwrap();
    let request = Request::builder().method(Method::GET).uri("/v1/me");
    let request = request.header("authorization", value).body(Body::empty()).unwrap();
    let response = router.oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
}
