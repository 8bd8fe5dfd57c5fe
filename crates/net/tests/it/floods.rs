//! Servers that misbehave on purpose: they answer too early, too late, too much, or without end. Each exchange ends
//! within its limits, and the next request uses a new connection.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use net::{Failure, Guard, HttpClient, HttpRequest, HttpResponse, Limits, Policy};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

use crate::server::{Authority, Server, Then};
use crate::{LIMITS, unguarded_client};

const SHORT: Limits = Limits { total: Duration::from_millis(300), ..LIMITS };

/// Sends once unpooled and once pooled; both must have the same result.
async fn ask(
    client: &HttpClient,
    url: &str,
    body: Vec<u8>,
    limits: Limits,
) -> Result<HttpResponse, Failure> {
    let unpooled = client.send(HttpRequest::post(url, body.clone()), limits).await;
    let pooled = client.send(HttpRequest::post(url, body).pooled("a"), limits).await;
    let status =
        |it: &Result<HttpResponse, Failure>| it.as_ref().map(|it| it.status).map_err(|it| *it);
    assert_eq!(status(&unpooled), status(&pooled));
    pooled
}

/// Reads some bytes.
async fn read_some(stream: &mut (impl AsyncRead + Unpin)) -> Option<()> {
    stream.read(&mut [0; 100]).await.ok().map(drop)
}

async fn write(stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> Option<()> {
    stream.write_all(bytes).await.ok()?;
    stream.flush().await.ok()
}

/// Starts a server that handles every connection with `serve`, and returns its URL.
async fn serve_each<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> String
where
    F: Future<Output = Option<()>> + Send + 'static,
{
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        }
    });
    url
}

#[tokio::test]
async fn a_flood_ends_long_before_the_timeout() {
    let client = unguarded_client();
    let padding = "a".repeat(1_000);
    for response in [
        "HTTP/1.1 100 Continue\r\n\r\n".to_owned(),
        format!("HTTP/1.1 103 Early Hints\r\nLink: {padding}\r\n\r\n"),
        format!("HTTP/1.1 200 OK\r\nX-Padding: {padding}\r\nX-More: "),
        "HTTP/1.1 200 OK\r\n".to_owned() + &"a: b\r\n".repeat(200),
        "\r\n\r\n".to_owned(),
        "\0".repeat(1_000),
        padding,
    ] {
        let server = Server::plain(response.clone(), Then::Flood).await;
        let began = Instant::now();
        let failure = ask(&client, &server.url("/"), Vec::new(), LIMITS).await.unwrap_err();
        assert_eq!(failure, Failure::Broken, "{response:?}");
        assert!(began.elapsed() < LIMITS.total / 2, "{response:?}");
    }
}

#[tokio::test]
async fn an_endless_body_is_read_only_up_to_the_limit() {
    let client = unguarded_client();
    for head in [
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n",
        "HTTP/1.1 500 Oops\r\nContent-Length: 9223372036854775807\r\n\r\n",
    ] {
        let sent = Arc::<AtomicU64>::default();
        let count = sent.clone();
        let url = serve_each(move |mut stream| {
            let count = count.clone();
            async move {
                read_some(&mut stream).await?;
                stream.write_all(head.as_bytes()).await.ok()?;
                loop {
                    stream.write_all(&[b'x'; 4096]).await.ok()?;
                    count.fetch_add(4096, SeqCst);
                }
            }
        });
        let reply = ask(&client, &url.await, Vec::new(), LIMITS).await.unwrap();
        assert_eq!((reply.body.len(), reply.truncated), (LIMITS.body_max, true));
        // The system's socket buffers hold a few unread megabytes.
        assert!(sent.load(SeqCst) < 2 * 16 * 1024 * 1024, "{}", sent.load(SeqCst));
    }
}

