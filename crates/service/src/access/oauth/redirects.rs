//! Redirect URIs of OAuth clients, parsed strictly, because they receive authorization codes.
//!
//! The parser is our own, because the `url` crate normalizes: it accepts backslashes, `https:app.example` and `127.1`, and
//! drops an empty port. A redirect URI must be compared as it was written, and one that two programs could read
//! differently must be refused.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Everything but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Long enough for every honest one.
const LENGTH_MAX: usize = 2_000;

/// An address an app may be answered at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    text: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// `https`, by its host and port.
    Web { authority: String },
    /// A program on the person's own machine, which takes whatever port is free.
    Loopback { host: &'static str, port: Option<u16> },
    /// An app on the person's own device, by a scheme that it alone answers.
    Private { scheme: String },
}

impl Redirect {
    /// `https`, `http` on this machine, or a scheme with a dot in it (RFC 8252); without a fragment, a name or password,
    /// or anything that two readers could read differently.
    pub fn parse(text: &str) -> Result<Redirect, &'static str> {
        if text.is_empty() || text.len() > LENGTH_MAX {
            return Err("must have 1 to 2000 characters");
        }
        let odd = |it: u8| !it.is_ascii_graphic() || b"\"<>\\^`{|}*#".contains(&it);
        if text.bytes().any(odd) {
            return Err("must be a plain address without a fragment or a wildcard");
        }
        let (scheme, rest) = text.split_once(':').ok_or("must begin with a scheme")?;
        let lower = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || b"+-.".contains(&it);
        if !scheme.starts_with(|it: char| it.is_ascii_lowercase()) || !scheme.bytes().all(lower) {
            return Err("must begin with a scheme in small letters");
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
                let host = own.ok_or("must use https, unless it is on this machine")?;
                Kind::Loopback { host, port }
            }
            scheme if scheme.contains('.') && !scheme.ends_with('.') => {
                Kind::Private { scheme: scheme.to_owned() }
            }
            _ => return Err("must use https, http on this machine, or a scheme with a dot in it"),
        };
        Ok(Redirect { text: text.to_owned(), kind })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether this registered address is the one that is asked for: the same to the letter, but for the port of a
    /// program on the person's own machine.
    pub fn admits(&self, asked: &Redirect) -> bool {
        match (&self.kind, &asked.kind) {
            (Kind::Loopback { .. }, Kind::Loopback { .. }) => {
                self.without_port() == asked.without_port()
            }
            _ => self.text == asked.text,
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

    /// Where the person is sent to, in a word they can judge.
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

    /// What a content security policy calls this place, where it is not under https.
    pub fn source(&self) -> Option<String> {
        match &self.kind {
            Kind::Web { .. } => None,
            // A policy has no words for an address in brackets.
            Kind::Loopback { host: "[::1]", .. } => Some("http:".to_owned()),
            Kind::Loopback { host, port: None } => Some(format!("http://{host}")),
            Kind::Loopback { host, port: Some(port) } => Some(format!("http://{host}:{port}")),
            Kind::Private { scheme } => Some(format!("{scheme}:")),
        }
    }

    /// The address with an answer in its query.
    pub fn with(&self, answer: &[(&str, &str)]) -> String {
        let mut text = self.text.clone();
        for (name, value) in answer {
            text.push(if text.contains('?') { '&' } else { '?' });
            text.push_str(name);
            text.push('=');
            text.extend(utf8_percent_encode(value, RESERVED));
        }
        text
    }
}

fn authority(rest: &str) -> Result<&str, &'static str> {
    let rest = rest.strip_prefix("//").ok_or("must have // behind its scheme")?;
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
    if is_host(host) { Ok((host, port)) } else { Err("must name a host, and nothing else there") }
}

/// A name of letters, digits, dots and hyphens, or an address in brackets. No name or password before it.
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
        let found = redirect.source().unwrap_or_default();
        assert_eq!((redirect.host(), found.as_str()), (host, source), "{good}");
        assert!(redirect.admits(&redirect));
    }

    #[test]
    fn addresses_of_apps_are_read() {
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
    fn what_could_lead_elsewhere_is_refused() {
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
        let admits = |registered: &str, asked: &str| {
            let registered = Redirect::parse(registered).unwrap();
            Redirect::parse(asked).is_ok_and(|it| registered.admits(&it))
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
            assert!(!admits(app, other), "{other}");
        }
        let local = "http://127.0.0.1:1234/127.0.0.1:1234";
        assert!(admits(local, "http://127.0.0.1:5678/127.0.0.1:1234"));
        assert!(admits(local, "http://127.0.0.1/127.0.0.1:1234"));
        assert!(!admits(local, "http://127.0.0.1:1234/127.0.0.1:5678"));
        assert!(!admits(local, "http://127.0.0.1:1234/127.0.0.1:1234/"));
        assert!(!admits(local, "http://localhost:1234/127.0.0.1:1234"));
        assert!(!admits(local, "http://[::1]:1234/127.0.0.1:1234"));
        assert!(admits("http://[::1]/a", "http://[::1]:80/a"));
        assert!(!admits("https://localhost:1/a", "https://localhost:2/a"));
    }

    #[test]
    fn an_answer_is_added_to_the_query_that_is_there() {
        let plain = Redirect::parse("https://app.example/back").unwrap();
        let answer = [("code", "a&b=c"), ("state", "é \"%+")];
        assert_eq!(
            plain.with(&answer),
            "https://app.example/back?code=a%26b%3Dc&state=%C3%A9%20%22%25%2B"
        );
        let query = Redirect::parse("https://app.example/back?x=1").unwrap();
        assert_eq!(query.with(&[("code", "a")]), "https://app.example/back?x=1&code=a");
    }
}
