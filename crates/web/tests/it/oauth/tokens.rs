//! Tests of OAuth tokens: exchange, refresh, revocation and theft.

use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{Method, StatusCode};
use service::platform::limits::Policy;
use wire::v1::Scope;

use super::{OauthFixture, REDIRECT_URI, VERIFIER, post, refused, token_pair};
use crate::client::Client;

#[tokio::test]
async fn a_code_is_exchanged_for_tokens_with_the_allowed_scopes_only() {
    let fixture = OauthFixture::new().await;
    let client = fixture.public_client().await;
    let code = fixture.code(&client).await;
    let answer = fixture.redeem(&client, &code).await;
    assert_eq!(answer.header("cache-control"), "no-store");
    let body = answer.json();
    assert_eq!((&body["token_type"], &body["expires_in"]), (&"Bearer".into(), &900.into()));
    assert_eq!(body["scope"], "accounts:read profile:read");
    let (access, _) = token_pair(&answer);
    let me = fixture.get_with_token(&access, "/v1/me").await.data();
    assert_eq!(me["id"], fixture.person.user.id.to_string());
    assert_eq!(fixture.get_with_token(&access, "/v1/accounts").await.status, StatusCode::OK);
    let refused = fixture.get_with_token(&access, "/v1/goals").await;
    let expected = "403 INSUFFICIENT_SCOPE: this token lacks the scope goals:read";
    assert_eq!(refused.refusal(), expected);
    fixture.world.advance_seconds(900);
    let late = fixture.get_with_token(&access, "/v1/me").await;
    assert_eq!(late.refusal(), "401 UNAUTHENTICATED: the token has expired");
    assert!(late.header("www-authenticate").contains("error=\"invalid_token\""));
}

