//! A scripted server: it reads a request, writes given bytes, and then closes, stalls or goes on.

use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

/// What the server does after its response.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Close,
    /// Sends nothing more and keeps the connection open.
    Hold,
    /// Sends a small chunk every 10 ms, forever.
    Drip,
    /// Repeats its response as fast as the client reads.
    Flood,
    /// Reads the next request.
    Again,
}

pub(crate) struct Server {
    pub(crate) port: u16,
    /// The received requests, as raw text.
    pub(crate) heard: mpsc::UnboundedReceiver<String>,
    used: mpsc::UnboundedReceiver<usize>,
}

/// The response to each request, by the numbers of its connection and request, both counted from 1.
type Script = dyn Fn(usize, usize) -> (Vec<u8>, Then) + Send + Sync;

impl Server {
    pub(crate) async fn plain(says: impl Into<Vec<u8>>, then: Then) -> Server {
        let says = says.into();
        Server::script(move |_, _| (says.clone(), then)).await
    }

    pub(crate) async fn secure(tls: Arc<ServerConfig>, says: &str) -> Server {
        let says = says.as_bytes().to_vec();
        Server::start(Arc::new(move |_, _| (says.clone(), Then::Close)), Some(tls.into())).await
    }

    pub(crate) async fn script(
        script: impl Fn(usize, usize) -> (Vec<u8>, Then) + Send + Sync + 'static,
    ) -> Server {
        Server::start(Arc::new(script), None).await
    }

    async fn start(script: Arc<Script>, tls: Option<TlsAcceptor>) -> Server {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let ((tell, heard), (count, used)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        tokio::spawn(async move {
            for connection in 1.. {
                let Ok((stream, _)) = listener.accept().await else { return };
                let (script, tls, tell, count) =
                    (script.clone(), tls.clone(), tell.clone(), count.clone());
                let says = move |request| {
                    let _ = count.send(connection);
                    script(connection, request)
                };
                tokio::spawn(async move {
                    match tls {
                        None => converse(stream, says, &tell).await,
                        Some(tls) => match tls.accept(stream).await {
                            Ok(stream) => converse(stream, says, &tell).await,
                            Err(_) => None,
                        },
                    }
                });
            }
        });
        Server { port, heard, used }
    }

    /// The connection number of each request received so far.
    pub(crate) fn connections(&mut self) -> Vec<usize> {
        std::iter::from_fn(|| self.used.try_recv().ok()).collect()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

/// None if the client closes the connection.
async fn converse(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    says: impl Fn(usize) -> (Vec<u8>, Then),
    tell: &mpsc::UnboundedSender<String>,
) -> Option<()> {
    for request in 1.. {
        let mut heard = Vec::new();
        while !is_whole(&heard) {
            if stream.read_buf(&mut heard).await.ok()? == 0 {
                return None;
            }
        }
        tell.send(String::from_utf8_lossy(&heard).into_owned()).ok()?;
        let (words, then) = says(request);
        stream.write_all(&words).await.ok()?;
        stream.flush().await.ok()?;
        match then {
            Then::Close => return stream.shutdown().await.ok(),
            Then::Hold => std::future::pending().await,
            Then::Drip => loop {
                stream.write_all(b"1\r\nx\r\n").await.ok()?;
                stream.flush().await.ok()?;
                tokio::time::sleep(Duration::from_millis(10)).await;
            },
            Then::Flood => loop {
                stream.write_all(&words).await.ok()?;
            },
            Then::Again => {}
        }
    }
    None
}

fn is_whole(heard: &[u8]) -> bool {
    let text = String::from_utf8_lossy(heard).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.split("content-length: ").nth(1).and_then(|it| it.split('\r').next());
    body.len() >= length.map_or(0, |it| it.parse().unwrap())
}

/// A certificate authority that no client trusts by default.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(crate) pem: String,
}

impl Authority {
    pub(crate) fn new() -> Authority {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Authority { issuer: Issuer::new(params, key), pem }
    }

    /// A TLS configuration for a server of this name or address.
    pub(crate) fn certify(&self, name: &str) -> Arc<ServerConfig> {
        self.certify_until(name, 4096)
    }

    pub(crate) fn certify_until(&self, name: &str, year: i32) -> Arc<ServerConfig> {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.not_after = date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        Arc::new(config)
    }
}
