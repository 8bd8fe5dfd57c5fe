//! Receives webhooks of bank providers. They are signed, so they need neither a session nor a form token.

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use base::draft::Source;
use http::{HeaderMap, StatusCode};
use service::ingest::connections;

use crate::routing::post;
use crate::{WebState, body};

pub(crate) fn router() -> Router<WebState> {
    Router::new().route("/connections/plaid/webhook", post(plaid))
}

/// The answer tells a stranger nothing: an unknown login and a wrong signature look the same.
async fn plaid(State(web): State<WebState>, headers: HeaderMap, sent: Body) -> StatusCode {
    let signature = headers.get("plaid-verification").and_then(|it| it.to_str().ok());
    let Some(signature) = signature else { return StatusCode::UNAUTHORIZED };
    let Ok(sent) = body::read(&headers, sent).await else { return StatusCode::BAD_REQUEST };
    match connections::receive_webhook(&web.app, Source::Plaid, signature, &sent).await {
        Ok(true) => StatusCode::OK,
        Ok(false) => StatusCode::UNAUTHORIZED,
        Err(error) => {
            tracing::warn!(%error, "a webhook could not be received");
            StatusCode::SERVICE_UNAVAILABLE
        }
    }
}
