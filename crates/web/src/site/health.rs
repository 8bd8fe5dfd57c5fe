//! Health checks: liveness and readiness.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};

use crate::WebState;

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
