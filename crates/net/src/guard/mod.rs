//! Which addresses may be connected to, when a stranger chose the name.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

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
    v4([169, 254, 0, 0], 16),
    v4([100, 100, 100, 200], 32),
    v4([168, 63, 129, 16], 32),
    v4([192, 0, 0, 192], 32),
    v6([0xfd00, 0x0ec2, 0, 0, 0, 0], 32),
    v6([0xfd20, 0x00ce, 0, 0, 0, 0], 32),
    // IPv4-mapped, IPv4-translated, NAT64 (well-known and local), Teredo, 6to4.
    v6([0, 0, 0, 0, 0, 0xffff], 96),
    v6([0, 0, 0, 0, 0xffff, 0], 96),
    v6([0x0064, 0xff9b, 0, 0, 0, 0], 32),
    v6([0x2001, 0, 0, 0, 0, 0], 32),
    v6([0x2002, 0, 0, 0, 0, 0], 16),
];

/// Where single hosts of the public network are. In IPv6 that is one eighth of all addresses; the
/// rest is loopback, local, multicast, or not given out.
const UNICAST: [Network; 2] = [v4([0, 0, 0, 0], 0), v6([0x2000, 0, 0, 0, 0, 0], 3)];

/// What is set apart within `UNICAST`, by the registries of special addresses at IANA.
const NOT_PUBLIC: [Network; 18] = [
    v4([0, 0, 0, 0], 8),
    v4([10, 0, 0, 0], 8),
    v4([100, 64, 0, 0], 10),
    v4([127, 0, 0, 0], 8),
    v4([169, 254, 0, 0], 16),
    v4([172, 16, 0, 0], 12),
    v4([192, 0, 0, 0], 24),
    v4([192, 0, 2, 0], 24),
    v4([192, 88, 99, 0], 24),
    v4([192, 168, 0, 0], 16),
    v4([198, 18, 0, 0], 15),
    v4([198, 51, 100, 0], 24),
    v4([203, 0, 113, 0], 24),
    // Multicast, reserved, and the broadcast address.
    v4([224, 0, 0, 0], 3),
    // Teredo, benchmarks and other protocols; documentation, twice.
    v6([0x2001, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0x0db8, 0, 0, 0, 0], 32),
    v6([0x2002, 0, 0, 0, 0, 0], 16),
    v6([0x3fff, 0, 0, 0, 0, 0], 20),
];

/// Addresses that begin alike, such as `192.168.1.0/24`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    start: IpAddr,
    /// How many of the last bits may be anything.
    free: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a network such as 192.168.1.0/24 or fd12:3456::/32, or a single address")]
pub struct NetworkError;

impl Network {
    fn contains(self, address: IpAddr) -> bool {
        let differing = match (self.start, address) {
            (IpAddr::V4(start), IpAddr::V4(it)) => u128::from(start.to_bits() ^ it.to_bits()),
            (IpAddr::V6(start), IpAddr::V6(it)) => start.to_bits() ^ it.to_bits(),
            _ => return false,
        };
        differing.checked_shr(self.free).unwrap_or(0) == 0
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    /// A start with bits beyond the prefix is refused: it is unclear what was meant to be allowed.
    fn from_str(text: &str) -> Result<Network, NetworkError> {
        let (start, prefix) = match text.split_once('/') {
            Some((start, prefix)) => (start, Some(prefix)),
            None => (text, None),
        };
        let start: IpAddr = start.parse().map_err(|_| NetworkError)?;
        let (bits, width) = match start {
            IpAddr::V4(it) => (u128::from(it.to_bits()), 32),
            IpAddr::V6(it) => (it.to_bits(), 128),
        };
        let prefix = match prefix {
            Some(it) if it.bytes().all(|it| it.is_ascii_digit()) => it.parse().ok(),
            Some(_) => None,
            None => Some(width),
        };
        let free = prefix.and_then(|it: u32| width.checked_sub(it)).ok_or(NetworkError)?;
        match bits.trailing_zeros() >= free {
            true => Ok(Network { start, free }),
            false => Err(NetworkError),
        }
    }
}

const fn v4([a, b, c, d]: [u8; 4], prefix: u32) -> Network {
    Network { start: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), free: 32 - prefix }
}

const fn v6([a, b, c, d, e, f]: [u16; 6], prefix: u32) -> Network {
    Network { start: IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, 0, 0)), free: 128 - prefix }
}
