//! Reuse of connections, and when they are not reused.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use http::Version;
use net::{Failure, Guard, HttpClient, HttpRequest, HttpResponse, Limits, Policy};
use tokio::net::TcpListener;
use tokio::sync::{Barrier, mpsc};
use tokio_rustls::TlsAcceptor;

use crate::receiver::{Receiver, STREAMS_MAX, serve};
use crate::server::{Authority, Server, Then};
use crate::{LIMITS, unguarded_client};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const SHORT: Limits = Limits { total: Duration::from_millis(200), ..LIMITS };

async fn ask(
    client: &HttpClient,
    url: String,
    scope: &str,
    limits: Limits,
) -> Result<HttpResponse, Failure> {
    client.send(HttpRequest::post(url, "{}").pooled(scope), limits).await
}

async fn ok(client: &HttpClient, url: String, scope: &str) {
    let reply = ask(client, url, scope, LIMITS).await.unwrap();
    assert_eq!((reply.status, &reply.body[..]), (200, &b"ok"[..]));
}

/// A server for each protocol: HTTP/1.1 without TLS, HTTP/1.1 with TLS, and HTTP/2.
async fn each_protocol() -> [(Receiver, HttpClient); 3] {
    let plain = (Receiver::plain().await, unguarded_client());
    [plain, Receiver::secure(&["http/1.1"]).await, Receiver::secure(&["h2", "http/1.1"]).await]
}

#[tokio::test]
async fn sequential_requests_share_one_connection() {
    for (mut receiver, client) in each_protocol().await {
        for _ in 0..5 {
            ok(&client.clone(), receiver.url("/"), "a").await;
        }
        assert_eq!(receiver.connections(), [1; 5]);
    }
}

#[tokio::test]
async fn scopes_do_not_share_connections_and_unpooled_requests_open_new_ones() {
    for (mut receiver, client) in each_protocol().await {
        for scope in ["a", "b", "a", "b"] {
            ok(&client, receiver.url("/"), scope).await;
        }
        assert_eq!(receiver.connections(), [1, 2, 1, 2]);
        for _ in 0..2 {
            client.send(HttpRequest::get(receiver.url("/")), LIMITS).await.unwrap();
        }
        assert_eq!(receiver.connections(), [3, 4]);
        receiver.wait_until_open(2).await;
    }
}

#[tokio::test]
async fn another_origin_in_the_same_scope_has_its_own_connection() {
    let client = unguarded_client();
    let (mut one, mut other) = (Receiver::plain().await, Receiver::plain().await);
    for receiver in [&one, &other, &one, &other] {
        ok(&client, receiver.url("/"), "a").await;
    }
    assert_eq!((one.connections(), other.connections()), (vec![1, 1], vec![1, 1]));
}

#[tokio::test]
async fn concurrent_http_2_requests_of_a_scope_share_one_connection() {
    let (mut receiver, client) = Receiver::secure(&["h2", "http/1.1"]).await;
    // Each is answered only when others are in flight at the same time.
    let requests = (0..6 * STREAMS_MAX).map(|_| ok(&client, receiver.url("/together"), "a"));
    join_all(requests).await;
    let request = receiver.requests.recv().await.unwrap();
    assert_eq!((request.version, request.connection), (Version::HTTP_2, 1));
    assert_eq!(request.authority, Some(format!("127.0.0.1:{}", receiver.port)));
    assert_eq!(&request.body[..], b"{}");
    assert!(!request.headers.contains_key("host") && !request.headers.contains_key("connection"));
    assert_eq!(request.headers["content-length"], "2");
    assert_eq!(request.headers["accept-encoding"], "identity");
    assert_eq!(receiver.connections(), [1; 47]);
}

#[tokio::test]
async fn concurrent_http_1_requests_use_one_connection_each_and_keep_them() {
    let (mut receiver, client) = Receiver::secure(&["http/1.1"]).await;
    for _ in 0..2 {
        join_all((0..6).map(|_| ok(&client, receiver.url("/slow"), "a"))).await;
    }
    let request = receiver.requests.recv().await.unwrap();
    assert_eq!(request.version, Version::HTTP_11);
    assert_eq!(request.headers["host"], format!("127.0.0.1:{}", receiver.port));
    assert!(!request.headers.contains_key("connection"));
    let mut used = receiver.connections();
    used.sort_unstable();
    assert_eq!(used.last(), Some(&6));
}

