//! The certificates that the client trusts.

use std::sync::Arc;
use std::time::Duration;

use net::{Failure, Guard, HttpClient, HttpRequest, HttpResponse, Policy, SetupError};
use rustls::ServerConfig;

use crate::LIMITS;
use crate::server::{Authority, Server};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn trusting(pem: Option<&str>) -> Result<HttpClient, SetupError> {
    HttpClient::new(Policy { guard: Guard::Any, extra_ca: pem.map(|it| it.as_bytes().to_vec()) })
}

async fn ask(
    client: HttpClient,
    tls: Arc<ServerConfig>,
    host: &str,
) -> Result<HttpResponse, Failure> {
    let mut server = Server::secure(tls, OK).await;
    let url = format!("https://{host}:{}/", server.port);
    let reply = client.send(HttpRequest::get(url).header("x-key", "secret"), LIMITS).await;
    assert_eq!(
        reply.is_ok(),
        server.requests.try_recv().is_ok(),
        "nothing is sent to an untrusted server"
    );
    reply
}

#[tokio::test]
async fn an_extra_authority_is_trusted_for_names_and_addresses() {
    let authority = Authority::new();
    for host in ["localhost", "127.0.0.1"] {
        let client = trusting(Some(&authority.pem)).unwrap();
        let reply = ask(client, authority.certify(host), host).await.unwrap();
        assert_eq!((reply.status, &reply.body[..]), (200, &b"ok"[..]));
    }
}

#[tokio::test]
async fn one_file_may_contain_several_authorities() {
    let (one, other) = (Authority::new(), Authority::new());
    let both = format!("{}\n# another\n{}", one.pem, other.pem);
    for authority in [one, other] {
        let client = trusting(Some(&both)).unwrap();
        assert!(ask(client, authority.certify("localhost"), "localhost").await.is_ok());
    }
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let authority = Authority::new();
    for (certified, host) in [
        ("elsewhere.example", "localhost"),
        ("localhost", "127.0.0.1"),
        ("127.0.0.1", "localhost"),
        ("*.localhost", "localhost"),
    ] {
        let client = trusting(Some(&authority.pem)).unwrap();
        let reply = ask(client, authority.certify(certified), host).await;
        assert_eq!(reply.unwrap_err(), Failure::Tls, "{certified} for {host}");
    }
}

#[tokio::test]
async fn an_expired_certificate_is_refused() {
    let authority = Authority::new();
    let client = trusting(Some(&authority.pem)).unwrap();
    let reply = ask(client, authority.certify_until("localhost", 2020), "localhost").await;
    assert_eq!(reply.unwrap_err(), Failure::Tls);
}

#[tokio::test]
async fn a_certificate_can_be_judged_at_a_later_time() {
    let authority = Authority::new();
    let years = |count: u64| Duration::from_secs(count * 365 * 24 * 60 * 60);
    for (time, is_valid) in [(years(0), true), (years(1), true), (years(100), false)] {
        let extra_ca = Some(authority.pem.clone().into_bytes());
        let policy = Policy { guard: Guard::Any, extra_ca };
        let client = HttpClient::with_certificates_valid_for(policy, time).unwrap();
        let reply = ask(client, authority.certify_until("localhost", 2100), "localhost").await;
        assert_eq!(reply.is_ok(), is_valid, "in {time:?}: {reply:?}");
    }
}

#[tokio::test]
async fn an_unknown_authority_is_refused() {
    let authority = Authority::new();
    let unknown = ask(trusting(None).unwrap(), authority.certify("localhost"), "localhost").await;
    assert_eq!(unknown.unwrap_err(), Failure::Tls);
    let client = trusting(Some(&Authority::new().pem)).unwrap();
    let other = ask(client, authority.certify("localhost"), "localhost").await;
    assert_eq!(other.unwrap_err(), Failure::Tls);
}

#[test]
fn a_file_without_certificates_is_an_error_at_setup() {
    for pem in
        ["", "not a certificate", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----"]
    {
        assert_eq!(trusting(Some(pem)).err(), Some(SetupError::NoCertificate), "{pem}");
    }
    let nonsense = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
    assert!(matches!(trusting(Some(nonsense)), Err(SetupError::Tls(_))));
}
