//! Whether the process is alive, and whether it can serve.

use axum::extract::State;
use http::StatusCode;

use crate::Door;

pub(super) async fn alive() -> &'static str {
    "alive\n"
}

pub(super) async fn ready(State(door): State<Door>) -> (StatusCode, &'static str) {
    match service::schema::ready(&door.app).await {
        Ok(()) => (StatusCode::OK, "ready\n"),
        Err(error) => {
            tracing::warn!(%error, "not ready");
            (StatusCode::SERVICE_UNAVAILABLE, "the database cannot be reached\n")
        }
    }
}
