//! Slow, silent and greedy clients over real sockets. Time is paused: it jumps to the next deadline whenever every task
//! waits, so that timeouts of minutes take no time.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::routing::{get, post};
use bytes::Bytes;
use futures_util::stream;
use http::StatusCode;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use web::{ServerLimits, serve};

struct TestServer {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    server: JoinHandle<std::io::Result<()>>,
}

async fn start(limits: ServerLimits) -> TestServer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let read = |body: Result<Bytes, _>| async move {
        match body {
            Ok(body) => (StatusCode::OK, body.len().to_string()),
            Err::<_, axum::extract::rejection::BytesRejection>(_) => {
                (StatusCode::BAD_REQUEST, "incomplete".to_owned())
            }
        }
    };
    let endless = || async {
        let part = Bytes::from(vec![b'x'; 64 * 1_024]);
        Body::from_stream(stream::repeat_with(move || Ok::<_, std::io::Error>(part.clone())))
    };
    let broken = || async {
        Body::from_stream(stream::repeat_with(|| -> Result<Bytes, std::io::Error> {
            panic!("while a part of the response is made")
        }))
    };
    let working = || async {
        tokio::time::sleep(Duration::from_secs(600)).await;
        "done"
    };
    let router = Router::new()
        .route("/", get(|| async { "fine" }))
        .route("/read", post(read))
        .route("/refuse", post(|| async { StatusCode::PAYLOAD_TOO_LARGE }))
        .route("/endless", get(endless))
        .route("/broken", get(broken))
        .route("/working", get(working));
    let stopped = async {
        let _ = stopped.await;
    };
    let server = tokio::spawn(serve(listener, router, limits, stopped));
    TestServer { address, stop, server }
}

impl TestServer {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    async fn send(&self, text: &str) -> TcpStream {
        let mut stream = self.connect().await;
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }

    async fn is_answering(&self) -> bool {
        let mut stream = self.connect().await;
        let request = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await.is_ok() && read_all(&mut stream).await.ends_with("fine")
    }
}

/// Reads until the connection ends, cleanly or not.
async fn read_all(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Sends this and then nothing; returns the seconds until the connection ended, and the response.
async fn send_and_wait(server: &TestServer, sent: &str) -> (u64, String) {
    let began = Instant::now();
    let mut stream = server.send(sent).await;
    let answer = read_all(&mut stream).await;
    (began.elapsed().as_secs(), answer)
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_a_complete_request_is_closed_at_its_deadline() {
    let server = start(ServerLimits::default()).await;
    for sent in ["", "PRI * HTTP/2.0\r\n", "P", "GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "] {
        let (seconds, _) = send_and_wait(&server, sent).await;
        assert!((15..=20).contains(&seconds), "{sent:?} lasted {seconds} s");
    }
    let whole_preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let (seconds, _) = send_and_wait(&server, whole_preface).await;
    assert!((15..=20).contains(&seconds), "HTTP/2 without a request lasted {seconds} s");
}

#[tokio::test(start_paused = true)]
async fn a_request_head_that_arrives_slowly_has_the_same_deadline() {
    let server = start(ServerLimits::default()).await;
    let began = Instant::now();
    let mut stream = server.send("GET / HTTP/1.1\r\n").await;
    while stream.write_all(b"X: y\r\n").await.is_ok() {
        assert!(began.elapsed() < Duration::from_secs(60), "still open");
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_arrive_is_answered_with_an_error() {
    let server = start(ServerLimits::default()).await;
    for head in ["Content-Length: 10\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n5\r\nab"] {
        let sent = format!("POST /read HTTP/1.1\r\nHost: a\r\n{head}");
        let (seconds, answer) = send_and_wait(&server, &sent).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        assert!((30..=40).contains(&seconds), "{head:?} lasted {seconds} s");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_loses_its_connection() {
    let server = start(ServerLimits::default()).await;
    let mut stream = server.send("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let mut first = [0; 16];
    stream.read_exact(&mut first).await.unwrap();
    tokio::time::sleep(Duration::from_secs(300)).await;
    // Only the data that was already in socket buffers is left.
    let began = Instant::now();
    let rest = read_all(&mut stream).await.len();
    assert!(rest < 256 << 20 && began.elapsed() < Duration::from_secs(1), "{rest}");
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_kept_for_a_while_and_then_closed() {
    let server = start(ServerLimits::default()).await;
    let mut stream = server.connect().await;
    for _ in 0..3 {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
        let mut answer = vec![0; 512];
        let length = stream.read(&mut answer).await.unwrap();
        assert!(answer[..length].ends_with(b"fine"));
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    let began = Instant::now();
    assert_eq!(read_all(&mut stream).await, "");
    assert!((10..=20).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_request_in_progress_has_no_connection_deadline() {
    let server = start(ServerLimits::new(4)).await;
    let mut slow =
        server.send("GET /working HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    // Other connections do not displace it.
    for _ in 0..100 {
        drop(server.connect().await);
    }
    assert!(read_all(&mut slow).await.ends_with("done"));
}

#[tokio::test]
async fn silent_connections_are_closed_to_make_room_for_a_request() {
    let server = start(ServerLimits::new(64)).await;
    let mut silent = Vec::new();
    for number in 0..400 {
        silent.push(server.connect().await);
        if number % 40 == 0 {
            assert!(server.is_answering().await, "after {number} silent connections");
        }
    }
    let mut open = 0;
    for stream in &mut silent {
        let mut byte = [0];
        let read = tokio::time::timeout(Duration::from_millis(1), stream.read(&mut byte)).await;
        open += usize::from(read.is_err());
    }
    assert!(
        (1..=16).contains(&open),
        "{open} connections of one address are open; the limit is 16"
    );
}

#[tokio::test(start_paused = true)]
async fn requests_with_a_stalled_body_are_closed_to_make_room() {
    let server = start(ServerLimits { per_address: 32, ..ServerLimits::new(32) }).await;
    let request = "POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n";
    let mut stalled = Vec::new();
    for _ in 0..32 {
        stalled.push(server.send(request).await);
    }
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert!(server.is_answering().await);
}

#[tokio::test]
async fn a_client_that_is_refused_while_it_sends_gets_the_response_and_no_reset() {
    let server = start(ServerLimits::default()).await;
    let body = vec![b'x'; 4 << 20];
    for round in 0..50 {
        let mut stream = server.connect().await;
        let head =
            format!("POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).await.unwrap();
        let (mut reading, mut writing) = stream.split();
        let mut answer = String::new();
        let sent = async { writing.write_all(&body).await };
        let (sent, read) = tokio::join!(sent, reading.read_to_string(&mut answer));
        assert!(sent.is_ok() && read.is_ok(), "round {round}: {sent:?} {read:?}");
        assert!(answer.starts_with("HTTP/1.1 413"), "round {round}: {answer}");
    }
}

#[tokio::test]
async fn a_panic_in_a_response_body_ends_only_that_response() {
    let server = start(ServerLimits::default()).await;
    let (_, answer) = send_and_wait(&server, "GET /broken HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert!(!answer.ends_with("0\r\n\r\n"), "the response must not look complete: {answer:?}");
    assert!(server.is_answering().await);
}

#[tokio::test(start_paused = true)]
async fn a_drain_does_not_wait_for_idle_or_silent_connections() {
    let server = start(ServerLimits::default()).await;
    let _silent = server.connect().await;
    let mut idle = server.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    idle.read_exact(&mut [0; 16]).await.unwrap();
    let began = Instant::now();
    server.stop.send(()).unwrap();
    server.server.await.unwrap().unwrap();
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}
