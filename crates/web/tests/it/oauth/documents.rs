//! Tests of the OAuth metadata documents.

use axum::body::Body;
use http::{Method, StatusCode};

use super::{OauthFixture, issuer, refused};
use crate::client::{Client, PUBLIC_URL};

#[tokio::test]
async fn an_app_discovers_every_endpoint_from_the_base_url() {
    let fixture = OauthFixture::new().await;
    let client = fixture.anonymous();
    let refused = client.get("/v1/me").await;
    let challenge = refused.header("www-authenticate").to_owned();
    let path = challenge.split_once("resource_metadata=\"http://evenkeel.test").unwrap().1;
    let resource = client.get(path.split('"').next().unwrap()).await.json();
    assert_eq!(resource["resource"], format!("{PUBLIC_URL}/v1"));
    assert_eq!(resource["authorization_servers"][0], issuer());
    let server = client.get("/.well-known/oauth-authorization-server").await.json();
    assert_eq!(server["issuer"], issuer());
    assert_eq!(server["code_challenge_methods_supported"], serde_json::json!(["S256"]));
    assert_eq!(server["response_types_supported"], serde_json::json!(["code"]));
    assert_eq!(server["authorization_response_iss_parameter_supported"], true);
    for name in ["authorization", "token", "revocation", "introspection", "registration"] {
        let endpoint = server[format!("{name}_endpoint")].as_str().unwrap();
        let path = endpoint.strip_prefix(PUBLIC_URL).unwrap();
        let answer = client.send(Method::POST, path, Body::empty()).await;
        assert_ne!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert_ne!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
    }
    for document in [&resource, &server] {
        let scopes = document["scopes_supported"].as_array().unwrap();
        assert!(scopes.contains(&"accounts:read".into()));
        assert!(!scopes.contains(&"webhooks:manage".into()), "an app cannot have this scope");
    }
}

#[tokio::test]
async fn metadata_is_also_served_under_the_path_of_its_resource_or_issuer() {
    let fixture = OauthFixture::new().await;
    let client = fixture.anonymous();
    let document = client.get("/.well-known/oauth-protected-resource/v1").await.json();
    assert_eq!(document["resource"], format!("{PUBLIC_URL}/v1"));
    for path in ["oauth-protected-resource/v2", "oauth-authorization-server/v1"] {
        let answer = client.get(&format!("/.well-known/{path}")).await;
        assert_eq!(refused(&answer), "404 not_found");
    }
    let deep = Client::with_settings(fixture.world.app.clone(), |it| {
        it.public_url = "https://home.example/money".to_owned();
    });
    let server = deep.get("/.well-known/oauth-authorization-server/money").await.json();
    assert_eq!(server["issuer"], "https://home.example/money");
    // The challenge names the document whose `resource` is the API that refused the request (RFC 9728, section 3.3).
    let refused = deep.get("/v1/me").await;
    let metadata = "https://home.example/.well-known/oauth-protected-resource/money/v1";
    let named = format!("resource_metadata=\"{metadata}\"");
    assert!(refused.header("www-authenticate").contains(&named));
    let resource = deep.get(metadata.strip_prefix("https://home.example").unwrap()).await.json();
    assert_eq!(resource["resource"], "https://home.example/money/v1");
}

#[tokio::test]
async fn other_methods_and_origins_are_handled_as_by_the_api() {
    let fixture = OauthFixture::new().await;
    let client = fixture.anonymous();
    let get = client.get("/oauth/token?grant_type=refresh_token").await;
    assert_eq!(refused(&get), "405 invalid_request");
    assert_eq!(get.header("allow"), "POST, OPTIONS");
    let options = client.send(Method::OPTIONS, "/oauth/token", Body::empty()).await;
    assert_eq!(
        (options.status, options.header("allow")),
        (StatusCode::NO_CONTENT, "POST, OPTIONS")
    );
    let listed = client.header("origin", "https://app.example");
    let stranger = client.header("origin", "https://evil.example");
    for path in ["/oauth/token", "/oauth/register", "/.well-known/oauth-authorization-server"] {
        let answer = listed.send(Method::OPTIONS, path, Body::empty()).await;
        assert_eq!(answer.header("access-control-allow-origin"), "https://app.example", "{path}");
        let answer = stranger.send(Method::OPTIONS, path, Body::empty()).await;
        assert_eq!(answer.header("access-control-allow-origin"), "", "{path}");
    }
}
