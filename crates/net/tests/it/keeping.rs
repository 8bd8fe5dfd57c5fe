//! Connections that are used again, and when they are not.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use http::Version;
use net::{Door, Failure, Guard, Limits, Outgoing, Policy, Reply};
use tokio::net::TcpListener;
use tokio::sync::{Barrier, mpsc};
use tokio_rustls::TlsAcceptor;

use crate::receiver::{AT_ONCE, Receiver, serve};
use crate::server::{Authority, Server, Then};
use crate::{LIMITS, open_door};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const SHORT: Limits = Limits { whole: Duration::from_millis(200), ..LIMITS };

async fn ask(door: &Door, url: String, scope: &str, limits: Limits) -> Result<Reply, Failure> {
    door.send(Outgoing::post(url, "{}").reusing(scope), limits).await
}

async fn ok(door: &Door, url: String, scope: &str) {
    let reply = ask(door, url, scope, LIMITS).await.unwrap();
    assert_eq!((reply.status, &reply.body[..]), (200, &b"ok"[..]));
}

/// Over what each of them is true: HTTP/1.1 without TLS and with it, and HTTP/2.
async fn each_kind() -> [(Receiver, Door); 3] {
    let plain = (Receiver::plain().await, open_door());
    [plain, Receiver::secure(&["http/1.1"]).await, Receiver::secure(&["h2", "http/1.1"]).await]
}

#[tokio::test]
async fn one_request_after_another_goes_over_one_connection() {
    for (mut receiver, door) in each_kind().await {
        for _ in 0..5 {
            ok(&door.clone(), receiver.url("/"), "a").await;
        }
        assert_eq!(receiver.connections(), [1; 5]);
    }
}

#[tokio::test]
async fn scopes_do_not_share_and_who_does_not_ask_for_it_gets_nothing_old() {
    for (mut receiver, door) in each_kind().await {
        for scope in ["a", "b", "a", "b"] {
            ok(&door, receiver.url("/"), scope).await;
        }
        assert_eq!(receiver.connections(), [1, 2, 1, 2]);
        for _ in 0..2 {
            door.send(Outgoing::get(receiver.url("/")), LIMITS).await.unwrap();
        }
        assert_eq!(receiver.connections(), [3, 4]);
        receiver.has_open(2).await;
    }
}

#[tokio::test]
async fn another_origin_in_the_same_scope_has_its_own() {
    let door = open_door();
    let (mut one, mut other) = (Receiver::plain().await, Receiver::plain().await);
    for receiver in [&one, &other, &one, &other] {
        ok(&door, receiver.url("/"), "a").await;
    }
    assert_eq!((one.connections(), other.connections()), (vec![1, 1], vec![1, 1]));
}

#[tokio::test]
async fn a_receiver_of_http_2_gets_all_of_a_scope_on_one_connection_at_once() {
    let (mut receiver, door) = Receiver::secure(&["h2", "http/1.1"]).await;
    // Answered only as others are under way at the same time.
    let asked = (0..6 * AT_ONCE).map(|_| ok(&door, receiver.url("/together"), "a"));
    join_all(asked).await;
    let seen = receiver.seen.recv().await.unwrap();
    assert_eq!((seen.version, seen.connection), (Version::HTTP_2, 1));
    assert_eq!(seen.authority, Some(format!("127.0.0.1:{}", receiver.port)));
    assert_eq!(&seen.body[..], b"{}");
    assert!(!seen.headers.contains_key("host") && !seen.headers.contains_key("connection"));
    assert_eq!(seen.headers["content-length"], "2");
    assert_eq!(seen.headers["accept-encoding"], "identity");
    assert_eq!(receiver.connections(), [1; 47]);
}

#[tokio::test]
async fn a_receiver_of_http_1_gets_as_many_connections_as_requests_at_once_and_keeps_them() {
    let (mut receiver, door) = Receiver::secure(&["http/1.1"]).await;
    for _ in 0..2 {
        join_all((0..6).map(|_| ok(&door, receiver.url("/slow"), "a"))).await;
    }
    let seen = receiver.seen.recv().await.unwrap();
    assert_eq!(seen.version, Version::HTTP_11);
    assert_eq!(seen.headers["host"], format!("127.0.0.1:{}", receiver.port));
    assert!(!seen.headers.contains_key("connection"));
    let mut used = receiver.connections();
    used.sort_unstable();
    assert_eq!(used.last(), Some(&6));
}

