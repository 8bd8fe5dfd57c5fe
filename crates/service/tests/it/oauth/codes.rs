use service::access::oauth::codes::{self, CodeExchange};
use service::access::oauth::{self, grants};
use service::{Caller, Credential};
use sha2::{Digest as _, Sha256};
use testkit::hex;

use super::{ISSUER, Scene, redemption, refusal, register, request, scopes};
use crate::{is_not_found, param};

#[tokio::test]
async fn a_code_becomes_a_grant_with_what_the_person_allowed() {
    let scene = Scene::new().await;
    let app = &scene.world.app;
    let request = request(app, &scene.client).await;
    let few = scopes("accounts:read goals:read");
    let code = codes::allow(app, &scene.person.caller, &request, few).await.unwrap();
    let pair = scene.exchange(&code).await.unwrap();
    assert_eq!(pair.scopes, few);
    assert!(pair.access.starts_with("eka_") && pair.refresh.starts_with("ekr_"));
    let caller = scene.enter(&pair.access).await.unwrap();
    assert_eq!(caller.user, scene.person.user.id);
    assert!(matches!(caller.credential, Credential::Grant { scopes, .. } if scopes == few));
    let listed = grants::list(app, &scene.person.caller).await.unwrap();
    assert_eq!(
        (listed[0].client_name.as_str(), listed[0].host.as_str()),
        ("Ledger Lens", "app.example")
    );
    assert_eq!(listed[0].last_used_address.as_deref(), Some("192.0.2.7"));
    let expected = "app.allow Allowed Ledger Lens at app.example: accounts:read goals:read";
    assert_eq!(scene.trail().await, [expected]);
    let stored = format!("{:?}", scene.world.stored().await);
    for secret in [&code, &pair.access, &pair.refresh] {
        assert!(
            stored.contains(&hex(&Sha256::digest(secret))) && !stored.contains(secret.as_str())
        );
    }
}

#[tokio::test]
async fn only_a_person_allows_and_never_more_than_was_asked() {
    let scene = Scene::new().await;
    let app = &scene.world.app;
    let request = request(app, &scene.client).await;
    let owner = &scene.person.caller;
    for wrong in ["", "paper:trade", "accounts:read webhooks:manage"] {
        let outcome = codes::allow(app, owner, &request, scopes(wrong)).await;
        assert_eq!(param(outcome), "scope", "{wrong}");
    }
    let pair = scene.pair().await;
    let app_itself = scene.enter(&pair.access).await.unwrap();
    is_not_found(codes::allow(app, &app_itself, &request, request.scopes).await);
    is_not_found(grants::list(app, &app_itself).await);
}

#[tokio::test]
async fn a_second_use_of_a_code_is_refused_and_ends_what_the_first_gave() {
    let scene = Scene::new().await;
    let code = scene.code().await;
    let pair = scene.exchange(&code).await.unwrap();
    scene.enter(&pair.access).await.unwrap();
    // Even much later, and even from another client.
    scene.world.advance_seconds(600);
    let other = register(&scene.world.app, "Other").await;
    let stolen = codes::exchange(&scene.world.app, ISSUER, &other, redemption(&code)).await;
    assert_eq!(refusal(stolen), "invalid_grant: the code was used before");
    assert!(scene.enter(&pair.access).await.is_err());
    let renewed = refusal(scene.refresh(&pair.refresh).await);
    assert_eq!(renewed, "invalid_grant: the access of this token was revoked");
    assert!(scene.trail().await[0].starts_with("app.reuse Ledger Lens lost its access. A code"));
    assert!(grants::list(&scene.world.app, &scene.person.caller).await.unwrap().is_empty());
}

#[tokio::test]
async fn of_two_who_turn_in_a_code_at_once_at_most_one_gets_tokens_and_none_keeps_them() {
    let scene = Scene::new().await;
    let other_process = scene.world.other_process().await;
    for _ in 0..5 {
        let code = scene.code().await;
        let elsewhere = codes::exchange(&other_process, ISSUER, &scene.client, redemption(&code));
        let (one, two) = tokio::join!(scene.exchange(&code), elsewhere);
        assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
        let pair = one.or(two).unwrap();
        assert!(scene.enter(&pair.access).await.is_err());
    }
}

