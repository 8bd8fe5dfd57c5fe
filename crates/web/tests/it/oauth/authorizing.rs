use http::{Method, StatusCode};
use serde_json::json;
use service::access::oauth::grants;
use service::access::sessions::Visit;

use super::{BACK, Scene, carried, encoded, issuer, page, post, value};
use crate::client::{Answer, PUBLIC_URL};

#[tokio::test]
async fn the_person_is_asked_in_plain_words_and_the_app_gets_a_code() {
    let scene = Scene::new().await;
    let client = scene.client().await;
    let query = scene.asked(&client, &[("scope", "accounts:read paper:trade")]);
    let asked = scene.authorize(&query).await;
    assert_eq!(asked.status, StatusCode::OK);
    let shown = page(&asked);
    for words in [
        "<h1>Allow Ledger Lens?</h1>",
        "<strong>lens.example</strong>",
        "robin@example.com",
        "See your accounts and their balances",
        "Propose paper trades, for you to decide",
        ">Allow</button>",
        ">Deny</button>",
    ] {
        assert!(shown.contains(words), "{words} is not in {shown}");
    }
    assert!(!shown.contains("See your goals"));
    assert_eq!(asked.header("cache-control"), "private, no-store");
    assert_eq!(asked.header("x-frame-options"), "DENY");
    let policy = asked.header("content-security-policy");
    assert!(policy.contains("form-action 'self' https:;"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");

    let answer = scene.decide(&query, "allow", &["accounts:read"]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let location = answer.header("location");
    assert!(location.starts_with(&format!("{BACK}?code=")), "{location}");
    assert_eq!(value(location, "state"), "s-1");
    assert_eq!(value(location, "iss"), issuer());
    assert_eq!(answer.header("referrer-policy"), "no-referrer");
    let tokens = scene.redeem(&client, &value(location, "code")).await.json();
    assert_eq!(tokens["scope"], "accounts:read", "less than was asked, as the person chose");
}

#[tokio::test]
async fn the_policy_lets_the_answer_through_to_a_program_on_the_machine_or_an_app_on_the_phone() {
    let scene = Scene::new().await;
    for (uri, asked, allowed, said) in [
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
        let client = scene.register(metadata).await.json();
        let client = client["client_id"].as_str().unwrap();
        let query = scene.asked(client, &[("redirect_uri", asked)]);
        let shown = scene.authorize(&query).await;
        let policy = shown.header("content-security-policy");
        assert!(policy.contains(&format!("form-action 'self' {allowed}")), "{policy}");
        assert!(page(&shown).contains(said), "{said}");
        let answer = scene.decide(&query, "allow", &["accounts:read"]).await;
        assert!(answer.header("location").starts_with(&format!("{asked}?code=eko_")));
    }
}

#[tokio::test]
async fn a_no_is_told_to_the_app_and_leaves_nothing() {
    let scene = Scene::new().await;
    let client = scene.client().await;
    let query = scene.asked(&client, &[]);
    for decision in ["deny", "", "ALLOW"] {
        let answer = scene.decide(&query, decision, &["accounts:read"]).await;
        let location = answer.header("location");
        assert_eq!(value(location, "error"), "access_denied");
        assert_eq!(
            (value(location, "state"), value(location, "iss")),
            ("s-1".to_owned(), issuer())
        );
        assert_eq!(value(location, "code"), "");
    }
    assert!(scene.world.stored().await["oauth_codes"].is_empty());
}

#[tokio::test]
async fn nobody_is_sent_to_an_address_that_was_not_registered() {
    let scene = Scene::new().await;
    let client = scene.client().await;
    let other = scene.confidential().await.0;
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
        let query = scene.asked(&client, &[(name, bad)]);
        for answer in
            [scene.authorize(&query).await, scene.decide(&query, "allow", &["accounts:read"]).await]
        {
            assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{name} {bad}");
            assert_eq!(answer.header("location"), "", "{name} {bad}");
            let shown = page(&answer);
            assert!(shown.contains("This app cannot connect") && !shown.contains("<script>alert"));
        }
    }
    let twice = format!("{}&redirect_uri=https%3A%2F%2Fevil.example", scene.asked(&client, &[]));
    assert_eq!(scene.authorize(&twice).await.status, StatusCode::BAD_REQUEST);
    let broken = format!("{}&x=%zz", scene.asked(&other, &[]));
    assert_eq!(scene.authorize(&broken).await.status, StatusCode::BAD_REQUEST);
    assert!(scene.world.stored().await["oauth_codes"].is_empty());
}

/// Requests with a mistake that an app could be told of, and the word for it.
const MISTAKES: [(&str, &str, &str); 10] = [
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

/// The mistake is shown here, and nobody is sent anywhere.
fn is_shown(answer: &Answer, error: &str) {
    assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{error}");
    assert_eq!(answer.header("location"), "", "{error}");
    let shown = page(answer);
    for words in ["This app cannot connect", "Ledger Lens", "lens.example", error] {
        assert!(shown.contains(words), "{words} is not in {shown}");
    }
    assert!(!shown.contains("https://lens.example"), "no way leads there from here");
}

#[tokio::test]
async fn a_mistake_sends_nobody_to_an_app_that_they_never_let_in() {
    let scene = Scene::new().await;
    let client = scene.client().await;
    for (name, bad, error) in MISTAKES {
        let query = scene.asked(&client, &[(name, bad)]);
        let path = format!("/oauth/authorize?{query}");
        is_shown(&scene.anyone().get(&path).await, error);
        is_shown(&scene.browser().get(&path).await, error);
        is_shown(&scene.decide(&query, "allow", &["accounts:read"]).await, error);
        is_shown(&scene.decide(&query, "deny", &[]).await, error);
    }
    let twice = format!("{}&scope=goals%3Aread&scope=goals%3Aread", scene.asked(&client, &[]));
    is_shown(&scene.authorize(&twice).await, "invalid_request");
    // Asking for an answer without a page for the person does not help either.
    let silent = scene.asked(&client, &[("prompt", "none")]);
    assert_eq!(scene.authorize(&silent).await.status, StatusCode::OK);
    let answer = scene.anyone().get(&format!("/oauth/authorize?{silent}")).await;
    assert!(answer.header("location").starts_with("/sign-in?next="));
}

#[tokio::test]
async fn a_mistake_is_told_to_an_app_that_the_person_has_let_in() {
    let scene = Scene::new().await;
    let client = scene.client().await;
    scene.tokens(&client).await;
    let kim = scene.world.person("kim@example.com").await;
    let method = service::access::sessions::Method::Password;
    let session =
        service::access::sessions::create(&scene.world.app, &kim.user, method, Visit::default())
            .await;
    let kim = scene.anyone().header("cookie", &format!("evenkeel_session={}", session.unwrap()));
    for (name, bad, error) in MISTAKES {
        let query = scene.asked(&client, &[(name, bad)]);
        let path = format!("/oauth/authorize?{query}");
        let answers = [
            scene.browser().get(&path).await,
            scene.decide(&query, "allow", &["accounts:read"]).await,
        ];
        for answer in answers {
            assert_eq!(answer.status, StatusCode::SEE_OTHER, "{name} {bad}");
            let location = answer.header("location");
            assert!(location.starts_with(&format!("{BACK}?error={error}&")), "{location}");
            assert_eq!(value(location, "state"), "s-1");
            assert_eq!(value(location, "iss"), issuer());
        }
        // It says nothing about anybody else.
        is_shown(&scene.anyone().get(&path).await, error);
        is_shown(&kim.get(&path).await, error);
    }
    let query = scene.asked(&client, &[("scope", "webhooks:manage")]);
    let id = grants::list(&scene.world.app, &scene.person.caller).await.unwrap()[0].id;
    grants::revoke(&scene.world.app, &scene.person.caller, id).await.unwrap();
    is_shown(&scene.authorize(&query).await, "invalid_scope");
}

#[tokio::test]
async fn an_app_that_was_let_in_at_one_address_is_not_told_at_another() {
    let scene = Scene::new().await;
    let other = "https://elsewhere.example/back";
    let metadata = json!({ "redirect_uris": [BACK, other], "token_endpoint_auth_method": "none" });
    let client = scene.register(metadata).await.json();
    let client = client["client_id"].as_str().unwrap();
    scene.tokens(client).await;
    let there = [("redirect_uri", other), ("scope", "webhooks:manage")];
    let answer = scene.authorize(&scene.asked(client, &there)).await;
    assert_eq!((answer.status, answer.header("location")), (StatusCode::BAD_REQUEST, ""));
    let here = scene.authorize(&scene.asked(client, &[("scope", "webhooks:manage")])).await;
    assert!(here.header("location").starts_with(BACK));
}

#[tokio::test]
async fn a_request_with_countless_fields_is_refused() {
    let scene = Scene::new().await;
    let client = scene.client().await;
    let many: String = (0..100).map(|it| format!("&x{it}=1")).collect();
    let answer = scene.authorize(&format!("{}{many}", scene.asked(&client, &[]))).await;
    assert_eq!((answer.status, answer.header("location")), (StatusCode::BAD_REQUEST, ""));
}

#[tokio::test]
async fn the_state_comes_back_unchanged() {
    let scene = Scene::new().await;
    let client = scene.client().await;
    for state in ["a b+c&d=e%20#/?\\\"'<é\u{202e}", "=", &"x".repeat(2_000)] {
        let query = scene.asked(&client, &[("state", state)]);
        let answer = scene.decide(&query, "allow", &["accounts:read"]).await;
        assert_eq!(value(answer.header("location"), "state"), state);
        let shown = page(&scene.authorize(&query).await);
        assert!(!shown.contains("<é"), "nothing of it stands on the page as it is");
    }
    let none = scene.asked(&client, &[("state", "-")]);
    let answer = scene.decide(&none, "allow", &["accounts:read"]).await;
    assert!(!carried(answer.header("location")).iter().any(|(name, _)| name == "state"));
}

#[tokio::test]
async fn a_person_can_choose_less_but_not_nothing_and_nobody_can_choose_more() {
    let scene = Scene::new().await;
    let client = scene.client().await;
    let query = scene.asked(&client, &[("scope", "accounts:read goals:read")]);
    for scopes in [&[][..], &["accounts:read", "paper:trade"], &["webhooks:manage"]] {
        let answer = scene.decide(&query, "allow", scopes).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{scopes:?}");
        let told = "Choose at least one of the permissions that the app asks for.";
        assert!(page(&answer).contains(told));
        assert!(answer.header("content-security-policy").contains("form-action 'self' https:"));
    }
    assert_eq!(scene.decide(&query, "allow", &["nonsense"]).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn whoever_is_not_signed_in_comes_back_after_signing_in() {
    let scene = Scene::new().await;
    let client = scene.client().await;
    let path = format!("/oauth/authorize?{}", scene.asked(&client, &[("scope", "goals:read")]));
    let answer = scene.anyone().get(&path).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let location = answer.header("location");
    assert!(location.starts_with("/sign-in?next="), "{location}");
    assert_eq!(value(location, "next"), path);
}

#[tokio::test]
async fn a_yes_that_another_site_sends_is_refused() {
    let scene = Scene::new().await;
    let client = scene.client().await;
    let query = scene.asked(&client, &[]);
    let pairs = [("asked", query.as_str()), ("decision", "allow"), ("scope", "accounts:read")];
    let forged = post(&scene.browser(), "/oauth/authorize", &pairs).await;
    assert_eq!(forged.status, StatusCode::FORBIDDEN);
    let token = service::access::sessions::form_token(&scene.world.app, &scene.session);
    let pairs = [&pairs[..], &[("form_token", token.as_str())]].concat();
    let cross = scene.browser().header("sec-fetch-site", "cross-site");
    assert_eq!(post(&cross, "/oauth/authorize", &pairs).await.status, StatusCode::FORBIDDEN);
    let nobody = post(&scene.anyone(), "/oauth/authorize", &pairs).await;
    assert_eq!(nobody.header("location"), "/sign-in");
    let by_get = format!("/oauth/authorize?{}", encoded(&pairs));
    assert_eq!(scene.browser().get(&by_get).await.status, StatusCode::BAD_REQUEST);
    assert!(scene.world.stored().await["oauth_codes"].is_empty());
}

#[tokio::test]
async fn the_name_of_an_app_is_text_and_nothing_else() {
    let scene = Scene::new().await;
    let metadata = json!({
        "client_name": "<img src=x onerror=alert(1)>\"'", "redirect_uris": [BACK],
        "token_endpoint_auth_method": "none",
    });
    let client = scene.register(metadata).await.json();
    let client = client["client_id"].as_str().unwrap();
    let shown = page(&scene.authorize(&scene.asked(client, &[])).await);
    assert!(!shown.contains("<img") && shown.contains("&lt;img src=x"));
    scene.tokens(client).await;
    let listed = page(&scene.browser().get("/settings/apps").await);
    assert!(!listed.contains("<img") && listed.contains("&lt;img src=x"));
}

#[tokio::test]
async fn connected_apps_are_listed_and_shown_out() {
    let scene = Scene::new().await;
    let empty = page(&scene.browser().get("/settings/apps").await);
    assert!(empty.contains("No apps have access.") && empty.contains(PUBLIC_URL));
    let client = scene.client().await;
    let (access, refresh) = scene.tokens(&client).await;
    assert_eq!(scene.ask(&access, "/v1/accounts").await.status, StatusCode::OK);
    let listed = page(&scene.browser().get("/settings/apps").await);
    for words in ["Ledger Lens", "lens.example", "See your name and email address", "just now"] {
        assert!(listed.contains(words), "{words}");
    }
    let id = grants::list(&scene.world.app, &scene.person.caller).await.unwrap()[0].id;
    let path = format!("/settings/apps/{id}/revoke");
    let unproven = scene.browser().send(Method::POST, &path, "").await;
    assert_eq!(unproven.status, StatusCode::FORBIDDEN);
    let token = service::access::sessions::form_token(&scene.world.app, &scene.session);
    let ended = post(&scene.browser(), &path, &[("form_token", &token)]).await;
    assert_eq!((ended.status, ended.header("location")), (StatusCode::SEE_OTHER, "/settings/apps"));
    let refusal = scene.ask(&access, "/v1/accounts").await.refusal();
    assert_eq!(refusal, "401 UNAUTHENTICATED: the token is unknown or was revoked");
    assert_eq!(super::refused(&scene.refresh(&client, &refresh).await), "400 invalid_grant");
    for id in [id.to_string().as_str(), "nonsense", "gra_01kny3v1m8f2x9q4t7r5c6b8de"] {
        let path = format!("/settings/apps/{id}/revoke");
        let again = post(&scene.browser(), &path, &[("form_token", &token)]).await;
        assert_eq!(again.status, StatusCode::NOT_FOUND, "{id}");
    }
}
