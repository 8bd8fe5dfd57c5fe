//! Requests as the server receives them, responses as the client returns them, and their debug output.

use net::{Failure, HttpRequest, HttpResponse};

use crate::server::{Server, Then};
use crate::{LIMITS, unguarded_client};

async fn answer(response: &str) -> Result<HttpResponse, Failure> {
    let server = Server::plain(response, Then::Close).await;
    unguarded_client().send(HttpRequest::get(server.url("/")), LIMITS).await
}

#[tokio::test]
async fn a_request_arrives_as_it_was_built() {
    let mut server = Server::plain("HTTP/1.1 204 No Content\r\n\r\n", Then::Close).await;
    let request = HttpRequest::post(server.url("/in?a=b%20c#d"), "{\"e\":1}")
        .header("Content-Type", "application/json")
        .header("webhook-id", "evt_1");
    let reply = unguarded_client().send(request, LIMITS).await.unwrap();
    assert_eq!((reply.status, reply.body.len(), reply.truncated), (204, 0, false));
    let received = server.requests.recv().await.unwrap();
    let (head, body) = received.split_once("\r\n\r\n").unwrap();
    let mut lines = head.split("\r\n");
    assert_eq!(lines.next(), Some("POST /in?a=b%20c HTTP/1.1"));
    let mut lines: Vec<&str> = lines.collect();
    lines.sort_unstable();
    let host = format!("host: 127.0.0.1:{}", server.port);
    let agent = format!("user-agent: Evenkeel/{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        lines,
        [
            "accept-encoding: identity",
            "connection: close",
            "content-length: 7",
            "content-type: application/json",
            &host,
            &agent,
            "webhook-id: evt_1",
        ]
    );
    assert_eq!(body, "{\"e\":1}");
}

#[tokio::test]
async fn a_response_is_returned_with_any_status() {
    let reply =
        answer("HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nwait").await;
    let reply = reply.unwrap();
    assert_eq!((reply.status, &reply.body[..]), (503, &b"wait"[..]));
    assert_eq!((reply.header("retry-after"), reply.header("x-other")), (Some("7"), None));
    assert_eq!(reply.failure(), None);

    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                   3\r\none\r\n4\r\n two\r\n0\r\nX-Trailer: t\r\n\r\n";
    assert_eq!(&answer(chunked).await.unwrap().body[..], b"one two");
    let to_the_end = "HTTP/1.1 200 OK\r\n\r\nall of it";
    assert_eq!(&answer(to_the_end).await.unwrap().body[..], b"all of it");
}

#[tokio::test]
async fn a_redirect_is_returned_and_not_followed() {
    let mut elsewhere = Server::plain("HTTP/1.1 200 OK\r\n\r\n", Then::Close).await;
    for status in [301, 302, 303, 307, 308] {
        let location = elsewhere.url("/secret");
        let response =
            format!("HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
        let reply = answer(&response).await.unwrap();
        assert_eq!((reply.status, reply.header("location")), (status, Some(location.as_str())));
        assert_eq!(reply.failure(), Some(Failure::Redirect));
    }
    assert!(elsewhere.requests.try_recv().is_err());
}

#[tokio::test]
async fn an_incomplete_response_is_a_failure() {
    for response in [
        "",
        "HTTP/1.1 200 OK\r\nContent-Le",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive5",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfi",
        "SSH-2.0-OpenSSH_9.9\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    ] {
        assert_eq!(answer(response).await.unwrap_err(), Failure::Broken, "{response}");
    }
}

#[tokio::test]
async fn a_header_value_cannot_inject_another_header() {
    let mut server = Server::plain("HTTP/1.1 200 OK\r\n\r\n", Then::Close).await;
    for (name, value) in [("x-key", "a\r\nx-other: b"), ("x-key", "a\0"), ("x key", "a"), ("", "a")]
    {
        let request = HttpRequest::get(server.url("/")).header(name, value);
        assert_eq!(unguarded_client().send(request, LIMITS).await.unwrap_err(), Failure::BadHeader);
    }
    assert!(server.requests.try_recv().is_err());
}

#[tokio::test]
async fn debug_output_contains_no_secrets() {
    let request = HttpRequest::post("https://user-part.example:8443/SECRET?key=SECRET", "SECRET")
        .header("authorization", "SECRET");
    let shown = format!("{request:?}");
    assert!(!shown.contains("SECRET"), "{shown}");
    for part in ["POST", "https://user-part.example:8443", "authorization", "6"] {
        assert!(shown.contains(part), "{shown}");
    }
    let misleading = format!("{:?}", HttpRequest::get("https://user:SECRET@example.com/"));
    assert!(!misleading.contains("SECRET"), "{misleading}");

    let reply =
        answer("HTTP/1.1 200 OK\r\nSet-Cookie: SECRET\r\nContent-Length: 6\r\n\r\nSECRET").await;
    let shown = format!("{:?}", reply.unwrap());
    assert!(!shown.contains("SECRET") && shown.contains("set-cookie"), "{shown}");
}

#[test]
fn each_failure_has_its_code_and_a_sentence() {
    for (failure, code) in [
        (Failure::Timeout, "timeout"),
        (Failure::Dns, "dns"),
        (Failure::Connect, "connect"),
        (Failure::Broken, "connect"),
        (Failure::BadHeader, "connect"),
        (Failure::Tls, "tls"),
        (Failure::BlockedAddress, "blocked_address"),
        (Failure::BadUrl, "blocked_address"),
        (Failure::NotHttps, "blocked_address"),
        (Failure::Redirect, "redirect"),
        (Failure::BodyTooLarge, "body_too_large"),
    ] {
        assert_eq!(failure.code(), code);
        assert!(failure.to_string().contains(' '));
    }
}
