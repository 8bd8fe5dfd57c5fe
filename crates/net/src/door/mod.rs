//! The door: a request goes to addresses that were vetted when its connection was made, and to no
//! others.

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

use crate::line::{Line, Lost};
use crate::message::{Manner, Prepared};
use crate::meter::{Meter, Metered};
use crate::pool::{Place, Pool};
use crate::target::{Host, Target};
use crate::tls::Tls;
use crate::{Failure, Guard, Limits, Outgoing, Reply, SetupError};

#[cfg(test)]
mod tests;

/// Who may be asked, and whom to believe.
#[derive(Debug, Clone)]
pub struct Policy {
    pub guard: Guard,
    /// Certificates in PEM of authorities to trust besides those of the system.
    pub extra_ca: Option<Vec<u8>>,
}

type Lookup = dyn Fn(&str) -> Vec<IpAddr> + Send + Sync;

/// The way out. Clones share what they know, and the connections that are kept.
#[derive(Clone)]
pub struct Door {
    guard: Arc<Guard>,
    tls: Tls,
    pool: Arc<Pool>,
    lookup: Option<Arc<Lookup>>,
}

impl Door {
    pub fn new(policy: Policy) -> Result<Door, SetupError> {
        let tls = Tls::new(policy.extra_ca.as_deref())?;
        Ok(Door { guard: Arc::new(policy.guard), tls, pool: Arc::default(), lookup: None })
    }

    /// Looks names up in this way, and does not ask the system: so a test says where names lead,
    /// and lets them change their mind.
    pub fn resolving(
        mut self,
        lookup: impl Fn(&str) -> Vec<IpAddr> + Send + Sync + 'static,
    ) -> Door {
        self.lookup = Some(Arc::new(lookup));
        self
    }

    /// Whether a request to this URL would be let out now. A name may lead elsewhere later, so
    /// `send` looks again.
    pub async fn vet(&self, url: &str, within: Duration) -> Result<(), Failure> {
        let target = self.target(url)?;
        let addresses = timeout(within, self.addresses(&target));
        addresses.await.map_err(|_| Failure::Timeout)?.map(drop)
    }

    /// Asks once, or in doubt twice where a connection is used again, and follows no redirect.
    pub async fn send(&self, mut outgoing: Outgoing, limits: Limits) -> Result<Reply, Failure> {
        let target = self.target(&outgoing.url)?;
        let scope = outgoing.scope.take();
        let request = outgoing.prepare(&target)?;
        let exchange = async {
            let Some(scope) = scope else {
                let line = timeout(limits.connect, self.open(&target, &self.tls.one));
                let line = line.await.map_err(|_| Failure::Timeout)??;
                return Ok(line.ask(&request, Manner::Once, limits.body_max).await?.0);
            };
            let place = Place { scope, origin: target.origin().into() };
            self.ask_reusing(&place, &target, &request, limits).await
        };
        timeout(limits.whole, exchange).await.map_err(|_| Failure::Timeout)?
    }

    async fn ask_reusing(
        &self,
        place: &Place,
        target: &Target,
        request: &Prepared,
        limits: Limits,
    ) -> Result<Reply, Failure> {
        if let Some(line) = self.pool.take(place, &self.guard) {
            match self.ask_and_keep(place, line, request, limits).await {
                // The other side may have hung up just when we began to speak.
                Err(lost) if lost.unheard => {}
                ended => return Ok(ended?),
            }
        }
        let line = timeout(limits.connect, self.fresh(place, target));
        let line = line.await.map_err(|_| Failure::Timeout)??;
        Ok(self.ask_and_keep(place, line, request, limits).await?)
    }

    async fn ask_and_keep(
        &self,
        place: &Place,
        line: Line,
        request: &Prepared,
        limits: Limits,
    ) -> Result<Reply, Lost> {
        let (reply, line) = line.ask(request, Manner::Kept, limits.body_max).await?;
        if let Some(line) = line {
            self.pool.keep(place, line);
        }
        Ok(reply)
    }

    /// A connection that was just made. Whether all can share it is known only then, so those who
    /// come together wait for the first of them, unless this receiver takes one at a time.
    async fn fresh(&self, place: &Place, target: &Target) -> Result<Line, Failure> {
        let opening = self.pool.opening(&place.scope);
        let mut turn = Some(opening.turn.lock().await);
        if let Some(line) = self.pool.take_shared(place, &self.guard) {
            return Ok(line);
        }
        if opening.takes_one.load(Relaxed) {
            turn = None;
        }
        let line = self.open(target, &self.tls.any).await?;
        let shared = line.share();
        opening.takes_one.store(shared.is_none(), Relaxed);
        if let Some(shared) = shared {
            self.pool.keep(place, shared);
        }
        drop(turn);
        Ok(line)
    }

    fn target(&self, url: &str) -> Result<Target, Failure> {
        match Target::parse(url)? {
            target if target.is_https || matches!(*self.guard, Guard::Any) => Ok(target),
            _ => Err(Failure::NotHttps),
        }
    }

    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, Failure> {
        let found: Vec<SocketAddr> = match (&target.host, &self.lookup) {
            (Host::Address(address), _) => vec![SocketAddr::new(*address, target.port)],
            (Host::Name(name), None) => {
                let found = lookup_host((name.as_str(), target.port)).await;
                found.map_err(|_| Failure::Dns)?.collect()
            }
            (Host::Name(name), Some(lookup)) => {
                lookup(name).into_iter().map(|it| SocketAddr::new(it, target.port)).collect()
            }
        };
        if found.is_empty() {
            return Err(Failure::Dns);
        }
        self.guard.admit(&found).map(|()| found)
    }

    async fn open(&self, target: &Target, tls: &TlsConnector) -> Result<Line, Failure> {
        let opened = first_open(&self.addresses(target).await?).await;
        let (stream, peer) = opened.ok_or(Failure::Connect)?;
        let wire = Meter::new(LONGEST_GREETING);
        let stream = Metered::new(stream, wire.clone());
        if !target.is_https {
            return Line::over(stream, false, peer, wire).await;
        }
        let name = match &target.host {
            Host::Name(name) => ServerName::try_from(name.clone()).map_err(|_| Failure::BadUrl)?,
            Host::Address(address) => ServerName::IpAddress((*address).into()),
        };
        let stream = tls.connect(name, stream).await.map_err(|_| Failure::Tls)?;
        let is_shared = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Line::over(stream, is_shared, peer, wire).await
    }
}

/// Certificates are long, but not longer than this.
const LONGEST_GREETING: u64 = 256 * 1024;

/// Hosts with more addresses than this have others that fail alike.
const MOST_TRIED: usize = 6;
const HEAD_START: Duration = Duration::from_millis(250);

/// Each address gets a head start before the next is tried too, so that one that swallows packets
/// costs a moment and not the whole time.
async fn first_open(addresses: &[SocketAddr]) -> Option<(TcpStream, SocketAddr)> {
    let attempts = addresses.iter().take(MOST_TRIED).zip(0..).map(|(address, place)| async move {
        tokio::time::sleep(HEAD_START * place).await;
        let stream = TcpStream::connect(address).await?;
        // Everything is written when it is whole; to wait for more would only delay it.
        stream.set_nodelay(true)?;
        Ok::<_, std::io::Error>((stream, *address))
    });
    let mut attempts: FuturesUnordered<_> = attempts.collect();
    while let Some(attempt) = attempts.next().await {
        if let Ok(opened) = attempt {
            return Some(opened);
        }
    }
    None
}
