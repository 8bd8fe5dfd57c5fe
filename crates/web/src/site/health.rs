//! Whether the process is alive, and whether it can serve.

use axum::extract::State;
use http::StatusCode;

use crate::WebState;

pub(super) async fn alive() -> &'static str {
    "alive\n"
}

/// The reason goes to the log and, in one sentence without details of the database, to whoever asks.
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
