//! The HTTP client: sends a request over a connection whose address was checked when the connection was opened.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use rustls::pki_types::ServerName;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use trace::SpanKind;

use crate::connection::{Connection, ConnectionLost};
use crate::failure::Failure;
use crate::guard::Guard;
use crate::message::{ConnectionUse, HttpRequest, HttpResponse, Limits, PreparedRequest};
use crate::pool::{Pool, PoolKey};
use crate::read_budget::{BudgetedStream, ReadBudget};
use crate::target::{Host, Target};
use crate::tls::{SetupError, Tls};

#[cfg(test)]
mod tests;

/// Which addresses may be connected to, and which certificate authorities are trusted.
#[derive(Debug, Clone)]
pub struct Policy {
    pub guard: Guard,
    /// Certificates in PEM of authorities to trust besides those of the system.
    pub extra_ca: Option<Vec<u8>>,
}

type Resolver = dyn Fn(&str) -> Vec<IpAddr> + Send + Sync;

/// Clones share the connection pool and the TLS sessions.
#[derive(Clone)]
pub struct HttpClient {
    guard: Arc<Guard>,
    tls: Tls,
    pool: Arc<Pool>,
    /// Replaces the system's DNS in tests.
    resolver: Option<Arc<Resolver>>,
}

impl HttpClient {
    pub fn new(policy: Policy) -> Result<HttpClient, SetupError> {
        HttpClient::with_certificates_valid_for(policy, Duration::ZERO)
    }

    /// A client that accepts only certificates that are valid for at least this much longer.
    pub fn with_certificates_valid_for(
        policy: Policy,
        validity: Duration,
    ) -> Result<HttpClient, SetupError> {
        let tls = Tls::new(policy.extra_ca.as_deref(), validity)?;
        Ok(HttpClient { guard: Arc::new(policy.guard), tls, pool: Arc::default(), resolver: None })
    }

    /// Resolves host names with this function instead of the system, so that a test decides where they lead.
    pub fn with_resolver(
        mut self,
        resolver: impl Fn(&str) -> Vec<IpAddr> + Send + Sync + 'static,
    ) -> HttpClient {
        self.resolver = Some(Arc::new(resolver));
        self
    }

    /// Checks whether a request to this URL would be allowed now. A name may resolve differently later, so `send`
    /// checks again.
    pub async fn vet(&self, url: &str, within: Duration) -> Result<(), Failure> {
        let target = self.parse_target(url)?;
        let addresses = timeout(within, self.resolve(&target));
        addresses.await.map_err(|_| Failure::Timeout)?.map(drop)
    }

    /// Sends a request and follows no redirect. A request with a pool scope may be sent twice (see
    /// `HttpRequest::pooled`).
    pub async fn send(
        &self,
        mut request: HttpRequest,
        limits: Limits,
    ) -> Result<HttpResponse, Failure> {
        let method = request.method_name();
        let mut span = trace::start_child(method, SpanKind::Client);
        if let Some(context) = span.context() {
            request = request.header("traceparent", context.to_string());
        }
        let outcome = self.send_request(request, limits).await;
        // Without the host: people choose the addresses of webhooks.
        span.set("http.request.method", method);
        match &outcome {
            Ok(response) => {
                span.set("http.response.status_code", i64::from(response.status));
                if response.status >= 400 {
                    span.fail(response.status.to_string());
                }
            }
            Err(failure) => span.fail(failure.code()),
        }
        outcome
    }

    async fn send_request(
        &self,
        mut request: HttpRequest,
        limits: Limits,
    ) -> Result<HttpResponse, Failure> {
        let target = self.parse_target(&request.url)?;
        let scope = request.scope.take();
        let request = request.prepare(&target)?;
        let exchange = async {
            let Some(scope) = scope else {
                let connection = timeout(limits.connect, self.open(&target, &self.tls.http1));
                let connection = connection.await.map_err(|_| Failure::Timeout)??;
                let sent = connection.send(&request, ConnectionUse::Once, limits.body_max);
                return Ok(sent.await?.0);
            };
            let key = PoolKey { scope, origin: target.origin().into() };
            self.send_pooled(&key, &target, &request, limits).await
        };
        timeout(limits.total, exchange).await.map_err(|_| Failure::Timeout)?
    }

    async fn send_pooled(
        &self,
        key: &PoolKey,
        target: &Target,
        request: &PreparedRequest,
        limits: Limits,
    ) -> Result<HttpResponse, Failure> {
        if let Some(connection) = self.pool.take(key, &self.guard) {
            match self.send_and_return(key, connection, request, limits).await {
                // The server may have closed the idle connection just as the request was sent.
                Err(lost) if lost.before_response => {}
                ended => return Ok(ended?),
            }
        }
        let connection = timeout(limits.connect, self.open_pooled(key, target));
        let connection = connection.await.map_err(|_| Failure::Timeout)??;
        Ok(self.send_and_return(key, connection, request, limits).await?)
    }

