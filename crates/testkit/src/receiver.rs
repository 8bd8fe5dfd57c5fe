//! A webhook receiver over real TLS, with its own certificate authority, that answers as a test scripts it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::Clock;
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

/// The certificate authority, created once per process.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
    tls: Arc<ServerConfig>,
}

static AUTHORITY: LazyLock<Authority> = LazyLock::new(create_authority);

/// The certificate, in PEM, that a client must trust to reach a receiver.
pub fn authority() -> Vec<u8> {
    AUTHORITY.pem.clone().into_bytes()
}

/// The certificate of an authority that signed nothing.
pub fn another_authority() -> Vec<u8> {
    create_authority().pem.into_bytes()
}

/// The TLS configuration of a server for `localhost`.
pub(crate) fn server_tls() -> Arc<ServerConfig> {
    AUTHORITY.tls.clone()
}

/// The same with a certificate that is valid for this long.
pub(crate) fn server_tls_for(valid_for: Duration) -> Arc<ServerConfig> {
    certify(&AUTHORITY.issuer, valid_for)
}

#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    pub at: Instant,
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl ReceivedRequest {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |it| it.to_str().unwrap())
    }
}

#[derive(Debug, Clone)]
pub enum ScriptedResponse {
    Status(u16),
    WithHeader(u16, &'static str, &'static str),
    Text(u16, String),
    /// No response, ever.
    Never,
    /// 204, after `release` is called.
    Held,
}

#[derive(Default)]
struct Inner {
    requests: Mutex<Vec<ReceivedRequest>>,
    script: Mutex<VecDeque<ScriptedResponse>>,
    received: Notify,
    delay: Mutex<Duration>,
    is_released: watch::Sender<bool>,
}

/// Answers with the scripted responses in order, and with 204 after them.
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

    /// Appends responses to the script.
    pub fn respond_with(&self, script: impl IntoIterator<Item = ScriptedResponse>) {
        self.inner.script.lock().unwrap_or_else(PoisonError::into_inner).extend(script);
    }

    /// Waits this long before each response.
    pub fn respond_after(&self, delay: Duration) {
        *self.inner.delay.lock().unwrap_or_else(PoisonError::into_inner) = delay;
    }

    /// Releases every held response, also those held later.
    pub fn release(&self) {
        self.inner.is_released.send_replace(true);
    }

    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.inner.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until this many requests were received.
    pub async fn wait_for_requests(&self, count: usize) -> Vec<ReceivedRequest> {
        loop {
            let received = self.inner.received.notified();
            let requests = self.requests();
            if requests.len() >= count {
                return requests;
            }
            received.await;
        }
    }
}

async fn answer(
    inner: Arc<Inner>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(|it| it.to_bytes()).unwrap_or_default();
    let path = parts.uri.path().to_owned();
    let received = ReceivedRequest { at: Instant::now(), path, headers: parts.headers, body };
    inner.requests.lock().unwrap_or_else(PoisonError::into_inner).push(received);
    inner.received.notify_waiters();
    let delay = *inner.delay.lock().unwrap_or_else(PoisonError::into_inner);
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    let scripted = inner.script.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let response = match scripted.unwrap_or(ScriptedResponse::Status(204)) {
        ScriptedResponse::Status(status) => {
            Response::builder().status(status).body(Full::default())
        }
        ScriptedResponse::WithHeader(status, name, value) => {
            Response::builder().status(status).header(name, value).body(Full::default())
        }
        ScriptedResponse::Text(status, text) => {
            Response::builder().status(status).body(Full::new(Bytes::from(text)))
        }
        ScriptedResponse::Never => std::future::pending().await,
        ScriptedResponse::Held => {
            inner.is_released.subscribe().wait_for(|it| *it).await.unwrap();
            Response::builder().status(204).body(Full::default())
        }
    };
    Ok(response.unwrap())
}

fn create_authority() -> Authority {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let pem = params.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(params, key);
    let tls = certify(&issuer, Duration::from_secs(1_000 * 365 * 24 * 60 * 60));
    Authority { pem, issuer, tls }
}

/// The TLS configuration of a server for `localhost`, with a certificate that is valid for this long.
fn certify(issuer: &Issuer<'_, KeyPair>, valid_for: Duration) -> Arc<ServerConfig> {
    let own = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    // Certificates are checked against the real clock.
    let now = Duration::from_secs(Clock::System.now().as_second().unsigned_abs());
    params.not_after = date_time_ymd(1970, 1, 1) + now + valid_for;
    let certificate = params.signed_by(&own, issuer).unwrap();
    let secret = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], secret)
        .unwrap();
    Arc::new(tls)
}
