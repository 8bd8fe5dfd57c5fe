//! Tests of the OAuth consent page and of authorization codes.

use http::{Method, StatusCode};
use serde_json::json;
use service::access::oauth::grants;
use service::access::sessions::Visit;

use super::{OauthFixture, REDIRECT_URI, encoded, issuer, page, post, query_pairs, query_value};
use crate::client::{Answer, PUBLIC_URL};

#[tokio::test]
async fn the_consent_page_describes_the_scopes_and_the_app_gets_a_code() {
    let fixture = OauthFixture::new().await;
    let client = fixture.public_client().await;
    let query = fixture.authorize_query(&client, &[("scope", "accounts:read paper:trade")]);
    let consent = fixture.authorize(&query).await;
    assert_eq!(consent.status, StatusCode::OK);
    let shown = page(&consent);
    for text in [
        "<h1>Allow Ledger Lens?</h1>",
        "<strong>lens.example</strong>",
        "robin@example.com",
        "See your accounts and their balances",
        "Propose paper trades, for you to decide",
        ">Allow</button>",
        ">Deny</button>",
    ] {
        assert!(shown.contains(text), "{text} is not in {shown}");
    }
    assert!(!shown.contains("See your goals"));
    assert_eq!(consent.header("cache-control"), "private, no-store");
    assert_eq!(consent.header("x-frame-options"), "DENY");
    let policy = consent.header("content-security-policy");
    assert!(policy.contains("form-action 'self' https:;"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");

    let answer = fixture.decide(&query, "allow", &["accounts:read"]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let location = answer.header("location");
    assert!(location.starts_with(&format!("{REDIRECT_URI}?code=")), "{location}");
    assert_eq!(query_value(location, "state"), "s-1");
    assert_eq!(query_value(location, "iss"), issuer());
    assert_eq!(answer.header("referrer-policy"), "no-referrer");
    let tokens = fixture.redeem(&client, &query_value(location, "code")).await.json();
    assert_eq!(tokens["scope"], "accounts:read", "only the scope that the person chose");
}

#[tokio::test]
async fn the_content_security_policy_allows_redirects_to_local_programs_and_mobile_apps() {
    let fixture = OauthFixture::new().await;
    for (uri, redirect_uri, allowed, host) in [
        (
            "http://127.0.0.1/back",
            "http://127.0.0.1:4321/back",
            "https: http://127.0.0.1:4321;",
            "127.0.0.1",
        ),
        (
            "http://localhost:1/back",
            "http://localhost/back",
            "https: http://localhost;",
            "your own computer",
        ),
        ("http://[::1]/back", "http://[::1]:9/back", "https: http:;", "[::1]"),
        (
            "com.example.lens:/back",
            "com.example.lens:/back",
            "https: com.example.lens:;",
            "com.example.lens",
        ),
    ] {
        let metadata = json!({ "redirect_uris": [uri], "token_endpoint_auth_method": "none" });
        let client = fixture.register(metadata).await.json();
        let client = client["client_id"].as_str().unwrap();
        let query = fixture.authorize_query(client, &[("redirect_uri", redirect_uri)]);
        let shown = fixture.authorize(&query).await;
        let policy = shown.header("content-security-policy");
        assert!(policy.contains(&format!("form-action 'self' {allowed}")), "{policy}");
        assert!(page(&shown).contains(host), "{host}");
        let answer = fixture.decide(&query, "allow", &["accounts:read"]).await;
        assert!(answer.header("location").starts_with(&format!("{redirect_uri}?code=eko_")));
    }
}

#[tokio::test]
async fn a_denial_is_returned_to_the_app_and_stores_no_code() {
    let fixture = OauthFixture::new().await;
    let client = fixture.public_client().await;
    let query = fixture.authorize_query(&client, &[]);
    for decision in ["deny", "", "ALLOW"] {
        let answer = fixture.decide(&query, decision, &["accounts:read"]).await;
        let location = answer.header("location");
        assert_eq!(query_value(location, "error"), "access_denied");
        assert_eq!(
            (query_value(location, "state"), query_value(location, "iss")),
            ("s-1".to_owned(), issuer())
        );
        assert_eq!(query_value(location, "code"), "");
    }
    assert!(fixture.world.stored().await["oauth_codes"].is_empty());
}

#[tokio::test]
async fn an_unregistered_client_or_redirect_uri_gets_no_redirect() {
    let fixture = OauthFixture::new().await;
    let client = fixture.public_client().await;
    let other = fixture.confidential_client().await.0;
    for (name, bad) in [
        ("redirect_uri", "https://evil.example/back"),
        ("redirect_uri", "https://lens.example/back/"),
        ("redirect_uri", "https://lens.example:444/back"),
        ("redirect_uri", "https://lens.example/back?a=1"),
        ("redirect_uri", "https://lens.example@evil.example/back"),
        ("redirect_uri", "//evil.example/back"),
        ("redirect_uri", "javascript:alert(1)"),
        ("client_id", "app_01kny3v1m8f2x9q4t7r5c6b8de"),
        ("client_id", "<script>alert(1)</script>"),
        ("client_id", "-"),
    ] {
        let query = fixture.authorize_query(&client, &[(name, bad)]);
        for answer in [
            fixture.authorize(&query).await,
            fixture.decide(&query, "allow", &["accounts:read"]).await,
        ] {
            assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{name} {bad}");
            assert_eq!(answer.header("location"), "", "{name} {bad}");
            let shown = page(&answer);
            assert!(shown.contains("This app cannot connect") && !shown.contains("<script>alert"));
        }
    }
    let twice = format!(
        "{}&redirect_uri=https%3A%2F%2Fevil.example",
        fixture.authorize_query(&client, &[])
    );
    assert_eq!(fixture.authorize(&twice).await.status, StatusCode::BAD_REQUEST);
    let broken = format!("{}&x=%zz", fixture.authorize_query(&other, &[]));
    assert_eq!(fixture.authorize(&broken).await.status, StatusCode::BAD_REQUEST);
    assert!(fixture.world.stored().await["oauth_codes"].is_empty());
}

/// Invalid parameters whose error may be returned to the app, with the error code.
const INVALID_PARAMETERS: [(&str, &str, &str); 10] = [
    ("response_type", "token", "unsupported_response_type"),
    ("response_type", "-", "invalid_request"),
    ("response_mode", "fragment", "invalid_request"),
    ("response_mode", "form_post", "invalid_request"),
    ("code_challenge", "-", "invalid_request"),
    ("code_challenge_method", "plain", "invalid_request"),
    ("code_challenge_method", "-", "invalid_request"),
    ("scope", "webhooks:manage", "invalid_scope"),
    ("scope", "everything\"<é>", "invalid_scope"),
    ("resource", "https://other.example/v1", "invalid_target"),
];

/// Checks that the error is shown on a page of this site, without a redirect.
fn assert_error_page(answer: &Answer, error: &str) {
    assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{error}");
    assert_eq!(answer.header("location"), "", "{error}");
    let shown = page(answer);
    for text in ["This app cannot connect", "Ledger Lens", "lens.example", error] {
        assert!(shown.contains(text), "{text} is not in {shown}");
    }
    assert!(!shown.contains("https://lens.example"), "the page must not link to the app");
}

#[tokio::test]
async fn an_invalid_request_does_not_redirect_to_an_app_without_a_grant() {
    let fixture = OauthFixture::new().await;
    let client = fixture.public_client().await;
    for (name, bad, error) in INVALID_PARAMETERS {
        let query = fixture.authorize_query(&client, &[(name, bad)]);
        let path = format!("/oauth/authorize?{query}");
        assert_error_page(&fixture.anonymous().get(&path).await, error);
        assert_error_page(&fixture.browser().get(&path).await, error);
        assert_error_page(&fixture.decide(&query, "allow", &["accounts:read"]).await, error);
        assert_error_page(&fixture.decide(&query, "deny", &[]).await, error);
    }
    let twice =
        format!("{}&scope=goals%3Aread&scope=goals%3Aread", fixture.authorize_query(&client, &[]));
    assert_error_page(&fixture.authorize(&twice).await, "invalid_request");
    // The same goes for a request that asks not to show a page.
    let silent = fixture.authorize_query(&client, &[("prompt", "none")]);
    assert_eq!(fixture.authorize(&silent).await.status, StatusCode::OK);
    let answer = fixture.anonymous().get(&format!("/oauth/authorize?{silent}")).await;
    assert!(answer.header("location").starts_with("/sign-in?next="));
}

#[tokio::test]
async fn an_invalid_request_redirects_with_its_error_to_an_app_with_a_grant() {
    let fixture = OauthFixture::new().await;
    let client = fixture.public_client().await;
    fixture.tokens(&client).await;
    let kim = fixture.world.person("kim@example.com").await;
    let method = service::access::sessions::Method::Password;
    let session =
        service::access::sessions::create(&fixture.world.app, &kim.user, method, Visit::default())
            .await;
    let kim =
        fixture.anonymous().header("cookie", &format!("evenkeel_session={}", session.unwrap()));
    for (name, bad, error) in INVALID_PARAMETERS {
        let query = fixture.authorize_query(&client, &[(name, bad)]);
        let path = format!("/oauth/authorize?{query}");
        let answers = [
            fixture.browser().get(&path).await,
            fixture.decide(&query, "allow", &["accounts:read"]).await,
        ];
        for answer in answers {
            assert_eq!(answer.status, StatusCode::SEE_OTHER, "{name} {bad}");
            let location = answer.header("location");
            assert!(location.starts_with(&format!("{REDIRECT_URI}?error={error}&")), "{location}");
            assert_eq!(query_value(location, "state"), "s-1");
            assert_eq!(query_value(location, "iss"), issuer());
        }
        // The grant of one person does not count for others.
        assert_error_page(&fixture.anonymous().get(&path).await, error);
        assert_error_page(&kim.get(&path).await, error);
    }
    let query = fixture.authorize_query(&client, &[("scope", "webhooks:manage")]);
    let id = grants::list(&fixture.world.app, &fixture.person.caller).await.unwrap()[0].id;
    grants::revoke(&fixture.world.app, &fixture.person.caller, id).await.unwrap();
    assert_error_page(&fixture.authorize(&query).await, "invalid_scope");
}

#[tokio::test]
async fn a_grant_for_one_redirect_uri_does_not_count_for_another() {
    let fixture = OauthFixture::new().await;
    let other = "https://elsewhere.example/back";
    let metadata =
        json!({ "redirect_uris": [REDIRECT_URI, other], "token_endpoint_auth_method": "none" });
    let client = fixture.register(metadata).await.json();
    let client = client["client_id"].as_str().unwrap();
    fixture.tokens(client).await;
    let there = [("redirect_uri", other), ("scope", "webhooks:manage")];
    let answer = fixture.authorize(&fixture.authorize_query(client, &there)).await;
    assert_eq!((answer.status, answer.header("location")), (StatusCode::BAD_REQUEST, ""));
    let here =
        fixture.authorize(&fixture.authorize_query(client, &[("scope", "webhooks:manage")])).await;
    assert!(here.header("location").starts_with(REDIRECT_URI));
}

#[tokio::test]
async fn a_request_with_too_many_fields_is_refused() {
    let fixture = OauthFixture::new().await;
    let client = fixture.public_client().await;
    let many: String = (0..100).map(|it| format!("&x{it}=1")).collect();
    let answer =
        fixture.authorize(&format!("{}{many}", fixture.authorize_query(&client, &[]))).await;
    assert_eq!((answer.status, answer.header("location")), (StatusCode::BAD_REQUEST, ""));
}

#[tokio::test]
async fn the_state_is_returned_unchanged() {
    let fixture = OauthFixture::new().await;
    let client = fixture.public_client().await;
    for state in ["a b+c&d=e%20#/?\\\"'<é\u{202e}", "=", &"x".repeat(2_000)] {
        let query = fixture.authorize_query(&client, &[("state", state)]);
        let answer = fixture.decide(&query, "allow", &["accounts:read"]).await;
        assert_eq!(query_value(answer.header("location"), "state"), state);
        let shown = page(&fixture.authorize(&query).await);
        assert!(!shown.contains("<é"), "the state must be escaped on the page");
    }
    let none = fixture.authorize_query(&client, &[("state", "-")]);
    let answer = fixture.decide(&none, "allow", &["accounts:read"]).await;
    assert!(!query_pairs(answer.header("location")).iter().any(|(name, _)| name == "state"));
}

#[tokio::test]
async fn a_person_can_allow_fewer_scopes_but_not_none_and_not_more() {
    let fixture = OauthFixture::new().await;
    let client = fixture.public_client().await;
    let query = fixture.authorize_query(&client, &[("scope", "accounts:read goals:read")]);
    for scopes in [&[][..], &["accounts:read", "paper:trade"], &["webhooks:manage"]] {
        let answer = fixture.decide(&query, "allow", scopes).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{scopes:?}");
        let message = "Choose at least one of the permissions that the app asks for.";
        assert!(page(&answer).contains(message));
        assert!(answer.header("content-security-policy").contains("form-action 'self' https:"));
    }
    assert_eq!(
        fixture.decide(&query, "allow", &["nonsense"]).await.status,
        StatusCode::BAD_REQUEST
    );
}

#[tokio::test]
async fn an_anonymous_person_is_sent_to_sign_in_and_back() {
    let fixture = OauthFixture::new().await;
    let client = fixture.public_client().await;
    let path = format!(
        "/oauth/authorize?{}",
        fixture.authorize_query(&client, &[("scope", "goals:read")])
    );
    let answer = fixture.anonymous().get(&path).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let location = answer.header("location");
    assert!(location.starts_with("/sign-in?next="), "{location}");
    assert_eq!(query_value(location, "next"), path);
}

#[tokio::test]
async fn an_approval_sent_by_another_site_is_refused() {
    let fixture = OauthFixture::new().await;
    let client = fixture.public_client().await;
    let query = fixture.authorize_query(&client, &[]);
    let pairs = [("asked", query.as_str()), ("decision", "allow"), ("scope", "accounts:read")];
    let forged = post(&fixture.browser(), "/oauth/authorize", &pairs).await;
    assert_eq!(forged.status, StatusCode::FORBIDDEN);
    let token = service::access::sessions::form_token(&fixture.world.app, &fixture.session);
    let pairs = [&pairs[..], &[("form_token", token.as_str())]].concat();
    let cross = fixture.browser().header("sec-fetch-site", "cross-site");
    assert_eq!(post(&cross, "/oauth/authorize", &pairs).await.status, StatusCode::FORBIDDEN);
    let nobody = post(&fixture.anonymous(), "/oauth/authorize", &pairs).await;
    assert_eq!(nobody.header("location"), "/sign-in");
    let by_get = format!("/oauth/authorize?{}", encoded(&pairs));
    assert_eq!(fixture.browser().get(&by_get).await.status, StatusCode::BAD_REQUEST);
    assert!(fixture.world.stored().await["oauth_codes"].is_empty());
}

#[tokio::test]
async fn the_name_of_an_app_is_escaped() {
    let fixture = OauthFixture::new().await;
    let metadata = json!({
        "client_name": "<img src=x onerror=alert(1)>\"'", "redirect_uris": [REDIRECT_URI],
        "token_endpoint_auth_method": "none",
    });
    let client = fixture.register(metadata).await.json();
    let client = client["client_id"].as_str().unwrap();
    let shown = page(&fixture.authorize(&fixture.authorize_query(client, &[])).await);
    assert!(!shown.contains("<img") && shown.contains("&lt;img src=x"));
    fixture.tokens(client).await;
    let listed = page(&fixture.browser().get("/settings/apps").await);
    assert!(!listed.contains("<img") && listed.contains("&lt;img src=x"));
}

#[tokio::test]
async fn connected_apps_are_listed_and_can_be_revoked() {
    let fixture = OauthFixture::new().await;
    let empty = page(&fixture.browser().get("/settings/apps").await);
    assert!(empty.contains("No apps have access.") && empty.contains(PUBLIC_URL));
    let client = fixture.public_client().await;
    let (access, refresh) = fixture.tokens(&client).await;
    assert_eq!(fixture.get_with_token(&access, "/v1/accounts").await.status, StatusCode::OK);
    let listed = page(&fixture.browser().get("/settings/apps").await);
    for text in ["Ledger Lens", "lens.example", "See your name and email address", "just now"] {
        assert!(listed.contains(text), "{text}");
    }
    let id = grants::list(&fixture.world.app, &fixture.person.caller).await.unwrap()[0].id;
    let path = format!("/settings/apps/{id}/revoke");
    let without_token = fixture.browser().send(Method::POST, &path, "").await;
    assert_eq!(without_token.status, StatusCode::FORBIDDEN);
    let token = service::access::sessions::form_token(&fixture.world.app, &fixture.session);
    let ended = post(&fixture.browser(), &path, &[("form_token", &token)]).await;
    assert_eq!((ended.status, ended.header("location")), (StatusCode::SEE_OTHER, "/settings/apps"));
    let refusal = fixture.get_with_token(&access, "/v1/accounts").await.refusal();
    assert_eq!(refusal, "401 UNAUTHENTICATED: the token is unknown or was revoked");
    assert_eq!(super::refused(&fixture.refresh(&client, &refresh).await), "400 invalid_grant");
    for id in [id.to_string().as_str(), "nonsense", "gra_01kny3v1m8f2x9q4t7r5c6b8de"] {
        let path = format!("/settings/apps/{id}/revoke");
        let again = post(&fixture.browser(), &path, &[("form_token", &token)]).await;
        assert_eq!(again.status, StatusCode::NOT_FOUND, "{id}");
    }
}
