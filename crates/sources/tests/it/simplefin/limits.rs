//! Budgets, subscriptions and revoked access.

use std::time::Duration;

use sources::simplefin::{NoticeKind, Query, SimplefinError, windows_of_days};
use testkit::day;
use testkit::simplefin::{Fault, SimpleFin};

use super::{ask, clock, household, march};

#[tokio::test]
async fn a_range_that_is_too_long_is_capped_with_a_notice() {
    let (server, access) = household().await;
    let query = Query { start: Some(day("2025-11-01")), ..march() };
    for version in [2, 1] {
        let set = ask(&access, &query).await.unwrap();
        assert_eq!(set.notices.len(), 1, "version {version}");
        assert_eq!(set.notices[0].kind, NoticeKind::RangeCapped(90));
        assert_eq!(set.accounts.len(), 3);
        server.use_version_one();
    }
    server.limit_days(30);
    let set = ask(&access, &march()).await.unwrap();
    assert_eq!(set.notices, []);
    for (start, end) in windows_of_days(day("2025-12-01"), day("2026-03-11"), 30) {
        let query = Query { start: Some(start), end: Some(end), ..Query::default() };
        assert_eq!(ask(&access, &query).await.unwrap().notices, []);
    }
}

#[tokio::test]
async fn the_daily_limit_is_announced_before_it_is_reached() {
    let clock = clock();
    let server = SimpleFin::start(clock.clone()).await;
    let access = sources::simplefin::AccessUrl::parse(&server.access_url()).unwrap();
    let mut warned = Vec::new();
    let blocked = loop {
        match ask(&access, &Query { balances_only: true, ..Query::default() }).await {
            Ok(set) => {
                warned.push(set.notices.iter().any(|it| it.kind == NoticeKind::TooManyRequests))
            }
            Err(error) => break error,
        }
    };
    assert_eq!(blocked, SimplefinError::RateLimited);
    assert!(blocked.is_temporary());
    assert_eq!(warned.len(), 95);
    assert_eq!(warned.iter().position(|it| *it), Some(47));
    clock.advance(Duration::from_secs(86_400));
    assert_eq!(ask(&access, &Query::default()).await.unwrap().notices, []);
}

#[tokio::test]
async fn a_lapsed_subscription_is_an_error_until_it_is_paid() {
    let (server, access) = household().await;
    server.set_unpaid(true);
    let error = ask(&access, &march()).await.unwrap_err();
    assert_eq!(error, SimplefinError::PaymentRequired);
    assert!(error.to_string().contains("Renew it at SimpleFIN"));
    server.set_unpaid(false);
    assert_eq!(ask(&access, &march()).await.unwrap().accounts.len(), 3);
}

#[tokio::test]
async fn revoked_access_is_distinguished_from_other_errors() {
    let (server, access) = household().await;
    for (fault, expected, temporary) in [
        (Fault::Response(401, String::new()), SimplefinError::Revoked, false),
        (Fault::Response(403, "Forbidden".to_owned()), SimplefinError::Revoked, false),
        (
            Fault::Response(
                200,
                r#"{"errlist":[{"code":"gen.auth","msg":"No"}],"accounts":[]}"#.to_owned(),
            ),
            SimplefinError::Revoked,
            false,
        ),
        (Fault::Response(429, String::new()), SimplefinError::RateLimited, true),
        (Fault::Response(502, "<html>".to_owned()), SimplefinError::ServerError(502), true),
        (
            Fault::Response(400, "<p>Bad &amp; <b>wrong</b>.</p>".to_owned()),
            SimplefinError::Refused { status: 400, message: "Bad & wrong .".to_owned() },
            true,
        ),
    ] {
        server.fail_next(fault);
        let error = ask(&access, &march()).await.unwrap_err();
        assert_eq!((&error, error.is_temporary()), (&expected, temporary));
        assert!(error.to_string().ends_with('.'), "{error}");
    }
    server.revoke();
    assert_eq!(ask(&access, &march()).await.unwrap_err(), SimplefinError::Revoked);
}
