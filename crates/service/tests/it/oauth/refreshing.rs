//! Refreshing tokens, and refresh tokens that are used twice.

use service::access::oauth::clients::{self, NewClient};
use service::access::oauth::token_pairs::{self, RefreshRequest};
use service::access::oauth::{grants, introspection};

use super::{ISSUER, OAuthFixture, new_client, refresh_request, refusal, register, scopes};

#[tokio::test]
async fn each_refresh_issues_a_new_pair_and_the_old_access_token_expires_by_itself() {
    let fixture = OAuthFixture::new().await;
    let first = fixture.pair().await;
    fixture.world.advance_seconds(600);
    let second = fixture.refresh(&first.refresh).await.unwrap();
    fixture.authenticate(&first.access).await.unwrap();
    fixture.authenticate(&second.access).await.unwrap();
    fixture.world.advance_seconds(300);
    assert!(fixture.authenticate(&first.access).await.is_err());
    fixture.authenticate(&second.access).await.unwrap();
}

#[tokio::test]
async fn reusing_a_refresh_token_revokes_all_tokens_of_the_grant() {
    let fixture = OAuthFixture::new().await;
    let first = fixture.pair().await;
    let second = fixture.refresh(&first.refresh).await.unwrap();
    fixture.authenticate(&second.access).await.unwrap();
    let again = refusal(fixture.refresh(&first.refresh).await);
    assert_eq!(again, "invalid_grant: the refresh token was used before; ask the person again");
    for token in [&first.access, &second.access] {
        assert!(fixture.authenticate(token).await.is_err());
    }
    let ended = "invalid_grant: the access of this token was revoked";
    assert_eq!(refusal(fixture.refresh(&second.refresh).await), ended);
    assert!(
        fixture.trail().await[0].starts_with("app.reuse Ledger Lens lost its access. A refresh")
    );
}

#[tokio::test]
async fn a_refresh_whose_response_was_lost_can_be_retried_within_a_minute() {
    let fixture = OAuthFixture::new().await;
    let first = fixture.pair().await;
    let lost = fixture.refresh(&first.refresh).await.unwrap();
    fixture.world.advance_seconds(59);
    let second = fixture.refresh(&first.refresh).await.unwrap();
    assert!(fixture.authenticate(&lost.access).await.is_err(), "the replaced pair is invalid");
    fixture.authenticate(&second.access).await.unwrap();
    let third = fixture.refresh(&second.refresh).await.unwrap();
    fixture.authenticate(&third.access).await.unwrap();
    // If the lost token is used after all, two parties hold tokens of the grant.
    refusal(fixture.refresh(&lost.refresh).await);
    assert!(fixture.authenticate(&third.access).await.is_err());
}

#[tokio::test]
async fn a_retry_after_a_minute_or_after_the_new_pair_was_used_revokes_the_grant() {
    for used in ["late", "access", "refresh"] {
        let fixture = OAuthFixture::new().await;
        let first = fixture.pair().await;
        let second = fixture.refresh(&first.refresh).await.unwrap();
        match used {
            "late" => fixture.world.advance_seconds(60),
            "access" => drop(fixture.authenticate(&second.access).await.unwrap()),
            _ => drop(fixture.refresh(&second.refresh).await.unwrap()),
        }
        refusal(fixture.refresh(&first.refresh).await);
        assert!(fixture.authenticate(&second.access).await.is_err(), "{used}");
        let listed = grants::list(&fixture.world.app, &fixture.person.caller).await.unwrap();
        assert!(listed.is_empty(), "{used}");
    }
}

