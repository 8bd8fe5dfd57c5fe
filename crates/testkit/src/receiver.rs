//! A receiver of webhooks: real TLS under an authority of our own, answering as a test tells it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tokio_rustls::TlsAcceptor;

/// The authority, made once for all tests of a process.
struct Authority {
    pem: String,
    tls: Arc<ServerConfig>,
}

static AUTHORITY: LazyLock<Authority> = LazyLock::new(make);

/// What is to be trusted to reach a receiver.
pub fn authority() -> Vec<u8> {
    AUTHORITY.pem.clone().into_bytes()
}

/// An authority that nothing here comes from.
pub fn another_authority() -> Vec<u8> {
    make().pem.into_bytes()
}

/// How a server of ours speaks TLS, as `localhost`.
pub(crate) fn server_tls() -> Arc<ServerConfig> {
    AUTHORITY.tls.clone()
}

/// What came, as it came.
#[derive(Debug, Clone)]
pub struct Heard {
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Heard {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |it| it.to_str().unwrap())
    }
}

/// What a receiver says.
#[derive(Debug, Clone)]
pub enum Says {
    Status(u16),
    With(u16, &'static str, &'static str),
    Text(u16, String),
    /// Nothing, ever.
    Hangs,
    /// Nothing until it is let go, then 204.
    Holds,
}

#[derive(Default)]
struct Inner {
    heard: Mutex<Vec<Heard>>,
    script: Mutex<VecDeque<Says>>,
    news: Notify,
    is_let_go: watch::Sender<bool>,
}

/// Answers what was told, one after another, and 204 after that.
#[derive(Clone)]
pub struct Receiver {
    inner: Arc<Inner>,
    pub url: String,
}

impl Receiver {
    pub async fn start() -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://localhost:{}/hook", listener.local_addr().unwrap().port());
        let inner = Arc::new(Inner::default());
        let receiver = Receiver { inner: inner.clone(), url };
        tokio::spawn(async move {
            let acceptor = TlsAcceptor::from(AUTHORITY.tls.clone());
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, inner) = (acceptor.clone(), inner.clone());
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let service =
                        hyper::service::service_fn(move |request| answer(inner.clone(), request));
                    let builder = Builder::new(TokioExecutor::new());
                    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        receiver
    }

    /// From now on, in this order.
    pub fn says(&self, script: impl IntoIterator<Item = Says>) {
        self.inner.script.lock().unwrap_or_else(PoisonError::into_inner).extend(script);
    }

    /// From now on nobody is held.
    pub fn lets_go(&self) {
        self.inner.is_let_go.send_replace(true);
    }

    pub fn heard(&self) -> Vec<Heard> {
        self.inner.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Until so many came.
    pub async fn hears(&self, count: usize) -> Vec<Heard> {
        loop {
            let news = self.inner.news.notified();
            let heard = self.heard();
            if heard.len() >= count {
                return heard;
            }
            news.await;
        }
    }
}

async fn answer(
    inner: Arc<Inner>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(|it| it.to_bytes()).unwrap_or_default();
    let heard = Heard { headers: parts.headers, body };
    inner.heard.lock().unwrap_or_else(PoisonError::into_inner).push(heard);
    inner.news.notify_waiters();
    let says = inner.script.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let response = match says.unwrap_or(Says::Status(204)) {
        Says::Status(status) => Response::builder().status(status).body(Full::default()),
        Says::With(status, name, value) => {
            Response::builder().status(status).header(name, value).body(Full::default())
        }
        Says::Text(status, text) => {
            Response::builder().status(status).body(Full::new(Bytes::from(text)))
        }
        Says::Hangs => std::future::pending().await,
        Says::Holds => {
            inner.is_let_go.subscribe().wait_for(|it| *it).await.unwrap();
            Response::builder().status(204).body(Full::default())
        }
    };
    Ok(response.unwrap())
}

fn make() -> Authority {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = params.self_signed(&key).unwrap();
    let issuer = Issuer::new(params, key);
    let own = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    // Certificates are held against the real clock.
    params.not_after = date_time_ymd(4096, 1, 1);
    let certificate = params.signed_by(&own, &issuer).unwrap();
    let secret = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], secret)
        .unwrap();
    Authority { pem: authority.pem(), tls: Arc::new(tls) }
}
