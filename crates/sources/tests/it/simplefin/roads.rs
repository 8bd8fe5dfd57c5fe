//! Redirects, slowness, size and broken connections.

use std::time::Duration;

use net::Failure;
use sources::simplefin::{Trouble, fetch_within};
use testkit::simplefin::{Fault, SimpleFin};

use super::{ask, clock, household, march};

#[tokio::test]
async fn a_redirect_within_the_origin_keeps_the_password() {
    let (server, access) = household().await;
    server.fail_next(Fault::Redirect(302, "/simplefin/accounts?version=2".to_owned()));
    server.fail_next(Fault::Redirect(308, format!("{}/accounts?version=1", server.root())));
    assert_eq!(ask(&access, &march()).await.unwrap().accounts.len(), 3);
    let asked = server.requests();
    assert_eq!(asked.len(), 3);
    assert!(asked.iter().all(|it| it.authorization.is_some()));
}

#[tokio::test]
async fn a_redirect_to_another_origin_takes_no_password_along() {
    let (server, access) = household().await;
    let other = SimpleFin::start(clock()).await;
    server.fail_next(Fault::Redirect(307, format!("{}/accounts", other.root())));
    other.fail_next(Fault::Redirect(307, format!("{}/accounts", server.root())));
    assert_eq!(ask(&access, &march()).await.unwrap_err(), Trouble::Revoked);
    assert_eq!(other.requests()[0].authorization, None);
    // Nor does it come back on the way home.
    assert_eq!(server.requests()[1].authorization, None);
}

#[tokio::test]
async fn redirects_end_somewhere() {
    let (server, access) = household().await;
    for _ in 0..6 {
        server.fail_next(Fault::Redirect(302, "/simplefin/accounts".to_owned()));
    }
    let trouble = ask(&access, &march()).await.unwrap_err();
    assert!(trouble.to_string().contains("again and again"), "{trouble}");
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test]
async fn each_step_of_a_redirect_is_looked_at() {
    let (server, access) = household().await;
    for (location, expected) in [
        ("https://169.254.169.254/latest", Trouble::Forbidden(Failure::BlockedAddress)),
        ("https://10.0.0.1/", Trouble::Forbidden(Failure::BlockedAddress)),
        (
            "http://localhost/",
            Trouble::BadAnswer("it leads elsewhere, but not to where one could follow".to_owned()),
        ),
        (
            "https://a:b@localhost/",
            Trouble::BadAnswer("it leads elsewhere, but not to where one could follow".to_owned()),
        ),
    ] {
        server.fail_next(Fault::Redirect(302, location.to_owned()));
        assert_eq!(ask(&access, &march()).await.unwrap_err(), expected, "{location}");
    }
}

#[tokio::test]
async fn a_slow_answer_is_waited_for_but_not_for_ever() {
    let (server, access) = household().await;
    server.fail_next(Fault::Slow(Duration::from_millis(50)));
    assert!(ask(&access, &march()).await.is_ok());
    server.fail_next(Fault::Slow(Duration::from_secs(3_600)));
    let within = Duration::from_millis(300);
    let ended = fetch_within(&SimpleFin::http_client(), &access, &march(), within).await;
    assert_eq!(ended.unwrap_err(), Trouble::Unreachable(Failure::Timeout));
}

#[tokio::test]
async fn a_huge_answer_is_not_let_in() {
    let (server, access) = household().await;
    server.fail_next(Fault::Huge(17 * 1024 * 1024));
    assert_eq!(ask(&access, &march()).await.unwrap_err(), Trouble::TooLarge);
}

#[tokio::test]
async fn a_broken_connection_is_tried_again_by_whoever_asked() {
    let (server, access) = household().await;
    server.fail_next(Fault::Cut);
    let trouble = ask(&access, &march()).await.unwrap_err();
    assert_eq!(trouble, Trouble::Unreachable(Failure::Broken));
    assert!(trouble.passes());
    assert!(ask(&access, &march()).await.is_ok());
}