#[tokio::test]
async fn a_code_works_once_with_its_client_redirect_uri_and_verifier() {
    let fixture = OauthFixture::new().await;
    let (client, other) = (fixture.public_client().await, fixture.confidential_client().await);
    let code = fixture.code(&client).await;
    let good = [
        ("grant_type", "authorization_code"),
        ("client_id", client.as_str()),
        ("code", code.as_str()),
        ("code_verifier", VERIFIER),
        ("redirect_uri", REDIRECT_URI),
    ];
    let attempt = async |changed: &[(&str, &str)]| {
        let mut pairs = good.to_vec();
        pairs.retain(|(name, _)| !changed.iter().any(|(it, _)| it == name));
        pairs.extend(changed);
        refused(&post(&fixture.anonymous(), "/oauth/token", &pairs).await)
    };
    let foreign = [("client_id", other.0.as_str()), ("client_secret", other.1.as_str())];
    assert_eq!(attempt(&foreign).await, "400 invalid_grant");
    assert_eq!(attempt(&[("redirect_uri", "https://lens.example/")]).await, "400 invalid_grant");
    assert_eq!(attempt(&[("code_verifier", &"x".repeat(43))]).await, "400 invalid_grant");
    assert_eq!(attempt(&[("code_verifier", "short")]).await, "400 invalid_grant");
    assert_eq!(attempt(&[("code_verifier", "")]).await, "400 invalid_request");
    assert_eq!(attempt(&[("code", "eko_nonsense")]).await, "400 invalid_grant");
    assert_eq!(attempt(&[("code", "")]).await, "400 invalid_request");
    assert_eq!(attempt(&[("grant_type", "password")]).await, "400 unsupported_grant_type");
    assert_eq!(attempt(&[("grant_type", "")]).await, "400 invalid_request");
    assert_eq!(attempt(&[("resource", "https://x.example")]).await, "400 invalid_target");
    assert_eq!(attempt(&[("client_id", "")]).await, "401 invalid_client");
    let twice = [good.to_vec(), vec![("code", code.as_str())]].concat();
    assert_eq!(
        refused(&post(&fixture.anonymous(), "/oauth/token", &twice).await),
        "400 invalid_request"
    );

    let (access, refresh) = token_pair(&post(&fixture.anonymous(), "/oauth/token", &good).await);
    assert_eq!(attempt(&[]).await, "400 invalid_grant");
    assert_eq!(fixture.get_with_token(&access, "/v1/me").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(refused(&fixture.refresh(&client, &refresh).await), "400 invalid_grant");
}

#[tokio::test]
async fn more_scopes_at_the_token_endpoint_grant_no_more() {
    let fixture = OauthFixture::new().await;
    let client = fixture.public_client().await;
    let code = fixture.code(&client).await;
    let pairs = [
        ("grant_type", "authorization_code"),
        ("client_id", client.as_str()),
        ("code", code.as_str()),
        ("code_verifier", VERIFIER),
        ("scope", "goals:read paper:trade webhooks:manage"),
    ];
    let answer = post(&fixture.anonymous(), "/oauth/token", &pairs).await;
    assert_eq!(answer.json()["scope"], "accounts:read profile:read");
    let (access, refresh) = token_pair(&answer);
    assert_eq!(fixture.get_with_token(&access, "/v1/goals").await.status, StatusCode::FORBIDDEN);
    let more = [
        ("grant_type", "refresh_token"),
        ("client_id", client.as_str()),
        ("refresh_token", refresh.as_str()),
        ("scope", "accounts:read goals:read"),
    ];
    let answer = post(&fixture.anonymous(), "/oauth/token", &more).await;
    assert_eq!(refused(&answer), "400 invalid_scope");
}

#[tokio::test]
async fn a_reused_refresh_token_revokes_the_grant() {
    let fixture = OauthFixture::new().await;
    let client = fixture.public_client().await;
    let (_, first) = fixture.tokens(&client).await;
    let (access, second) = token_pair(&fixture.refresh(&client, &first).await);
    assert_eq!(fixture.get_with_token(&access, "/v1/me").await.status, StatusCode::OK);
    assert_eq!(refused(&fixture.refresh(&client, &first).await), "400 invalid_grant");
    assert_eq!(fixture.get_with_token(&access, "/v1/me").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(refused(&fixture.refresh(&client, &second).await), "400 invalid_grant");
}

#[tokio::test]
async fn a_confidential_client_must_send_its_own_secret_in_one_way() {
    let fixture = OauthFixture::new().await;
    let ((one, secret), (two, other_secret)) =
        (fixture.confidential_client().await, fixture.confidential_client().await);
    let code = fixture.code(&one).await;
    let (_, refresh) = {
        let basic = STANDARD.encode(format!("{one}:{secret}"));
        let client = fixture.anonymous().header("authorization", &format!("Basic {basic}"));
        let pairs = [
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("code_verifier", VERIFIER),
            ("redirect_uri", REDIRECT_URI),
        ];
        token_pair(&post(&client, "/oauth/token", &pairs).await)
    };
    let renew = [("grant_type", "refresh_token"), ("refresh_token", refresh.as_str())];
    let with = async |basic: Option<&str>, more: &[(&str, &str)]| {
        let client = fixture.anonymous();
        let client = match basic {
            Some(text) => {
                client.header("authorization", &format!("Basic {}", STANDARD.encode(text)))
            }
            None => client,
        };
        post(&client, "/oauth/token", &[&renew[..], more].concat()).await
    };
    let wrong = [
        with(None, &[("client_id", &one)]).await,
        with(None, &[("client_id", &one), ("client_secret", &other_secret)]).await,
        with(None, &[("client_id", &two), ("client_secret", &secret)]).await,
        with(Some(&format!("{one}:{other_secret}")), &[]).await,
        with(Some(&format!("{one}:")), &[]).await,
        with(Some(&one), &[]).await,
    ];
    for answer in wrong {
        assert_eq!(refused(&answer), "401 invalid_client");
        assert_eq!(answer.header("www-authenticate"), "Basic realm=\"evenkeel\"");
    }
    let both = with(Some(&format!("{one}:{secret}")), &[("client_secret", &secret)]).await;
    assert_eq!(refused(&both), "400 invalid_request");
    let stolen = with(None, &[("client_id", &two), ("client_secret", &other_secret)]).await;
    assert_eq!(refused(&stolen), "400 invalid_grant");
    token_pair(&with(None, &[("client_id", &one), ("client_secret", &secret)]).await);
}

#[tokio::test]
async fn failed_token_requests_are_rate_limited_by_address() {
    let fixture = OauthFixture::new().await;
    let mut slowed = 0;
    for _ in 0..70 {
        let answer = fixture.refresh("app_nonsense", "ekr_nonsense").await;
        slowed += usize::from(answer.status == StatusCode::TOO_MANY_REQUESTS);
    }
    assert_eq!(slowed, 10);
}

#[tokio::test]
async fn revoking_either_token_ends_the_grant_and_reveals_nothing_about_others() {
    let fixture = OauthFixture::new().await;
    let (client, other) = (fixture.public_client().await, fixture.confidential_client().await);
    for which in 0..2 {
        let tokens: [String; 2] = fixture.tokens(&client).await.into();
        let revoke = async |pairs: &[(&str, &str)]| {
            let answer = post(&fixture.anonymous(), "/oauth/revoke", pairs).await;
            assert_eq!(answer.status, StatusCode::OK);
        };
        let token = ("token", tokens[which].as_str());
        revoke(&[token, ("client_id", &other.0), ("client_secret", &other.1)]).await;
        revoke(&[("token", "nonsense"), ("client_id", &client)]).await;
        assert_eq!(fixture.get_with_token(&tokens[0], "/v1/me").await.status, StatusCode::OK);
        revoke(&[token, ("client_id", &client), ("token_type_hint", "nonsense")]).await;
        assert_eq!(
            fixture.get_with_token(&tokens[0], "/v1/me").await.status,
            StatusCode::UNAUTHORIZED
        );
        revoke(&[token, ("client_id", &client)]).await;
    }
    let nobody = post(&fixture.anonymous(), "/oauth/revoke", &[("token", "x")]).await;
    assert_eq!(refused(&nobody), "401 invalid_client");
    let nothing = post(&fixture.anonymous(), "/oauth/revoke", &[("client_id", &client)]).await;
    assert_eq!(refused(&nothing), "400 invalid_request");
}

#[tokio::test]
async fn only_a_confidential_client_may_introspect_its_own_tokens() {
    let fixture = OauthFixture::new().await;
    let (one, secret) = fixture.confidential_client().await;
    let (two, other_secret) = fixture.confidential_client().await;
    let code = fixture.code(&one).await;
    let pairs = [
        ("grant_type", "authorization_code"),
        ("client_id", one.as_str()),
        ("client_secret", secret.as_str()),
        ("code", code.as_str()),
        ("code_verifier", VERIFIER),
    ];
    let (access, _) = token_pair(&post(&fixture.anonymous(), "/oauth/token", &pairs).await);
    let ask = async |id: &str, secret: &str, token: &str| {
        let pairs = [("client_id", id), ("client_secret", secret), ("token", token)];
        post(&fixture.anonymous(), "/oauth/introspect", &pairs).await
    };
    let own = ask(&one, &secret, &access).await.json();
    assert_eq!(own["active"], true);
    assert_eq!(own["scope"], "accounts:read profile:read");
    assert_eq!(own["client_id"], one);
    assert_eq!(own["sub"], fixture.person.user.id.to_string());
    let now = fixture.world.clock.now().as_second();
    assert_eq!((&own["iat"], &own["exp"]), (&now.into(), &(now + 900).into()));
    assert_eq!(own["iss"], super::issuer());
    assert_eq!(own["aud"], format!("{}/v1", super::issuer()));
    let inactive = serde_json::json!({ "active": false });
    assert_eq!(ask(&two, &other_secret, &access).await.json(), inactive);
    assert_eq!(ask(&one, &secret, "nonsense").await.json(), inactive);
    assert_eq!(refused(&ask(&one, &other_secret, &access).await), "401 invalid_client");
    let public = fixture.public_client().await;
    assert_eq!(refused(&ask(&public, "", &access).await), "401 invalid_client");
    fixture.world.advance_seconds(900);
    assert_eq!(ask(&one, &secret, &access).await.json(), inactive);
}

#[tokio::test]
async fn a_body_that_is_not_a_valid_form_is_refused() {
    let fixture = OauthFixture::new().await;
    let client = fixture.anonymous();
    let form = client.header("content-type", "application/x-www-form-urlencoded; charset=utf-8");
    for body in [&b"a=%zz"[..], b"a=\xff", &b"a".repeat(70_000)] {
        let answer = form.send(Method::POST, "/oauth/token", Body::from(body.to_vec())).await;
        assert_eq!(refused(&answer), "400 invalid_request");
    }
    let json = client.header("content-type", "application/json");
    let answer = json.send(Method::POST, "/oauth/token", "{}").await;
    assert_eq!(refused(&answer), "400 invalid_request");
    let query = form.send(Method::POST, "/oauth/token?client_id=x&grant_type=x", "").await;
    assert_eq!(refused(&query), "401 invalid_client", "parameters in the URL are ignored");
}

#[tokio::test]
async fn a_token_in_the_query_is_ignored() {
    let fixture = OauthFixture::new().await;
    let client = fixture.public_client().await;
    let (access, _) = fixture.tokens(&client).await;
    let answer = fixture.anonymous().get(&format!("/v1/me?access_token={access}")).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert_eq!(fixture.get_with_token(&access, "/v1/me").await.status, StatusCode::OK);
}

#[tokio::test]
async fn requests_are_rate_limited_per_grant_across_its_tokens() {
    let fixture = OauthFixture::new().await;
    let client = fixture.public_client().await;
    let (first, refresh) = fixture.tokens(&client).await;
    let (second, _) = token_pair(&fixture.refresh(&client, &refresh).await);
    let (other, _) = fixture.tokens(&client).await;
    let app = fixture.world.with_limit(Policy { requests: 3, window_seconds: 60 });
    let ask = async |token: &str| {
        let client =
            Client::with_endpoints(app.clone(), web::api::ENDPOINTS, Some(token.to_owned()));
        client.get("/v1/me").await.status
    };
    for token in [&first, &second, &first] {
        assert_eq!(ask(token).await, StatusCode::OK);
    }
    assert_eq!(ask(&second).await, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(ask(&other).await, StatusCode::OK, "another grant has its own limit");
}

#[tokio::test]
async fn an_app_can_use_every_endpoint_by_scope_except_webhooks() {
    let fixture = OauthFixture::new().await;
    let client = fixture.public_client().await;
    let manages = |it: &&web::api::Endpoint| it.scopes.contains(&Scope::WebhooksManage);
    for endpoint in web::api::ENDPOINTS.iter().filter(|it| !manages(it)) {
        let mut scopes: Vec<&str> = endpoint.scopes.iter().map(|it| it.as_str()).collect();
        if scopes.is_empty() {
            scopes.push("profile:read");
        }
        let query = fixture.authorize_query(&client, &[("scope", scopes.join(" ").as_str())]);
        let answer = fixture.decide(&query, "allow", &scopes).await;
        let code = super::query_value(answer.header("location"), "code");
        let (access, _) = token_pair(&fixture.redeem(&client, &code).await);
        let path = crate::auth::sample_path(endpoint);
        let client = Client::with_token(&fixture.world, &access);
        let sent = client.send(endpoint.method.as_str().parse().unwrap(), &path, "").await;
        let status = sent.status;
        assert!(status != StatusCode::FORBIDDEN && status != StatusCode::UNAUTHORIZED, "{path}");
    }
    let (access, _) = fixture.tokens(&client).await;
    let client = Client::with_token(&fixture.world, &access);
    for endpoint in web::api::ENDPOINTS.iter().filter(manages) {
        let path = crate::auth::sample_path(endpoint);
        let method = endpoint.method.as_str().parse().unwrap();
        let refusal = client.send(method, &path, "").await.refusal();
        assert!(refusal.starts_with("403 API_KEY_REQUIRED: this takes an API key"), "{refusal}");
    }
}

#[tokio::test]
async fn a_form_with_too_many_fields_is_refused() {
    let fixture = OauthFixture::new().await;
    let form = fixture.anonymous().header("content-type", "application/x-www-form-urlencoded");
    let fields = |count: usize| (0..count).map(|it| format!("x{it}=&")).collect::<String>();
    // A form with up to 100 fields is read, and refused only for what is missing.
    let some = form.send(Method::POST, "/oauth/token", fields(100)).await;
    assert_eq!(refused(&some), "401 invalid_client");
    for count in [101, 9_000] {
        let many = form.send(Method::POST, "/oauth/token", fields(count)).await;
        assert_eq!(refused(&many), "400 invalid_request", "{count}");
        assert!(many.json()["error_description"].as_str().unwrap().contains("at most 100 fields"));
    }
}
