//! The client's address behind the operator's own proxies.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, Request};
use base::Network;
use http::HeaderMap;

const FORWARDED: &str = "x-forwarded-for";

/// Set for a request that came with X-Forwarded-For.
#[derive(Clone, Copy)]
pub(crate) struct Forwarded {
    /// Whether the request came from one of our proxies, so that the header is believed.
    pub(crate) is_trusted: bool,
}

/// Replaces the address of the connection with that of the client.
pub(crate) fn see_through(mut request: Request, proxies: &[Network]) -> Request {
    if let Some(ConnectInfo(peer)) = request.extensions().get::<ConnectInfo<SocketAddr>>().copied()
    {
        if request.headers().contains_key(FORWARDED) {
            let ip = peer.ip().to_canonical();
            let is_trusted = proxies.iter().any(|it| it.contains(ip));
            request.extensions_mut().insert(Forwarded { is_trusted });
        }
        let sender = SocketAddr::new(sender(peer.ip(), request.headers(), proxies), peer.port());
        request.extensions_mut().insert(ConnectInfo(sender));
    }
    request
}

/// The last address in X-Forwarded-For that is not one of our proxies. Earlier ones may be forged.
fn sender(peer: IpAddr, headers: &HeaderMap, proxies: &[Network]) -> IpAddr {
    let mut sender = peer.to_canonical();
    let lines: Vec<&str> =
        headers.get_all(FORWARDED).iter().filter_map(|it| it.to_str().ok()).collect();
    for text in lines.iter().rev().flat_map(|it| it.rsplit(',')).map(str::trim) {
        if !proxies.iter().any(|it| it.contains(sender)) {
            break;
        }
        let address = text.parse().or_else(|_| text.parse::<SocketAddr>().map(|it| it.ip()));
        match address {
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
        // The address before the one that the proxy added is forged.
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
}
