//! The store: a bucket, how it is reached, and requests that are signed, bounded and tried again.

use std::sync::Arc;
use std::time::Duration;

use base::Clock;
use bytes::Bytes;
use net::{Failure, HttpClient, HttpRequest, HttpResponse, Limits};

use crate::address::{self, Addressing, Location};
use crate::signature::{self, Signed, Signer, sha256_hex};
use crate::{Error, Result};

/// The operator's settings. No `Debug`, so that the key is never logged.
#[derive(Clone)]
pub struct Settings {
    /// Scheme, host and port.
    pub endpoint: String,
    pub region: String,
    pub bucket: String,
    /// The beginning of the keys of all objects, such as `evenkeel/`; may be empty.
    pub prefix: String,
    pub addressing: Addressing,
    pub access_key_id: String,
    pub secret_access_key: String,
}

/// Sizes and times, which tests make smaller.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// The size of a part that is written, or of a range that is read. S3 accepts no smaller parts than 5 MiB, and some
    /// stores want all parts of an object to have the same size.
    pub part_bytes: usize,
    /// For one request: a part must be through by then.
    pub request_max: Duration,
    /// The wait before a request is tried again; each further one is twice as long.
    pub retry_after: Duration,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace {
            part_bytes: 8 << 20,
            request_max: Duration::from_secs(300),
            retry_after: Duration::from_millis(500),
        }
    }
}

/// How often a request is sent before it counts as failed.
const TRIES: u32 = 4;
const CONNECT_MAX: Duration = Duration::from_secs(15);
/// The longest document: a list of 1,000 objects with the longest names.
pub(crate) const DOCUMENT_BYTES_MAX: usize = 2 << 20;

/// A bucket, or the part of it below a prefix. Clones share the client.
#[derive(Clone)]
pub struct Store {
    client: HttpClient,
    clock: Clock,
    settings: Arc<Settings>,
    signer: Signer,
    pub(crate) pace: Pace,
}

/// A request before it is signed.
pub(crate) struct Request<'a> {
    /// Follows "refused to".
    pub(crate) action: &'static str,
    pub(crate) method: &'static str,
    /// The object's key; `None` for the bucket.
    pub(crate) key: Option<&'a str>,
    pub(crate) query: &'a [(&'a str, &'a str)],
    pub(crate) headers: &'a [(&'static str, String)],
    pub(crate) body: Bytes,
    /// The longest body of the response.
    pub(crate) response_max: usize,
}

impl Default for Request<'_> {
    fn default() -> Self {
        Request {
            action: "answer",
            method: "GET",
            key: None,
            query: &[],
            headers: &[],
            body: Bytes::new(),
            response_max: DOCUMENT_BYTES_MAX,
        }
    }
}

impl Store {
    pub fn new(client: HttpClient, clock: Clock, settings: Settings) -> Result<Store> {
        let plain = |it: char| it.is_ascii_alphanumeric() || "-._/".contains(it);
        if !settings.prefix.chars().all(plain) || settings.prefix.starts_with('/') {
            return Err(Error::BadPrefix);
        }
        if !address::is_bucket(&settings.bucket) {
            return Err(Error::BadBucket);
        }
        let mut settings = settings;
        if !settings.prefix.is_empty() && !settings.prefix.ends_with('/') {
            settings.prefix.push('/');
        }
        let signer = Signer {
            access_key_id: settings.access_key_id.clone(),
            secret_access_key: settings.secret_access_key.clone(),
            region: settings.region.clone(),
        };
        Ok(Store { client, clock, settings: Arc::new(settings), signer, pace: Pace::default() })
    }

    pub fn with_pace(self, pace: Pace) -> Store {
        Store { pace, ..self }
    }

    /// The bucket of a location at the same endpoint, without a prefix.
    pub fn with_bucket_of(&self, location: &Location) -> Store {
        let bucket = location.bucket.clone();
        let settings = Settings { bucket, prefix: String::new(), ..(*self.settings).clone() };
        Store { settings: Arc::new(settings), ..self.clone() }
    }

    /// The address of an object, `s3://bucket/key`, or of all of them if the name is empty.
    pub fn shown(&self, name: &str) -> String {
        format!("s3://{}/{}", self.settings.bucket, self.key(name))
    }

    pub(crate) fn key(&self, name: &str) -> String {
        format!("{}{name}", self.settings.prefix)
    }

