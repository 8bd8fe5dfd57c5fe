//! Time limits and the limit on the body.

use std::time::Duration;

use net::{Failure, HttpRequest, HttpResponse, Limits};

use crate::server::{Server, Then};
use crate::{LIMITS, unguarded_client};

const HEAD: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const SHORT: Duration = Duration::from_millis(200);

/// Sends a request that must end in far less time than the default limits.
async fn ask(url: String, limits: Limits) -> Result<HttpResponse, Failure> {
    let asking = async { unguarded_client().send(HttpRequest::get(url), limits).await };
    tokio::time::timeout(LIMITS.total / 2, asking).await.expect("a result within the limits")
}

#[tokio::test]
async fn a_server_that_does_not_answer_times_out() {
    let limits = Limits { total: SHORT, ..LIMITS };
    let silent = Server::plain("", Then::Hold).await;
    assert_eq!(ask(silent.url("/"), limits).await.unwrap_err(), Failure::Timeout);
    let half = Server::plain("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na", Then::Hold).await;
    assert_eq!(ask(half.url("/"), limits).await.unwrap_err(), Failure::Timeout);
}

#[tokio::test]
async fn a_server_that_sends_slowly_without_end_times_out() {
    let limits = Limits { total: SHORT, ..LIMITS };
    let dripping = Server::plain(HEAD, Then::Drip).await;
    assert_eq!(ask(dripping.url("/"), limits).await.unwrap_err(), Failure::Timeout);
}

#[tokio::test]
async fn the_connect_limit_includes_the_tls_handshake() {
    let silent = Server::plain("", Then::Hold).await;
    let url = format!("https://127.0.0.1:{}/", silent.port);
    let failure = ask(url, Limits { connect: SHORT, ..LIMITS }).await.unwrap_err();
    assert_eq!(failure, Failure::Timeout);
}

#[tokio::test]
async fn the_connect_limit_does_not_apply_to_the_response() {
    let dripping = Server::plain(HEAD, Then::Drip).await;
    let limits = Limits { connect: SHORT, body_max: 30, ..LIMITS };
    assert_eq!(ask(dripping.url("/"), limits).await.unwrap().body.len(), 30);
}

#[tokio::test]
async fn a_body_is_read_up_to_its_limit() {
    let server =
        Server::plain("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345", Then::Close).await;
    for (body_max, kept, truncated) in [(5, "12345", false), (4, "1234", true), (0, "", true)] {
        let reply = ask(server.url("/"), Limits { body_max, ..LIMITS }).await.unwrap();
        assert_eq!((&reply.body[..], reply.truncated), (kept.as_bytes(), truncated));
        assert_eq!(reply.failure(), truncated.then_some(Failure::BodyTooLarge));
    }
}

#[tokio::test]
async fn an_endless_body_is_cut_off_at_the_limit() {
    let endless = Server::plain(HEAD, Then::Drip).await;
    let reply = ask(endless.url("/"), Limits { body_max: 3, ..LIMITS }).await.unwrap();
    assert_eq!((&reply.body[..], reply.truncated), (&b"xxx"[..], true));
}

#[tokio::test]
async fn oversized_headers_are_refused() {
    let padding = "a".repeat(40_000);
    let response = format!("HTTP/1.1 200 OK\r\nX-Padding: {padding}\r\nContent-Length: 0\r\n\r\n");
    let server = Server::plain(response, Then::Close).await;
    assert_eq!(ask(server.url("/"), LIMITS).await.unwrap_err(), Failure::Broken);
}

#[tokio::test]
async fn a_refused_connection_is_a_connect_failure() {
    let port = {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        listener.local_addr().unwrap().port()
    };
    let failure = ask(format!("http://127.0.0.1:{port}/"), LIMITS).await.unwrap_err();
    assert_eq!(failure, Failure::Connect);
}
