//! Whom a request really comes from, when proxies of the operator's own hand it on.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use axum::extract::{ConnectInfo, Request};
use http::HeaderMap;

const FORWARDED: &str = "x-forwarded-for";

/// Addresses whose word about the sender is believed: one address, or all with the same beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    first: IpAddr,
    bits: u8,
}

impl FromStr for Network {
    type Err = ();

    /// Such as `10.0.0.7` or `172.16.0.0/12`.
    fn from_str(text: &str) -> Result<Network, ()> {
        let (first, bits) = match text.split_once('/') {
            Some((first, bits)) => (first, Some(bits.parse().map_err(|_| ())?)),
            None => (text, None),
        };
        let first: IpAddr = first.parse().map_err(|_| ())?;
        let most = if first.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(most);
        if bits <= most { Ok(Network { first, bits }) } else { Err(()) }
    }
}

impl Network {
    fn contains(self, address: IpAddr) -> bool {
        let same = |one: u128, other: u128, width: u32| {
            let shift = width - u32::from(self.bits);
            one.checked_shr(shift) == other.checked_shr(shift)
        };
        match (self.first, address) {
            (IpAddr::V4(one), IpAddr::V4(other)) => {
                same(one.to_bits().into(), other.to_bits().into(), 32)
            }
            (IpAddr::V6(one), IpAddr::V6(other)) => same(one.to_bits(), other.to_bits(), 128),
            _ => false,
        }
    }
}

/// Replaces the address of the connection by that of the sender.
pub(crate) fn see_through(mut request: Request, proxies: &[Network]) -> Request {
    if let Some(ConnectInfo(peer)) = request.extensions().get::<ConnectInfo<SocketAddr>>().copied()
    {
        let sender = SocketAddr::new(sender(peer.ip(), request.headers(), proxies), peer.port());
        request.extensions_mut().insert(ConnectInfo(sender));
    }
    request
}

/// The last address that no proxy of ours has. What stands before it, anybody can have written.
fn sender(peer: IpAddr, headers: &HeaderMap, proxies: &[Network]) -> IpAddr {
    let mut sender = peer.to_canonical();
    let lines: Vec<&str> =
        headers.get_all(FORWARDED).iter().filter_map(|it| it.to_str().ok()).collect();
    for told in lines.iter().rev().flat_map(|it| it.rsplit(',')).map(str::trim) {
        if !proxies.iter().any(|it| it.contains(sender)) {
            break;
        }
        let bare = told.parse().or_else(|_| told.parse::<SocketAddr>().map(|it| it.ip()));
        match bare {
            Ok(address) => sender = IpAddr::to_canonical(&address),
            Err(_) => break,
        }
    }
    sender
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(peer: &str, lines: &[&str], proxies: &[&str]) -> String {
        let proxies: Vec<Network> = proxies.iter().map(|it| it.parse().unwrap()).collect();
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(FORWARDED, line.parse().unwrap());
        }
        sender(peer.parse().unwrap(), &headers, &proxies).to_string()
    }

    #[test]
    fn a_stranger_is_not_believed() {
        assert_eq!(seen("9.9.9.9", &["1.1.1.1"], &[]), "9.9.9.9");
        assert_eq!(seen("9.9.9.9", &["1.1.1.1"], &["10.0.0.0/8"]), "9.9.9.9");
        // Before what the proxy added stands what the visitor made up.
        assert_eq!(seen("10.0.0.1", &["1.1.1.1, 9.9.9.9"], &["10.0.0.1"]), "9.9.9.9");
        assert_eq!(seen("10.0.0.1", &["1.1.1.1", "9.9.9.9"], &["10.0.0.1"]), "9.9.9.9");
    }

    #[test]
    fn a_chain_of_own_proxies_is_followed_to_its_beginning() {
        let own = ["10.0.0.0/8", "::1"];
        assert_eq!(seen("::1", &["7.7.7.7, 10.1.2.3"], &own), "7.7.7.7");
        assert_eq!(seen("::ffff:10.0.0.1", &["7.7.7.7:51000"], &own), "7.7.7.7");
        assert_eq!(seen("::1", &["2001:db8::7, [::1]:80"], &own), "2001:db8::7");
        assert_eq!(seen("10.0.0.1", &["unknown"], &own), "10.0.0.1");
        assert_eq!(seen("10.0.0.1", &[], &own), "10.0.0.1");
        assert_eq!(seen("10.0.0.1", &["8.8.8.8, 10.0.0.2"], &["0.0.0.0/0"]), "8.8.8.8");
    }

    #[test]
    fn a_network_ends_where_its_bits_do() {
        let contains = |network: &str, address: &str| {
            network.parse::<Network>().unwrap().contains(address.parse().unwrap())
        };
        assert!(contains("172.16.0.0/12", "172.31.255.255"));
        assert!(!contains("172.16.0.0/12", "172.32.0.0"));
        assert!(contains("fd00::/8", "fdff::1") && !contains("fd00::/8", "fe00::1"));
        assert!(!contains("10.0.0.7", "10.0.0.8") && !contains("::/0", "10.0.0.7"));
        for wrong in ["", "10.0.0", "10.0.0.0/33", "::/129", "10.0.0.0/x", "proxy.example"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }
}
