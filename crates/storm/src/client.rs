//! HTTP requests to one of the processes, each over its own connection.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::Storm;

/// How long a client waits for an answer. A paused process gives none.
pub(crate) const PATIENCE: Duration = Duration::from_secs(4);

/// A request that can be sent to several processes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Call {
    /// A request to the API with a key.
    pub(crate) fn api(method: &'static str, path: impl Into<String>, key: &str) -> Call {
        let headers = vec![("authorization", format!("Bearer {key}"))];
        Call { method, path: path.into(), headers, body: Vec::new() }
    }

    pub(crate) fn json(mut self, body: &Value) -> Call {
        self.headers.push(("content-type", "application/json".to_owned()));
        self.body = body.to_string().into_bytes();
        self
    }

    pub(crate) fn once(mut self, idempotency_key: &str) -> Call {
        self.headers.push(("idempotency-key", idempotency_key.to_owned()));
        self
    }
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: HeaderMap,
    body: Bytes,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// How long the server asks to wait, at most two seconds.
    pub(crate) fn retry_after(&self) -> Duration {
        let seconds = self.header("retry-after").parse().unwrap_or(1);
        Duration::from_secs(u64::clamp(seconds, 1, 2))
    }
}

/// Sends a request to one process. None if there was no answer, or one that does not say whether the request had an
/// effect.
pub(crate) async fn send(storm: &Storm, server: usize, call: &Call) -> Option<Answer> {
    send_within(storm, server, call, PATIENCE).await
}

/// Sends a request, and waits for the answer at most this long.
pub(crate) async fn send_within(
    storm: &Storm,
    server: usize,
    call: &Call,
    patience: Duration,
) -> Option<Answer> {
    let server = &storm.servers[server % storm.servers.len()];
    let began = Instant::now();
    let exchanged = tokio::time::timeout(patience, exchange(storm, server.index, call)).await;
    let answer = exchanged.ok().flatten();
    let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let status = answer.as_ref().map(|it| it.status);
    storm.history.record(json!({
        "process": server.index, "method": call.method, "path": call.path, "status": status, "took_ms": millis,
    }));
    let Some(answer) = answer else {
        storm.history.count("request without an answer");
        return None;
    };
    match answer.status {
        500 => {
            let (method, path, text) = (call.method, &call.path, answer.text());
            let text: String = text.chars().take(200).collect();
            storm.history.violated(format!(
                "process {} answered 500 to {method} {path}: {text}",
                server.index
            ));
            None
        }
        501.. => {
            storm.history.count("request refused with 503");
            None
        }
        _ => Some(answer),
    }
}

async fn exchange(storm: &Storm, server: usize, call: &Call) -> Option<Answer> {
    let address = storm.servers[server].address()?;
    let stream = TcpStream::connect(address).await.ok()?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    let connection = tokio::spawn(connection);
    let mut request = Request::builder().method(call.method).uri(&call.path);
    request = request.header("host", address.to_string());
    for (name, value) in &call.headers {
        request = request.header(*name, value);
    }
    let request = request.body(Full::new(Bytes::from(call.body.clone()))).ok()?;
    let answer = sender.send_request(request).await.ok()?;
    let (parts, body) = answer.into_parts();
    let body = body.collect().await.ok()?.to_bytes();
    connection.abort();
    Some(Answer { status: parts.status.as_u16(), headers: parts.headers, body })
}