/// The number of pairs of all grants that can still be used or refreshed.
async fn live_pairs(fixture: &OAuthFixture) -> usize {
    let stored = fixture.world.stored().await;
    let is_live = |row: &&String| !row.contains("replaced_at=") && !row.contains("refreshed_at=");
    stored["oauth_tokens"].iter().filter(is_live).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_ten_concurrent_refreshes_one_pair_stays_valid() {
    let fixture = OAuthFixture::new().await;
    let processes = [fixture.world.app.clone(), fixture.world.other_process().await];
    for round in 0..5 {
        let first = fixture.pair().await;
        let mut refreshes = tokio::task::JoinSet::new();
        for number in 0..10 {
            let (app, client) = (processes[number % 2].clone(), fixture.client.clone());
            let refresh_request = refresh_request(&first.refresh);
            refreshes.spawn(async move {
                token_pairs::refresh(&app, ISSUER, &client, refresh_request).await
            });
        }
        let issued: Vec<_> = refreshes.join_all().await.into_iter().map(|it| it.unwrap()).collect();
        assert_eq!(live_pairs(&fixture).await, 1, "{round}");
        let mut live = Vec::new();
        for pair in &issued {
            if fixture.authenticate(&pair.access).await.is_ok() {
                live.push(pair);
            }
        }
        assert_eq!(live.len(), 1, "{round}: the others were replaced by it");
        fixture.refresh(&live[0].refresh).await.unwrap();
        // The new pair was used, so another use of the old token means that two parties hold it.
        refusal(fixture.refresh(&first.refresh).await);
        assert!(fixture.authenticate(&live[0].access).await.is_err(), "{round}");
        let listed = grants::list(&fixture.world.app, &fixture.person.caller).await.unwrap();
        assert!(listed.is_empty(), "{round}");
        fixture.world.advance_seconds(2 * 86_400);
        service::access::oauth::forget_once(&fixture.world.app).await.unwrap();
        assert_eq!(live_pairs(&fixture).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_concurrent_first_use_and_retry_never_both_succeed() {
    let fixture = OAuthFixture::new().await;
    let other_process = fixture.world.other_process().await;
    for round in 0..10 {
        let first = fixture.pair().await;
        let second = fixture.refresh(&first.refresh).await.unwrap();
        let (retried, entered) = tokio::join!(
            fixture.refresh(&first.refresh),
            service::access::oauth::authenticate(&other_process, ISSUER, &second.access, None),
        );
        // Either the use came first, and the retry ends the grant; or the retry did, and the pair was replaced.
        assert!(retried.is_err() || entered.is_err(), "{round}");
        fixture.world.advance_seconds(1);
        let still_in =
            service::access::oauth::authenticate(&other_process, ISSUER, &second.access, None)
                .await;
        assert!(still_in.is_err(), "{round}");
        if let Ok(third) = retried {
            fixture.authenticate(&third.access).await.unwrap();
        }
    }
}

#[tokio::test]
async fn introspecting_a_new_pair_counts_as_using_it() {
    for is_access in [true, false] {
        let fixture = OAuthFixture::new().await;
        let first = fixture.pair().await;
        let second = fixture.refresh(&first.refresh).await.unwrap();
        let token = if is_access { &second.access } else { &second.refresh };
        let known =
            introspection::introspect(&fixture.world.app, &fixture.client, token).await.unwrap();
        assert!(known.is_some());
        refusal(fixture.refresh(&first.refresh).await);
        assert!(fixture.authenticate(&second.access).await.is_err());
    }
    let fixture = OAuthFixture::new().await;
    let first = fixture.pair().await;
    let lost = fixture.refresh(&first.refresh).await.unwrap();
    let second = fixture.refresh(&first.refresh).await.unwrap();
    for token in [&lost.access, &lost.refresh] {
        let known =
            introspection::introspect(&fixture.world.app, &fixture.client, token).await.unwrap();
        assert!(known.is_none());
    }
    fixture.authenticate(&second.access).await.unwrap();
}

#[tokio::test]
async fn a_refresh_can_be_retried_at_most_ten_times() {
    let fixture = OAuthFixture::new().await;
    let first = fixture.pair().await;
    let mut last = fixture.refresh(&first.refresh).await.unwrap();
    for _ in 0..10 {
        last = fixture.refresh(&first.refresh).await.unwrap();
        assert_eq!(live_pairs(&fixture).await, 1);
    }
    refusal(fixture.refresh(&first.refresh).await);
    assert!(fixture.authenticate(&last.access).await.is_err());
}

#[tokio::test]
async fn a_clock_set_back_does_not_extend_the_minute_for_a_retry() {
    let fixture = OAuthFixture::new().await;
    let first = fixture.pair().await;
    let second = fixture.refresh(&first.refresh).await.unwrap();
    fixture.world.clock.set_back(std::time::Duration::from_secs(3_600));
    refusal(fixture.refresh(&first.refresh).await);
    assert!(fixture.authenticate(&second.access).await.is_err());
}

#[tokio::test]
async fn a_refresh_token_idle_for_thirty_days_has_expired() {
    let fixture = OAuthFixture::new().await;
    let first = fixture.pair().await;
    fixture.world.advance_seconds(30 * 86_400 - 1);
    let second = fixture.refresh(&first.refresh).await.unwrap();
    fixture.world.advance_seconds(30 * 86_400);
    let late = refusal(fixture.refresh(&second.refresh).await);
    assert_eq!(late, "invalid_grant: the refresh token has expired");
    assert!(grants::list(&fixture.world.app, &fixture.person.caller).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_refresh_can_narrow_and_restore_scopes_but_never_extend_them() {
    let fixture = OAuthFixture::new().await;
    let app = &fixture.world.app;
    let granted = fixture.pair().await;
    let asking = |token: &str, words: &str| RefreshRequest {
        scope: Some(words.to_owned()),
        ..refresh_request(token)
    };
    for more in ["accounts:read paper:trade", "actions:write", "webhooks:manage", "nonsense"] {
        let outcome =
            token_pairs::refresh(app, ISSUER, &fixture.client, asking(&granted.refresh, more))
                .await;
        assert!(refusal(outcome).starts_with("invalid_scope: "), "{more}");
    }
    let few = asking(&granted.refresh, "goals:read");
    let few = token_pairs::refresh(app, ISSUER, &fixture.client, few).await.unwrap();
    assert_eq!(few.scopes, scopes("goals:read"));
    let caller = fixture.authenticate(&few.access).await.unwrap();
    assert!(caller.require(wire::v1::Scope::AccountsRead).is_err());
    let all = fixture.refresh(&few.refresh).await.unwrap();
    assert_eq!(all.scopes, granted.scopes, "the granted scopes are unchanged");
}

#[tokio::test]
async fn a_refresh_token_is_refused_for_another_client_purpose_or_resource() {
    let fixture = OAuthFixture::new().await;
    let app = &fixture.world.app;
    let other = register(app, "Other").await;
    let pair = fixture.pair().await;
    let stolen = token_pairs::refresh(app, ISSUER, &other, refresh_request(&pair.refresh)).await;
    assert_eq!(refusal(stolen), "invalid_grant: the refresh token is unknown");
    for wrong in [pair.access.as_str(), "", "ekr_", &pair.refresh[..41]] {
        let message = refusal(fixture.refresh(wrong).await);
        assert_eq!(message, "invalid_grant: the refresh token is malformed");
    }
    assert!(fixture.authenticate(&pair.refresh).await.is_err());
    let elsewhere = RefreshRequest {
        resource: Some("https://x.example".to_owned()),
        ..refresh_request(&pair.refresh)
    };
    let target = token_pairs::refresh(app, ISSUER, &fixture.client, elsewhere).await;
    assert!(refusal(target).starts_with("invalid_target: "));
    fixture.refresh(&pair.refresh).await.unwrap();
}

#[tokio::test]
async fn either_token_revokes_the_grant_but_only_for_its_own_client() {
    let fixture = OAuthFixture::new().await;
    let app = &fixture.world.app;
    let other = register(app, "Other").await;
    for is_access in [true, false] {
        let pair = fixture.pair().await;
        let token = if is_access { &pair.access } else { &pair.refresh };
        introspection::revoke(app, &other, token).await.unwrap();
        fixture.authenticate(&pair.access).await.unwrap();
        introspection::revoke(app, &fixture.client, token).await.unwrap();
        introspection::revoke(app, &fixture.client, token).await.unwrap();
        assert!(fixture.authenticate(&pair.access).await.is_err());
        refusal(fixture.refresh(&pair.refresh).await);
        assert_eq!(fixture.trail().await[0], "app.leave Ledger Lens gave up its access");
    }
    introspection::revoke(app, &fixture.client, "nonsense").await.unwrap();
}

#[tokio::test]
async fn introspection_describes_a_valid_token_to_its_own_client_only() {
    let fixture = OAuthFixture::new().await;
    let app = &fixture.world.app;
    let other = NewClient { auth_method: None, ..new_client("Other") };
    let (other, _) = clients::register(app, other).await.unwrap();
    let pair = fixture.pair().await;
    for (token, seconds) in [(&pair.access, 900), (&pair.refresh, 30 * 86_400)] {
        let found = introspection::introspect(app, &fixture.client, token).await.unwrap().unwrap();
        let now = fixture.world.clock.now();
        assert_eq!(found.issued_at, now);
        assert_eq!(found.expires_at.as_second() - now.as_second(), seconds);
        assert_eq!((found.user, found.scopes), (fixture.person.user.id, pair.scopes));
        assert!(introspection::introspect(app, &other, token).await.unwrap().is_none());
    }
    let second = fixture.refresh(&pair.refresh).await.unwrap();
    assert!(
        introspection::introspect(app, &fixture.client, &pair.refresh).await.unwrap().is_none()
    );
    fixture.world.advance_seconds(900);
    assert!(
        introspection::introspect(app, &fixture.client, &second.access).await.unwrap().is_none()
    );
    assert!(
        introspection::introspect(app, &fixture.client, &second.refresh).await.unwrap().is_some()
    );
    introspection::revoke(app, &fixture.client, &second.refresh).await.unwrap();
    assert!(
        introspection::introspect(app, &fixture.client, &second.refresh).await.unwrap().is_none()
    );
    assert!(introspection::introspect(app, &fixture.client, "nonsense").await.unwrap().is_none());
}
