//! Tests of dynamic client registration.

use axum::body::Body;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{OauthFixture, REDIRECT_URI, refused};
use crate::client::Client;

#[tokio::test]
async fn registration_returns_the_metadata_that_was_stored() {
    let fixture = OauthFixture::new().await;
    let answer = fixture
        .register(json!({
            "client_name": " Ledger\u{202e} Lens ", "redirect_uris": [REDIRECT_URI],
            "grant_types": ["authorization_code", "implicit"], "logo_uri": "https://x.example/",
        }))
        .await;
    assert_eq!(answer.status, StatusCode::CREATED);
    assert_eq!(answer.header("cache-control"), "no-store");
    let body = answer.json();
    assert!(body["client_id"].as_str().unwrap().starts_with("app_"));
    assert!(body["client_secret"].as_str().unwrap().starts_with("ekc_"));
    assert_eq!(body["client_secret_expires_at"], 0);
    assert_eq!(body["client_name"], "Ledger Lens");
    assert_eq!(body["token_endpoint_auth_method"], "client_secret_basic");
    assert_eq!(body["grant_types"], json!(["authorization_code", "refresh_token"]));
    assert_eq!(body["redirect_uris"], json!([REDIRECT_URI]));
    assert!(body.get("logo_uri").is_none());
    assert_eq!(
        fixture.public_client().await,
        fixture.public_client().await,
        "the same public client is registered once"
    );
}

#[tokio::test]
async fn invalid_client_metadata_is_refused() {
    let fixture = OauthFixture::new().await;
    let good = json!({ "redirect_uris": [REDIRECT_URI] });
    let with = |name: &str, value: Value| {
        let mut metadata = good.clone();
        metadata[name] = value;
        metadata
    };
    for metadata in [
        json!([]),
        json!(null),
        json!("x"),
        with("redirect_uris", json!(REDIRECT_URI)),
        with("redirect_uris", json!([1])),
        with("client_name", json!(["x"])),
        with("token_endpoint_auth_method", json!("private_key_jwt")),
        with("token_endpoint_auth_method", json!(1)),
        with("grant_types", json!(["implicit"])),
        with("grant_types", json!("authorization_code")),
        with("response_types", json!(["token"])),
    ] {
        let error = refused(&fixture.register(metadata.clone()).await);
        assert_eq!(error, "400 invalid_client_metadata", "{metadata}");
    }
    for uri in ["http://lens.example/", "https://lens.example/#x", "javascript:alert(1)", "", "*"] {
        let error = refused(&fixture.register(json!({ "redirect_uris": [uri] })).await);
        assert_eq!(error, "400 invalid_redirect_uri", "{uri}");
    }
    let none = refused(&fixture.register(json!({})).await);
    assert_eq!(none, "400 invalid_redirect_uri");
    let json = fixture.anonymous().header("content-type", "application/json");
    for body in [&b"{"[..], b"\xff\xfe", b"", &b"[".repeat(100_000)] {
        let answer = json.send(Method::POST, "/oauth/register", Body::from(body.to_vec())).await;
        assert!(refused(&answer).starts_with("400 invalid_"), "{}", answer.status);
    }
    let untyped = fixture.anonymous().send(Method::POST, "/oauth/register", good.to_string()).await;
    assert_eq!(refused(&untyped), "400 invalid_request");
}

#[tokio::test]
async fn registrations_are_limited_per_address() {
    let fixture = OauthFixture::new().await;
    for _ in 0..30 {
        fixture.public_client().await;
    }
    let answer = fixture.register(json!({ "redirect_uris": [REDIRECT_URI] })).await;
    assert_eq!(refused(&answer), "429 temporarily_unavailable");
    assert!(answer.header("retry-after").parse::<u32>().unwrap() > 3_000);
    fixture.world.advance_seconds(3_600);
    fixture.public_client().await;
}

#[tokio::test]
async fn registrations_from_an_ipv6_network_count_together() {
    let fixture = OauthFixture::new().await;
    let json = fixture.anonymous().header("content-type", "application/json");
    let register = async |address: &str, number: usize| {
        let metadata = json!({ "redirect_uris": [format!("https://lens.example/{number}")] });
        let body = metadata.to_string();
        json.at(address).send(Method::POST, "/oauth/register", body).await.status
    };
    for number in 0..30 {
        let address = format!("2001:db8::{:x}:{number:x}", number * 7);
        assert_eq!(register(&address, number).await, StatusCode::CREATED);
    }
    let full = StatusCode::TOO_MANY_REQUESTS;
    assert_eq!(register("2001:db8::ffff:1:2:3", 30).await, full);
    assert_eq!(register("2001:db8:0:1::1", 30).await, StatusCode::CREATED);
    assert_eq!(fixture.world.stored().await["oauth_clients"].len(), 31);
    // An IPv4 address counts as the same one in both notations.
    for number in 0..30 {
        let address = if number % 2 == 0 { "192.0.2.1" } else { "::ffff:192.0.2.1" };
        assert_eq!(register(address, 100 + number).await, StatusCode::CREATED);
    }
    assert_eq!(register("192.0.2.1", 200).await, full);
    assert_eq!(register("192.0.2.2", 200).await, StatusCode::CREATED);
}

#[tokio::test]
async fn bad_tokens_from_an_ipv6_network_count_together() {
    let fixture = OauthFixture::new().await;
    let form = fixture.anonymous().header("content-type", "application/x-www-form-urlencoded");
    let body = "grant_type=refresh_token&client_id=app_01kny3v1m8f2x9q4t7r5c6b8de&refresh_token=x";
    let guess = async |host: u32| {
        let client = form.at(&format!("2001:db8::{host:x}"));
        client.send(Method::POST, "/oauth/token", body).await.status
    };
    for host in 0..60 {
        assert_eq!(guess(host).await, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(guess(60).await, StatusCode::TOO_MANY_REQUESTS);
    // The API shares this limit.
    let bearer = fixture.anonymous().header("authorization", "Bearer ek_x").at("2001:db8::61");
    assert_eq!(bearer.get("/v1/me").await.status, StatusCode::TOO_MANY_REQUESTS);
    let elsewhere = fixture.anonymous().header("authorization", "Bearer ek_x").at("2001:db9::61");
    assert_eq!(elsewhere.get("/v1/me").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn the_operator_can_close_registration() {
    let fixture = OauthFixture::new().await;
    let client =
        Client::with_settings(fixture.world.app.clone(), |it| it.oauth_registration = false);
    let json = client.header("content-type", "application/json");
    let metadata = json!({ "redirect_uris": [REDIRECT_URI] }).to_string();
    let answer = json.send(Method::POST, "/oauth/register", metadata).await;
    assert_eq!(refused(&answer), "403 access_denied");
    let document = client.get("/.well-known/oauth-authorization-server").await.json();
    assert!(document.get("registration_endpoint").is_none());
}
