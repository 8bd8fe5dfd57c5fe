//! Forwards a webhook unchanged to the program under development, and returns its answer.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode, Uri};
use net::{Guard, HttpClient, HttpRequest, Limits, Policy};

use super::{respond, text};

/// Shorter than the sender's own timeout, so that the sender gets our error.
const LIMITS: Limits =
    Limits { connect: Duration::from_secs(3), total: Duration::from_secs(14), body_max: 64 * 1024 };
/// The headers of a webhook delivery that are forwarded.
const HEADERS: [&str; 5] =
    ["content-type", "user-agent", "webhook-id", "webhook-timestamp", "webhook-signature"];

pub(super) struct Forward {
    client: HttpClient,
    url: String,
}

pub(super) struct Forwarded {
    pub(super) response: Response<Full<Bytes>>,
    /// The result as printed on the event's line.
    pub(super) message: String,
}

impl Forward {
    /// The developer chose this address, so private networks are allowed.
    pub(super) fn new(url: &str) -> Result<Forward> {
        let parsed: Option<Uri> = url.parse().ok();
        let scheme = parsed.as_ref().and_then(Uri::scheme_str);
        ensure!(
            matches!(scheme, Some("http" | "https")),
            "--forward must look like http://localhost:3000/hooks"
        );
        let policy = Policy { guard: Guard::Any, extra_ca: None };
        let client = HttpClient::new(policy).context("cannot prepare requests to --forward")?;
        Ok(Forward { client, url: url.to_owned() })
    }

    pub(super) async fn send(&self, headers: &HeaderMap, body: Bytes) -> Forwarded {
        let mut outgoing = HttpRequest::post(self.url.clone(), body).pooled("forward");
        for name in HEADERS {
            if let Some(value) = text(headers, name) {
                outgoing = outgoing.header(name, value);
            }
        }
        let began = Instant::now();
        let reply = self.client.send(outgoing, LIMITS).await;
        let took = began.elapsed().as_millis();
        match reply {
            Ok(reply) => {
                let message = format!("{} answered {} in {took} ms", self.url, reply.status);
                let wait = reply.header("retry-after").map(str::to_owned);
                let mut response = Response::new(Full::new(reply.body));
                let status = StatusCode::from_u16(reply.status);
                *response.status_mut() = status.unwrap_or(StatusCode::BAD_GATEWAY);
                if let Some(value) = wait.and_then(|it| HeaderValue::from_str(&it).ok()) {
                    response.headers_mut().insert(RETRY_AFTER, value);
                }
                Forwarded { response, message }
            }
            Err(failure) => {
                let message = format!("{} gave no answer: {failure}", self.url);
                let response = respond(StatusCode::BAD_GATEWAY, format!("{message}\n"));
                Forwarded { response, message }
            }
        }
    }
}
