//! How many connections the server keeps open at once.

use std::sync::Arc;
use std::time::Duration;

use super::meters::ConnectionMeters;

/// At most this many connections from one address, as a share of all of them.
const SHARE_PER_ADDRESS: usize = 4;
const CONNECTIONS_DEFAULT: usize = 4_096;
const DRAIN_DEFAULT: Duration = Duration::from_secs(5);
/// Connections beyond the limit that only clients on this machine may use, so that the operator's own requests are
/// answered while everything else is busy.
pub(super) const RESERVED_FOR_LOOPBACK: usize = 32;

#[derive(Clone, Debug)]
pub struct ServerLimits {
    /// Connections open at once, from everyone together.
    pub connections: usize,
    /// Connections open at once from one IPv4 address or one IPv6 /64 network. Proxies are exempt.
    pub per_address: usize,
    /// The operator's own proxies, through which many clients connect from one address.
    pub proxies: Vec<base::Network>,
    /// How long requests in flight may take to finish after the server was told to stop.
    pub drain_max: Duration,
    /// Counts the connections of this listener.
    pub meters: Arc<ConnectionMeters>,
}

impl ServerLimits {
    pub fn new(connections: usize) -> ServerLimits {
        let per_address = (connections / SHARE_PER_ADDRESS).max(1);
        ServerLimits {
            connections,
            per_address,
            proxies: Vec::new(),
            drain_max: DRAIN_DEFAULT,
            meters: Arc::default(),
        }
    }
}

impl Default for ServerLimits {
    fn default() -> ServerLimits {
        ServerLimits::new(CONNECTIONS_DEFAULT)
    }
}
