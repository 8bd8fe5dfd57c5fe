//! A scripted server: it reads a request, writes given bytes, and then closes, stalls or continues.

use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

/// The server's behavior after its response.
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
    pub(crate) requests: mpsc::UnboundedReceiver<String>,
    used: mpsc::UnboundedReceiver<usize>,
}

/// The response to each request, by the numbers of its connection and request, both counted from 1.
type Script = dyn Fn(usize, usize) -> (Vec<u8>, Then) + Send + Sync;

impl Server {
    pub(crate) async fn plain(response: impl Into<Vec<u8>>, then: Then) -> Server {
        let response = response.into();
        Server::script(move |_, _| (response.clone(), then)).await
    }

    pub(crate) async fn secure(tls: Arc<ServerConfig>, response: &str) -> Server {
        let response = response.as_bytes().to_vec();
        Server::start(Arc::new(move |_, _| (response.clone(), Then::Close)), Some(tls.into())).await
    }

    pub(crate) async fn script(
        script: impl Fn(usize, usize) -> (Vec<u8>, Then) + Send + Sync + 'static,
    ) -> Server {
        Server::start(Arc::new(script), None).await
    }

    async fn start(script: Arc<Script>, tls: Option<TlsAcceptor>) -> Server {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let ((sender, requests), (count, used)) =
            (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        tokio::spawn(async move {
            for connection in 1.. {
                let Ok((stream, _)) = listener.accept().await else { return };
                let (script, tls, sender, count) =
                    (script.clone(), tls.clone(), sender.clone(), count.clone());
                let respond = move |request| {
                    let _ = count.send(connection);
                    script(connection, request)
                };
                tokio::spawn(async move {
                    match tls {
                        None => serve_scripted(stream, respond, &sender).await,
                        Some(tls) => match tls.accept(stream).await {
                            Ok(stream) => serve_scripted(stream, respond, &sender).await,
                            Err(_) => None,
                        },
                    }
                });
            }
        });
        Server { port, requests, used }
    }

    /// The connection number of each request received so far.
    pub(crate) fn connections(&mut self) -> Vec<usize> {
        std::iter::from_fn(|| self.used.try_recv().ok()).collect()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

/// Serves one connection by the script; none if the client closes it.
async fn serve_scripted(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    respond: impl Fn(usize) -> (Vec<u8>, Then),
    sender: &mpsc::UnboundedSender<String>,
) -> Option<()> {
    for request in 1.. {
        let mut received = Vec::new();
        while !is_complete(&received) {
            if stream.read_buf(&mut received).await.ok()? == 0 {
                return None;
            }
        }
        sender.send(String::from_utf8_lossy(&received).into_owned()).ok()?;
        let (bytes, then) = respond(request);
        stream.write_all(&bytes).await.ok()?;
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
                stream.write_all(&bytes).await.ok()?;
            },
            Then::Again => {}
        }
    }
    None
}

fn is_complete(received: &[u8]) -> bool {
    let text = String::from_utf8_lossy(received).to_lowercase();
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
