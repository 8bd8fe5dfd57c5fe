//! Validating authorization requests.

use service::Scopes;
use service::access::oauth::clients::{self, NewClient};
use service::access::oauth::requests::{self, AuthorizationParams, InvalidRequest};
use testkit::World;
use wire::v1::Scope;

use super::{ISSUER, OAuthFixture, REDIRECT_URI, new_client, params, scopes};

/// The outcome as text: `shown` to the person, an error code and the state, or the requested scopes and resource.
async fn outcome(fixture: &OAuthFixture, params: AuthorizationParams) -> String {
    match requests::check(&fixture.world.app, ISSUER, params).await {
        Ok(request) => format!("{} {:?}", request.scopes.to_words(), request.resource),
        Err(InvalidRequest::Unknown(_) | InvalidRequest::Undescribed(_)) => "shown".to_owned(),
        Err(InvalidRequest::Refused { redirect, state, error: refusal, .. }) => {
            assert_eq!(redirect.as_str(), REDIRECT_URI);
            format!("{} {}", refusal.code.as_str(), state.unwrap_or_default())
        }
        Err(InvalidRequest::Internal(error)) => panic!("{error}"),
    }
}

#[tokio::test]
async fn an_unknown_client_or_redirect_uri_is_only_shown_to_the_person() {
    let fixture = OAuthFixture::new().await;
    let good = params(&fixture.client);
    let with = |change: fn(&mut AuthorizationParams)| {
        let mut params = good.clone();
        change(&mut params);
        params
    };
    for params in [
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
        assert_eq!(outcome(&fixture, params.clone()).await, "shown", "{params:?}");
    }
    let only_one = with(|it| it.redirect_uri = None);
    assert!(outcome(&fixture, only_one.clone()).await.starts_with("accounts:read"));
    let redirect_uris = vec![REDIRECT_URI.to_owned(), "https://app.example/other".to_owned()];
    let two = NewClient { redirect_uris, ..new_client("Two") };
    let (two, _) = clients::register(&fixture.world.app, two).await.unwrap();
    let either = AuthorizationParams { client_id: Some(two.id.to_string()), ..only_one };
    assert_eq!(outcome(&fixture, either).await, "shown");
}

#[tokio::test]
async fn every_other_error_is_sent_to_the_app() {
    let fixture = OAuthFixture::new().await;
    let good = AuthorizationParams { state: Some("s".to_owned()), ..params(&fixture.client) };
    let check = async |expected: &str, change: fn(&mut AuthorizationParams)| {
        let mut params = good.clone();
        change(&mut params);
        assert_eq!(outcome(&fixture, params.clone()).await, format!("{expected} s"), "{params:?}");
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
async fn the_requested_scopes_are_used_and_the_default_is_read_only() {
    let fixture = OAuthFixture::new().await;
    let good = params(&fixture.client);
    let without_scope = requests::check(&fixture.world.app, ISSUER, good.clone()).await.unwrap();
    assert_eq!(without_scope.scopes, Scopes::read_only());
    let two = AuthorizationParams {
        scope: Some(" paper:trade accounts:read ".to_owned()),
        ..good.clone()
    };
    assert_eq!(outcome(&fixture, two).await, "accounts:read paper:trade None");
    for (resource, kept) in [
        (ISSUER.to_owned(), ISSUER.to_owned()),
        (format!("{ISSUER}/"), ISSUER.to_owned()),
        (format!("{ISSUER}/v1"), format!("{ISSUER}/v1")),
        (format!("{ISSUER}/v1/"), format!("{ISSUER}/v1")),
    ] {
        let params = AuthorizationParams { resource: Some(resource), ..good.clone() };
        let request = requests::check(&fixture.world.app, ISSUER, params).await.unwrap();
        assert_eq!(request.resource, Some(kept));
    }
}

#[tokio::test]
async fn every_scope_but_webhooks_can_be_granted() {
    let _ = World::new().await;
    let all = service::access::oauth::grantable_scopes();
    for scope in Scope::ALL {
        assert_eq!(all.has(scope), scope != Scope::WebhooksManage, "{scope}");
    }
    assert_ne!(all, scopes(""));
}
