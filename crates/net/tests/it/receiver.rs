//! A well-behaved HTTP server, with keep-alive and HTTP/2.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, Version};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use net::{Guard, HttpClient, Policy};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Barrier, mpsc, watch};
use tokio_rustls::TlsAcceptor;

use crate::server::Authority;

/// The limit of concurrent HTTP/2 streams. Streams opened beyond it before the client knew the limit are refused.
pub(crate) const STREAMS_MAX: u32 = 8;

/// A received request.
pub(crate) struct ReceivedRequest {
    /// Connections are counted from 1.
    pub(crate) connection: usize,
    pub(crate) version: Version,
    pub(crate) authority: Option<String>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Answers `/` at once, `/slow` after a moment, `/never` never, `/large` with nearly as much as the limit allows,
/// `/long` with more, `/head` with long headers, and `/last` with `connection: close`.
pub(crate) struct Receiver {
    pub(crate) port: u16,
    scheme: &'static str,
    pub(crate) requests: mpsc::UnboundedReceiver<ReceivedRequest>,
    open: Arc<AtomicUsize>,
    hang_up: watch::Sender<()>,
}

impl Receiver {
    pub(crate) async fn plain() -> Receiver {
        Receiver::start("127.0.0.1:0", None).await
    }

    /// With a certificate for 127.0.0.1, and a client that trusts it.
    pub(crate) async fn secure(offers: &[&str]) -> (Receiver, HttpClient) {
        let authority = Authority::new();
        let mut tls = ServerConfig::clone(&authority.certify("127.0.0.1"));
        tls.alpn_protocols = offers.iter().map(|it| it.as_bytes().to_vec()).collect();
        let receiver = Receiver::start("127.0.0.1:0", Some(Arc::new(tls))).await;
        let guard = Guard::Public { allow: vec!["127.0.0.1".parse().unwrap()] };
        let extra_ca = Some(authority.pem.into_bytes());
        (receiver, HttpClient::new(Policy { guard, extra_ca }).unwrap())
    }

    pub(crate) async fn start(address: &str, tls: Option<Arc<ServerConfig>>) -> Receiver {
        let listener = TcpListener::bind(address).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, requests) = mpsc::unbounded_channel();
        let open = Arc::<AtomicUsize>::default();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let accepted = open.clone();
        let (hang_up, hung_up) = watch::channel(());
        tokio::spawn(async move {
            for connection in 1.. {
                let Ok((stream, _)) = listener.accept().await else { return };
                let (sender, open, tls) = (sender.clone(), accepted.clone(), tls.clone());
                let mut hung_up = hung_up.clone();
                hung_up.mark_unchanged();
                tokio::spawn(async move {
                    open.fetch_add(1, SeqCst);
                    let serving = async {
                        let Some(tls) = tls.map(TlsAcceptor::from) else {
                            return serve(stream, connection, sender).await;
                        };
                        if let Ok(stream) = tls.accept(stream).await {
                            serve(stream, connection, sender).await;
                        }
                    };
                    tokio::select! {
                        () = serving => {}
                        Ok(()) = hung_up.changed() => {}
                    }
                    open.fetch_sub(1, SeqCst);
                });
            }
        });
        Receiver { port, scheme, requests, open, hang_up }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}://127.0.0.1:{}{path}", self.scheme, self.port)
    }

    /// The connection number of each request received so far.
    pub(crate) fn connections(&mut self) -> Vec<usize> {
        std::iter::from_fn(|| self.requests.try_recv().ok()).map(|it| it.connection).collect()
    }

    /// Closes every connection.
    pub(crate) fn hang_up(&self) {
        self.hang_up.send_replace(());
    }

    /// Waits until exactly `count` connections are open.
    pub(crate) async fn wait_until_open(&self, count: usize) {
        while self.open.load(SeqCst) != count {
            tokio::task::yield_now().await;
        }
    }
}

/// Serves one connection; `connection` is its number.
pub(crate) async fn serve<S>(
    stream: S,
    connection: usize,
    sender: mpsc::UnboundedSender<ReceivedRequest>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let sender = sender.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let authority = head.uri.authority().map(ToString::to_string);
            let (version, headers) = (head.version, head.headers);
            let _ = sender.send(ReceivedRequest { connection, version, authority, headers, body });
            Ok::<_, hyper::Error>(answer(head.uri.path()).await)
        }
    });
    let mut server = auto::Builder::new(TokioExecutor::new());
    server.http2().max_concurrent_streams(STREAMS_MAX);
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

/// Requests for `/together` are answered once as many have arrived as one HTTP/2 connection may carry.
static TOGETHER: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(STREAMS_MAX as usize));

async fn answer(path: &str) -> Response<Full<Bytes>> {
    let respond = |it: &'static [u8]| Response::new(Full::new(Bytes::from_static(it)));
    match path {
        "/slow" => tokio::time::sleep(Duration::from_millis(100)).await,
        "/together" => {
            TOGETHER.wait().await;
        }
        "/never" => std::future::pending().await,
        "/long" => return respond(&[b'x'; 100_000]),
        "/large" => return respond(&[b'x'; 60_000]),
        "/head" => return with_header(respond(b"ok"), "x-long", "x".repeat(30_000)),
        "/last" => return with_header(respond(b"bye"), "connection", "close".to_owned()),
        _ => {}
    }
    respond(b"ok")
}

fn with_header<B>(mut to: Response<B>, name: &'static str, value: String) -> Response<B> {
    to.headers_mut().insert(name, value.try_into().unwrap());
    to
}
