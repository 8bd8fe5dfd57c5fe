use service::access::oauth::{self, grants, requests};
use service::{Error, Result};
use wire::v1::Scope;

use super::{ISSUER, Scene, asked, redemption};

fn why<T: std::fmt::Debug>(outcome: Result<T>) -> &'static str {
    match outcome {
        Err(Error::Unauthenticated(why)) => why,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn a_revoked_grant_is_refused_at_once_here_and_within_a_second_elsewhere() {
    let scene = Scene::new().await;
    let other_process = scene.world.other_process().await;
    let (pair, other) = (scene.pair().await, scene.pair().await);
    scene.enter(&pair.access).await.unwrap();
    oauth::authenticate(&other_process, ISSUER, &pair.access, None).await.unwrap();
    let listed = grants::list(&scene.world.app, &scene.person.caller).await.unwrap();
    let first = listed.last().unwrap().id;
    grants::revoke(&scene.world.app, &scene.person.caller, first).await.unwrap();
    assert_eq!(why(scene.enter(&pair.access).await), "the token is unknown or was revoked");
    scene.world.advance_seconds(1);
    why(oauth::authenticate(&other_process, ISSUER, &pair.access, None).await);
    scene.enter(&other.access).await.unwrap();
    oauth::authenticate(&other_process, ISSUER, &other.access, None).await.unwrap();
}

#[tokio::test]
async fn an_access_token_lives_for_a_quarter_of_an_hour_to_the_moment() {
    let scene = Scene::new().await;
    let pair = scene.pair().await;
    scene.world.clock.advance(std::time::Duration::from_micros(900_000_000 - 1));
    scene.enter(&pair.access).await.unwrap();
    scene.world.clock.advance(std::time::Duration::from_micros(1));
    assert_eq!(why(scene.enter(&pair.access).await), "the token has expired");
}

#[tokio::test]
async fn what_is_no_token_never_reaches_the_database() {
    let scene = Scene::new().await;
    let mut broken = scene.pair().await.access;
    let last = broken.pop();
    broken.push(if last == Some('0') { '1' } else { '0' });
    for bad in ["", "eka_", &broken, "eka_00000000000000000000000000000000000000"] {
        assert_eq!(why(scene.enter(bad).await), "the token is malformed", "{bad}");
    }
}

#[tokio::test]
async fn a_token_made_for_another_address_is_refused() {
    let scene = Scene::new().await;
    let app = &scene.world.app;
    let mut asked = asked(&scene.client);
    asked.resource = Some(format!("{ISSUER}/v1"));
    let request = requests::check(app, ISSUER, asked).await.unwrap();
    let scopes = request.scopes;
    let code = oauth::codes::allow(app, &scene.person.caller, &request, scopes).await.unwrap();
    let pair = oauth::codes::exchange(app, ISSUER, &scene.client, redemption(&code)).await.unwrap();
    scene.enter(&pair.access).await.unwrap();
    let moved = oauth::authenticate(app, "https://moved.example", &pair.access, None).await;
    assert_eq!(why(moved), "the token was issued for another address");
}

#[tokio::test]
async fn the_last_use_is_kept_to_the_minute() {
    let scene = Scene::new().await;
    let pair = scene.pair().await;
    let last = async || {
        let listed = grants::list(&scene.world.app, &scene.person.caller).await.unwrap();
        listed[0].last_used_at
    };
    assert_eq!(last().await, None);
    scene.enter(&pair.access).await.unwrap();
    let first = scene.world.clock.now();
    assert_eq!(last().await, Some(first));
    scene.world.advance_seconds(59);
    scene.enter(&pair.access).await.unwrap();
    assert_eq!(last().await, Some(first));
    scene.world.advance_seconds(1);
    scene.enter(&pair.access).await.unwrap();
    assert_eq!(last().await, Some(scene.world.clock.now()));
}

#[tokio::test]
async fn webhooks_take_a_key_whatever_an_app_was_granted() {
    let scene = Scene::new().await;
    let pair = scene.pair().await;
    let caller = scene.enter(&pair.access).await.unwrap();
    assert!(matches!(caller.require(Scope::WebhooksManage), Err(Error::KeyRequired)));
    assert!(matches!(caller.require(Scope::PaperTrade), Err(Error::Forbidden(_))));
    caller.require(Scope::AccountsRead).unwrap();
}

#[tokio::test]
async fn nothing_of_an_app_outlives_the_person() {
    let scene = Scene::new().await;
    let pair = scene.pair().await;
    service::access::users::delete(&scene.world.app, scene.person.user.id).await.unwrap();
    why(scene.enter(&pair.access).await);
    let stored = scene.world.stored().await;
    for table in ["oauth_codes", "oauth_grants", "oauth_tokens"] {
        assert!(stored[table].is_empty(), "{table}");
    }
}
