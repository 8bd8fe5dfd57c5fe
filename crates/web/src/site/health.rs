//! Health checks: liveness and readiness.

use axum::extract::State;
use http::StatusCode;

use crate::WebState;

pub(super) async fn alive() -> &'static str {
    "alive\n"
}

/// Logs the full reason and answers with one sentence that has no database details.
pub(super) async fn ready(State(web): State<WebState>) -> (StatusCode, String) {
    match service::platform::readiness::check(&web.app).await {
        Ok(()) => (StatusCode::OK, "ready\n".to_owned()),
        Err(reason) => {
            let cause = std::error::Error::source(&reason).map(tracing::field::display);
            tracing::warn!(%reason, cause, "not ready");
            (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n"))
        }
    }
}
