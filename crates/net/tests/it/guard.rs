//! The address guard of a client for URLs that users choose.

use net::{Failure, Guard, HttpClient, HttpRequest, Policy};

use crate::server::{Authority, Server};
use crate::{LIMITS, unguarded_client};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn client(allow: &[&str], authority: &Authority) -> HttpClient {
    let allow = allow.iter().map(|it| it.parse().unwrap()).collect();
    let extra_ca = Some(authority.pem.clone().into_bytes());
    HttpClient::new(Policy { guard: Guard::Public { allow }, extra_ca }).unwrap()
}

#[tokio::test]
async fn this_machine_is_not_reachable_by_name_or_address() {
    let authority = Authority::new();
    let mut server = Server::secure(authority.certify("localhost"), OK).await;
    let client = client(&[], &authority);
    for host in ["localhost", "LOCALHOST.", "127.0.0.1", "127.0.0.2", "0.0.0.0", "[::1]", "[::]"] {
        let url = format!("https://{host}:{}/", server.port);
        assert_eq!(client.vet(&url, LIMITS.connect).await, Err(Failure::BlockedAddress), "{host}");
        let failure = client.send(HttpRequest::get(url), LIMITS).await.unwrap_err();
        assert_eq!(failure, Failure::BlockedAddress, "{host}");
    }
    for host in ["2130706433", "0x7f.1", "0177.0.0.1", "127.1", "user@localhost"] {
        let url = format!("https://{host}:{}/", server.port);
        assert_eq!(client.vet(&url, LIMITS.connect).await, Err(Failure::BadUrl), "{host}");
    }
    assert!(server.requests.try_recv().is_err());
}

#[tokio::test]
async fn a_network_that_the_operator_allows_is_reachable_by_https_only() {
    let authority = Authority::new();
    let mut server = Server::secure(authority.certify("localhost"), OK).await;
    let client = client(&["127.0.0.0/8", "::1"], &authority);
    let url = format!("https://localhost:{}/hook", server.port);
    assert_eq!(client.vet(&url, LIMITS.connect).await, Ok(()));
    assert!(server.requests.try_recv().is_err(), "vetting sends no request");
    let reply = client.clone().send(HttpRequest::post(url.clone(), "hi"), LIMITS).await.unwrap();
    assert_eq!((reply.status, &reply.body[..]), (200, &b"ok"[..]));
    assert!(server.requests.recv().await.unwrap().starts_with("POST /hook HTTP/1.1\r\n"));

    let plain = url.replace("https:", "http:");
    assert_eq!(client.vet(&plain, LIMITS.connect).await, Err(Failure::NotHttps));
    let failure = client.send(HttpRequest::get(plain), LIMITS).await.unwrap_err();
    assert_eq!(failure, Failure::NotHttps);
}

#[tokio::test]
async fn an_unknown_host_name_is_a_dns_failure() {
    let url = "https://nobody-is-here.invalid/";
    assert_eq!(unguarded_client().vet(url, LIMITS.connect).await, Err(Failure::Dns));
    let failure = unguarded_client().send(HttpRequest::get(url), LIMITS).await.unwrap_err();
    assert_eq!(failure, Failure::Dns);
}
