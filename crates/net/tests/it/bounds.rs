//! No wait and no answer is longer than was said.

use std::time::Duration;

use net::{Failure, Limits, Outgoing, Reply};

use crate::server::{Server, Then};
use crate::{LIMITS, open_door};

const HEAD: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const SHORT: Duration = Duration::from_millis(200);

/// Within far less than the limits that must not matter.
async fn ask(url: String, limits: Limits) -> Result<Reply, Failure> {
    let asking = async { open_door().send(Outgoing::get(url), limits).await };
    tokio::time::timeout(LIMITS.whole / 2, asking).await.expect("an answer within the limits")
}

#[tokio::test]
async fn a_server_that_stays_silent_is_left() {
    let limits = Limits { whole: SHORT, ..LIMITS };
    let silent = Server::plain("", Then::Hold).await;
    assert_eq!(ask(silent.url("/"), limits).await.unwrap_err(), Failure::Timeout);
    let half = Server::plain("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na", Then::Hold).await;
    assert_eq!(ask(half.url("/"), limits).await.unwrap_err(), Failure::Timeout);
}

#[tokio::test]
async fn a_server_that_drips_is_left_although_it_never_pauses_long() {
    let limits = Limits { whole: SHORT, ..LIMITS };
    let dripping = Server::plain(HEAD, Then::Drip).await;
    assert_eq!(ask(dripping.url("/"), limits).await.unwrap_err(), Failure::Timeout);
}

#[tokio::test]
async fn agreeing_on_tls_counts_as_connecting() {
    let silent = Server::plain("", Then::Hold).await;
    let url = format!("https://127.0.0.1:{}/", silent.port);
    let failure = ask(url, Limits { connect: SHORT, ..LIMITS }).await.unwrap_err();
    assert_eq!(failure, Failure::Timeout);
}

#[tokio::test]
async fn a_slow_answer_is_no_slow_connection() {
    let dripping = Server::plain(HEAD, Then::Drip).await;
    let limits = Limits { connect: SHORT, body_max: 30, ..LIMITS };
    assert_eq!(ask(dripping.url("/"), limits).await.unwrap().body.len(), 30);
}

#[tokio::test]
async fn a_body_is_read_up_to_its_bound() {
    let server =
        Server::plain("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345", Then::Close).await;
    for (body_max, kept, truncated) in [(5, "12345", false), (4, "1234", true), (0, "", true)] {
        let reply = ask(server.url("/"), Limits { body_max, ..LIMITS }).await.unwrap();
        assert_eq!((&reply.body[..], reply.truncated), (kept.as_bytes(), truncated));
        assert_eq!(reply.flaw(), truncated.then_some(Failure::BodyTooLarge));
    }
}

#[tokio::test]
async fn a_body_without_end_is_cut_as_soon_as_the_bound_is_met() {
    let endless = Server::plain(HEAD, Then::Drip).await;
    let reply = ask(endless.url("/"), Limits { body_max: 3, ..LIMITS }).await.unwrap();
    assert_eq!((&reply.body[..], reply.truncated), (&b"xxx"[..], true));
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let padding = "a".repeat(40_000);
    let says = format!("HTTP/1.1 200 OK\r\nX-Padding: {padding}\r\nContent-Length: 0\r\n\r\n");
    let server = Server::plain(says, Then::Close).await;
    assert_eq!(ask(server.url("/"), LIMITS).await.unwrap_err(), Failure::Broken);
}

#[tokio::test]
async fn where_nobody_listens_no_connection_is_made() {
    let port = {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        listener.local_addr().unwrap().port()
    };
    let failure = ask(format!("http://127.0.0.1:{port}/"), LIMITS).await.unwrap_err();
    assert_eq!(failure, Failure::Connect);
}
