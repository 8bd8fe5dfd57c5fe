//! Health checks: liveness, readiness, and how a request arrived, which `evenkeel doctor` asks for.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, Request, State};
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};
use serde_json::json;

use crate::WebState;
use crate::proxies::Forwarded;

pub(super) async fn alive() -> &'static str {
    "alive\n"
}

/// Logs the full reason and answers with one sentence that has no database details.
pub(super) async fn ready(State(web): State<WebState>) -> Response {
    match service::platform::readiness::check(&web.app).await {
        Ok(()) => "ready\n".into_response(),
        Err(reason) => {
            let cause = std::error::Error::source(&reason).map(tracing::field::display);
            tracing::warn!(%reason, cause, "not ready");
            let retry_after = [(header::RETRY_AFTER, "1")];
            (StatusCode::SERVICE_UNAVAILABLE, retry_after, format!("{reason}\n")).into_response()
        }
    }
}

/// Tells the sender of the request which address and host the server has seen, and whether a proxy in front is trusted. It
/// says nothing about anyone else.
pub(super) async fn connection(request: Request) -> Response {
    let address = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let forwarded = request.extensions().get::<Forwarded>();
    let host = request.headers().get(header::HOST).and_then(|it| it.to_str().ok());
    let body = json!({
        "address": address.map(|it| it.0.ip().to_string()),
        "host": host,
        "is_forwarded": forwarded.is_some(),
        "is_proxy_trusted": forwarded.is_some_and(|it| it.is_trusted),
    });
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    (headers, format!("{body}\n")).into_response()
}
