//! What goes out and what comes back. Neither shows a value when it is printed: keys travel in
//! headers, secrets in paths and queries, and people's data in bodies.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONNECTION, HOST, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use http_body_util::Full;

use crate::Failure;
use crate::target::Target;

/// A request on its way.
pub struct Outgoing {
    method: Method,
    pub(crate) url: String,
    headers: Vec<(&'static str, String)>,
    body: Bytes,
    pub(crate) scope: Option<String>,
}

impl Outgoing {
    pub fn get(url: impl Into<String>) -> Outgoing {
        Outgoing::new(Method::GET, url.into(), Bytes::new())
    }

    pub fn post(url: impl Into<String>, body: impl Into<Bytes>) -> Outgoing {
        Outgoing::new(Method::POST, url.into(), body.into())
    }

    fn new(method: Method, url: String, body: Bytes) -> Outgoing {
        Outgoing { method, url, headers: Vec::new(), body, scope: None }
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Outgoing {
        self.headers.push((name, value.into()));
        self
    }

    /// Goes over a connection that an earlier request of the same scope left open, and leaves its
    /// own to the next; scopes never share one. A request may then arrive twice: one that is lost
    /// together with an old connection, before anything of an answer came, is sent once more.
    pub fn reusing(mut self, scope: impl Into<String>) -> Outgoing {
        self.scope = Some(scope.into());
        self
    }

    pub(crate) fn prepare(self, target: &Target) -> Result<Prepared, Failure> {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        for (name, value) in &self.headers {
            let name = HeaderName::try_from(*name).map_err(|_| Failure::BadHeader)?;
            let mut value = HeaderValue::try_from(value).map_err(|_| Failure::BadHeader)?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        // What is packed small may be large when unpacked; the bound is on what travels.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let uri = format!("{}{}", target.origin(), target.path);
        let uri = Uri::try_from(uri).map_err(|_| Failure::BadUrl)?;
        let host = HeaderValue::try_from(target.authority()).map_err(|_| Failure::BadUrl)?;
        Ok(Prepared { method: self.method, uri, host, headers, body: self.body })
    }
}

/// A request that can be said in each manner, and more than once.
pub(crate) struct Prepared {
    method: Method,
    uri: Uri,
    host: HeaderValue,
    headers: HeaderMap,
    body: Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// HTTP/1.1, and the connection ends with the answer.
    Once,
    /// HTTP/1.1, on a connection that stays.
    Kept,
    /// HTTP/2, beside others.
    Shared,
}

impl Prepared {
    pub(crate) fn request(&self, manner: Manner) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.headers_mut() = self.headers.clone();
        *request.uri_mut() = match (manner, self.uri.path_and_query()) {
            (Manner::Once | Manner::Kept, Some(path)) => path.clone().into(),
            _ => self.uri.clone(),
        };
        if manner != Manner::Shared {
            request.headers_mut().insert(HOST, self.host.clone());
        }
        if manner == Manner::Once {
            request.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        request
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
