use service::access::oauth::clients::{self, NewClient};
use service::access::oauth::token_pairs::{self, RefreshRequest};
use service::access::oauth::{grants, introspection};

use super::{ISSUER, Scene, new_client, refusal, register, renewal, scopes};

#[tokio::test]
async fn each_refresh_gives_a_new_pair_and_the_old_access_runs_out_by_itself() {
    let scene = Scene::new().await;
    let first = scene.pair().await;
    scene.world.advance_seconds(600);
    let second = scene.refresh(&first.refresh).await.unwrap();
    scene.enter(&first.access).await.unwrap();
    scene.enter(&second.access).await.unwrap();
    scene.world.advance_seconds(300);
    assert!(scene.enter(&first.access).await.is_err());
    scene.enter(&second.access).await.unwrap();
}

#[tokio::test]
async fn a_used_up_refresh_token_that_comes_back_ends_the_whole_family() {
    let scene = Scene::new().await;
    let first = scene.pair().await;
    let second = scene.refresh(&first.refresh).await.unwrap();
    scene.enter(&second.access).await.unwrap();
    let again = refusal(scene.refresh(&first.refresh).await);
    assert_eq!(again, "invalid_grant: the refresh token was used before; ask the person again");
    for token in [&first.access, &second.access] {
        assert!(scene.enter(token).await.is_err());
    }
    let ended = "invalid_grant: the access of this token was revoked";
    assert_eq!(refusal(scene.refresh(&second.refresh).await), ended);
    assert!(scene.trail().await[0].starts_with("app.reuse Ledger Lens lost its access. A refresh"));
}

#[tokio::test]
async fn an_answer_that_was_lost_can_be_had_anew_within_a_minute() {
    let scene = Scene::new().await;
    let first = scene.pair().await;
    let lost = scene.refresh(&first.refresh).await.unwrap();
    scene.world.advance_seconds(59);
    let second = scene.refresh(&first.refresh).await.unwrap();
    assert!(scene.enter(&lost.access).await.is_err(), "what was replaced is worth nothing");
    scene.enter(&second.access).await.unwrap();
    let third = scene.refresh(&second.refresh).await.unwrap();
    scene.enter(&third.access).await.unwrap();
    // Whoever comes with the lost one after all is a second holder.
    refusal(scene.refresh(&lost.refresh).await);
    assert!(scene.enter(&third.access).await.is_err());
}

#[tokio::test]
async fn after_a_minute_or_once_its_successor_was_used_nothing_is_taken_for_lost() {
    for used in ["late", "access", "refresh"] {
        let scene = Scene::new().await;
        let first = scene.pair().await;
        let second = scene.refresh(&first.refresh).await.unwrap();
        match used {
            "late" => scene.world.advance_seconds(60),
            "access" => drop(scene.enter(&second.access).await.unwrap()),
            _ => drop(scene.refresh(&second.refresh).await.unwrap()),
        }
        refusal(scene.refresh(&first.refresh).await);
        assert!(scene.enter(&second.access).await.is_err(), "{used}");
        let listed = grants::list(&scene.world.app, &scene.person.caller).await.unwrap();
        assert!(listed.is_empty(), "{used}");
    }
}

