//! Refused requests and their error messages.

use http::Method;
use serde_json::json;
use service::Scopes;
use service::access::keys::NewKey;
use testkit::new_key;
use wire::v1::Scope;

use super::{ENDPOINTS, WebhooksFixture, endpoint_path, text, with_key};
use crate::client::{Answer, Client};

/// Calls every operation on one webhook endpoint.
async fn call_endpoint_operations(client: &Client, path: &str) -> Vec<Answer> {
    let path = format!("/v1{path}");
    vec![
        client.get(&path).await,
        client.send(Method::PUT, &path, r#"{"status": "disabled"}"#).await,
        client.send(Method::DELETE, &path, "").await,
        client.send(Method::POST, &format!("{path}/rotate"), "").await,
        client.send(Method::POST, &format!("{path}/test"), "").await,
    ]
}

/// Calls every operation that names no webhook endpoint.
async fn call_other_operations(client: &Client, body: &str) -> Vec<Answer> {
    vec![
        client.get("/v1/webhooks/endpoints").await,
        client.send(Method::POST, "/v1/webhooks/endpoints", body.to_owned()).await,
        client.get("/v1/webhooks/events").await,
        client.get("/v1/webhooks/deliveries").await,
        client
            .send(Method::POST, "/v1/webhooks/events/evt_01kny3v1m8f2x9q4t7r5c6b8de/replay", "")
            .await,
    ]
}

#[tokio::test]
async fn an_endpoint_of_another_key_or_person_is_not_found() {
    let fixture = WebhooksFixture::new().await;
    let made = fixture.create_endpoint().await;
    let sam = fixture.world.person("sam@example.com").await;
    let (other, theirs) = (fixture.person.key(new_key()).await, sam.key(new_key()).await);
    for key in [&other.secret, &theirs.secret] {
        let client = with_key(&fixture.world, key);
        for path in [endpoint_path(&made), format!("{ENDPOINTS}/ep_01kny3v1m8f2x9q4t7r5c6b8de")] {
            for answer in call_endpoint_operations(&client, &path).await {
                let expected = "404 NOT_FOUND: there is no such webhook endpoint";
                assert_eq!(answer.refusal(), expected, "{path}");
            }
        }
        assert_eq!(client.get("/v1/webhooks/endpoints").await.data(), json!({ "endpoints": [] }));
        let filter = format!("/v1/webhooks/deliveries?endpoint_id={}", text(&made, "id"));
        assert_eq!(client.get(&filter).await.status.as_u16(), 404);
    }
    assert!(fixture.receiver.requests().is_empty());
    assert_eq!(text(&fixture.get(&endpoint_path(&made)).await.data(), "status"), "active");
    for id in ["ep_1", "evt_01kny3v1m8f2x9q4t7r5c6b8de", "%00"] {
        assert_eq!(fixture.get(&format!("{ENDPOINTS}/{id}")).await.status.as_u16(), 404, "{id}");
    }
}

#[tokio::test]
async fn a_key_without_the_scope_an_app_and_an_anonymous_client_are_refused() {
    let fixture = WebhooksFixture::new().await;
    let made = fixture.create_endpoint().await;
    let scopes: Scopes = Scope::ALL.into_iter().filter(|it| *it != Scope::WebhooksManage).collect();
    let narrow = fixture.person.key(NewKey { scopes, ..new_key() }).await.secret;
    let narrow = with_key(&fixture.world, &narrow);
    let mut answers = call_endpoint_operations(&narrow, &endpoint_path(&made)).await;
    answers.extend(call_other_operations(&narrow, &fixture.endpoint_body("")).await);
    for answer in answers {
        let expected = "403 INSUFFICIENT_SCOPE: this token lacks the scope webhooks:manage";
        assert_eq!(answer.refusal(), expected);
    }

    let stranger = Client::anonymous(&fixture.world).header("content-type", "application/json");
    for answer in call_endpoint_operations(&stranger, &endpoint_path(&made)).await {
        assert_eq!(answer.status.as_u16(), 401);
    }

    let oauth = crate::oauth::OauthFixture::new().await;
    let app = oauth.access(&["accounts:read", "profile:read"]).await;
    let app = with_key(&oauth.world, &app);
    let mut answers = call_endpoint_operations(&app, &endpoint_path(&made)).await;
    answers.extend(call_other_operations(&app, &fixture.endpoint_body("")).await);
    for answer in answers {
        let expected = "403 API_KEY_REQUIRED: this takes an API key; an app's token cannot do it, whatever its scopes";
        assert_eq!(answer.refusal(), expected);
    }
}

#[tokio::test]
async fn invalid_bodies_get_specific_errors() {
    let fixture = WebhooksFixture::new().await;
    let url = &fixture.receiver.url;
    let with = |more: &str| format!(r#"{{"url": "{url}", {more}}}"#);
    let long = format!(r#""description": "{}""#, "ü".repeat(257));
    let types = "filter_types: filter_types contains an unknown event type:";
    for (more, expected) in [
        (
            r#""filter_type": []"#,
            "filter_type: filter_type is not known here; did you mean filter_types?".to_owned(),
        ),
        (
            r#""status": "active""#,
            "status: status is not known here; known are url, description, filter_types".to_owned(),
        ),
        (
            r#""filter_types": ["transaction.create"]"#,
            format!("{types} transaction.create; did you mean transaction.created?"),
        ),
        (
            r#""filter_types": ["transactions"]"#,
            format!("{types} transactions; see GET /webhooks/events"),
        ),
        (r#""filter_types": [""]"#, format!("{types} ; see GET /webhooks/events")),
        (r#""filter_types": ["*"]"#, format!("{types} *; see GET /webhooks/events")),
        (
            r#""filter_types": "goal.updated""#,
            "filter_types: filter_types must be a list of text".to_owned(),
        ),
        (r#""filter_types": [1]"#, "filter_types: filter_types must be a list of text".to_owned()),
        (r#""description": 1"#, "description: description must be text or null".to_owned()),
        (
            r#""description": "a\nb""#,
            "description: description must have at most 256 characters on one line".to_owned(),
        ),
        (&long, "description: description must have at most 256 characters on one line".to_owned()),
    ] {
        let refused = fixture.post(ENDPOINTS, &with(more)).await.refusal();
        assert_eq!(refused, format!("400 VALIDATION_ERROR {expected}"), "{more}");
    }
    let most = format!(r#""description": "{}""#, "ü".repeat(256));
    assert_eq!(fixture.post(ENDPOINTS, &with(&most)).await.status.as_u16(), 200);
    let huge = format!(r#""filter_types": ["{}"]"#, "goal.".repeat(100_000));
    assert!(
        fixture.post(ENDPOINTS, &with(&huge)).await.bytes.len() < 1_000,
        "a huge value is not echoed in full"
    );
}

#[tokio::test]
async fn invalid_updates_get_specific_errors() {
    let fixture = WebhooksFixture::new().await;
    let made = fixture.create_endpoint().await;
    for (body, expected) in [
        (r#"{"status": "paused"}"#, "status: status must be one of active, disabled"),
        (r#"{"state": "active"}"#, "state: state is not known here; did you mean status?"),
        (
            r#"{"filter_types": ["balance"]}"#,
            "filter_types: filter_types contains an unknown event type: balance; see GET /webhooks/events",
        ),
        (r#"{"url": 5}"#, "url: url must be text"),
        (
            r#"{"secret": "whsec_"}"#,
            "secret: secret is not known here; known are url, description, filter_types, status",
        ),
    ] {
        let refused = fixture.put(&made, body).await.refusal();
        assert_eq!(refused, format!("400 VALIDATION_ERROR {expected}"), "{body}");
    }
    for (method, path) in [
        (Method::DELETE, endpoint_path(&made)),
        (Method::POST, format!("{}/rotate", endpoint_path(&made))),
    ] {
        let refused = fixture.send(method, &path, r#"{"now": true}"#).await.refusal();
        assert_eq!(refused, "400 VALIDATION_ERROR now: now is not known here, which takes none");
    }
    let wrong = fixture.send(Method::PATCH, &endpoint_path(&made), "{}").await;
    assert_eq!(
        (wrong.status.as_u16(), wrong.header("allow")),
        (405, "GET, PUT, DELETE, HEAD, OPTIONS")
    );
}

#[tokio::test]
async fn a_forbidden_url_is_refused_on_create_and_update() {
    let fixture = WebhooksFixture::new().await;
    let made = fixture.create_endpoint().await;
    let https = "the URL must begin with https://; to receive events on your own machine, run \
                 `evenkeel listen --forward`";
    let plain = "the URL must look like https://example.com/hooks: an ASCII host name, at most \
                 2048 characters, no user name or password";
    let private = "the host has an address that is not public; the operator of this server can allow a \
                   network with webhooks.allow_networks";
    for (url, why) in [
        ("http://example.com/", https),
        ("http://127.0.0.1/", https),
        ("ftp://example.com/", plain),
        ("example.com", plain),
        ("", plain),
        ("https://", plain),
        ("https://robin@example.com/", plain),
        ("https://robin:secret@example.com/", plain),
        ("https://exa mple.com/", plain),
        ("https://10.0.0.1/", private),
        ("https://192.168.1.1/", private),
        ("https://0x0a000001/", plain),
        ("https://167772161/", plain),
        ("https://0.0.0.0/", private),
        ("https://100.64.0.1/", private),
        ("https://169.254.169.254/latest/meta-data/", private),
        ("https://[fd00:ec2::254]/", private),
        ("https://[::ffff:10.0.0.1]/", private),
        ("https://[::ffff:127.0.0.1]/", private),
        ("https://[64:ff9b::a00:1]/", private),
        ("https://[2002:a00:1::]/", private),
        ("https://[fe80::1]/", private),
        ("https://224.0.0.1/", private),
    ] {
        let body = json!({ "url": url }).to_string();
        let expected = format!("400 VALIDATION_ERROR url: url cannot be used: {why}");
        assert_eq!(fixture.post(ENDPOINTS, &body).await.refusal(), expected, "{url}");
        assert_eq!(fixture.put(&made, &body).await.refusal(), expected, "{url}");
    }
    let long = format!(r#"{{"url": "https://example.com/{}"}}"#, "a".repeat(2_048));
    let expected = "400 VALIDATION_ERROR url: url must have at most 2048 characters";
    assert_eq!(fixture.post(ENDPOINTS, &long).await.refusal(), expected);
    assert_eq!(fixture.put(&made, &long).await.refusal(), expected);
    let missing = fixture.post(ENDPOINTS, "{}").await.refusal();
    assert_eq!(missing, "400 VALIDATION_ERROR url: url is missing");
    assert_eq!(fixture.get(ENDPOINTS).await.data()["endpoints"].as_array().unwrap().len(), 1);
    assert_eq!(fixture.get(&endpoint_path(&made)).await.data()["url"], fixture.receiver.url);
}