    async fn send_and_return(
        &self,
        key: &PoolKey,
        connection: Connection,
        request: &PreparedRequest,
        limits: Limits,
    ) -> Result<HttpResponse, ConnectionLost> {
        let sent = connection.send(request, ConnectionUse::KeepAlive, limits.body_max);
        let (response, connection) = sent.await?;
        if let Some(connection) = connection {
            self.pool.put(key, connection);
        }
        Ok(response)
    }

    /// A new connection, or an HTTP/2 connection that another request has opened meanwhile. Whether a server speaks
    /// HTTP/2 is known only after connecting, so concurrent requests wait for the first one, unless the server was last
    /// seen to speak HTTP/1.1.
    async fn open_pooled(&self, key: &PoolKey, target: &Target) -> Result<Connection, Failure> {
        let opening = self.pool.opening(&key.scope);
        let mut lock = Some(opening.lock.lock().await);
        if let Some(connection) = self.pool.take_shared(key, &self.guard) {
            return Ok(connection);
        }
        if opening.is_http1.load(Relaxed) {
            lock = None;
        }
        let connection = self.open(target, &self.tls.http1_or_http2).await?;
        let shared = connection.share();
        opening.is_http1.store(shared.is_none(), Relaxed);
        if let Some(shared) = shared {
            self.pool.put(key, shared);
        }
        drop(lock);
        Ok(connection)
    }

    fn parse_target(&self, url: &str) -> Result<Target, Failure> {
        match Target::parse(url)? {
            target if target.is_https || matches!(*self.guard, Guard::Any) => Ok(target),
            _ => Err(Failure::NotHttps),
        }
    }

    /// The addresses of a host, if the guard allows all of them.
    async fn resolve(&self, target: &Target) -> Result<Vec<SocketAddr>, Failure> {
        let found: Vec<SocketAddr> = match (&target.host, &self.resolver) {
            (Host::Address(address), _) => vec![SocketAddr::new(*address, target.port)],
            (Host::Name(name), None) => {
                let found = lookup_host((name.as_str(), target.port)).await;
                found.map_err(|_| Failure::Dns)?.collect()
            }
            (Host::Name(name), Some(resolver)) => {
                resolver(name).into_iter().map(|it| SocketAddr::new(it, target.port)).collect()
            }
        };
        if found.is_empty() {
            return Err(Failure::Dns);
        }
        self.guard.admit(&found).map(|()| found)
    }

    async fn open(&self, target: &Target, tls: &TlsConnector) -> Result<Connection, Failure> {
        let connected = connect_to_any(&self.resolve(target).await?).await;
        let (stream, peer) = connected.ok_or(Failure::Connect)?;
        let budget = ReadBudget::new(HANDSHAKE_BYTES_MAX);
        let stream = BudgetedStream::new(stream, budget.clone());
        if !target.is_https {
            return Connection::start(stream, false, peer, budget).await;
        }
        let name = match &target.host {
            Host::Name(name) => ServerName::try_from(name.clone()).map_err(|_| Failure::BadUrl)?,
            Host::Address(address) => ServerName::IpAddress((*address).into()),
        };
        let stream = tls.connect(name, stream).await.map_err(|_| Failure::Tls)?;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Connection::start(stream, is_http2, peer, budget).await
    }
}

/// Bytes that a server may send during the TLS handshake. Certificate chains are long, but not longer than this.
const HANDSHAKE_BYTES_MAX: u64 = 256 * 1024;

/// Addresses of one host that are tried. If six fail, more would fail too.
const ADDRESSES_TRIED_MAX: usize = 6;
const HEAD_START: Duration = Duration::from_millis(250);

/// Connects to the first address that accepts ("happy eyeballs"). Each address gets a head start before the next is
/// tried as well, so that an address that drops packets costs a moment and not the whole timeout.
async fn connect_to_any(addresses: &[SocketAddr]) -> Option<(TcpStream, SocketAddr)> {
    let addresses = addresses.iter().take(ADDRESSES_TRIED_MAX).zip(0..);
    let attempts = addresses.map(|(address, position)| async move {
        tokio::time::sleep(HEAD_START * position).await;
        let stream = TcpStream::connect(address).await?;
        // Messages are written whole, so waiting for more to send would only delay them.
        stream.set_nodelay(true)?;
        Ok::<_, std::io::Error>((stream, *address))
    });
    let mut attempts: FuturesUnordered<_> = attempts.collect();
    while let Some(attempt) = attempts.next().await {
        if let Ok(connected) = attempt {
            return Some(connected);
        }
    }
    None
}
