//! Requests and responses. Their debug output contains no values, because headers contain keys, paths and queries
//! contain secrets, and bodies contain people's data.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONNECTION, HOST, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use http_body_util::Full;

use crate::failure::Failure;
use crate::target::Target;

pub struct HttpRequest {
    method: Method,
    pub(crate) url: String,
    headers: Vec<(Cow<'static, str>, String)>,
    body: Bytes,
    pub(crate) scope: Option<String>,
}

impl HttpRequest {
    pub fn get(url: impl Into<String>) -> HttpRequest {
        HttpRequest::new(Method::GET, url.into(), Bytes::new())
    }

    pub fn post(url: impl Into<String>, body: impl Into<Bytes>) -> HttpRequest {
        HttpRequest::new(Method::POST, url.into(), body.into())
    }

    pub fn put(url: impl Into<String>, body: impl Into<Bytes>) -> HttpRequest {
        HttpRequest::new(Method::PUT, url.into(), body.into())
    }

    pub fn delete(url: impl Into<String>) -> HttpRequest {
        HttpRequest::new(Method::DELETE, url.into(), Bytes::new())
    }

    fn new(method: Method, url: String, body: Bytes) -> HttpRequest {
        HttpRequest { method, url, headers: Vec::new(), body, scope: None }
    }

    pub fn header(
        mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl Into<String>,
    ) -> HttpRequest {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The method as a word.
    pub(crate) fn method_name(&self) -> &'static str {
        match self.method {
            Method::GET => "GET",
            Method::POST => "POST",
            Method::PUT => "PUT",
            Method::DELETE => "DELETE",
            _ => "_OTHER",
        }
    }

    /// Reuses connections within the scope; scopes never share one. The request may then arrive twice: if a reused
    /// connection breaks before any byte of a response, the request is sent once more on a new one.
    pub fn pooled(mut self, scope: impl Into<String>) -> HttpRequest {
        self.scope = Some(scope.into());
        self
    }

    pub(crate) fn prepare(self, target: &Target) -> Result<PreparedRequest, Failure> {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, HeaderValue::from_static(USER_AGENT_VALUE));
        for (name, value) in &self.headers {
            let name = HeaderName::try_from(name.as_ref()).map_err(|_| Failure::BadHeader)?;
            let mut value = HeaderValue::try_from(value).map_err(|_| Failure::BadHeader)?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        // No compression: a small compressed body could be large when unpacked, past the limit on the body.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let uri = format!("{}{}", target.origin(), target.path);
        let uri = Uri::try_from(uri).map_err(|_| Failure::BadUrl)?;
        let host = HeaderValue::try_from(target.authority()).map_err(|_| Failure::BadUrl)?;
        Ok(PreparedRequest { method: self.method, uri, host, headers, body: self.body })
    }
}

/// A validated request that can be sent over any kind of connection, and more than once.
pub(crate) struct PreparedRequest {
    method: Method,
    uri: Uri,
    host: HeaderValue,
    headers: HeaderMap,
    body: Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionUse {
    /// HTTP/1.1, and the connection closes after the response.
    Once,
    /// HTTP/1.1 on a connection that stays open.
    KeepAlive,
    Http2,
}

impl PreparedRequest {
    pub(crate) fn request(&self, connection_use: ConnectionUse) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.headers_mut() = self.headers.clone();
        *request.uri_mut() = match (connection_use, self.uri.path_and_query()) {
            (ConnectionUse::Once | ConnectionUse::KeepAlive, Some(path)) => path.clone().into(),
            _ => self.uri.clone(),
        };
        if connection_use != ConnectionUse::Http2 {
            request.headers_mut().insert(HOST, self.host.clone());
        }
        if connection_use == ConnectionUse::Once {
            request.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        request
    }
}

const USER_AGENT_VALUE: &str = concat!("Evenkeel/", env!("CARGO_PKG_VERSION"));

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = Target::parse(&self.url).map(|it| it.origin());
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("origin", &origin)
            .field("headers", &self.headers.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("body_length", &self.body.len())
            .finish()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For DNS, TCP and TLS.
    pub connect: Duration,
    /// For the whole exchange, up to the last byte of the response.
    pub total: Duration,
    pub body_max: usize,
}

/// A response with any status code.
pub struct HttpResponse {
    pub status: u16,
    pub(crate) headers: HeaderMap,
    pub body: Bytes,
    /// Whether the body was longer than the limit and was cut off.
    pub truncated: bool,
}

impl HttpResponse {
    /// The first header of this name, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Why a complete response still counts as a failure: a redirect, or a body over the limit.
    pub fn failure(&self) -> Option<Failure> {
        match self.status {
            300..=399 => Some(Failure::Redirect),
            _ => self.truncated.then_some(Failure::BodyTooLarge),
        }
    }
}

impl fmt::Debug for HttpResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpResponse")
            .field("status", &self.status)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("body_length", &self.body.len())
            .field("truncated", &self.truncated)
            .finish()
    }
}
