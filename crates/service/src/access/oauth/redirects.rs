//! Redirect URIs of OAuth clients, parsed strictly, because they receive authorization codes.
//!
//! The parser is our own, because the `url` crate normalizes: it accepts backslashes, `https:app.example` and `127.1`, and
//! drops an empty port. A redirect URI must be compared as it was written, and one that two programs could read
//! differently must be refused.

use base::percent_encode;

/// The longest accepted address.
const LENGTH_MAX: usize = 2_000;

/// An address that codes can be sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    text: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// An `https` address.
    Web { authority: String },
    /// A program on the person's own machine, which listens on any free port.
    Loopback { host: &'static str, port: Option<u16> },
    /// An app on the person's device, with a URL scheme of its own.
    Private { scheme: String },
}

impl Redirect {
    /// Parses an address: `https`, `http` on the local machine, or a scheme with a dot (RFC 8252). Fragments, user names,
    /// passwords and everything that two parsers could read differently are refused.
    pub fn parse(text: &str) -> Result<Redirect, &'static str> {
        if text.is_empty() || text.len() > LENGTH_MAX {
            return Err("must have 1 to 2000 characters");
        }
        let is_forbidden = |it: u8| !it.is_ascii_graphic() || b"\"<>\\^`{|}*#".contains(&it);
        if text.bytes().any(is_forbidden) {
            return Err("must be a plain address without a fragment or a wildcard");
        }
        let (scheme, rest) = text.split_once(':').ok_or("must begin with a scheme")?;
        let lower = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || b"+-.".contains(&it);
        if !scheme.starts_with(|it: char| it.is_ascii_lowercase()) || !scheme.bytes().all(lower) {
            return Err("must begin with a scheme in lower case");
        }
        let kind = match scheme {
            "https" => {
                let authority = authority(rest)?;
                split_port(authority)?;
                Kind::Web { authority: authority.to_owned() }
            }
            "http" => {
                let (host, port) = split_port(authority(rest)?)?;
                let own = ["127.0.0.1", "[::1]", "localhost"].into_iter().find(|it| *it == host);
                let host = own.ok_or("must use https, except on the local machine")?;
                Kind::Loopback { host, port }
            }
            scheme if scheme.contains('.') && !scheme.ends_with('.') => {
                Kind::Private { scheme: scheme.to_owned() }
            }
            _ => {
                return Err(
                    "must use https, http on the local machine, or a scheme with a dot in it",
                );
            }
        };
        Ok(Redirect { text: text.to_owned(), kind })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether this registered address matches the requested one. They must be identical, except for the port of a
    /// program on the person's own machine.
    pub fn matches(&self, requested: &Redirect) -> bool {
        match (&self.kind, &requested.kind) {
            (Kind::Loopback { .. }, Kind::Loopback { .. }) => {
                self.without_port() == requested.without_port()
            }
            _ => self.text == requested.text,
        }
    }

    fn without_port(&self) -> String {
        match &self.kind {
            Kind::Loopback { host, port } => {
                let port = port.map_or(String::new(), |it| format!(":{it}"));
                self.text.replacen(&format!("{host}{port}"), host, 1)
            }
            _ => self.text.clone(),
        }
    }

    /// The host, or the scheme of an app on the device, for the person to judge.
    pub fn host(&self) -> &str {
        match &self.kind {
            Kind::Web { authority } => authority,
            Kind::Loopback { host, .. } => host,
            Kind::Private { scheme } => scheme,
        }
    }

    pub fn is_on_this_machine(&self) -> bool {
        matches!(self.kind, Kind::Loopback { .. })
    }

    /// The source expression for a content security policy; `None` for `https`, which policies allow as a whole.
    pub fn csp_source(&self) -> Option<String> {
        match &self.kind {
            Kind::Web { .. } => None,
            // A policy cannot express an address in brackets.
            Kind::Loopback { host: "[::1]", .. } => Some("http:".to_owned()),
            Kind::Loopback { host, port: None } => Some(format!("http://{host}")),
            Kind::Loopback { host, port: Some(port) } => Some(format!("http://{host}:{port}")),
            Kind::Private { scheme } => Some(format!("{scheme}:")),
        }
    }

    /// The address with the response's parameters added to its query.
    pub fn with_params(&self, params: &[(&str, &str)]) -> String {
        let mut text = self.text.clone();
        for (name, value) in params {
            text.push(if text.contains('?') { '&' } else { '?' });
            text.push_str(name);
            text.push('=');
            text.push_str(&percent_encode(value));
        }
        text
    }
}

fn authority(rest: &str) -> Result<&str, &'static str> {
    let rest = rest.strip_prefix("//").ok_or("must have // after its scheme")?;
    Ok(&rest[..rest.find(['/', '?']).unwrap_or(rest.len())])
}

fn split_port(authority: &str) -> Result<(&str, Option<u16>), &'static str> {
    let inside = authority.rfind(']').map_or(0, |it| it + 1);
    let (host, port) = match authority[inside..].find(':') {
        Some(at) => (&authority[..inside + at], Some(&authority[inside + at + 1..])),
        None => (authority, None),
    };
    let port = match port {
        None => None,
        Some(text) => {
            let number = text.parse::<u16>().ok().filter(|it| it.to_string() == text && *it > 0);
            Some(number.ok_or("must have a port from 1 to 65535, or none")?)
        }
    };
    if is_host(host) {
        Ok((host, port))
    } else {
        Err("must name a host without a user name or password")
    }
}

