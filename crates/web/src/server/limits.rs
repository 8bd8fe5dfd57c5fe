//! How many connections the server keeps open at once.

/// At most this many connections from one address, as a share of all of them.
const SHARE_PER_ADDRESS: usize = 4;
const CONNECTIONS_DEFAULT: usize = 4_096;
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
}

impl ServerLimits {
    pub fn new(connections: usize) -> ServerLimits {
        let per_address = (connections / SHARE_PER_ADDRESS).max(1);
        ServerLimits { connections, per_address, proxies: Vec::new() }
    }
}

impl Default for ServerLimits {
    fn default() -> ServerLimits {
        ServerLimits::new(CONNECTIONS_DEFAULT)
    }
}