#[tokio::test]
async fn connections_to_a_known_http_1_server_are_opened_concurrently() {
    let authority = Authority::new();
    let tls = TlsAcceptor::from(authority.certify("127.0.0.1"));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("https://{}/slow", listener.local_addr().unwrap());
    // After the first, no connection is accepted before three are waiting.
    let three = Arc::new(Barrier::new(3));
    let (sender, _requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        for connection in 1.. {
            let (stream, _) = listener.accept().await.unwrap();
            let (tls, sender, three) = (tls.clone(), sender.clone(), three.clone());
            tokio::spawn(async move {
                if connection > 1 {
                    three.wait().await;
                }
                serve(tls.accept(stream).await.unwrap(), connection, sender).await;
            });
        }
    });
    let policy = Policy { guard: Guard::Any, extra_ca: Some(authority.pem.into_bytes()) };
    let client = HttpClient::new(policy).unwrap();
    ok(&client, url.clone(), "a").await;
    join_all((0..4).map(|_| ok(&client, url.clone(), "a"))).await;
}

#[tokio::test]
async fn a_response_with_connection_close_is_followed_by_a_new_connection() {
    for (receiver, client) in &mut each_protocol().await[..2] {
        ok(client, receiver.url("/"), "a").await;
        assert_eq!(
            &ask(client, receiver.url("/last"), "a", LIMITS).await.unwrap().body[..],
            b"bye"
        );
        ok(client, receiver.url("/"), "a").await;
        assert_eq!(receiver.connections(), [1, 1, 2]);
    }
}

#[tokio::test]
async fn a_response_over_the_body_limit_closes_the_connection() {
    for (mut receiver, client) in each_protocol().await {
        let long = ask(&client, receiver.url("/long"), "a", LIMITS).await.unwrap();
        assert_eq!((long.body.len(), long.truncated), (LIMITS.body_max, true));
        ok(&client, receiver.url("/"), "a").await;
        assert_eq!(receiver.connections(), [1, 2]);
        receiver.wait_until_open(1).await;
    }
}

#[tokio::test]
async fn a_truncated_response_closes_the_connection_even_if_it_arrived_completely() {
    for (mut receiver, client) in each_protocol().await {
        let limits = Limits { body_max: 1, ..LIMITS };
        assert!(ask(&client, receiver.url("/"), "a", limits).await.unwrap().truncated);
        ok(&client, receiver.url("/"), "a").await;
        assert_eq!(receiver.connections(), [1, 2]);
    }
}

#[tokio::test]
async fn sequential_large_responses_stay_within_the_read_budget() {
    for (mut receiver, client) in each_protocol().await {
        for _ in 0..20 {
            let reply = ask(&client, receiver.url("/large"), "a", LIMITS).await.unwrap();
            assert_eq!((reply.body.len(), reply.truncated), (60_000, false));
        }
        assert_eq!(receiver.connections(), [1; 20]);
        let at_once = (0..40).map(|_| ask(&client, receiver.url("/large"), "a", LIMITS));
        assert!(join_all(at_once).await.iter().all(|it| it.is_ok()));
        let head = ask(&client, receiver.url("/head"), "a", LIMITS).await.unwrap();
        assert_eq!(head.header("x-long").map(str::len), Some(30_000));
    }
}

#[tokio::test]
async fn a_request_that_times_out_retires_the_connection_but_not_other_requests() {
    for (mut receiver, client) in each_protocol().await {
        ok(&client, receiver.url("/"), "a").await;
        let others = join_all((0..3).map(|_| ok(&client, receiver.url("/slow"), "a")));
        let brief = Limits { total: Duration::from_millis(50), ..LIMITS };
        let never = ask(&client, receiver.url("/never"), "a", brief);
        let (_, never) = tokio::join!(others, never);
        assert_eq!(never.unwrap_err(), Failure::Timeout);
        let before = *receiver.connections().iter().max().unwrap();
        ok(&client, receiver.url("/"), "a").await;
        let after = receiver.connections();
        assert!(before < 5 && after.len() == 1, "{before} {after:?}");
    }
}