#[tokio::test]
async fn chunks_with_excessive_framing_are_refused() {
    let client = unguarded_client();
    let long = format!("1;{}\r\nx\r\n", "e".repeat(10_000));
    for (head, chunk) in [
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", long.as_str()),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "0000000000000000000"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X-Trailer: x\r\n"),
    ] {
        let chunk = chunk.to_owned();
        let url = serve_each(move |mut stream| {
            let chunk = chunk.clone();
            async move {
                read_some(&mut stream).await?;
                stream.write_all(head.as_bytes()).await.ok()?;
                loop {
                    stream.write_all(chunk.as_bytes()).await.ok()?;
                }
            }
        });
        let failure = ask(&client, &url.await, Vec::new(), LIMITS).await.unwrap_err();
        assert_eq!(failure, Failure::Broken, "{head}");
    }
}

#[tokio::test]
async fn responses_sent_byte_by_byte_still_time_out() {
    let client = unguarded_client();
    for response in [
        "HTTP/1.1 200 OK\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ] {
        let url = serve_each(move |mut stream| async move {
            read_some(&mut stream).await?;
            stream.set_nodelay(true).ok()?;
            for byte in response.bytes() {
                stream.write_all(&[byte]).await.ok()?;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            std::future::pending().await
        });
        assert_eq!(
            ask(&client, &url.await, Vec::new(), SHORT).await.unwrap_err(),
            Failure::Timeout
        );
    }
}

#[tokio::test]
async fn a_server_that_closes_early_breaks_the_request_at_every_position() {
    let client = unguarded_client();
    let response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    for stage in 0..response.len() {
        let url = serve_each(move |mut stream| async move {
            read_some(&mut stream).await?;
            stream.write_all(&response.as_bytes()[..stage]).await.ok()
        });
        let failure = ask(&client, &url.await, Vec::new(), LIMITS).await.unwrap_err();
        assert_eq!(failure, Failure::Broken, "{stage}");
    }
    // The server closes before it reads anything, with and without an unsent request body.
    for body in [0, 4_000_000] {
        let url = serve_each(|stream| async {
            drop(stream);
            None
        });
        assert_eq!(
            ask(&client, &url.await, vec![0; body], LIMITS).await.unwrap_err(),
            Failure::Broken
        );
    }
}

#[tokio::test]
async fn a_server_that_closes_during_the_handshake_is_a_tls_failure() {
    let client = unguarded_client();
    for response in ["", "\x16\x03\x03\x40\x00", "HTTP/1.1 400 Bad Request\r\n\r\n"] {
        let url = serve_each(move |mut stream| async move {
            read_some(&mut stream).await?;
            stream.write_all(response.as_bytes()).await.ok()
        });
        let url = url.await.replace("http:", "https:");
        assert_eq!(
            ask(&client, &url, Vec::new(), LIMITS).await.unwrap_err(),
            Failure::Tls,
            "{response:?}"
        );
    }
}

#[tokio::test]
async fn a_response_counts_even_if_the_request_body_was_not_read() {
    let client = unguarded_client();
    let url = serve_each(|mut stream| async move {
        read_some(&mut stream).await?;
        let response = b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno!";
        stream.write_all(response).await.ok()?;
        std::future::pending().await
    });
    let url = url.await;
    let reply = ask(&client, &url, vec![0; 16_000_000], LIMITS).await.unwrap();
    assert_eq!((reply.status, &reply.body[..]), (413, &b"no!"[..]));
}

#[tokio::test]
async fn a_server_that_reads_nothing_times_out() {
    let client = unguarded_client();
    let url = serve_each(|stream| async move {
        let _stream = stream;
        std::future::pending().await
    });
    let url = url.await;
    assert_eq!(ask(&client, &url, vec![0; 16_000_000], SHORT).await.unwrap_err(), Failure::Timeout);
}

#[tokio::test]
async fn a_redirect_to_a_metadata_address_is_returned_and_not_followed() {
    let response = "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest/meta-data/\r\n\
                Alt-Svc: h2=\"169.254.169.254:80\"\r\nContent-Length: 0\r\n\r\n";
    let server = Server::script(move |_, _| (response.into(), Then::Again));
    let mut server = server.await;
    let client = unguarded_client();
    for _ in 0..3 {
        let reply =
            client.send(HttpRequest::get(server.url("/")).pooled("a"), LIMITS).await.unwrap();
        assert_eq!((reply.status, reply.failure()), (302, Some(Failure::Redirect)));
    }
    assert_eq!(server.connections(), [1, 1, 1]);
}

#[tokio::test]
async fn an_early_response_does_not_answer_the_next_request() {
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
    let server = Server::script(move |connection, _| match connection {
        1 => (format!("{ok}ok{ok}no").into(), Then::Again),
        _ => (format!("{ok}ok").into(), Then::Again),
    });
    let mut server = server.await;
    let client = unguarded_client();
    for _ in 0..2 {
        let reply =
            client.send(HttpRequest::get(server.url("/")).pooled("a"), LIMITS).await.unwrap();
        assert_eq!(&reply.body[..], b"ok");
    }
    assert_eq!(server.connections(), [1, 2]);
}

/// An HTTP/2 frame.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// `:status: 200` and `:status: 103`, HPACK-encoded.
const STATUS_200: &[u8] = &[0x88];
const STATUS_103: &[u8] = &[0x08, 3, b'1', b'0', b'3'];

/// A TLS acceptor for 127.0.0.1 that offers only HTTP/2.
fn http2_acceptor() -> (Authority, TlsAcceptor) {
    let authority = Authority::new();
    let mut tls = ServerConfig::clone(&authority.certify("127.0.0.1"));
    tls.alpn_protocols = vec![b"h2".to_vec()];
    (authority, TlsAcceptor::from(Arc::new(tls)))
}

/// Sends a request to an HTTP/2 server that answers with `first` and then repeats `repeated` without end.
async fn ask_flooding(first: Vec<u8>, repeated: Vec<u8>) -> Result<HttpResponse, Failure> {
    let (authority, tls) = http2_acceptor();
    let url = serve_each(move |stream| {
        let (tls, first, again) = (tls.clone(), first.clone(), repeated.clone());
        async move {
            let (mut from, mut to) = tokio::io::split(tls.accept(stream).await.ok()?);
            write(&mut to, &frame(SETTINGS, 0, 0, &[])).await?;
            read_some(&mut from).await?;
            tokio::spawn(async move { tokio::io::copy(&mut from, &mut tokio::io::sink()).await });
            tokio::time::sleep(Duration::from_millis(50)).await;
            write(&mut to, &first).await?;
            let again = again.repeat(64);
            while !again.is_empty() {
                to.write_all(&again).await.ok()?;
            }
            std::future::pending().await
        }
    });
    let url = url.await.replace("http:", "https:");
    let policy = Policy { guard: Guard::Any, extra_ca: Some(authority.pem.into_bytes()) };
    let client = HttpClient::new(policy).unwrap();
    let asking = client.send(HttpRequest::post(url, "{}").pooled("a"), LIMITS);
    tokio::time::timeout(LIMITS.total / 2, asking)
        .await
        .expect("the request ends before the timeout")
}

#[tokio::test]
async fn a_flood_of_http_2_frames_ends_long_before_the_timeout() {
    let response_head = frame(HEADERS, END_HEADERS, 1, STATUS_200);
    // A header bomb: one long field in the HPACK table that is then referenced with one byte each.
    let packed = [&[0x40, 1, b'x', 0x7f, 0xa1, 0x1e][..], &[b'a'; 4_000], &[0xbe; 12_000]].concat();
    for (case, first, repeated) in [
        ("pings", vec![], frame(PING, 0, 0, &[0; 8])),
        ("settings", vec![], frame(SETTINGS, 0, 0, &[])),
        ("changing settings", vec![], frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0xff, 0xff])),
        ("window updates", vec![], frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1])),
        ("unknown frames", vec![], frame(0xee, 0, 0, &[0; 100])),
        ("interim responses", vec![], frame(HEADERS, END_HEADERS, 1, STATUS_103)),
        ("empty data", response_head.clone(), frame(DATA, 0, 1, &[])),
        ("padding", response_head.clone(), frame(DATA, 8, 1, &[&[255][..], &[0; 255]].concat())),
        ("data beyond the window", response_head.clone(), frame(DATA, 0, 1, &[b'x'; 1_000])),
        ("endless headers", frame(HEADERS, 0, 1, STATUS_200), frame(CONTINUATION, 0, 1, &[])),
        ("compressed headers", frame(HEADERS, END_HEADERS, 1, &packed), vec![]),
        ("resets", frame(RESET, 0, 1, &[0, 0, 0, 8]), frame(RESET, 0, 1, &[0, 0, 0, 8])),
        ("GOAWAY frames", frame(GO_AWAY, 0, 0, &[0; 8]), frame(GO_AWAY, 0, 0, &[0; 8])),
        ("data on an unopened stream", frame(DATA, 0, 3, b"x"), vec![]),
        ("no HTTP/2 at all", b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![]),
    ] {
        let failure = ask_flooding(first, repeated).await.unwrap_err();
        assert_eq!(failure, Failure::Broken, "{case}");
    }
}

