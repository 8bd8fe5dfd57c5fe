//! Request bodies: JSON of at most 1 MiB; anything else is refused with a clear error.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use wire::v1::Code;

use crate::error::Refusal;

pub(crate) const BYTES_MAX: usize = 1 << 20;
/// How much of a refused request's body is read, and for how long.
const DISCARDED_MAX: usize = 64 << 10;
const DISCARD_TIME: Duration = Duration::from_secs(1);

pub(crate) async fn read(headers: &HeaderMap, body: Body) -> Result<Bytes, Refusal> {
    let too_large = || Refusal::new(Code::PayloadTooLarge, "the body must be at most 1 MiB");
    let declared: Option<usize> =
        headers.get(header::CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
    if declared.is_some_and(|it| it > BYTES_MAX) {
        return Err(too_large());
    }
    match Limited::new(body, BYTES_MAX).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(_) => Err(Refusal::new(
            Code::ValidationError,
            "the body ended, or stopped arriving, before it was complete",
        )),
    }
}

/// Reads the body of a request that is refused without it, and drops it: a connection whose request was answered before
/// its body has come is closed, and its client loses the next request. Large and slow bodies are not worth the wait.
pub(crate) async fn discard(headers: &HeaderMap, body: Body) {
    // A client that sends `Expect: 100-continue` sends its body only when it is asked to.
    if !headers.contains_key(header::EXPECT) {
        let read = Limited::new(body, DISCARDED_MAX).collect();
        let _ = tokio::time::timeout(DISCARD_TIME, read).await;
    }
}

/// Refuses a compressed body: it would be read as JSON that it is not, and could unpack to any size.
pub(crate) fn check_encoding(headers: &HeaderMap) -> Result<(), Refusal> {
    let is_plain = |it: &http::HeaderValue| {
        it.to_str().is_ok_and(|it| it.split(',').all(|it| is_identity(it.trim())))
    };
    if headers.get_all(header::CONTENT_ENCODING).iter().all(is_plain) {
        return Ok(());
    }
    let message = "the body must be sent as it is, without Content-Encoding";
    let refusal = Refusal::new(Code::UnsupportedMediaType, message);
    Err(refusal.with_header("accept-encoding", "identity"))
}

fn is_identity(encoding: &str) -> bool {
    encoding.is_empty() || encoding.eq_ignore_ascii_case("identity")
}

/// Accepts an empty body or JSON only.
pub(crate) fn check_type(headers: &HeaderMap, body: &Bytes) -> Result<(), Refusal> {
    let declared = headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let media = declared.map(|it| it.split(';').next().unwrap_or(it).trim().to_ascii_lowercase());
    match media.as_deref() {
        Some("application/json") => Ok(()),
        None if body.is_empty() => Ok(()),
        _ => Err(Refusal::new(
            Code::UnsupportedMediaType,
            "the body must be sent as Content-Type: application/json",
        )),
    }
}
