//! The address guard: which IP addresses a client may connect to (protection against SSRF).

use std::net::{IpAddr, SocketAddr};

use base::Network;

use crate::failure::Failure;

#[cfg(test)]
mod tests;

#[derive(Debug, Clone)]
pub enum Guard {
    /// For URLs from users or apps: https only, and only to public addresses or the networks that the operator allows.
    Public { allow: Vec<Network> },
    /// For URLs from the operator's configuration: any scheme and address.
    Any,
}

impl Guard {
    /// Refuses all addresses of a host if one of them is not allowed.
    pub(crate) fn admit(&self, addresses: &[SocketAddr]) -> Result<(), Failure> {
        match self {
            Guard::Public { allow } if !addresses.iter().all(|it| admits(allow, it.ip())) => {
                Err(Failure::BlockedAddress)
            }
            _ => Ok(()),
        }
    }
}

fn admits(allow: &[Network], address: IpAddr) -> bool {
    let is_in = |networks: &[Network]| networks.iter().any(|it| it.contains(address));
    !is_in(&NEVER) && (is_in(allow) || is_in(&UNICAST) && !is_in(&NOT_PUBLIC))
}

/// Refused even if the operator allows a network that contains them: the fixed addresses of cloud metadata services,
/// which serve credentials, and IPv6 addresses that embed an IPv4 address, which would bypass the rules for the
/// embedded one.
const NEVER: [Network; 11] = [
    Network::v4([169, 254, 0, 0], 16),
    Network::v4([100, 100, 100, 200], 32),
    Network::v4([168, 63, 129, 16], 32),
    Network::v4([192, 0, 0, 192], 32),
    Network::v6([0xfd00, 0x0ec2, 0, 0, 0, 0], 32),
    Network::v6([0xfd20, 0x00ce, 0, 0, 0, 0], 32),
    // IPv4-mapped, IPv4-translated, NAT64 (well-known and local), Teredo, 6to4.
    Network::v6([0, 0, 0, 0, 0, 0xffff], 96),
    Network::v6([0, 0, 0, 0, 0xffff, 0], 96),
    Network::v6([0x0064, 0xff9b, 0, 0, 0, 0], 32),
    Network::v6([0x2001, 0, 0, 0, 0, 0], 32),
    Network::v6([0x2002, 0, 0, 0, 0, 0], 16),
];

/// Global unicast addresses. In IPv6 that is one eighth of all addresses; the rest is loopback, local, multicast, or
/// not assigned.
const UNICAST: [Network; 2] =
    [Network::v4([0, 0, 0, 0], 0), Network::v6([0x2000, 0, 0, 0, 0, 0], 3)];

/// Exceptions within `UNICAST`, from IANA's special-purpose address registries.
const NOT_PUBLIC: [Network; 18] = [
    Network::v4([0, 0, 0, 0], 8),
    Network::v4([10, 0, 0, 0], 8),
    Network::v4([100, 64, 0, 0], 10),
    Network::v4([127, 0, 0, 0], 8),
    Network::v4([169, 254, 0, 0], 16),
    Network::v4([172, 16, 0, 0], 12),
    Network::v4([192, 0, 0, 0], 24),
    Network::v4([192, 0, 2, 0], 24),
    Network::v4([192, 88, 99, 0], 24),
    Network::v4([192, 168, 0, 0], 16),
    Network::v4([198, 18, 0, 0], 15),
    Network::v4([198, 51, 100, 0], 24),
    Network::v4([203, 0, 113, 0], 24),
    // Multicast, reserved, and the broadcast address.
    Network::v4([224, 0, 0, 0], 3),
    // IETF protocol assignments (Teredo, benchmarking and others); documentation; 6to4; documentation.
    Network::v6([0x2001, 0, 0, 0, 0, 0], 23),
    Network::v6([0x2001, 0x0db8, 0, 0, 0, 0], 32),
    Network::v6([0x2002, 0, 0, 0, 0, 0], 16),
    Network::v6([0x3fff, 0, 0, 0, 0, 0], 20),
];