/// Whether a host is a plain name or an IPv6 address in brackets, without a user name or password.
fn is_host(host: &str) -> bool {
    match host.strip_prefix('[').map(|it| it.strip_suffix(']')) {
        Some(inner) => inner.is_some_and(|it| it.parse::<std::net::Ipv6Addr>().is_ok()),
        None => {
            let part = |it: &str| {
                !it.is_empty()
                    && it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-' || it == b'_')
            };
            host.split('.').all(part)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(good: &str, host: &str, source: &str) {
        let redirect = Redirect::parse(good).unwrap_or_else(|error| panic!("{good} {error}"));
        let found = redirect.csp_source().unwrap_or_default();
        assert_eq!((redirect.host(), found.as_str()), (host, source), "{good}");
        assert!(redirect.matches(&redirect));
    }

    #[test]
    fn addresses_of_apps_are_accepted() {
        check("https://app.example/back", "app.example", "");
        check("https://app.example", "app.example", "");
        check("https://app.example:8443/back?x=1", "app.example:8443", "");
        check("https://[2001:db8::1]/back", "[2001:db8::1]", "");
        check("http://127.0.0.1/back", "127.0.0.1", "http://127.0.0.1");
        check("http://localhost:3000/back", "localhost", "http://localhost:3000");
        check("http://[::1]:65535/back", "[::1]", "http:");
        check("com.example.app:/back", "com.example.app", "com.example.app:");
        check("com.example.app://x/back", "com.example.app", "com.example.app:");
    }

    #[test]
    fn addresses_that_could_lead_elsewhere_are_refused() {
        for bad in [
            "",
            "app.example/back",
            "/back",
            "//app.example",
            "http://app.example/back",
            "http://127.0.0.1.evil.example/",
            "http://localhost.evil.example/",
            "http://127.0.0.2/",
            "http://localhost@evil.example/",
            "https://app.example@evil.example/",
            "https://user:word@app.example/",
            "https://app.example\\@evil.example/",
            "https://app.example/#x",
            "https://app.example/#",
            "https://*.example/",
            "https://app.example/*",
            "https://",
            "https:///back",
            "https:app.example",
            "https://app..example/",
            "https://app.example:/",
            "https://app.example:0/",
            "https://app.example:080/",
            "https://app.example:+80/",
            "https://app.example:99999/",
            "https://[::1/",
            "https://[::1]x/",
            "https://app.example/a b",
            "https://app.example/\r\nLocation: x",
            "https://аpp.example/",
            "HTTPS://app.example/",
            "javascript:alert(1)",
            "java.script",
            "data:text/html,x",
            "file:///etc/passwd",
            "myapp:/back",
            "myapp.:/back",
            ".app:/back",
            "1.app:/back",
        ] {
            assert!(Redirect::parse(bad).is_err(), "{bad}");
        }
        assert!(Redirect::parse(&format!("https://a.example/{}", "a".repeat(2_000))).is_err());
    }

    #[test]
    fn the_address_must_be_the_same_to_the_letter_but_for_the_port_on_this_machine() {
        let matches = |registered: &str, asked: &str| {
            let registered = Redirect::parse(registered).unwrap();
            Redirect::parse(asked).is_ok_and(|it| registered.matches(&it))
        };
        let app = "https://app.example/back";
        for other in [
            "https://app.example/back/",
            "https://app.example/back?x=1",
            "https://app.example/Back",
            "https://app.example:443/back",
            "https://app.example:8443/back",
            "https://app.example/back/../other",
            "https://APP.example/back",
            "https://x@app.example/back",
            "https://app.example.evil.example/back",
            "http://localhost/back",
        ] {
            assert!(!matches(app, other), "{other}");
        }
        let local = "http://127.0.0.1:1234/127.0.0.1:1234";
        assert!(matches(local, "http://127.0.0.1:5678/127.0.0.1:1234"));
        assert!(matches(local, "http://127.0.0.1/127.0.0.1:1234"));
        assert!(!matches(local, "http://127.0.0.1:1234/127.0.0.1:5678"));
        assert!(!matches(local, "http://127.0.0.1:1234/127.0.0.1:1234/"));
        assert!(!matches(local, "http://localhost:1234/127.0.0.1:1234"));
        assert!(!matches(local, "http://[::1]:1234/127.0.0.1:1234"));
        assert!(matches("http://[::1]/a", "http://[::1]:80/a"));
        assert!(!matches("https://localhost:1/a", "https://localhost:2/a"));
    }

    #[test]
    fn an_answer_is_added_to_the_query_that_is_there() {
        let plain = Redirect::parse("https://app.example/back").unwrap();
        let answer = [("code", "a&b=c"), ("state", "é \"%+")];
        assert_eq!(
            plain.with_params(&answer),
            "https://app.example/back?code=a%26b%3Dc&state=%C3%A9%20%22%25%2B"
        );
        let query = Redirect::parse("https://app.example/back?x=1").unwrap();
        assert_eq!(query.with_params(&[("code", "a")]), "https://app.example/back?x=1&code=a");
    }
}
