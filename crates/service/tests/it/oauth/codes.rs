//! Exchanging authorization codes.

use service::access::oauth::codes::{self, CodeExchange};
use service::access::oauth::{self, grants};
use service::{Caller, Credential};
use sha2::{Digest as _, Sha256};
use testkit::hex;

use super::{ISSUER, OAuthFixture, code_exchange, refusal, register, request, scopes};
use crate::{is_not_found, param};

#[tokio::test]
async fn a_code_is_exchanged_for_a_grant_with_the_allowed_scopes() {
    let fixture = OAuthFixture::new().await;
    let app = &fixture.world.app;
    let request = request(app, &fixture.client).await;
    let few = scopes("accounts:read goals:read");
    let code = codes::allow(app, &fixture.person.caller, &request, few).await.unwrap();
    let pair = fixture.exchange(&code).await.unwrap();
    assert_eq!(pair.scopes, few);
    assert!(pair.access.starts_with("eka_") && pair.refresh.starts_with("ekr_"));
    let caller = fixture.authenticate(&pair.access).await.unwrap();
    assert_eq!(caller.user, fixture.person.user.id);
    assert!(matches!(caller.credential, Credential::Grant { scopes, .. } if scopes == few));
    let listed = grants::list(app, &fixture.person.caller).await.unwrap();
    assert_eq!(
        (listed[0].client_name.as_str(), listed[0].host.as_str()),
        ("Ledger Lens", "app.example")
    );
    assert_eq!(listed[0].last_used_address.as_deref(), Some("192.0.2.7"));
    let expected = "app.allow Allowed Ledger Lens at app.example: accounts:read goals:read";
    assert_eq!(fixture.trail().await, [expected]);
    let stored = format!("{:?}", fixture.world.stored().await);
    for secret in [&code, &pair.access, &pair.refresh] {
        assert!(
            stored.contains(&hex(&Sha256::digest(secret))) && !stored.contains(secret.as_str())
        );
    }
}

#[tokio::test]
async fn only_a_person_allows_an_app_and_no_more_than_it_requested() {
    let fixture = OAuthFixture::new().await;
    let app = &fixture.world.app;
    let request = request(app, &fixture.client).await;
    let owner = &fixture.person.caller;
    for wrong in ["", "paper:trade", "accounts:read webhooks:manage"] {
        let outcome = codes::allow(app, owner, &request, scopes(wrong)).await;
        assert_eq!(param(outcome), "scope", "{wrong}");
    }
    let pair = fixture.pair().await;
    let app_itself = fixture.authenticate(&pair.access).await.unwrap();
    is_not_found(codes::allow(app, &app_itself, &request, request.scopes).await);
    is_not_found(grants::list(app, &app_itself).await);
}

#[tokio::test]
async fn a_second_use_of_a_code_is_refused_and_revokes_the_grant_of_the_first() {
    let fixture = OAuthFixture::new().await;
    let code = fixture.code().await;
    let pair = fixture.exchange(&code).await.unwrap();
    fixture.authenticate(&pair.access).await.unwrap();
    // A second use counts even much later, and even by another client.
    fixture.world.advance_seconds(600);
    let other = register(&fixture.world.app, "Other").await;
    let stolen = codes::exchange(&fixture.world.app, ISSUER, &other, code_exchange(&code)).await;
    assert_eq!(refusal(stolen), "invalid_grant: the code was used before");
    assert!(fixture.authenticate(&pair.access).await.is_err());
    let renewed = refusal(fixture.refresh(&pair.refresh).await);
    assert_eq!(renewed, "invalid_grant: the access of this token was revoked");
    assert!(fixture.trail().await[0].starts_with("app.reuse Ledger Lens lost its access. A code"));
    assert!(grants::list(&fixture.world.app, &fixture.person.caller).await.unwrap().is_empty());
}

#[tokio::test]
async fn of_two_concurrent_exchanges_of_a_code_one_gets_tokens_and_they_are_revoked() {
    let fixture = OAuthFixture::new().await;
    let other_process = fixture.world.other_process().await;
    for _ in 0..5 {
        let code = fixture.code().await;
        let elsewhere =
            codes::exchange(&other_process, ISSUER, &fixture.client, code_exchange(&code));
        let (one, two) = tokio::join!(fixture.exchange(&code), elsewhere);
        assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
        let pair = one.or(two).unwrap();
        assert!(fixture.authenticate(&pair.access).await.is_err());
    }
}