#[tokio::test]
async fn connections_to_a_receiver_known_to_take_one_request_each_are_opened_side_by_side() {
    let authority = Authority::new();
    let tls = TlsAcceptor::from(authority.certify("127.0.0.1"));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("https://{}/slow", listener.local_addr().unwrap());
    // After the first, nobody is let in before three have come.
    let three = Arc::new(Barrier::new(3));
    let (tell, _seen) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        for connection in 1.. {
            let (stream, _) = listener.accept().await.unwrap();
            let (tls, tell, three) = (tls.clone(), tell.clone(), three.clone());
            tokio::spawn(async move {
                if connection > 1 {
                    three.wait().await;
                }
                serve(tls.accept(stream).await.unwrap(), connection, tell).await;
            });
        }
    });
    let policy = Policy { guard: Guard::Any, extra_ca: Some(authority.pem.into_bytes()) };
    let door = Door::new(policy).unwrap();
    ok(&door, url.clone(), "a").await;
    join_all((0..4).map(|_| ok(&door, url.clone(), "a"))).await;
}

#[tokio::test]
async fn a_receiver_that_says_farewell_is_asked_on_a_new_connection() {
    for (receiver, door) in &mut each_kind().await[..2] {
        ok(door, receiver.url("/"), "a").await;
        assert_eq!(&ask(door, receiver.url("/last"), "a", LIMITS).await.unwrap().body[..], b"bye");
        ok(door, receiver.url("/"), "a").await;
        assert_eq!(receiver.connections(), [1, 1, 2]);
    }
}

#[tokio::test]
async fn an_answer_longer_than_is_let_in_ends_the_connection() {
    for (mut receiver, door) in each_kind().await {
        let long = ask(&door, receiver.url("/long"), "a", LIMITS).await.unwrap();
        assert_eq!((long.body.len(), long.truncated), (LIMITS.body_max, true));
        ok(&door, receiver.url("/"), "a").await;
        assert_eq!(receiver.connections(), [1, 2]);
        receiver.has_open(1).await;
    }
}

#[tokio::test]
async fn an_answer_that_came_whole_but_was_not_let_in_whole_ends_the_connection_too() {
    for (mut receiver, door) in each_kind().await {
        let limits = Limits { body_max: 1, ..LIMITS };
        assert!(ask(&door, receiver.url("/"), "a", limits).await.unwrap().truncated);
        ok(&door, receiver.url("/"), "a").await;
        assert_eq!(receiver.connections(), [1, 2]);
    }
}

#[tokio::test]
async fn long_answers_one_after_another_are_no_flood() {
    for (mut receiver, door) in each_kind().await {
        for _ in 0..20 {
            let reply = ask(&door, receiver.url("/large"), "a", LIMITS).await.unwrap();
            assert_eq!((reply.body.len(), reply.truncated), (60_000, false));
        }
        assert_eq!(receiver.connections(), [1; 20]);
        let at_once = (0..40).map(|_| ask(&door, receiver.url("/large"), "a", LIMITS));
        assert!(join_all(at_once).await.iter().all(|it| it.is_ok()));
        let head = ask(&door, receiver.url("/head"), "a", LIMITS).await.unwrap();
        assert_eq!(head.header("x-long").map(str::len), Some(30_000));
    }
}

#[tokio::test]
async fn a_request_that_is_given_up_ends_the_connection_but_no_other_request() {
    for (mut receiver, door) in each_kind().await {
        ok(&door, receiver.url("/"), "a").await;
        let others = join_all((0..3).map(|_| ok(&door, receiver.url("/slow"), "a")));
        let brief = Limits { whole: Duration::from_millis(50), ..LIMITS };
        let never = ask(&door, receiver.url("/never"), "a", brief);
        let (_, never) = tokio::join!(others, never);
        assert_eq!(never.unwrap_err(), Failure::Timeout);
        let before = *receiver.connections().iter().max().unwrap();
        ok(&door, receiver.url("/"), "a").await;
        let after = receiver.connections();
        assert!(before < 5 && after.len() == 1, "{before} {after:?}");
    }
}