    pub(crate) fn bucket(&self) -> &str {
        &self.settings.bucket
    }

    pub(crate) fn prefix(&self) -> &str {
        &self.settings.prefix
    }

    /// Writes a small object.
    pub async fn put(&self, name: &str, body: impl Into<Bytes>) -> Result<()> {
        let key = self.key(name);
        let request = Request {
            action: "write an object",
            method: "PUT",
            key: Some(&key),
            ..Request::default()
        };
        self.send(Request { body: body.into(), ..request }).await.map(drop)
    }

    /// Deletes an object. One that does not exist is no error.
    pub async fn delete(&self, name: &str) -> Result<()> {
        let key = self.key(name);
        let request = Request {
            action: "delete an object",
            method: "DELETE",
            key: Some(&key),
            ..Request::default()
        };
        match self.send(request).await {
            Ok(_) | Err(Error::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Sends a request, several times if the network or the store fails, and returns a response that says success.
    pub(crate) async fn send(&self, request: Request<'_>) -> Result<HttpResponse> {
        let body_sha256 = sha256_hex(&request.body);
        let mut wait = self.pace.retry_after;
        for tries_left in (0..TRIES).rev() {
            let sent = self.send_once(&request, &body_sha256).await;
            let may_retry = match &sent {
                Ok(response) => [429, 500, 502, 503, 504].contains(&response.status),
                Err(failure) => matches!(
                    failure,
                    Failure::Timeout | Failure::Dns | Failure::Connect | Failure::Broken
                ),
            };
            if may_retry && tries_left > 0 {
                tokio::time::sleep(wait).await;
                wait *= 2;
                continue;
            }
            let endpoint = self.settings.endpoint.clone();
            let response = sent.map_err(|failure| Error::Unreachable { endpoint, failure })?;
            if response.truncated {
                return Err(Error::Malformed { action: request.action });
            }
            return match response.status {
                200..=299 => Ok(response),
                _ => Err(Error::from_response(request.action, &self.settings.bucket, &response)),
            };
        }
        Err(Error::Malformed { action: request.action })
    }

    async fn send_once(
        &self,
        request: &Request<'_>,
        body_sha256: &str,
    ) -> Result<HttpResponse, Failure> {
        let Settings { endpoint, addressing, bucket, .. } = &*self.settings;
        let (origin, path) = address::split(endpoint, *addressing, bucket, request.key);
        let query = signature::query(request.query);
        let url = match query.is_empty() {
            true => format!("{origin}{path}"),
            false => format!("{origin}{path}?{query}"),
        };
        let now = self.clock.now();
        let time = signature::time(now);
        let host = host_header(&origin);
        let headers =
            [("host", host.as_str()), ("x-amz-content-sha256", body_sha256), ("x-amz-date", &time)];
        let signed = Signed {
            method: request.method,
            path: &path,
            query: &query,
            headers: &headers,
            body_sha256,
        };
        let mut message = match request.method {
            "PUT" => HttpRequest::put(url, request.body.clone()),
            "POST" => HttpRequest::post(url, request.body.clone()),
            "DELETE" => HttpRequest::delete(url),
            _ => HttpRequest::get(url),
        };
        for (name, value) in request.headers {
            message = message.header(*name, value.clone());
        }
        let message = message
            .header("authorization", self.signer.authorization(&signed, now))
            .header("x-amz-content-sha256", body_sha256)
            .header("x-amz-date", time);
        let limits = Limits {
            connect: CONNECT_MAX.min(self.pace.request_max),
            total: self.pace.request_max,
            body_max: request.response_max,
        };
        self.client.send(message, limits).await
    }
}

/// The Host header that the client sends: without the default port of the scheme, and in lower case.
fn host_header(origin: &str) -> String {
    let (scheme, host) = origin.split_once("://").unwrap_or(("https", origin));
    let default_port = if scheme == "http" { ":80" } else { ":443" };
    host.strip_suffix(default_port).unwrap_or(host).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signed_host_is_the_one_that_is_sent() {
        assert_eq!(host_header("https://S3.Example.com:443"), "s3.example.com");
        assert_eq!(host_header("http://127.0.0.1:9000"), "127.0.0.1:9000");
        assert_eq!(host_header("http://[::1]:80"), "[::1]");
    }
}