#[tokio::test]
async fn a_code_is_refused_with_wrong_parameters_and_stays_valid_for_its_own_client() {
    let fixture = OAuthFixture::new().await;
    let app = &fixture.world.app;
    let other = register(app, "Other").await;
    let code = fixture.code().await;
    let stolen = codes::exchange(app, ISSUER, &other, code_exchange(&code)).await;
    assert_eq!(refusal(stolen), "invalid_grant: the code was issued to another client");
    let attempt = async |change: fn(&mut CodeExchange)| {
        let mut code_exchange = code_exchange(&code);
        change(&mut code_exchange);
        refusal(codes::exchange(app, ISSUER, &fixture.client, code_exchange).await)
    };
    for change in [
        (|it| it.redirect_uri = Some("https://app.example/back/".to_owned()))
            as fn(&mut CodeExchange),
        |it| it.redirect_uri = Some("https://app.example/other".to_owned()),
    ] {
        let expected = "invalid_grant: redirect_uri is not the one that the code was sent to";
        assert_eq!(attempt(change).await, expected);
    }
    for change in [
        (|it| it.verifier = "b".repeat(43)) as fn(&mut CodeExchange),
        |it| it.verifier = super::challenge(super::VERIFIER),
        |it| it.verifier = String::new(),
        |it| it.verifier.push('x'),
    ] {
        let expected = "invalid_grant: code_verifier does not match the code_challenge";
        assert_eq!(attempt(change).await, expected);
    }
    let target = attempt(|it| it.resource = Some("https://other.example".to_owned())).await;
    assert!(target.starts_with("invalid_target"), "{target}");
    let broken = attempt(|it| it.code.push('x')).await;
    assert_eq!(broken, "invalid_grant: the code is malformed");
    fixture.exchange(&code).await.unwrap();
}

#[tokio::test]
async fn a_verifier_of_invalid_form_is_refused_even_if_it_matches_the_challenge() {
    let fixture = OAuthFixture::new().await;
    let app = &fixture.world.app;
    for (verifier, good) in [
        ("a".repeat(42), false),
        ("a".repeat(43), true),
        ("a".repeat(128), true),
        ("a".repeat(129), false),
        (format!("{}é", "a".repeat(50)), false),
    ] {
        let mut params = super::params(&fixture.client);
        params.code_challenge = Some(super::challenge(&verifier));
        let request = oauth::requests::check(app, ISSUER, params).await.unwrap();
        let scopes = request.scopes;
        let code = codes::allow(app, &fixture.person.caller, &request, scopes).await.unwrap();
        let code_exchange = CodeExchange { verifier, ..code_exchange(&code) };
        let exchanged = codes::exchange(app, ISSUER, &fixture.client, code_exchange).await;
        assert_eq!(exchanged.is_ok(), good, "{exchanged:?}");
    }
}

#[tokio::test]
async fn a_code_expires_after_a_minute() {
    let fixture = OAuthFixture::new().await;
    let (code, late) = (fixture.code().await, fixture.code().await);
    fixture.world.advance_seconds(59);
    fixture.exchange(&code).await.unwrap();
    fixture.world.advance_seconds(1);
    assert_eq!(refusal(fixture.exchange(&late).await), "invalid_grant: the code has expired");
}

#[tokio::test]
async fn the_redirect_uri_may_be_omitted_when_a_code_is_exchanged() {
    let fixture = OAuthFixture::new().await;
    let code = fixture.code().await;
    let code_exchange = CodeExchange { redirect_uri: None, ..code_exchange(&code) };
    codes::exchange(&fixture.world.app, ISSUER, &fixture.client, code_exchange).await.unwrap();
}

#[tokio::test]
async fn ended_codes_grants_and_tokens_are_deleted_and_live_ones_stay() {
    let fixture = OAuthFixture::new().await;
    let app = &fixture.world.app;
    let pair = fixture.pair().await;
    let ended = fixture.pair().await;
    oauth::introspection::revoke(app, &fixture.client, &ended.refresh).await.unwrap();
    let unused = fixture.code().await;
    fixture.world.advance_seconds(2 * 86_400);
    oauth::forget_once(app).await.unwrap();
    let stored = fixture.world.stored().await;
    let count = |table: &str| stored[table].len();
    assert_eq!((count("oauth_codes"), count("oauth_grants"), count("oauth_tokens")), (0, 1, 1));
    assert_eq!(refusal(fixture.exchange(&unused).await), "invalid_grant: the code is unknown");
    fixture.refresh(&pair.refresh).await.unwrap();
    fixture.world.advance_seconds(31 * 86_400);
    oauth::forget_once(app).await.unwrap();
    let stored = fixture.world.stored().await;
    assert!(stored["oauth_tokens"].is_empty() && stored["oauth_grants"].is_empty());
}

#[tokio::test]
async fn apps_are_listed_to_and_revoked_by_their_owner_only() {
    let fixture = OAuthFixture::new().await;
    let app = &fixture.world.app;
    let kim = fixture.world.someone().await;
    fixture.pair().await;
    let listed = grants::list(app, &fixture.person.caller).await.unwrap();
    assert!(grants::list(app, &kim.caller).await.unwrap().is_empty());
    is_not_found(grants::revoke(app, &kim.caller, listed[0].id).await);
    let owner: &Caller = &fixture.person.caller;
    grants::revoke(app, owner, listed[0].id).await.unwrap();
    is_not_found(grants::revoke(app, owner, listed[0].id).await);
    assert_eq!(fixture.trail().await[0], "app.revoke Revoked the access of Ledger Lens");
}
