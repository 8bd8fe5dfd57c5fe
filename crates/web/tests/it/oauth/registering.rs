use axum::body::Body;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{BACK, Scene, refused};
use crate::client::Client;

#[tokio::test]
async fn an_app_registers_itself_and_is_told_what_was_made_of_it() {
    let scene = Scene::new().await;
    let answer = scene
        .register(json!({
            "client_name": " Ledger\u{202e} Lens ", "redirect_uris": [BACK],
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
    assert_eq!(body["redirect_uris"], json!([BACK]));
    assert!(body.get("logo_uri").is_none());
    assert_eq!(scene.client().await, scene.client().await, "a public client is one however often");
}

#[tokio::test]
async fn what_is_no_registration_is_refused() {
    let scene = Scene::new().await;
    let good = json!({ "redirect_uris": [BACK] });
    let with = |name: &str, value: Value| {
        let mut metadata = good.clone();
        metadata[name] = value;
        metadata
    };
    for metadata in [
        json!([]),
        json!(null),
        json!("x"),
        with("redirect_uris", json!(BACK)),
        with("redirect_uris", json!([1])),
        with("client_name", json!(["x"])),
        with("token_endpoint_auth_method", json!("private_key_jwt")),
        with("token_endpoint_auth_method", json!(1)),
        with("grant_types", json!(["implicit"])),
        with("grant_types", json!("authorization_code")),
        with("response_types", json!(["token"])),
    ] {
        let said = refused(&scene.register(metadata.clone()).await);
        assert_eq!(said, "400 invalid_client_metadata", "{metadata}");
    }
    for uri in ["http://lens.example/", "https://lens.example/#x", "javascript:alert(1)", "", "*"] {
        let said = refused(&scene.register(json!({ "redirect_uris": [uri] })).await);
        assert_eq!(said, "400 invalid_redirect_uri", "{uri}");
    }
    let none = refused(&scene.register(json!({})).await);
    assert_eq!(none, "400 invalid_redirect_uri");
    let json = scene.anyone().header("content-type", "application/json");
    for body in [&b"{"[..], b"\xff\xfe", b"", &b"[".repeat(100_000)] {
        let answer = json.send(Method::POST, "/oauth/register", Body::from(body.to_vec())).await;
        assert!(refused(&answer).starts_with("400 invalid_"), "{}", answer.status);
    }
    let untyped = scene.anyone().send(Method::POST, "/oauth/register", good.to_string()).await;
    assert_eq!(refused(&untyped), "400 invalid_request");
}

#[tokio::test]
async fn one_address_registers_only_so_many() {
    let scene = Scene::new().await;
    for _ in 0..30 {
        scene.client().await;
    }
    let answer = scene.register(json!({ "redirect_uris": [BACK] })).await;
    assert_eq!(refused(&answer), "429 temporarily_unavailable");
    assert!(answer.header("retry-after").parse::<u32>().unwrap() > 3_000);
    scene.world.advance_seconds(3_600);
    scene.client().await;
}

#[tokio::test]
async fn the_operator_can_close_registration() {
    let scene = Scene::new().await;
    let client = Client::with_settings(scene.world.app.clone(), |it| it.oauth_registration = false);
    let json = client.header("content-type", "application/json");
    let metadata = json!({ "redirect_uris": [BACK] }).to_string();
    let answer = json.send(Method::POST, "/oauth/register", metadata).await;
    assert_eq!(refused(&answer), "403 access_denied");
    let document = client.get("/.well-known/oauth-authorization-server").await.json();
    assert!(document.get("registration_endpoint").is_none());
}