#[tokio::test]
async fn an_http_2_server_that_never_answered_gets_a_new_connection() {
    let (mut receiver, client) = Receiver::secure(&["h2"]).await;
    let never = ask(&client, receiver.url("/never"), "a", SHORT).await;
    assert_eq!(never.unwrap_err(), Failure::Timeout);
    ok(&client, receiver.url("/"), "a").await;
    assert_eq!(receiver.connections(), [1, 2]);
    receiver.wait_until_open(1).await;
}

#[tokio::test]
async fn a_request_lost_with_a_reused_connection_is_sent_once_more() {
    let server = Server::script(|connection, request| match (connection, request) {
        (1, 2) => ("".into(), Then::Close),
        _ => (OK.into(), Then::Again),
    });
    let mut server = server.await;
    let client = unguarded_client();
    for _ in 0..3 {
        ok(&client, server.url("/"), "a").await;
    }
    assert_eq!(server.connections(), [1, 1, 2, 2]);
}

#[tokio::test]
async fn a_request_lost_with_a_new_connection_is_not_sent_again() {
    let server = Server::script(|connection, request| match (connection, request) {
        (1, 1) => (OK.into(), Then::Again),
        _ => ("".into(), Then::Close),
    });
    let mut server = server.await;
    let client = unguarded_client();
    ok(&client, server.url("/"), "a").await;
    assert_eq!(ask(&client, server.url("/"), "a", LIMITS).await.unwrap_err(), Failure::Broken);
    assert_eq!(server.connections(), [1, 1, 2]);
    assert_eq!(ask(&client, server.url("/"), "a", LIMITS).await.unwrap_err(), Failure::Broken);
    assert_eq!(server.connections(), [3]);
}

#[tokio::test]
async fn a_retry_uses_a_new_connection_and_not_another_reused_one() {
    let server = Server::script(|connection, request| match (connection, request) {
        (1 | 2, 2) => ("".into(), Then::Close),
        _ => (OK.into(), Then::Again),
    });
    let mut server = server.await;
    let client = unguarded_client();
    join_all((0..2).map(|_| ok(&client, server.url("/"), "a"))).await;
    assert_eq!(server.connections().len(), 2);
    ok(&client, server.url("/"), "a").await;
    let used = server.connections();
    assert!(used[0] < 3 && used[1..] == [3], "{used:?}");
}

#[tokio::test]
async fn a_request_lost_after_the_first_byte_of_a_response_is_not_sent_again() {
    for response in ["H", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok", "nonsense\r\n\r\n"] {
        let server = Server::script(move |_, request| match request {
            1 => (OK.into(), Then::Again),
            _ => (response.into(), Then::Close),
        });
        let mut server = server.await;
        let client = unguarded_client();
        ok(&client, server.url("/"), "a").await;
        assert_eq!(ask(&client, server.url("/"), "a", LIMITS).await.unwrap_err(), Failure::Broken);
        assert_eq!(server.connections(), [1, 1], "{response}");
    }
}

#[tokio::test]
async fn a_retry_has_only_the_remaining_time() {
    let server = Server::script(|connection, request| match (connection, request) {
        (1, 1) => (OK.into(), Then::Again),
        (1, _) => ("".into(), Then::Close),
        _ => ("".into(), Then::Hold),
    });
    let mut server = server.await;
    let client = unguarded_client();
    ok(&client, server.url("/"), "a").await;
    assert_eq!(ask(&client, server.url("/"), "a", SHORT).await.unwrap_err(), Failure::Timeout);
    assert_eq!(server.connections(), [1, 1, 2]);
}

#[tokio::test]
async fn idle_connections_are_closed() {
    for (mut receiver, client) in each_protocol().await {
        ok(&client, receiver.url("/"), "a").await;
        receiver.wait_until_open(1).await;
        tokio::time::pause();
        for _ in 0..7 {
            tokio::time::advance(Duration::from_secs(5)).await;
        }
        tokio::time::resume();
        receiver.wait_until_open(0).await;
        ok(&client, receiver.url("/"), "a").await;
        assert_eq!(receiver.connections(), [1, 2]);
        drop(client);
        receiver.wait_until_open(0).await;
    }
}

#[tokio::test]
async fn a_server_that_restarted_is_reached_again() {
    for (mut receiver, client) in each_protocol().await {
        ok(&client, receiver.url("/"), "a").await;
        receiver.hang_up();
        ok(&client, receiver.url("/"), "a").await;
        assert_eq!(receiver.connections(), [1, 2]);
    }
}
