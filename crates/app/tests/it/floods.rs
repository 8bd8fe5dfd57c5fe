//! The built server under thousands of connections, with large bodies, while it stops, and with a full disk.

use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::{Installation, Running, launch, read_answer, wait_until};

const SOCKETS: usize = 10_000;
/// The limit on open connections that these tests configure.
const CONNECTIONS: usize = 1_000;

fn start(it: &Installation) -> Running {
    let mut command = it.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("EVENKEEL_SERVER__CONNECTIONS", CONNECTIONS.to_string());
    command.env("EVENKEEL_SERVER__CONNECTIONS_PER_ADDRESS", CONNECTIONS.to_string());
    let mut server = launch(command, &it.path(""));
    server.wait_until_ready();
    server
}

fn open_files(server: &Running) -> usize {
    fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap().count()
}

/// Sockets that the test opens: as many as the process may, up to `SOCKETS`.
fn sockets() -> usize {
    let limits = fs::read_to_string("/proc/self/limits").unwrap();
    let line = limits.lines().find(|it| it.starts_with("Max open files")).unwrap();
    let soft = line.split_whitespace().nth(3).and_then(|it| it.parse().ok()).unwrap_or(SOCKETS);
    assert!(soft > CONNECTIONS + 500, "{soft} open files are too few for this test");
    SOCKETS.min(soft - 300)
}

/// Opens connections from several threads that each send `sent` and nothing more, and checks `/healthz` in between.
fn flood(server: &Running, count: usize, sent: &[u8]) -> Vec<TcpStream> {
    const THREADS: usize = 8;
    let open = || {
        let mut streams = Vec::new();
        for number in 0..count / THREADS {
            let mut stream = server.connect();
            // The server may have closed it already, to make room.
            let _ = stream.write_all(sent);
            streams.push(stream);
            if number % 400 == 0 {
                assert_eq!(server.get("/healthz", None).0, 200, "after {number} connections");
            }
        }
        streams
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(open)).collect();
        threads.into_iter().flat_map(|it| it.join().unwrap()).collect()
    })
}

#[tokio::test]
async fn ten_thousand_silent_connections_do_not_block_other_clients() {
    let it = Installation::new().await;
    let server = start(&it);
    let before = open_files(&server);
    let preface = b"PRI * HTTP/2.0\r\n".as_slice();
    let body = b"POST /sign-in HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n".as_slice();
    for (count, sent) in [(sockets(), b"".as_slice()), (CONNECTIONS + 500, preface)] {
        let streams = flood(&server, count, sent);
        // The server closes a connection to make room shortly after it has accepted another one.
        wait_until("no more files are open than the limit allows", || {
            open_files(&server) <= before + CONNECTIONS + 200
        });
        assert_eq!(server.get("/healthz", None).0, 200);
        assert_eq!(server.get("/readyz", None).0, 200);
        drop(streams);
    }
    // Requests whose body never arrives are in flight; after stalling for some seconds, they are closed to make room
    // too.
    let stalled = stall(&server, body);
    wait_until("it answers while every connection waits for a body", || {
        answers(&server, "/healthz")
    });
    drop(stalled);
    server.stop();
}

/// Occupies every connection with a request that is never finished.
fn stall(server: &Running, sent: &[u8]) -> Vec<TcpStream> {
    let open = |_| {
        let mut stream = server.connect();
        let _ = stream.write_all(sent);
        stream
    };
    (0..CONNECTIONS).map(open).collect()
}

/// Whether a request is answered with 200. A server at its connection limit refuses the connection.
fn answers(server: &Running, path: &str) -> bool {
    let mut stream = server.connect();
    let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    let mut answer = String::new();
    stream.write_all(request.as_bytes()).is_ok()
        && stream.read_to_string(&mut answer).is_ok()
        && answer.starts_with("HTTP/1.1 200")
}

#[tokio::test]
async fn a_silent_connection_is_closed_within_a_minute() {
    let it = Installation::new().await;
    let server = start(&it);
    let mut silent = server.connect();
    silent.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let ended = silent.read(&mut [0; 1]);
    let timed_out =
        |it: &std::io::Error| matches!(it.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
    assert!(!ended.as_ref().is_err_and(timed_out), "the connection is still open after a minute");
    server.stop();
}

#[tokio::test]
async fn a_body_that_is_too_large_is_always_answered_with_413() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let secret = it.run(&["key", "create", "--name", "Laptop"]).succeeded();
    let key = secret.lines().next().unwrap().to_owned();
    let mut command = it.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("EVENKEEL_RATE_LIMIT__REQUESTS", "1000");
    let mut server = launch(command, &it.path(""));
    server.wait_until_ready();
    let body = vec![b' '; 3 << 20];
    for round in 0..60 {
        let mut stream = server.connect();
        let head = format!(
            "POST /v1/actions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let sent = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        assert!(sent.is_ok(), "round {round}: {sent:?}");
        assert_eq!(read_answer(&mut stream).0, 413, "round {round}");
    }
    server.stop();
}

#[tokio::test]
async fn a_stopping_server_answers_requests_that_wait() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let secret = it.run(&["key", "create", "--name", "Laptop"]).succeeded();
    let key = secret.lines().next().unwrap();
    let mut server = it.start(&["serve"]);
    let proposal = r#"{"action_type": "custom", "payload": {"title": "Cancel the gym"}}"#;
    let mut stream = server.connect();
    let request = format!(
        "POST /v1/actions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{proposal}",
        proposal.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let (status, made) = read_answer(&mut stream);
    assert!(status == 200 || status == 201 || status == 202, "{status} {made}");
    let thread = made["data"]["thread_id"].as_str().unwrap();
    let mut waiting = server.connect();
    let request = format!(
        "GET /v1/approvals/{thread}?wait=30 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\n\
         Connection: close\r\n\r\n"
    );
    waiting.write_all(request.as_bytes()).unwrap();
    // Connections are accepted in order, so once this one is answered, the other one has been accepted.
    assert_eq!(server.get("/healthz", None).0, 200);
    let began = Instant::now();
    server.signal("TERM");
    let (status, followed): (u16, Value) = read_answer(&mut waiting);
    assert_eq!((status, &followed["data"]["status"]), (200, &"pending_approval".into()));
    assert_eq!(server.wait().code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

#[tokio::test]
async fn with_a_full_disk_the_server_is_alive_but_not_ready() {
    let it = Installation::new().await;
    if it.is_on_postgres() {
        return;
    }
    let mut command = it.command(&["serve", "--listen", "127.0.0.1:0"]);
    // No disk has this much free space, so the server considers its disk full.
    command.env("EVENKEEL_DATABASE__FREE_MIB_MIN", "1000000000");
    let mut server = launch(command, &it.path(""));
    server.wait_until_ready();
    let mut stream = server.connect();
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains("the disk with the data is full"), "{answer}");
    assert_eq!(server.get("/healthz", None).0, 200);
    server.stop();
}
