//! Access with tokens of OAuth: scopes, audiences and expiry.

use service::access::oauth::{self, grants, requests};
use service::{Error, Result};
use wire::v1::Scope;

use super::{ISSUER, OAuthFixture, code_exchange, params};

fn refusal_reason<T: std::fmt::Debug>(outcome: Result<T>) -> &'static str {
    match outcome {
        Err(Error::Unauthenticated(reason)) => reason,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn a_revoked_grant_is_refused_immediately_and_within_a_second_in_other_processes() {
    let fixture = OAuthFixture::new().await;
    let other_process = fixture.world.other_process().await;
    let (pair, other) = (fixture.pair().await, fixture.pair().await);
    fixture.authenticate(&pair.access).await.unwrap();
    oauth::authenticate(&other_process, ISSUER, &pair.access, None).await.unwrap();
    let listed = grants::list(&fixture.world.app, &fixture.person.caller).await.unwrap();
    let first = listed.last().unwrap().id;
    grants::revoke(&fixture.world.app, &fixture.person.caller, first).await.unwrap();
    assert_eq!(
        refusal_reason(fixture.authenticate(&pair.access).await),
        "the token is unknown or was revoked"
    );
    fixture.world.advance_seconds(1);
    refusal_reason(oauth::authenticate(&other_process, ISSUER, &pair.access, None).await);
    fixture.authenticate(&other.access).await.unwrap();
    oauth::authenticate(&other_process, ISSUER, &other.access, None).await.unwrap();
}

#[tokio::test]
async fn an_access_token_expires_after_exactly_a_quarter_of_an_hour() {
    let fixture = OAuthFixture::new().await;
    let pair = fixture.pair().await;
    fixture.world.clock.advance(std::time::Duration::from_micros(900_000_000 - 1));
    fixture.authenticate(&pair.access).await.unwrap();
    fixture.world.clock.advance(std::time::Duration::from_micros(1));
    assert_eq!(refusal_reason(fixture.authenticate(&pair.access).await), "the token has expired");
}

#[tokio::test]
async fn a_malformed_token_is_refused() {
    let fixture = OAuthFixture::new().await;
    let mut broken = fixture.pair().await.access;
    let last = broken.pop();
    broken.push(if last == Some('0') { '1' } else { '0' });
    for bad in ["", "eka_", &broken, "eka_00000000000000000000000000000000000000"] {
        assert_eq!(
            refusal_reason(fixture.authenticate(bad).await),
            "the token is malformed",
            "{bad}"
        );
    }
}

#[tokio::test]
async fn a_token_issued_for_another_address_is_refused() {
    let fixture = OAuthFixture::new().await;
    let app = &fixture.world.app;
    let mut params = params(&fixture.client);
    params.resource = Some(format!("{ISSUER}/v1"));
    let request = requests::check(app, ISSUER, params).await.unwrap();
    let scopes = request.scopes;
    let code = oauth::codes::allow(app, &fixture.person.caller, &request, scopes).await.unwrap();
    let pair =
        oauth::codes::exchange(app, ISSUER, &fixture.client, code_exchange(&code)).await.unwrap();
    fixture.authenticate(&pair.access).await.unwrap();
    let moved = oauth::authenticate(app, "https://moved.example", &pair.access, None).await;
    assert_eq!(refusal_reason(moved), "the token was issued for another address");
}

#[tokio::test]
async fn the_last_use_is_saved_once_a_minute() {
    let fixture = OAuthFixture::new().await;
    let pair = fixture.pair().await;
    let last = async || {
        let listed = grants::list(&fixture.world.app, &fixture.person.caller).await.unwrap();
        listed[0].last_used_at
    };
    assert_eq!(last().await, None);
    fixture.authenticate(&pair.access).await.unwrap();
    let first = fixture.world.clock.now();
    assert_eq!(last().await, Some(first));
    fixture.world.advance_seconds(59);
    fixture.authenticate(&pair.access).await.unwrap();
    assert_eq!(last().await, Some(first));
    fixture.world.advance_seconds(1);
    fixture.authenticate(&pair.access).await.unwrap();
    assert_eq!(last().await, Some(fixture.world.clock.now()));
}

#[tokio::test]
async fn webhooks_require_a_key_whatever_an_app_was_granted() {
    let fixture = OAuthFixture::new().await;
    let pair = fixture.pair().await;
    let caller = fixture.authenticate(&pair.access).await.unwrap();
    assert!(matches!(caller.require(Scope::WebhooksManage), Err(Error::KeyRequired)));
    assert!(matches!(caller.require(Scope::PaperTrade), Err(Error::Forbidden(_))));
    caller.require(Scope::AccountsRead).unwrap();
}

#[tokio::test]
async fn codes_grants_and_tokens_are_deleted_with_the_person() {
    let fixture = OAuthFixture::new().await;
    let pair = fixture.pair().await;
    service::access::users::delete(&fixture.world.app, fixture.person.user.id).await.unwrap();
    refusal_reason(fixture.authenticate(&pair.access).await);
    let stored = fixture.world.stored().await;
    for table in ["oauth_codes", "oauth_grants", "oauth_tokens"] {
        assert!(stored[table].is_empty(), "{table}");
    }
}
