//! IP networks in CIDR notation.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// An IP network, such as `192.168.1.0/24`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    start: IpAddr,
    /// The number of bits after the prefix.
    host_bits: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a network such as 192.168.1.0/24 or fd12:3456::/32, or a single address")]
pub struct NetworkError;

impl Network {
    /// For constants; the bits after the prefix must be zero.
    pub const fn v4([a, b, c, d]: [u8; 4], prefix: u32) -> Network {
        Network { start: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), host_bits: 32 - prefix }
    }

    pub const fn v6([a, b, c, d, e, f]: [u16; 6], prefix: u32) -> Network {
        Network {
            start: IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, 0, 0)),
            host_bits: 128 - prefix,
        }
    }

    pub fn contains(self, address: IpAddr) -> bool {
        let differing = match (self.start, address) {
            (IpAddr::V4(start), IpAddr::V4(it)) => u128::from(start.to_bits() ^ it.to_bits()),
            (IpAddr::V6(start), IpAddr::V6(it)) => start.to_bits() ^ it.to_bits(),
            _ => return false,
        };
        differing.checked_shr(self.host_bits).unwrap_or(0) == 0
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    /// An address with bits set after the prefix is refused, because it is unclear which network was meant.
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
        let host_bits = prefix.and_then(|it: u32| width.checked_sub(it)).ok_or(NetworkError)?;
        match bits.trailing_zeros() >= host_bits {
            true => Ok(Network { start, host_bits }),
            false => Err(NetworkError),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_contains_exactly_the_addresses_with_its_prefix() {
        let contains = |network: &str, address: &str| {
            network.parse::<Network>().unwrap().contains(address.parse().unwrap())
        };
        assert!(contains("172.16.0.0/12", "172.31.255.255"));
        assert!(!contains("172.16.0.0/12", "172.32.0.0"));
        assert!(contains("fd00::/8", "fdff::1") && !contains("fd00::/8", "fe00::1"));
        assert!(!contains("10.0.0.7", "10.0.0.8") && !contains("::/0", "10.0.0.7"));
        assert!(contains("0.0.0.0/0", "255.255.255.255"));
        for wrong in
            ["", "10.0.0", "10.0.0.0/33", "::/129", "10.0.0.0/x", "proxy.example", "10.0.0.7/8"]
        {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }
}
