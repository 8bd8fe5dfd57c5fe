//! Redirects, slowness, size and broken connections.

use std::time::Duration;

use net::Failure;
use sources::simplefin::{SimplefinError, fetch_within};
use testkit::simplefin::{Fault, SimpleFin};

use super::{ask, clock, household, march};

#[tokio::test]
async fn a_redirect_within_the_origin_keeps_the_password() {
    let (server, access) = household().await;
    server.fail_next(Fault::Redirect(302, "/simplefin/accounts?version=2".to_owned()));
    server.fail_next(Fault::Redirect(308, format!("{}/accounts?version=1", server.root())));
    assert_eq!(ask(&access, &march()).await.unwrap().accounts.len(), 3);
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|it| it.authorization.is_some()));
}

#[tokio::test]
async fn a_redirect_to_another_origin_drops_the_password() {
    let (server, access) = household().await;
    let other = SimpleFin::start(clock()).await;
    server.fail_next(Fault::Redirect(307, format!("{}/accounts", other.root())));
    other.fail_next(Fault::Redirect(307, format!("{}/accounts", server.root())));
    assert_eq!(ask(&access, &march()).await.unwrap_err(), SimplefinError::Revoked);
    assert_eq!(other.requests()[0].authorization, None);
    // A redirect back to the first origin does not restore it.
    assert_eq!(server.requests()[1].authorization, None);
}

#[tokio::test]
async fn redirects_are_limited() {
    let (server, access) = household().await;
    for _ in 0..6 {
        server.fail_next(Fault::Redirect(302, "/simplefin/accounts".to_owned()));
    }
    let error = ask(&access, &march()).await.unwrap_err();
    assert!(error.to_string().contains("again and again"), "{error}");
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test]
async fn each_redirect_target_is_checked() {
    let (server, access) = household().await;
    for (location, expected) in [
        ("https://169.254.169.254/latest", SimplefinError::Forbidden(Failure::BlockedAddress)),
        ("https://10.0.0.1/", SimplefinError::Forbidden(Failure::BlockedAddress)),
        (
            "http://localhost/",
            SimplefinError::InvalidResponse("its redirect cannot be followed".to_owned()),
        ),
        (
            "https://a:b@localhost/",
            SimplefinError::InvalidResponse("its redirect cannot be followed".to_owned()),
        ),
    ] {
        server.fail_next(Fault::Redirect(302, location.to_owned()));
        assert_eq!(ask(&access, &march()).await.unwrap_err(), expected, "{location}");
    }
}

#[tokio::test]
async fn a_slow_response_is_waited_for_until_the_timeout() {
    let (server, access) = household().await;
    server.fail_next(Fault::Slow(Duration::from_millis(50)));
    assert!(ask(&access, &march()).await.is_ok());
    server.fail_next(Fault::Slow(Duration::from_secs(3_600)));
    let within = Duration::from_millis(300);
    let result = fetch_within(&SimpleFin::http_client(), &access, &march(), within).await;
    assert_eq!(result.unwrap_err(), SimplefinError::Unreachable(Failure::Timeout));
}

#[tokio::test]
async fn a_huge_response_is_rejected() {
    let (server, access) = household().await;
    server.fail_next(Fault::Huge(17 * 1024 * 1024));
    assert_eq!(ask(&access, &march()).await.unwrap_err(), SimplefinError::TooLarge);
}

#[tokio::test]
async fn a_broken_connection_is_a_temporary_error() {
    let (server, access) = household().await;
    server.fail_next(Fault::Cut);
    let error = ask(&access, &march()).await.unwrap_err();
    assert_eq!(error, SimplefinError::Unreachable(Failure::Broken));
    assert!(error.is_temporary());
    assert!(ask(&access, &march()).await.is_ok());
}
