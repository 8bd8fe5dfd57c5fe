use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{Method, StatusCode};
use service::platform::limits::Policy;
use wire::v1::Scope;

use super::{BACK, Scene, VERIFIER, pair, post, refused};
use crate::client::Client;

#[tokio::test]
async fn a_code_becomes_tokens_that_open_what_was_allowed_and_no_more() {
    let scene = Scene::new().await;
    let client = scene.client().await;
    let code = scene.code(&client).await;
    let answer = scene.redeem(&client, &code).await;
    assert_eq!(answer.header("cache-control"), "no-store");
    let body = answer.json();
    assert_eq!((&body["token_type"], &body["expires_in"]), (&"Bearer".into(), &900.into()));
    assert_eq!(body["scope"], "accounts:read profile:read");
    let (access, _) = pair(&answer);
    let me = scene.ask(&access, "/v1/me").await.data();
    assert_eq!(me["id"], scene.person.user.id.to_string());
    assert_eq!(scene.ask(&access, "/v1/accounts").await.status, StatusCode::OK);
    let refused = scene.ask(&access, "/v1/goals").await;
    let said = "403 INSUFFICIENT_SCOPE: this token lacks the scope goals:read";
    assert_eq!(refused.refusal(), said);
    scene.world.advance_seconds(900);
    let late = scene.ask(&access, "/v1/me").await;
    assert_eq!(late.refusal(), "401 UNAUTHENTICATED: the token has expired");
    assert!(late.header("www-authenticate").contains("error=\"invalid_token\""));
}