#[tokio::test]
async fn many_good_responses_do_not_allow_a_longer_flood() {
    let (authority, tls) = http2_acceptor();
    let (sender, mut totals) = mpsc::unbounded_channel();
    let url = serve_each(move |stream| {
        let (tls, sender) = (tls.clone(), sender.clone());
        async move {
            let (mut from, mut to) = tokio::io::split(tls.accept(stream).await.ok()?);
            write(&mut to, &frame(SETTINGS, 0, 0, &[])).await?;
            from.read_exact(&mut [0; 24]).await.ok()?;
            let mut answered = 0;
            while answered < 60 {
                let mut head = [0; 9];
                from.read_exact(&mut head).await.ok()?;
                let length = usize::from(head[1]) << 8 | usize::from(head[2]);
                from.read_exact(&mut vec![0; length]).await.ok()?;
                if head[3] == HEADERS {
                    let stream = u32::from_be_bytes(head[5..].try_into().unwrap());
                    write(&mut to, &frame(HEADERS, END_STREAM | END_HEADERS, stream, &[0x89]))
                        .await?;
                    answered += 1;
                }
            }
            tokio::spawn(async move { tokio::io::copy(&mut from, &mut tokio::io::sink()).await });
            let pings = frame(PING, 0, 0, &[0; 8]).repeat(200);
            let mut written = 0;
            while to.write_all(&pings).await.is_ok() {
                written += pings.len();
            }
            sender.send(written).ok()
        }
    });
    let url = url.await.replace("http:", "https:");
    let policy = Policy { guard: Guard::Any, extra_ca: Some(authority.pem.into_bytes()) };
    let client = HttpClient::new(policy).unwrap();
    for _ in 0..60 {
        let request = HttpRequest::get(&*url).pooled("a");
        assert_eq!(client.send(request, LIMITS).await.unwrap().status, 204);
    }
    // The system's socket buffers hold a few unread megabytes.
    let written = totals.recv().await.unwrap();
    assert!(written < 16 * 1024 * 1024, "{written}");
}