#[tokio::test]
async fn a_code_is_worth_nothing_to_anyone_else_and_still_good_for_its_own_client() {
    let scene = Scene::new().await;
    let app = &scene.world.app;
    let other = register(app, "Other").await;
    let code = scene.code().await;
    let stolen = codes::exchange(app, ISSUER, &other, redemption(&code)).await;
    assert_eq!(refusal(stolen), "invalid_grant: the code was issued to another client");
    let attempt = async |change: fn(&mut CodeExchange)| {
        let mut redemption = redemption(&code);
        change(&mut redemption);
        refusal(codes::exchange(app, ISSUER, &scene.client, redemption).await)
    };
    for change in [
        (|it| it.redirect_uri = Some("https://app.example/back/".to_owned()))
            as fn(&mut CodeExchange),
        |it| it.redirect_uri = Some("https://app.example/other".to_owned()),
    ] {
        let said = "invalid_grant: redirect_uri is not the one that the code was sent to";
        assert_eq!(attempt(change).await, said);
    }
    for change in [
        (|it| it.verifier = "b".repeat(43)) as fn(&mut CodeExchange),
        |it| it.verifier = super::challenge(super::VERIFIER),
        |it| it.verifier = String::new(),
        |it| it.verifier.push('x'),
    ] {
        let said = "invalid_grant: code_verifier does not match the code_challenge";
        assert_eq!(attempt(change).await, said);
    }
    let target = attempt(|it| it.resource = Some("https://other.example".to_owned())).await;
    assert!(target.starts_with("invalid_target"), "{target}");
    let broken = attempt(|it| it.code.push('x')).await;
    assert_eq!(broken, "invalid_grant: the code is malformed");
    scene.exchange(&code).await.unwrap();
}

#[tokio::test]
async fn a_verifier_that_is_too_short_is_refused_even_where_it_fits() {
    let scene = Scene::new().await;
    let app = &scene.world.app;
    for (verifier, good) in [
        ("a".repeat(42), false),
        ("a".repeat(43), true),
        ("a".repeat(128), true),
        ("a".repeat(129), false),
        (format!("{}é", "a".repeat(50)), false),
    ] {
        let mut asked = super::asked(&scene.client);
        asked.code_challenge = Some(super::challenge(&verifier));
        let request = oauth::requests::check(app, ISSUER, asked).await.unwrap();
        let scopes = request.scopes;
        let code = codes::allow(app, &scene.person.caller, &request, scopes).await.unwrap();
        let redemption = CodeExchange { verifier, ..redemption(&code) };
        let exchanged = codes::exchange(app, ISSUER, &scene.client, redemption).await;
        assert_eq!(exchanged.is_ok(), good, "{exchanged:?}");
    }
}

#[tokio::test]
async fn a_code_lives_for_a_minute() {
    let scene = Scene::new().await;
    let (code, late) = (scene.code().await, scene.code().await);
    scene.world.advance_seconds(59);
    scene.exchange(&code).await.unwrap();
    scene.world.advance_seconds(1);
    assert_eq!(refusal(scene.exchange(&late).await), "invalid_grant: the code has expired");
}

#[tokio::test]
async fn the_address_may_be_left_out_when_a_code_is_turned_in() {
    let scene = Scene::new().await;
    let code = scene.code().await;
    let redemption = CodeExchange { redirect_uri: None, ..redemption(&code) };
    codes::exchange(&scene.world.app, ISSUER, &scene.client, redemption).await.unwrap();
}

#[tokio::test]
async fn what_has_ended_is_forgotten_and_what_lives_stays() {
    let scene = Scene::new().await;
    let app = &scene.world.app;
    let pair = scene.pair().await;
    let ended = scene.pair().await;
    oauth::introspection::revoke(app, &scene.client, &ended.refresh).await.unwrap();
    let unused = scene.code().await;
    scene.world.advance_seconds(2 * 86_400);
    oauth::forget_once(app).await.unwrap();
    let stored = scene.world.stored().await;
    let count = |table: &str| stored[table].len();
    assert_eq!((count("oauth_codes"), count("oauth_grants"), count("oauth_tokens")), (0, 1, 1));
    assert_eq!(refusal(scene.exchange(&unused).await), "invalid_grant: the code is unknown");
    scene.refresh(&pair.refresh).await.unwrap();
    scene.world.advance_seconds(31 * 86_400);
    oauth::forget_once(app).await.unwrap();
    let stored = scene.world.stored().await;
    assert!(stored["oauth_tokens"].is_empty() && stored["oauth_grants"].is_empty());
}

#[tokio::test]
async fn apps_are_listed_to_their_person_and_ended_by_them_only() {
    let scene = Scene::new().await;
    let app = &scene.world.app;
    let kim = scene.world.someone().await;
    scene.pair().await;
    let listed = grants::list(app, &scene.person.caller).await.unwrap();
    assert!(grants::list(app, &kim.caller).await.unwrap().is_empty());
    is_not_found(grants::revoke(app, &kim.caller, listed[0].id).await);
    let owner: &Caller = &scene.person.caller;
    grants::revoke(app, owner, listed[0].id).await.unwrap();
    is_not_found(grants::revoke(app, owner, listed[0].id).await);
    assert_eq!(scene.trail().await[0], "app.revoke Revoked the access of Ledger Lens");
}