/// How many pairs of all grants can still be used or renewed.
async fn live_pairs(scene: &Scene) -> usize {
    let stored = scene.world.stored().await;
    let is_live = |row: &&String| !row.contains("replaced_at=") && !row.contains("refreshed_at=");
    stored["oauth_tokens"].iter().filter(is_live).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_ten_refreshes_at_once_one_pair_lives() {
    let scene = Scene::new().await;
    let processes = [scene.world.app.clone(), scene.world.other_process().await];
    for round in 0..5 {
        let first = scene.pair().await;
        let mut refreshes = tokio::task::JoinSet::new();
        for number in 0..10 {
            let (app, client) = (processes[number % 2].clone(), scene.client.clone());
            let renewal = renewal(&first.refresh);
            refreshes
                .spawn(async move { token_pairs::refresh(&app, ISSUER, &client, renewal).await });
        }
        let issued: Vec<_> = refreshes.join_all().await.into_iter().map(|it| it.unwrap()).collect();
        assert_eq!(live_pairs(&scene).await, 1, "{round}");
        let mut live = Vec::new();
        for pair in &issued {
            if scene.enter(&pair.access).await.is_ok() {
                live.push(pair);
            }
        }
        assert_eq!(live.len(), 1, "{round}: the others were replaced by it");
        scene.refresh(&live[0].refresh).await.unwrap();
        // The pair was used, so the old token has a second holder.
        refusal(scene.refresh(&first.refresh).await);
        assert!(scene.enter(&live[0].access).await.is_err(), "{round}");
        let listed = grants::list(&scene.world.app, &scene.person.caller).await.unwrap();
        assert!(listed.is_empty(), "{round}");
        scene.world.advance_seconds(2 * 86_400);
        service::access::oauth::forget_once(&scene.world.app).await.unwrap();
        assert_eq!(live_pairs(&scene).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_first_use_and_a_retry_at_once_never_both_win() {
    let scene = Scene::new().await;
    let other_process = scene.world.other_process().await;
    for round in 0..10 {
        let first = scene.pair().await;
        let second = scene.refresh(&first.refresh).await.unwrap();
        let (retried, entered) = tokio::join!(
            scene.refresh(&first.refresh),
            service::access::oauth::authenticate(&other_process, ISSUER, &second.access, None),
        );
        // Either the use came first, and the retry ends the grant; or the retry did, and the pair was replaced.
        assert!(retried.is_err() || entered.is_err(), "{round}");
        scene.world.advance_seconds(1);
        let still_in =
            service::access::oauth::authenticate(&other_process, ISSUER, &second.access, None)
                .await;
        assert!(still_in.is_err(), "{round}");
        if let Ok(third) = retried {
            scene.enter(&third.access).await.unwrap();
        }
    }
}

#[tokio::test]
async fn asking_about_a_new_pair_shows_that_it_arrived() {
    for of_access in [true, false] {
        let scene = Scene::new().await;
        let first = scene.pair().await;
        let second = scene.refresh(&first.refresh).await.unwrap();
        let token = if of_access { &second.access } else { &second.refresh };
        let known =
            introspection::introspect(&scene.world.app, &scene.client, token).await.unwrap();
        assert!(known.is_some());
        refusal(scene.refresh(&first.refresh).await);
        assert!(scene.enter(&second.access).await.is_err());
    }
    let scene = Scene::new().await;
    let first = scene.pair().await;
    let lost = scene.refresh(&first.refresh).await.unwrap();
    let second = scene.refresh(&first.refresh).await.unwrap();
    for token in [&lost.access, &lost.refresh] {
        let known =
            introspection::introspect(&scene.world.app, &scene.client, token).await.unwrap();
        assert!(known.is_none());
    }
    scene.enter(&second.access).await.unwrap();
}

#[tokio::test]
async fn nobody_loses_an_answer_a_dozen_times() {
    let scene = Scene::new().await;
    let first = scene.pair().await;
    let mut last = scene.refresh(&first.refresh).await.unwrap();
    for _ in 0..10 {
        last = scene.refresh(&first.refresh).await.unwrap();
        assert_eq!(live_pairs(&scene).await, 1);
    }
    refusal(scene.refresh(&first.refresh).await);
    assert!(scene.enter(&last.access).await.is_err());
}

#[tokio::test]
async fn a_clock_set_back_does_not_prolong_the_minute_for_a_lost_answer() {
    let scene = Scene::new().await;
    let first = scene.pair().await;
    let second = scene.refresh(&first.refresh).await.unwrap();
    scene.world.clock.set_back(std::time::Duration::from_secs(3_600));
    refusal(scene.refresh(&first.refresh).await);
    assert!(scene.enter(&second.access).await.is_err());
}

#[tokio::test]
async fn a_refresh_token_idle_for_thirty_days_has_expired() {
    let scene = Scene::new().await;
    let first = scene.pair().await;
    scene.world.advance_seconds(30 * 86_400 - 1);
    let second = scene.refresh(&first.refresh).await.unwrap();
    scene.world.advance_seconds(30 * 86_400);
    let late = refusal(scene.refresh(&second.refresh).await);
    assert_eq!(late, "invalid_grant: the refresh token has expired");
    assert!(grants::list(&scene.world.app, &scene.person.caller).await.unwrap().is_empty());
}

#[tokio::test]
async fn scopes_can_shrink_at_a_refresh_and_come_back_but_never_grow() {
    let scene = Scene::new().await;
    let app = &scene.world.app;
    let granted = scene.pair().await;
    let asking = |token: &str, words: &str| RefreshRequest {
        scope: Some(words.to_owned()),
        ..renewal(token)
    };
    for more in ["accounts:read paper:trade", "actions:write", "webhooks:manage", "nonsense"] {
        let outcome =
            token_pairs::refresh(app, ISSUER, &scene.client, asking(&granted.refresh, more)).await;
        assert!(refusal(outcome).starts_with("invalid_scope: "), "{more}");
    }
    let few = asking(&granted.refresh, "goals:read");
    let few = token_pairs::refresh(app, ISSUER, &scene.client, few).await.unwrap();
    assert_eq!(few.scopes, scopes("goals:read"));
    let caller = scene.enter(&few.access).await.unwrap();
    assert!(caller.require(wire::v1::Scope::AccountsRead).is_err());
    let all = scene.refresh(&few.refresh).await.unwrap();
    assert_eq!(all.scopes, granted.scopes, "what the person granted is still there");
}

#[tokio::test]
async fn a_refresh_token_is_worth_nothing_to_another_client_or_as_something_else() {
    let scene = Scene::new().await;
    let app = &scene.world.app;
    let other = register(app, "Other").await;
    let pair = scene.pair().await;
    let stolen = token_pairs::refresh(app, ISSUER, &other, renewal(&pair.refresh)).await;
    assert_eq!(refusal(stolen), "invalid_grant: the refresh token is unknown");
    for wrong in [pair.access.as_str(), "", "ekr_", &pair.refresh[..41]] {
        let said = refusal(scene.refresh(wrong).await);
        assert_eq!(said, "invalid_grant: the refresh token is malformed");
    }
    assert!(scene.enter(&pair.refresh).await.is_err());
    let elsewhere =
        RefreshRequest { resource: Some("https://x.example".to_owned()), ..renewal(&pair.refresh) };
    let target = token_pairs::refresh(app, ISSUER, &scene.client, elsewhere).await;
    assert!(refusal(target).starts_with("invalid_target: "));
    scene.refresh(&pair.refresh).await.unwrap();
}

#[tokio::test]
async fn either_token_ends_the_grant_and_only_in_the_hands_of_its_client() {
    let scene = Scene::new().await;
    let app = &scene.world.app;
    let other = register(app, "Other").await;
    for give_access in [true, false] {
        let pair = scene.pair().await;
        let token = if give_access { &pair.access } else { &pair.refresh };
        introspection::revoke(app, &other, token).await.unwrap();
        scene.enter(&pair.access).await.unwrap();
        introspection::revoke(app, &scene.client, token).await.unwrap();
        introspection::revoke(app, &scene.client, token).await.unwrap();
        assert!(scene.enter(&pair.access).await.is_err());
        refusal(scene.refresh(&pair.refresh).await);
        assert_eq!(scene.trail().await[0], "app.leave Ledger Lens gave up its access");
    }
    introspection::revoke(app, &scene.client, "nonsense").await.unwrap();
}

#[tokio::test]
async fn a_token_is_told_about_to_its_own_client_while_it_is_good() {
    let scene = Scene::new().await;
    let app = &scene.world.app;
    let other = NewClient { auth_method: None, ..new_client("Other") };
    let (other, _) = clients::register(app, other).await.unwrap();
    let pair = scene.pair().await;
    for (token, seconds) in [(&pair.access, 900), (&pair.refresh, 30 * 86_400)] {
        let found = introspection::introspect(app, &scene.client, token).await.unwrap().unwrap();
        let now = scene.world.clock.now();
        assert_eq!(found.issued_at, now);
        assert_eq!(found.expires_at.as_second() - now.as_second(), seconds);
        assert_eq!((found.user, found.scopes), (scene.person.user.id, pair.scopes));
        assert!(introspection::introspect(app, &other, token).await.unwrap().is_none());
    }
    let second = scene.refresh(&pair.refresh).await.unwrap();
    assert!(introspection::introspect(app, &scene.client, &pair.refresh).await.unwrap().is_none());
    scene.world.advance_seconds(900);
    assert!(introspection::introspect(app, &scene.client, &second.access).await.unwrap().is_none());
    assert!(
        introspection::introspect(app, &scene.client, &second.refresh).await.unwrap().is_some()
    );
    introspection::revoke(app, &scene.client, &second.refresh).await.unwrap();
    assert!(
        introspection::introspect(app, &scene.client, &second.refresh).await.unwrap().is_none()
    );
    assert!(introspection::introspect(app, &scene.client, "nonsense").await.unwrap().is_none());
}
