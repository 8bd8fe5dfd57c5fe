//! The relying party of passkeys: the domain of this installation.

use std::net::IpAddr;

/// The site that passkeys are for. A passkey of one domain does not work for another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelyingParty {
    pub id: String,
    pub origins: Vec<String>,
}

impl RelyingParty {
    /// Derives it from the public URL. The error says why passkeys cannot be used here.
    pub fn from_url(public_url: &str) -> Result<RelyingParty, &'static str> {
        let (scheme, rest) = public_url.split_once("://").unwrap_or(("http", public_url));
        let authority = rest.split('/').next().unwrap_or_default();
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|it| it.is_ascii_digit()) => (host, Some(port)),
            _ => (authority, None),
        };
        // Browsers leave out the default port.
        let port = port.filter(|it| !matches!((scheme, *it), ("https", "443") | ("http", "80")));
        let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let origin = |host: &str| match port {
            Some(port) => format!("{scheme}://{host}:{port}"),
            None => format!("{scheme}://{host}"),
        };
        match host.parse::<IpAddr>() {
            Ok(ip) if ip.is_loopback() => {
                Ok(RelyingParty { id: "localhost".to_owned(), origins: vec![origin("localhost")] })
            }
            Ok(_) => Err(
                "Passkeys need a domain name, but this installation is reached by an IP address. \
                 To use passkeys, set public_url to an https address with a domain name.",
            ),
            Err(_) if scheme != "https" && host != "localhost" => Err(
                "Browsers offer passkeys only over https. To use passkeys, set public_url to an https \
                 address.",
            ),
            Err(_) => Ok(RelyingParty { origins: vec![origin(&host)], id: host }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_url_gives_the_relying_party() {
        for (url, id, origin) in [
            ("https://money.example.com", "money.example.com", "https://money.example.com"),
            ("https://Money.example:8443", "money.example", "https://money.example:8443"),
            ("http://localhost:4680", "localhost", "http://localhost:4680"),
            ("http://127.0.0.1:4680", "localhost", "http://localhost:4680"),
            ("http://[::1]:80", "localhost", "http://localhost"),
            ("https://money.example:443", "money.example", "https://money.example"),
        ] {
            let party = RelyingParty::from_url(url).unwrap();
            assert_eq!((party.id.as_str(), party.origins), (id, vec![origin.to_owned()]), "{url}");
        }
    }

    #[test]
    fn where_browsers_offer_no_passkeys_the_error_says_why() {
        for url in ["http://192.168.1.5:4680", "https://10.0.0.1", "https://[2001:db8::1]:1"] {
            assert!(RelyingParty::from_url(url).unwrap_err().contains("IP address"), "{url}");
        }
        assert!(RelyingParty::from_url("http://money.example.com").unwrap_err().contains("https"));
    }
}
