//! What goes out and what comes back. Neither shows a value when it is printed: keys travel in
//! headers, secrets in paths and queries, and people's data in bodies.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONNECTION, HOST, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request};
use http_body_util::Full;

use crate::Failure;
use crate::target::Target;

/// A request on its way.
pub struct Outgoing {
    method: Method,
    pub(crate) url: String,
    headers: Vec<(&'static str, String)>,
    body: Bytes,
}

impl Outgoing {
    pub fn get(url: impl Into<String>) -> Outgoing {
        Outgoing::new(Method::GET, url.into(), Bytes::new())
    }

    pub fn post(url: impl Into<String>, body: impl Into<Bytes>) -> Outgoing {
        Outgoing::new(Method::POST, url.into(), body.into())
    }

    fn new(method: Method, url: String, body: Bytes) -> Outgoing {
        Outgoing { method, url, headers: Vec::new(), body }
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Outgoing {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn into_request(self, target: &Target) -> Result<Request<Full<Bytes>>, Failure> {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        for (name, value) in &self.headers {
            let name = HeaderName::try_from(*name).map_err(|_| Failure::BadHeader)?;
            let mut value = HeaderValue::try_from(value).map_err(|_| Failure::BadHeader)?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let host = HeaderValue::try_from(target.authority()).map_err(|_| Failure::BadUrl)?;
        headers.insert(HOST, host);
        // What is packed small may be large when unpacked; the bound is on what travels.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        let request = Request::builder().method(self.method).uri(&target.path);
        let mut request = request.body(Full::new(self.body)).map_err(|_| Failure::BadUrl)?;
        *request.headers_mut() = headers;
        Ok(request)
    }
}

const AGENT: &str = concat!("Evenkeel/", env!("CARGO_PKG_VERSION"));

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = Target::parse(&self.url).map(|it| it.origin());
        f.debug_struct("Outgoing")
            .field("method", &self.method)
            .field("origin", &origin)
            .field("headers", &self.headers.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("body_length", &self.body.len())
            .finish()
    }
}

/// How long and how much, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// To find the host, connect to it and agree on TLS.
    pub connect: Duration,
    /// For all of it, to the last byte.
    pub whole: Duration,
    pub body_max: usize,
}

/// An answer, whatever it says.
pub struct Reply {
    pub status: u16,
    pub(crate) headers: HeaderMap,
    pub body: Bytes,
    /// Whether there was more of the body than was let in.
    pub truncated: bool,
}

impl Reply {
    /// The first header of this name, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// What is wrong with an answer although it came.
    pub fn flaw(&self) -> Option<Failure> {
        match self.status {
            300..=399 => Some(Failure::Redirect),
            _ => self.truncated.then_some(Failure::BodyTooLarge),
        }
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("status", &self.status)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("body_length", &self.body.len())
            .field("truncated", &self.truncated)
            .finish()
    }
}
