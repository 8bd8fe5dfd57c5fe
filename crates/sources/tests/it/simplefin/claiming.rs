//! Claiming a setup token for an access URL, which works once.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use net::{Failure, Guard, HttpClient, Policy};
use sources::simplefin::{AccessUrl, Query, SetupToken, SimplefinError, claim};
use testkit::simplefin::SimpleFin;

use super::{ask, clock};

#[tokio::test]
async fn a_token_is_claimed_once() {
    let server = SimpleFin::start(clock()).await;
    let token = SetupToken::parse(&server.setup_token()).unwrap();
    let access = claim(&SimpleFin::http_client(), &token).await.unwrap();
    assert!(ask(&access, &Query::default()).await.unwrap().accounts.is_empty());
    let request = &server.requests()[0];
    assert_eq!((request.method.as_str(), request.content_length.as_deref()), ("POST", Some("0")));
    assert_eq!(request.authorization, None);
    let error = claim(&SimpleFin::http_client(), &token).await.unwrap_err();
    assert_eq!(error, SimplefinError::TokenAlreadyClaimed);
    assert!(error.to_string().contains("Create a new one"), "{error}");
    assert!(!error.is_temporary());
}

#[tokio::test]
async fn a_claim_succeeds_only_with_an_access_url_in_the_response() {
    let server = SimpleFin::start(clock()).await;
    let token = SetupToken::parse(&server.setup_token()).unwrap();
    for (body, expected) in [
        ("Forbidden (was it already claimed?)", SimplefinError::TokenAlreadyClaimed),
        ("", SimplefinError::InvalidResponse("it contains no access URL".to_owned())),
        (
            "<html><body>Sorry</body></html>",
            SimplefinError::InvalidResponse("it contains no access URL".to_owned()),
        ),
        (
            "https://host.example/simplefin",
            SimplefinError::InvalidResponse("it contains no access URL".to_owned()),
        ),
        (
            "http://user:word@host.example/simplefin",
            SimplefinError::InvalidResponse(
                "the access URL does not begin with https://".to_owned(),
            ),
        ),
    ] {
        server.answer_claims_with(body);
        assert_eq!(claim(&SimpleFin::http_client(), &token).await.unwrap_err(), expected, "{body}");
    }
}

#[tokio::test]
async fn a_token_with_a_private_address_is_refused() {
    let server = SimpleFin::start(clock()).await;
    let guarded_client = || {
        let extra_ca = Some(testkit::receiver::authority());
        HttpClient::new(Policy { guard: Guard::Public { allow: vec![] }, extra_ca }).unwrap()
    };
    let token = SetupToken::parse(&server.setup_token()).unwrap();
    let error = claim(&guarded_client(), &token).await.unwrap_err();
    assert_eq!(error, SimplefinError::Forbidden(Failure::BlockedAddress));
    assert!(server.requests().is_empty());
    for (url, failure) in [
        ("https://169.254.169.254/latest/meta-data", Failure::BlockedAddress),
        ("https://127.0.0.1/claim/x", Failure::BlockedAddress),
        ("https://[::1]/claim/x", Failure::BlockedAddress),
        ("http://bridge.simplefin.org/claim/x", Failure::NotHttps),
        ("https://0x7f.1/claim/x", Failure::BadUrl),
    ] {
        let token = SetupToken::parse(&STANDARD.encode(url)).unwrap();
        let error = claim(&guarded_client(), &token).await.unwrap_err();
        assert_eq!(error, SimplefinError::Forbidden(failure), "{url}");
    }
}

#[tokio::test]
async fn secrets_are_never_printed() {
    let server = SimpleFin::start(clock()).await;
    let access = AccessUrl::parse(&server.access_url()).unwrap();
    assert!(access.expose().contains("sesame"));
    let message = format!("the password sesame{} of {}", 1, server.access_url());
    server.fail_next(testkit::simplefin::Fault::Response(404, message));
    let error = ask(&access, &Query::default()).await.unwrap_err();
    for shown in [format!("{access:?}"), format!("{error:?}"), error.to_string()] {
        assert!(!shown.contains("sesame1"), "{shown}");
    }
}