#[tokio::test]
async fn a_stalled_http_2_server_leaves_no_tasks_behind() {
    let (room_for_all, room_for_none) = ([0, 4, 0x7f, 0, 0, 0], [0, 3, 0, 0, 0, 0]);
    for settings in [room_for_all, room_for_none] {
        let (authority, tls) = http2_acceptor();
        let before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
        let url = serve_each(move |stream| {
            let tls = tls.clone();
            async move {
                let mut stream = tls.accept(stream).await.ok()?;
                write(&mut stream, &frame(SETTINGS, 0, 0, &settings)).await?;
                write(&mut stream, &frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0, 0, 0])).await?;
                std::future::pending().await
            }
        });
        let url = url.await.replace("http:", "https:");
        let policy = Policy { guard: Guard::Any, extra_ca: Some(authority.pem.into_bytes()) };
        let client = HttpClient::new(policy).unwrap();
        let ask = || HttpRequest::post(&*url, vec![0; 32_000_000]).pooled("a");
        let results = join_all((0..3).map(|_| client.send(ask(), SHORT))).await;
        assert!(results.iter().all(|it| it.as_ref().is_err_and(|it| *it == Failure::Timeout)));
        drop(client);
        // Three tasks stay: the listener, the stalled server, and the pool's sweeper.
        let gone = async {
            while tokio::runtime::Handle::current().metrics().num_alive_tasks() > before + 3 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), gone).await.expect("no task is left");
    }
}
