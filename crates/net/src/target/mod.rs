//! Parses the URL of an outbound request, stricter than the `url` crate: that accepts `127.1`, `0x7f.1`, backslashes
//! and percent-encoded hosts and rewrites them, and here a host that two programs could read differently must be
//! refused. Splitting is left to `http::Uri`, the type that also sends the request, so that the checked URL is the
//! requested one.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Uri;

use crate::failure::Failure;

#[cfg(test)]
mod tests;

const URL_LENGTH_MAX: usize = 2048;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) is_https: bool,
    pub(crate) host: Host,
    pub(crate) port: u16,
    /// Path and query, as in the request line.
    pub(crate) path: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Host {
    Name(String),
    Address(IpAddr),
}

impl Target {
    pub(crate) fn parse(url: &str) -> Result<Target, Failure> {
        if url.len() > URL_LENGTH_MAX {
            return Err(Failure::BadUrl);
        }
        let uri: Uri = url.parse().map_err(|_| Failure::BadUrl)?;
        let is_https = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(Failure::BadUrl),
        };
        let authority = uri.authority().ok_or(Failure::BadUrl)?;
        // User info is refused: it may contain a password, and it misleads readers about the host.
        let port = match authority.as_str().strip_prefix(authority.host()) {
            Some("") => default_port(is_https),
            Some(rest) => rest.strip_prefix(':').and_then(parse_port).ok_or(Failure::BadUrl)?,
            None => return Err(Failure::BadUrl),
        };
        let query = uri.query().map(|it| format!("?{it}")).unwrap_or_default();
        let path = format!("{}{query}", uri.path());
        Ok(Target { is_https, host: Host::parse(authority.host())?, port, path })
    }

    /// Host and port, as in the Host header.
    pub(crate) fn authority(&self) -> String {
        match self.port == default_port(self.is_https) {
            true => self.host.to_string(),
            false => format!("{}:{}", self.host, self.port),
        }
    }

    /// The only part of a URL that may be shown: path and query often contain secrets.
    pub(crate) fn origin(&self) -> String {
        let scheme = if self.is_https { "https" } else { "http" };
        format!("{scheme}://{}", self.authority())
    }
}

fn default_port(is_https: bool) -> u16 {
    if is_https { 443 } else { 80 }
}

fn parse_port(text: &str) -> Option<u16> {
    let plain = text.bytes().all(|it| it.is_ascii_digit());
    text.parse().ok().filter(|it| plain && *it != 0)
}

impl Host {
    fn parse(text: &str) -> Result<Host, Failure> {
        if let Some(inner) = text.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            let address: Ipv6Addr = inner.parse().map_err(|_| Failure::BadUrl)?;
            return Ok(Host::Address(address.into()));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        // Programs disagree on whether `2130706433`, `0x7f.1` and `0177.0.0.1` are addresses. Here an IPv4 address has
        // four decimal numbers, and a name must not end in a number.
        if name.rsplit('.').next().is_some_and(is_number) {
            let address: Ipv4Addr = name.parse().map_err(|_| Failure::BadUrl)?;
            return Ok(Host::Address(address.into()));
        }
        let plain = |it: u8| it.is_ascii_alphanumeric() || it == b'-' || it == b'_';
        let is_label = |it: &str| (1..=63).contains(&it.len()) && it.bytes().all(plain);
        match name.len() <= 253 && name.split('.').all(is_label) {
            true => Ok(Host::Name(name)),
            false => Err(Failure::BadUrl),
        }
    }
}

fn is_number(label: &str) -> bool {
    match label.strip_prefix("0x") {
        Some(hex) => hex.bytes().all(|it| it.is_ascii_hexdigit()),
        None => !label.is_empty() && label.bytes().all(|it| it.is_ascii_digit()),
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Name(name) => f.write_str(name),
            Host::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Host::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}
