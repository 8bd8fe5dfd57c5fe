//! Turns a panic in a handler of a page or of OAuth into an error response. Under `/v1` the API does the same.

use std::panic::AssertUnwindSafe;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use http::{StatusCode, header};
use service::Error;

use crate::site::errors::PageError;

const OAUTH_ERROR: &str =
    r#"{"error":"server_error","error_description":"something went wrong on our side"}"#;

pub(crate) async fn catch(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_for_programs = path.starts_with("/oauth/") && path != "/oauth/authorize"
        || path.starts_with("/.well-known/");
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        // The panic hook has logged the location.
        Err(_) if is_for_programs => {
            let headers =
                [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
            (StatusCode::INTERNAL_SERVER_ERROR, headers, OAUTH_ERROR).into_response()
        }
        Err(_) => PageError::from(Error::internal("handler panicked")).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::routing::get;
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use super::*;

    async fn asked(path: &str) -> (StatusCode, String) {
        let fault = get(|| async { panic!("a fault in a handler") as Response });
        let router = Router::new()
            .route("/accounts", fault.clone())
            .route("/oauth/token", fault.clone())
            .route("/oauth/authorize", fault)
            .layer(axum::middleware::from_fn(catch));
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        let status = response.status();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_handler_that_panics_answers_a_page_or_json() {
        for path in ["/accounts", "/oauth/authorize"] {
            let (status, page) = asked(path).await;
            assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
            assert!(page.contains("Something went wrong"), "{page}");
        }
        let (status, answer) = asked("/oauth/token").await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["error"], "server_error");
    }
}