#[tokio::test]
async fn a_code_is_good_once_for_its_client_its_address_and_its_verifier() {
    let scene = Scene::new().await;
    let (client, other) = (scene.client().await, scene.confidential().await);
    let code = scene.code(&client).await;
    let good = [
        ("grant_type", "authorization_code"),
        ("client_id", client.as_str()),
        ("code", code.as_str()),
        ("code_verifier", VERIFIER),
        ("redirect_uri", BACK),
    ];
    let attempt = async |changed: &[(&str, &str)]| {
        let mut pairs = good.to_vec();
        pairs.retain(|(name, _)| !changed.iter().any(|(it, _)| it == name));
        pairs.extend(changed);
        refused(&post(&scene.anyone(), "/oauth/token", &pairs).await)
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
        refused(&post(&scene.anyone(), "/oauth/token", &twice).await),
        "400 invalid_request"
    );

    let (access, refresh) = pair(&post(&scene.anyone(), "/oauth/token", &good).await);
    assert_eq!(attempt(&[]).await, "400 invalid_grant");
    assert_eq!(scene.ask(&access, "/v1/me").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(refused(&scene.refresh(&client, &refresh).await), "400 invalid_grant");
}

#[tokio::test]
async fn more_scopes_at_the_token_endpoint_give_no_more() {
    let scene = Scene::new().await;
    let client = scene.client().await;
    let code = scene.code(&client).await;
    let pairs = [
        ("grant_type", "authorization_code"),
        ("client_id", client.as_str()),
        ("code", code.as_str()),
        ("code_verifier", VERIFIER),
        ("scope", "goals:read paper:trade webhooks:manage"),
    ];
    let answer = post(&scene.anyone(), "/oauth/token", &pairs).await;
    assert_eq!(answer.json()["scope"], "accounts:read profile:read");
    let (access, refresh) = pair(&answer);
    assert_eq!(scene.ask(&access, "/v1/goals").await.status, StatusCode::FORBIDDEN);
    let more = [
        ("grant_type", "refresh_token"),
        ("client_id", client.as_str()),
        ("refresh_token", refresh.as_str()),
        ("scope", "accounts:read goals:read"),
    ];
    let answer = post(&scene.anyone(), "/oauth/token", &more).await;
    assert_eq!(refused(&answer), "400 invalid_scope");
}

#[tokio::test]
async fn a_refresh_token_that_comes_back_ends_everything() {
    let scene = Scene::new().await;
    let client = scene.client().await;
    let (_, first) = scene.tokens(&client).await;
    let (access, second) = pair(&scene.refresh(&client, &first).await);
    assert_eq!(scene.ask(&access, "/v1/me").await.status, StatusCode::OK);
    assert_eq!(refused(&scene.refresh(&client, &first).await), "400 invalid_grant");
    assert_eq!(scene.ask(&access, "/v1/me").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(refused(&scene.refresh(&client, &second).await), "400 invalid_grant");
}

#[tokio::test]
async fn a_client_with_a_secret_must_show_its_own_in_one_way() {
    let scene = Scene::new().await;
    let ((one, secret), (two, other_secret)) =
        (scene.confidential().await, scene.confidential().await);
    let code = scene.code(&one).await;
    let (_, refresh) = {
        let basic = STANDARD.encode(format!("{one}:{secret}"));
        let client = scene.anyone().header("authorization", &format!("Basic {basic}"));
        let pairs = [
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("code_verifier", VERIFIER),
            ("redirect_uri", BACK),
        ];
        pair(&post(&client, "/oauth/token", &pairs).await)
    };
    let renew = [("grant_type", "refresh_token"), ("refresh_token", refresh.as_str())];
    let with = async |basic: Option<&str>, more: &[(&str, &str)]| {
        let client = scene.anyone();
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
    pair(&with(None, &[("client_id", &one), ("client_secret", &secret)]).await);
}

#[tokio::test]
async fn guessing_is_slowed_by_address() {
    let scene = Scene::new().await;
    let mut slowed = 0;
    for _ in 0..70 {
        let answer = scene.refresh("app_nonsense", "ekr_nonsense").await;
        slowed += usize::from(answer.status == StatusCode::TOO_MANY_REQUESTS);
    }
    assert_eq!(slowed, 10);
}

#[tokio::test]
async fn giving_either_token_back_ends_the_grant_and_says_nothing_of_others() {
    let scene = Scene::new().await;
    let (client, other) = (scene.client().await, scene.confidential().await);
    for which in 0..2 {
        let tokens: [String; 2] = scene.tokens(&client).await.into();
        let give = async |pairs: &[(&str, &str)]| {
            let answer = post(&scene.anyone(), "/oauth/revoke", pairs).await;
            assert_eq!(answer.status, StatusCode::OK);
        };
        let token = ("token", tokens[which].as_str());
        give(&[token, ("client_id", &other.0), ("client_secret", &other.1)]).await;
        give(&[("token", "nonsense"), ("client_id", &client)]).await;
        assert_eq!(scene.ask(&tokens[0], "/v1/me").await.status, StatusCode::OK);
        give(&[token, ("client_id", &client), ("token_type_hint", "nonsense")]).await;
        assert_eq!(scene.ask(&tokens[0], "/v1/me").await.status, StatusCode::UNAUTHORIZED);
        give(&[token, ("client_id", &client)]).await;
    }
    let nobody = post(&scene.anyone(), "/oauth/revoke", &[("token", "x")]).await;
    assert_eq!(refused(&nobody), "401 invalid_client");
    let nothing = post(&scene.anyone(), "/oauth/revoke", &[("client_id", &client)]).await;
    assert_eq!(refused(&nothing), "400 invalid_request");
}

#[tokio::test]
async fn only_a_client_with_a_secret_may_ask_about_its_own_tokens() {
    let scene = Scene::new().await;
    let (one, secret) = scene.confidential().await;
    let (two, other_secret) = scene.confidential().await;
    let code = scene.code(&one).await;
    let pairs = [
        ("grant_type", "authorization_code"),
        ("client_id", one.as_str()),
        ("client_secret", secret.as_str()),
        ("code", code.as_str()),
        ("code_verifier", VERIFIER),
    ];
    let (access, _) = pair(&post(&scene.anyone(), "/oauth/token", &pairs).await);
    let ask = async |id: &str, secret: &str, token: &str| {
        let pairs = [("client_id", id), ("client_secret", secret), ("token", token)];
        post(&scene.anyone(), "/oauth/introspect", &pairs).await
    };
    let own = ask(&one, &secret, &access).await.json();
    assert_eq!(own["active"], true);
    assert_eq!(own["scope"], "accounts:read profile:read");
    assert_eq!(own["client_id"], one);
    assert_eq!(own["sub"], scene.person.user.id.to_string());
    let now = scene.world.clock.now().as_second();
    assert_eq!((&own["iat"], &own["exp"]), (&now.into(), &(now + 900).into()));
    assert_eq!(own["iss"], super::issuer());
    let inactive = serde_json::json!({ "active": false });
    assert_eq!(ask(&two, &other_secret, &access).await.json(), inactive);
    assert_eq!(ask(&one, &secret, "nonsense").await.json(), inactive);
    assert_eq!(refused(&ask(&one, &other_secret, &access).await), "401 invalid_client");
    let public = scene.client().await;
    assert_eq!(refused(&ask(&public, "", &access).await), "401 invalid_client");
    scene.world.advance_seconds(900);
    assert_eq!(ask(&one, &secret, &access).await.json(), inactive);
}

#[tokio::test]
async fn what_is_no_form_is_refused() {
    let scene = Scene::new().await;
    let client = scene.anyone();
    let form = client.header("content-type", "application/x-www-form-urlencoded; charset=utf-8");
    for body in [&b"a=%zz"[..], b"a=\xff", &b"a".repeat(70_000)] {
        let answer = form.send(Method::POST, "/oauth/token", Body::from(body.to_vec())).await;
        assert_eq!(refused(&answer), "400 invalid_request");
    }
    let json = client.header("content-type", "application/json");
    let answer = json.send(Method::POST, "/oauth/token", "{}").await;
    assert_eq!(refused(&answer), "400 invalid_request");
    let query = form.send(Method::POST, "/oauth/token?client_id=x&grant_type=x", "").await;
    assert_eq!(refused(&query), "401 invalid_client", "the address says nothing");
}

#[tokio::test]
async fn a_token_in_the_address_is_not_a_token() {
    let scene = Scene::new().await;
    let client = scene.client().await;
    let (access, _) = scene.tokens(&client).await;
    let answer = scene.anyone().get(&format!("/v1/me?access_token={access}")).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert_eq!(scene.ask(&access, "/v1/me").await.status, StatusCode::OK);
}

#[tokio::test]
async fn requests_are_counted_by_grant_whatever_token_they_carry() {
    let scene = Scene::new().await;
    let client = scene.client().await;
    let (first, refresh) = scene.tokens(&client).await;
    let (second, _) = pair(&scene.refresh(&client, &refresh).await);
    let (other, _) = scene.tokens(&client).await;
    let app = scene.world.with_limit(Policy { requests: 3, window_seconds: 60 });
    let ask = async |token: &str| {
        let client = Client::over(app.clone(), web::api::ENDPOINTS, Some(token.to_owned()));
        client.get("/v1/me").await.status
    };
    for token in [&first, &second, &first] {
        assert_eq!(ask(token).await, StatusCode::OK);
    }
    assert_eq!(ask(&second).await, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(ask(&other).await, StatusCode::OK, "another grant has a count of its own");
}

#[tokio::test]
async fn an_app_opens_every_reading_endpoint_by_scope_and_webhooks_never() {
    let scene = Scene::new().await;
    let client = scene.client().await;
    let manages = |it: &&web::api::Endpoint| it.scopes.contains(&Scope::WebhooksManage);
    for endpoint in web::api::ENDPOINTS.iter().filter(|it| !manages(it)) {
        let mut words: Vec<&str> = endpoint.scopes.iter().map(|it| it.as_str()).collect();
        if words.is_empty() {
            words.push("profile:read");
        }
        let query = scene.asked(&client, &[("scope", words.join(" ").as_str())]);
        let answer = scene.decide(&query, "allow", &words).await;
        let code = super::value(answer.header("location"), "code");
        let (access, _) = pair(&scene.redeem(&client, &code).await);
        let path = crate::auth::sample_path(endpoint);
        let client = Client::with_token(&scene.world, &access);
        let sent = client.send(endpoint.method.as_str().parse().unwrap(), &path, "").await;
        let status = sent.status;
        assert!(status != StatusCode::FORBIDDEN && status != StatusCode::UNAUTHORIZED, "{path}");
    }
    let (access, _) = scene.tokens(&client).await;
    let client = Client::with_token(&scene.world, &access);
    for endpoint in web::api::ENDPOINTS.iter().filter(manages) {
        let path = crate::auth::sample_path(endpoint);
        let method = endpoint.method.as_str().parse().unwrap();
        let refusal = client.send(method, &path, "").await.refusal();
        assert!(refusal.starts_with("403 API_KEY_REQUIRED: this takes an API key"), "{refusal}");
    }
}

#[tokio::test]
async fn a_form_with_countless_fields_is_refused() {
    let scene = Scene::new().await;
    let form = scene.anyone().header("content-type", "application/x-www-form-urlencoded");
    let fields = |count: usize| (0..count).map(|it| format!("x{it}=&")).collect::<String>();
    // Up to a hundred, what is missing is said.
    let some = form.send(Method::POST, "/oauth/token", fields(100)).await;
    assert_eq!(refused(&some), "401 invalid_client");
    for count in [101, 9_000] {
        let many = form.send(Method::POST, "/oauth/token", fields(count)).await;
        assert_eq!(refused(&many), "400 invalid_request", "{count}");
        assert!(many.json()["error_description"].as_str().unwrap().contains("at most 100 fields"));
    }
}