#[tokio::test]
async fn a_receiver_of_http_2_that_never_answered_is_asked_on_a_new_connection() {
    let (mut receiver, door) = Receiver::secure(&["h2"]).await;
    let never = ask(&door, receiver.url("/never"), "a", SHORT).await;
    assert_eq!(never.unwrap_err(), Failure::Timeout);
    ok(&door, receiver.url("/"), "a").await;
    assert_eq!(receiver.connections(), [1, 2]);
    receiver.has_open(1).await;
}

#[tokio::test]
async fn what_was_lost_with_an_old_connection_is_sent_once_more() {
    let server = Server::script(|connection, request| match (connection, request) {
        (1, 2) => ("".into(), Then::Close),
        _ => (OK.into(), Then::Again),
    });
    let mut server = server.await;
    let door = open_door();
    for _ in 0..3 {
        ok(&door, server.url("/"), "a").await;
    }
    assert_eq!(server.connections(), [1, 1, 2, 2]);
}

#[tokio::test]
async fn it_is_sent_no_third_time_and_not_from_a_new_connection() {
    let server = Server::script(|connection, request| match (connection, request) {
        (1, 1) => (OK.into(), Then::Again),
        _ => ("".into(), Then::Close),
    });
    let mut server = server.await;
    let door = open_door();
    ok(&door, server.url("/"), "a").await;
    assert_eq!(ask(&door, server.url("/"), "a", LIMITS).await.unwrap_err(), Failure::Broken);
    assert_eq!(server.connections(), [1, 1, 2]);
    assert_eq!(ask(&door, server.url("/"), "a", LIMITS).await.unwrap_err(), Failure::Broken);
    assert_eq!(server.connections(), [3]);
}

#[tokio::test]
async fn it_is_sent_again_on_a_new_connection_and_not_on_another_old_one() {
    let server = Server::script(|connection, request| match (connection, request) {
        (1 | 2, 2) => ("".into(), Then::Close),
        _ => (OK.into(), Then::Again),
    });
    let mut server = server.await;
    let door = open_door();
    join_all((0..2).map(|_| ok(&door, server.url("/"), "a"))).await;
    assert_eq!(server.connections().len(), 2);
    ok(&door, server.url("/"), "a").await;
    let used = server.connections();
    assert!(used[0] < 3 && used[1..] == [3], "{used:?}");
}

#[tokio::test]
async fn what_was_lost_after_a_byte_of_an_answer_is_not_sent_again() {
    for says in ["H", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok", "nonsense\r\n\r\n"] {
        let server = Server::script(move |_, request| match request {
            1 => (OK.into(), Then::Again),
            _ => (says.into(), Then::Close),
        });
        let mut server = server.await;
        let door = open_door();
        ok(&door, server.url("/"), "a").await;
        assert_eq!(ask(&door, server.url("/"), "a", LIMITS).await.unwrap_err(), Failure::Broken);
        assert_eq!(server.connections(), [1, 1], "{says}");
    }
}

#[tokio::test]
async fn the_second_try_has_only_the_time_that_is_left() {
    let server = Server::script(|connection, request| match (connection, request) {
        (1, 1) => (OK.into(), Then::Again),
        (1, _) => ("".into(), Then::Close),
        _ => ("".into(), Then::Hold),
    });
    let mut server = server.await;
    let door = open_door();
    ok(&door, server.url("/"), "a").await;
    assert_eq!(ask(&door, server.url("/"), "a", SHORT).await.unwrap_err(), Failure::Timeout);
    assert_eq!(server.connections(), [1, 1, 2]);
}

#[tokio::test]
async fn what_nobody_uses_any_more_is_closed() {
    for (mut receiver, door) in each_kind().await {
        ok(&door, receiver.url("/"), "a").await;
        receiver.has_open(1).await;
        tokio::time::pause();
        for _ in 0..7 {
            tokio::time::advance(Duration::from_secs(5)).await;
        }
        tokio::time::resume();
        receiver.has_open(0).await;
        ok(&door, receiver.url("/"), "a").await;
        assert_eq!(receiver.connections(), [1, 2]);
        drop(door);
        receiver.has_open(0).await;
    }
}

#[tokio::test]
async fn a_receiver_that_stopped_and_came_back_is_found_again() {
    for (mut receiver, door) in each_kind().await {
        ok(&door, receiver.url("/"), "a").await;
        receiver.hang_up();
        ok(&door, receiver.url("/"), "a").await;
        assert_eq!(receiver.connections(), [1, 2]);
    }
}
