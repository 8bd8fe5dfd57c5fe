//! Which addresses may be connected to, when a stranger chose the name.

use std::net::{IpAddr, SocketAddr};

use base::Network;

use crate::Failure;

#[cfg(test)]
mod tests;

/// What a door lets out.
#[derive(Debug, Clone)]
pub enum Guard {
    /// For URLs that a user or an app chose: https only, and only to public addresses, or to the
    /// networks that the operator lists.
    Public { allow: Vec<Network> },
    /// For URLs that the operator configured.
    Any,
}

impl Guard {
    /// All of them must do: a name that also leads somewhere private is not half trusted.
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

/// Refused even when the operator lists a network around them. Clouds keep their metadata, and so
/// their credentials, at fixed addresses; and an address that carries another one within would be
/// a way around every rule for the one it carries.
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

/// Where single hosts of the public network are. In IPv6 that is one eighth of all addresses; the
/// rest is loopback, local, multicast, or not given out.
const UNICAST: [Network; 2] =
    [Network::v4([0, 0, 0, 0], 0), Network::v6([0x2000, 0, 0, 0, 0, 0], 3)];

/// What is set apart within `UNICAST`, by the registries of special addresses at IANA.
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
    // Teredo, benchmarks and other protocols; documentation, twice.
    Network::v6([0x2001, 0, 0, 0, 0, 0], 23),
    Network::v6([0x2001, 0x0db8, 0, 0, 0, 0], 32),
    Network::v6([0x2002, 0, 0, 0, 0, 0], 16),
    Network::v6([0x3fff, 0, 0, 0, 0, 0], 20),
];
