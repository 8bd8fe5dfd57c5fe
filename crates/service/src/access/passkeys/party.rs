//! For whom a passkey is made: the name of this installation, which is where browsers find it.

use std::net::IpAddr;

/// The relying party. A passkey made for one name is worth nothing to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Party {
    pub id: String,
    pub origins: Vec<String>,
}

impl Party {
    /// Reads it from the public address; or says why there can be no passkeys here.
    pub fn of(public_url: &str) -> Result<Party, &'static str> {
        let (scheme, rest) = public_url.split_once("://").unwrap_or(("http", public_url));
        let authority = rest.split('/').next().unwrap_or_default();
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|it| it.is_ascii_digit()) => (host, Some(port)),
            _ => (authority, None),
        };
        // Browsers leave out the port that goes without saying.
        let port = port.filter(|it| !matches!((scheme, *it), ("https", "443") | ("http", "80")));
        let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let origin = |host: &str| match port {
            Some(port) => format!("{scheme}://{host}:{port}"),
            None => format!("{scheme}://{host}"),
        };
        match host.parse::<IpAddr>() {
            Ok(ip) if ip.is_loopback() => {
                Ok(Party { id: "localhost".to_owned(), origins: vec![origin("localhost")] })
            }
            Ok(_) => {
                Err("Passkeys need a name, and this installation is reached by a number. Set \
                 public_url to a name with https to use them.")
            }
            Err(_) if scheme != "https" && host != "localhost" => Err(
                "Browsers offer passkeys only over https. Set public_url to an https address to \
                 use them.",
            ),
            Err(_) => Ok(Party { origins: vec![origin(&host)], id: host }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_installation_is_that_of_its_passkeys() {
        for (url, id, origin) in [
            ("https://money.example.com", "money.example.com", "https://money.example.com"),
            ("https://Money.example:8443", "money.example", "https://money.example:8443"),
            ("http://localhost:4680", "localhost", "http://localhost:4680"),
            ("http://127.0.0.1:4680", "localhost", "http://localhost:4680"),
            ("http://[::1]:80", "localhost", "http://localhost"),
            ("https://money.example:443", "money.example", "https://money.example"),
        ] {
            let party = Party::of(url).unwrap();
            assert_eq!((party.id.as_str(), party.origins), (id, vec![origin.to_owned()]), "{url}");
        }
    }

    #[test]
    fn where_browsers_offer_no_passkeys_a_sentence_says_why() {
        for url in ["http://192.168.1.5:4680", "https://10.0.0.1", "https://[2001:db8::1]:1"] {
            assert!(Party::of(url).unwrap_err().contains("number"), "{url}");
        }
        assert!(Party::of("http://money.example.com").unwrap_err().contains("https"));
    }
}
