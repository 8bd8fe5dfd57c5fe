//! A URL taken apart, once: what is vetted here is what is asked there.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Uri;

use crate::Failure;

#[cfg(test)]
mod tests;

const LONGEST_URL: usize = 2048;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) is_https: bool,
    pub(crate) host: Host,
    pub(crate) port: u16,
    /// Path and query, as the request line names them.
    pub(crate) path: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Host {
    Name(String),
    Address(IpAddr),
}

impl Target {
    pub(crate) fn parse(url: &str) -> Result<Target, Failure> {
        if url.len() > LONGEST_URL {
            return Err(Failure::BadUrl);
        }
        let uri: Uri = url.parse().map_err(|_| Failure::BadUrl)?;
        let is_https = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(Failure::BadUrl),
        };
        let authority = uri.authority().ok_or(Failure::BadUrl)?;
        // A user name before an @ is where a password would stand, and where eyes are misled.
        let port = match authority.as_str().strip_prefix(authority.host()) {
            Some("") => default_port(is_https),
            Some(rest) => rest.strip_prefix(':').and_then(port_in).ok_or(Failure::BadUrl)?,
            None => return Err(Failure::BadUrl),
        };
        let query = uri.query().map(|it| format!("?{it}")).unwrap_or_default();
        let path = format!("{}{query}", uri.path());
        Ok(Target { is_https, host: Host::parse(authority.host())?, port, path })
    }

    /// Host and port as the Host header names them.
    pub(crate) fn authority(&self) -> String {
        match self.port == default_port(self.is_https) {
            true => self.host.to_string(),
            false => format!("{}:{}", self.host, self.port),
        }
    }

    /// All that may be shown of a URL: path and query often hold what only two should know.
    pub(crate) fn origin(&self) -> String {
        let scheme = if self.is_https { "https" } else { "http" };
        format!("{scheme}://{}", self.authority())
    }
}

fn default_port(is_https: bool) -> u16 {
    if is_https { 443 } else { 80 }
}

fn port_in(text: &str) -> Option<u16> {
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
        // Programs read `2130706433`, `0x7f.1` and `0177.0.0.1` as addresses, each in its own way.
        // Here an address has four decimal numbers, and what ends in a number is no name.
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
