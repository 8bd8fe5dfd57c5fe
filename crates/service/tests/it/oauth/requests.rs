use service::Scopes;
use service::access::oauth::clients::{self, NewClient};
use service::access::oauth::requests::{self, AuthorizationParams, InvalidRequest};
use testkit::World;
use wire::v1::Scope;

use super::{BACK, ISSUER, Scene, asked, new_client, scopes};

/// `shown`, or `invalid_scope state`, or what was asked for.
async fn outcome(scene: &Scene, asked: AuthorizationParams) -> String {
    match requests::check(&scene.world.app, ISSUER, asked).await {
        Ok(request) => format!("{} {:?}", request.scopes.to_words(), request.resource),
        Err(InvalidRequest::Unknown(_)) => "shown".to_owned(),
        Err(InvalidRequest::Refused { redirect, state, error: refusal, .. }) => {
            assert_eq!(redirect.as_str(), BACK);
            format!("{} {}", refusal.code.as_str(), state.unwrap_or_default())
        }
        Err(InvalidRequest::Internal(error)) => panic!("{error}"),
    }
}

#[tokio::test]
async fn who_asks_and_where_to_answer_must_be_known_or_only_the_person_is_told() {
    let scene = Scene::new().await;
    let good = asked(&scene.client);
    let with = |change: fn(&mut AuthorizationParams)| {
        let mut asked = good.clone();
        change(&mut asked);
        asked
    };
    for asked in [
        with(|it| it.client_id = None),
        with(|it| it.client_id = Some("app_01kny3v1m8f2x9q4t7r5c6b8de".to_owned())),
        with(|it| it.client_id = Some("nonsense".to_owned())),
        with(|it| it.redirect_uri = Some("https://evil.example/back".to_owned())),
        with(|it| it.redirect_uri = Some("https://app.example/back/".to_owned())),
        with(|it| it.redirect_uri = Some("https://app.example:8443/back".to_owned())),
        with(|it| it.redirect_uri = Some("https://app.example/back?x=1".to_owned())),
        with(|it| it.redirect_uri = Some("https://x@app.example/back".to_owned())),
        with(|it| it.redirect_uri = Some("https://app.example/back#x".to_owned())),
        with(|it| it.redirect_uri = Some("javascript:alert(1)".to_owned())),
        with(|it| it.repeated = Some("redirect_uri".to_owned())),
        with(|it| it.repeated = Some("client_id".to_owned())),
    ] {
        assert_eq!(outcome(&scene, asked.clone()).await, "shown", "{asked:?}");
    }
    let only_one = with(|it| it.redirect_uri = None);
    assert!(outcome(&scene, only_one.clone()).await.starts_with("accounts:read"));
    let redirect_uris = vec![BACK.to_owned(), "https://app.example/other".to_owned()];
    let two = NewClient { redirect_uris, ..new_client("Two") };
    let (two, _) = clients::register(&scene.world.app, two).await.unwrap();
    let either = AuthorizationParams { client_id: Some(two.id.to_string()), ..only_one };
    assert_eq!(outcome(&scene, either).await, "shown");
}

#[tokio::test]
async fn every_other_mistake_is_told_to_the_app() {
    let scene = Scene::new().await;
    let good = AuthorizationParams { state: Some("s".to_owned()), ..asked(&scene.client) };
    let check = async |expected: &str, change: fn(&mut AuthorizationParams)| {
        let mut asked = good.clone();
        change(&mut asked);
        assert_eq!(outcome(&scene, asked.clone()).await, format!("{expected} s"), "{asked:?}");
    };
    check("invalid_request", |it| it.response_type = None).await;
    check("unsupported_response_type", |it| it.response_type = Some("token".to_owned())).await;
    check("unsupported_response_type", |it| it.response_type = Some("code token".to_owned())).await;
    check("invalid_request", |it| it.code_challenge = None).await;
    check("invalid_request", |it| it.code_challenge_method = None).await;
    check("invalid_request", |it| it.code_challenge_method = Some("plain".to_owned())).await;
    check("invalid_request", |it| it.code_challenge_method = Some("s256".to_owned())).await;
    check("invalid_request", |it| it.code_challenge = Some("short".to_owned())).await;
    check("invalid_request", |it| it.code_challenge = Some("=".repeat(43))).await;
    check("invalid_request", |it| it.code_challenge = Some("a".repeat(44))).await;
    check("invalid_request", |it| it.repeated = Some("scope".to_owned())).await;
    check("invalid_scope", |it| it.scope = Some("accounts:write".to_owned())).await;
    check("invalid_scope", |it| it.scope = Some("accounts:read webhooks:manage".to_owned())).await;
    check("invalid_target", |it| it.resource = Some("https://other.example".to_owned())).await;
    check("invalid_target", |it| it.resource = Some(format!("{ISSUER}.evil.example"))).await;
    check("invalid_target", |it| it.resource = Some(format!("{ISSUER}/v2"))).await;
}

#[tokio::test]
async fn what_is_asked_is_what_is_shown_and_without_a_word_it_is_reading() {
    let scene = Scene::new().await;
    let good = asked(&scene.client);
    let silent = requests::check(&scene.world.app, ISSUER, good.clone()).await.unwrap();
    assert_eq!(silent.scopes, Scopes::read_only());
    let two = AuthorizationParams {
        scope: Some(" paper:trade accounts:read ".to_owned()),
        ..good.clone()
    };
    assert_eq!(outcome(&scene, two).await, "accounts:read paper:trade None");
    for (resource, kept) in [
        (ISSUER.to_owned(), ISSUER.to_owned()),
        (format!("{ISSUER}/"), ISSUER.to_owned()),
        (format!("{ISSUER}/v1"), format!("{ISSUER}/v1")),
        (format!("{ISSUER}/v1/"), format!("{ISSUER}/v1")),
    ] {
        let asked = AuthorizationParams { resource: Some(resource), ..good.clone() };
        let request = requests::check(&scene.world.app, ISSUER, asked).await.unwrap();
        assert_eq!(request.resource, Some(kept));
    }
}

#[tokio::test]
async fn everything_but_webhooks_is_offered() {
    let _ = World::new().await;
    let all = service::access::oauth::grantable_scopes();
    for scope in Scope::ALL {
        assert_eq!(all.has(scope), scope != Scope::WebhooksManage, "{scope}");
    }
    assert_ne!(all, scopes(""));
}
