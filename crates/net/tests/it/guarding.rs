//! Who may be reached through a door for strangers' URLs.

use net::{Door, Failure, Guard, Outgoing, Policy};

use crate::server::{Authority, Server};
use crate::{LIMITS, open_door};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn door(allow: &[&str], authority: &Authority) -> Door {
    let allow = allow.iter().map(|it| it.parse().unwrap()).collect();
    let extra_ca = Some(authority.pem.clone().into_bytes());
    Door::new(Policy { guard: Guard::Public { allow }, extra_ca }).unwrap()
}

#[tokio::test]
async fn this_machine_is_not_reached_by_name_or_by_number() {
    let authority = Authority::new();
    let mut server = Server::secure(authority.certify("localhost"), OK).await;
    let door = door(&[], &authority);
    for host in ["localhost", "LOCALHOST.", "127.0.0.1", "127.0.0.2", "0.0.0.0", "[::1]", "[::]"] {
        let url = format!("https://{host}:{}/", server.port);
        assert_eq!(door.vet(&url, LIMITS.connect).await, Err(Failure::BlockedAddress), "{host}");
        let failure = door.send(Outgoing::get(url), LIMITS).await.unwrap_err();
        assert_eq!(failure, Failure::BlockedAddress, "{host}");
    }
    for host in ["2130706433", "0x7f.1", "0177.0.0.1", "127.1", "user@localhost"] {
        let url = format!("https://{host}:{}/", server.port);
        assert_eq!(door.vet(&url, LIMITS.connect).await, Err(Failure::BadUrl), "{host}");
    }
    assert!(server.heard.try_recv().is_err());
}

#[tokio::test]
async fn a_network_that_the_operator_lists_is_reached_by_https_alone() {
    let authority = Authority::new();
    let mut server = Server::secure(authority.certify("localhost"), OK).await;
    let door = door(&["127.0.0.0/8", "::1"], &authority);
    let url = format!("https://localhost:{}/hook", server.port);
    assert_eq!(door.vet(&url, LIMITS.connect).await, Ok(()));
    assert!(server.heard.try_recv().is_err(), "vetting asks for nothing");
    let reply = door.clone().send(Outgoing::post(url.clone(), "hi"), LIMITS).await.unwrap();
    assert_eq!((reply.status, &reply.body[..]), (200, &b"ok"[..]));
    assert!(server.heard.recv().await.unwrap().starts_with("POST /hook HTTP/1.1\r\n"));

    let plain = url.replace("https:", "http:");
    assert_eq!(door.vet(&plain, LIMITS.connect).await, Err(Failure::NotHttps));
    let failure = door.send(Outgoing::get(plain), LIMITS).await.unwrap_err();
    assert_eq!(failure, Failure::NotHttps);
}

#[tokio::test]
async fn a_name_that_nobody_has_is_told() {
    let url = "https://nobody-is-here.invalid/";
    assert_eq!(open_door().vet(url, LIMITS.connect).await, Err(Failure::Dns));
    let failure = open_door().send(Outgoing::get(url), LIMITS).await.unwrap_err();
    assert_eq!(failure, Failure::Dns);
}
