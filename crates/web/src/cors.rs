//! CORS headers: lets web pages of allowed origins read the responses.

use http::{HeaderMap, HeaderValue, header};

/// Adds the CORS headers if the request's origin is one that the operator allowed.
pub(crate) fn put_cors(headers: &mut HeaderMap, allowed: &[String], origin: Option<&HeaderValue>) {
    let Some(origin) = origin.filter(|it| allowed.iter().any(|known| known == *it)) else {
        return;
    };
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    let named = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, POST, PUT, DELETE, OPTIONS"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, evenkeel-version, idempotency-key, if-none-match, mcp-method, mcp-name, \
             mcp-protocol-version, mcp-session-id",
        ),
        (
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            "x-request-id, etag, evenkeel-version, ratelimit, ratelimit-policy, retry-after, idempotent-replayed, \
             mcp-session-id, www-authenticate",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    for (name, value) in named {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
