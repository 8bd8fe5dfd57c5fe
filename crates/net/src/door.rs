//! The door: one connection for each request, to addresses that were just vetted, and to no others.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls_platform_verifier::Verifier;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::target::{Host, Target};
use crate::{Failure, Guard, Limits, Outgoing, Reply};

/// Who may be asked, and whom to believe.
#[derive(Debug, Clone)]
pub struct Policy {
    pub guard: Guard,
    /// Certificates in PEM of authorities to trust besides those of the system.
    pub extra_ca: Option<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    #[error("the file of certificate authorities must hold certificates in PEM")]
    NoCertificate,
    #[error("no certificate could be checked: {0}")]
    Tls(String),
}

/// The way out. Clones share what they know.
#[derive(Clone)]
pub struct Door {
    guard: Arc<Guard>,
    tls: TlsConnector,
}

impl Door {
    pub fn new(policy: Policy) -> Result<Door, SetupError> {
        let extra = policy.extra_ca.as_deref().map(certificates).transpose()?;
        let tls = tls(extra.unwrap_or_default())?;
        Ok(Door { guard: Arc::new(policy.guard), tls: TlsConnector::from(Arc::new(tls)) })
    }

    /// Whether a request to this URL would be let out now. A name may lead elsewhere later, so
    /// `send` looks again.
    pub async fn vet(&self, url: &str, within: Duration) -> Result<(), Failure> {
        let target = self.target(url)?;
        let addresses = timeout(within, self.addresses(&target));
        addresses.await.map_err(|_| Failure::Timeout)?.map(drop)
    }

    /// Asks once and follows no redirect.
    pub async fn send(&self, outgoing: Outgoing, limits: Limits) -> Result<Reply, Failure> {
        let target = self.target(&outgoing.url)?;
        let request = outgoing.into_request(&target)?;
        let exchange = async {
            let line = timeout(limits.connect, self.connect(&target));
            match line.await.map_err(|_| Failure::Timeout)?? {
                Line::Plain(stream) => converse(stream, request, limits.body_max).await,
                Line::Secure(stream) => converse(stream, request, limits.body_max).await,
            }
        };
        timeout(limits.whole, exchange).await.map_err(|_| Failure::Timeout)?
    }

    fn target(&self, url: &str) -> Result<Target, Failure> {
        match Target::parse(url)? {
            target if target.is_https || matches!(*self.guard, Guard::Any) => Ok(target),
            _ => Err(Failure::NotHttps),
        }
    }

    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, Failure> {
        let found: Vec<SocketAddr> = match &target.host {
            Host::Address(address) => vec![SocketAddr::new(*address, target.port)],
            Host::Name(name) => {
                let found = lookup_host((name.as_str(), target.port)).await;
                found.map_err(|_| Failure::Dns)?.collect()
            }
        };
        if found.is_empty() {
            return Err(Failure::Dns);
        }
        self.guard.admit(&found).map(|()| found)
    }

    async fn connect(&self, target: &Target) -> Result<Line, Failure> {
        let stream = first_open(&self.addresses(target).await?).await.ok_or(Failure::Connect)?;
        if !target.is_https {
            return Ok(Line::Plain(stream));
        }
        let name = match &target.host {
            Host::Name(name) => ServerName::try_from(name.clone()).map_err(|_| Failure::BadUrl)?,
            Host::Address(address) => ServerName::IpAddress((*address).into()),
        };
        let stream = self.tls.connect(name, stream).await.map_err(|_| Failure::Tls)?;
        Ok(Line::Secure(Box::new(stream)))
    }
}

enum Line {
    Plain(TcpStream),
    Secure(Box<TlsStream<TcpStream>>),
}

/// Hosts with more addresses than this have others that fail alike.
const MOST_TRIED: usize = 6;
const HEAD_START: Duration = Duration::from_millis(250);

/// Each address gets a head start before the next is tried too, so that one that swallows packets
/// costs a moment and not the whole time.
async fn first_open(addresses: &[SocketAddr]) -> Option<TcpStream> {
    let attempts = addresses.iter().take(MOST_TRIED).zip(0..).map(|(address, place)| async move {
        tokio::time::sleep(HEAD_START * place).await;
        TcpStream::connect(address).await
    });
    let mut attempts: FuturesUnordered<_> = attempts.collect();
    while let Some(attempt) = attempts.next().await {
        if let Ok(stream) = attempt {
            return Some(stream);
        }
    }
    None
}

const LONGEST_HEAD: usize = 32 * 1024;

async fn converse(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    request: Request<Full<Bytes>>,
    body_max: usize,
) -> Result<Reply, Failure> {
    let mut client = http1::Builder::new();
    client.max_header_size(LONGEST_HEAD);
    let opened = client.handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = opened.map_err(|_| Failure::Broken)?;
    let exchange = async {
        let response = sender.send_request(request).await.map_err(|_| Failure::Broken)?;
        read(response, body_max).await
    };
    // When the connection ends, what came over it may still wait to be read.
    let driving = async {
        let _ = connection.await;
        std::future::pending::<Infallible>().await
    };
    tokio::select! {
        reply = exchange => reply,
        never = driving => match never {},
    }
}

async fn read(response: Response<Incoming>, body_max: usize) -> Result<Reply, Failure> {
    let (head, mut body) = response.into_parts();
    let mut kept = Vec::new();
    let mut truncated = false;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Failure::Broken)?.into_data() else { continue };
        let room = body_max - kept.len();
        kept.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            truncated = true;
            break;
        }
    }
    Ok(Reply { status: head.status.as_u16(), headers: head.headers, body: kept.into(), truncated })
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, SetupError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    found.ok().filter(|it| !it.is_empty()).ok_or(SetupError::NoCertificate)
}

fn tls(extra: Vec<CertificateDer<'static>>) -> Result<ClientConfig, SetupError> {
    let refused = |error: rustls::Error| SetupError::Tls(error.to_string());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = Verifier::new_with_extra_roots(extra, provider.clone()).map_err(refused)?;
    // Naming a verifier counts as dangerous; this one checks chain, name and time as usual.
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(refused)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::first_open;

    #[tokio::test]
    async fn an_address_where_nobody_listens_does_not_hide_the_next() {
        let open = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let closed = TcpListener::bind(("127.0.0.1", 0)).await.unwrap().local_addr().unwrap();
        let addresses = [closed, open.local_addr().unwrap()];
        let stream = first_open(&addresses).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), addresses[1]);
        assert!(first_open(&addresses[..1]).await.is_none());
        assert!(first_open(&[]).await.is_none());
    }
}
