//! What is refused, and in which words.

use http::Method;
use serde_json::json;
use service::Scopes;
use service::access::keys::NewKey;
use testkit::new_key;
use wire::v1::Scope;

use super::{ENDPOINTS, Hook, of, text, with_key};
use crate::client::{Answer, Client};

/// Every endpoint about one of ours, asked with this client.
async fn everything(client: &Client, path: &str) -> Vec<Answer> {
    let path = format!("/v1{path}");
    vec![
        client.get(&path).await,
        client.send(Method::PUT, &path, r#"{"status": "disabled"}"#).await,
        client.send(Method::DELETE, &path, "").await,
        client.send(Method::POST, &format!("{path}/rotate"), "").await,
        client.send(Method::POST, &format!("{path}/test"), "").await,
    ]
}

/// Every endpoint that names none.
async fn the_rest(client: &Client, body: &str) -> Vec<Answer> {
    vec![
        client.get("/v1/webhooks/endpoints").await,
        client.send(Method::POST, "/v1/webhooks/endpoints", body.to_owned()).await,
        client.get("/v1/webhooks/events").await,
        client.get("/v1/webhooks/deliveries").await,
    ]
}

#[tokio::test]
async fn an_endpoint_of_another_key_or_person_looks_like_none() {
    let hook = Hook::new().await;
    let made = hook.endpoint().await;
    let sam = hook.world.person("sam@example.com").await;
    let (other, theirs) = (hook.person.key(new_key()).await, sam.key(new_key()).await);
    for key in [&other.secret, &theirs.secret] {
        let client = with_key(&hook.world, key);
        for path in [of(&made), format!("{ENDPOINTS}/ep_01kny3v1m8f2x9q4t7r5c6b8de")] {
            for answer in everything(&client, &path).await {
                let expected = "404 NOT_FOUND: there is no such webhook endpoint";
                assert_eq!(answer.refusal(), expected, "{path}");
            }
        }
        assert_eq!(client.get("/v1/webhooks/endpoints").await.data(), json!({ "endpoints": [] }));
        let filter = format!("/v1/webhooks/deliveries?endpoint_id={}", text(&made, "id"));
        assert_eq!(client.get(&filter).await.status.as_u16(), 404);
    }
    assert!(hook.receiver.requests().is_empty());
    assert_eq!(text(&hook.get(&of(&made)).await.data(), "status"), "active");
    for id in ["ep_1", "evt_01kny3v1m8f2x9q4t7r5c6b8de", "%00"] {
        assert_eq!(hook.get(&format!("{ENDPOINTS}/{id}")).await.status.as_u16(), 404, "{id}");
    }
}

#[tokio::test]
async fn a_key_without_the_scope_an_app_and_a_stranger_are_kept_out() {
    let hook = Hook::new().await;
    let made = hook.endpoint().await;
    let scopes: Scopes = Scope::ALL.into_iter().filter(|it| *it != Scope::WebhooksManage).collect();
    let narrow = hook.person.key(NewKey { scopes, ..new_key() }).await.secret;
    let narrow = with_key(&hook.world, &narrow);
    let mut answers = everything(&narrow, &of(&made)).await;
    answers.extend(the_rest(&narrow, &hook.to("")).await);
    for answer in answers {
        let expected = "403 INSUFFICIENT_SCOPE: this token lacks the scope webhooks:manage";
        assert_eq!(answer.refusal(), expected);
    }

    let stranger = Client::anonymous(&hook.world).header("content-type", "application/json");
    for answer in everything(&stranger, &of(&made)).await {
        assert_eq!(answer.status.as_u16(), 401);
    }

    let scene = crate::oauth::Scene::new().await;
    let app = scene.access(&["accounts:read", "profile:read"]).await;
    let app = with_key(&scene.world, &app);
    let mut answers = everything(&app, &of(&made)).await;
    answers.extend(the_rest(&app, &hook.to("")).await);
    for answer in answers {
        let expected = "403 API_KEY_REQUIRED: this takes an API key; an app's token cannot do it, whatever its scopes";
        assert_eq!(answer.refusal(), expected);
    }
}

#[tokio::test]
async fn bodies_are_refused_in_words_that_help() {
    let hook = Hook::new().await;
    let url = &hook.receiver.url;
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
        let refused = hook.post(ENDPOINTS, &with(more)).await.refusal();
        assert_eq!(refused, format!("400 VALIDATION_ERROR {expected}"), "{more}");
    }
    let most = format!(r#""description": "{}""#, "ü".repeat(256));
    assert_eq!(hook.post(ENDPOINTS, &with(&most)).await.status.as_u16(), 200);
    let huge = format!(r#""filter_types": ["{}"]"#, "goal.".repeat(100_000));
    assert!(
        hook.post(ENDPOINTS, &with(&huge)).await.bytes.len() < 1_000,
        "it is not sent back whole"
    );
}

#[tokio::test]
async fn changes_are_refused_in_words_that_help() {
    let hook = Hook::new().await;
    let made = hook.endpoint().await;
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
        let refused = hook.put(&made, body).await.refusal();
        assert_eq!(refused, format!("400 VALIDATION_ERROR {expected}"), "{body}");
    }
    for (method, path) in
        [(Method::DELETE, of(&made)), (Method::POST, format!("{}/rotate", of(&made)))]
    {
        let refused = hook.send(method, &path, r#"{"now": true}"#).await.refusal();
        assert_eq!(refused, "400 VALIDATION_ERROR now: now is not known here, which takes none");
    }
    let wrong = hook.send(Method::PATCH, &of(&made), "{}").await;
    assert_eq!(
        (wrong.status.as_u16(), wrong.header("allow")),
        (405, "GET, PUT, DELETE, HEAD, OPTIONS")
    );
}

#[tokio::test]
async fn an_address_that_must_not_be_sent_to_is_refused_when_it_is_named() {
    let hook = Hook::new().await;
    let made = hook.endpoint().await;
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
        assert_eq!(hook.post(ENDPOINTS, &body).await.refusal(), expected, "{url}");
        assert_eq!(hook.put(&made, &body).await.refusal(), expected, "{url}");
    }
    let long = format!(r#"{{"url": "https://example.com/{}"}}"#, "a".repeat(2_048));
    let expected = "400 VALIDATION_ERROR url: url must have at most 2048 characters";
    assert_eq!(hook.post(ENDPOINTS, &long).await.refusal(), expected);
    assert_eq!(hook.put(&made, &long).await.refusal(), expected);
    let missing = hook.post(ENDPOINTS, "{}").await.refusal();
    assert_eq!(missing, "400 VALIDATION_ERROR url: url is missing");
    assert_eq!(hook.get(ENDPOINTS).await.data()["endpoints"].as_array().unwrap().len(), 1);
    assert_eq!(hook.get(&of(&made)).await.data()["url"], hook.receiver.url);
}
