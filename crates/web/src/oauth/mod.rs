//! OAuth endpoints for apps: registration, authorization, tokens and metadata.

mod authorize;
mod consent;
mod fields;
mod metadata;
mod register;
mod token;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::MethodRouter;
use http::{HeaderValue, Method, StatusCode, header};
use serde_json::{Value, json};
use service::Error;
use service::access::oauth::{OAuthError, OAuthErrorCode, OAuthFailure, OAuthResult};

use crate::WebState;
use crate::cors::put_cors;
use crate::routing::{get, get_and_post, post};
use crate::site;

pub(crate) use metadata::resource_metadata_url;

/// The routes that programs call.
pub(crate) fn router(web: &WebState) -> Router<WebState> {
    let server = "/.well-known/oauth-authorization-server";
    let resource = "/.well-known/oauth-protected-resource";
    Router::new()
        .route("/oauth/register", only(post(register::post), "POST, OPTIONS"))
        .route("/oauth/token", only(post(token::token), "POST, OPTIONS"))
        .route("/oauth/revoke", only(post(token::revoke), "POST, OPTIONS"))
        .route("/oauth/introspect", only(post(token::introspect), "POST, OPTIONS"))
        .route(server, only(get(metadata::server), "GET, HEAD, OPTIONS"))
        .route(&format!("{server}/{{*path}}"), only(get(metadata::server_at), "GET, HEAD, OPTIONS"))
        .route(resource, only(get(metadata::resource), "GET, HEAD, OPTIONS"))
        .route(
            &format!("{resource}/{{*path}}"),
            only(get(metadata::resource_at), "GET, HEAD, OPTIONS"),
        )
        .layer(from_fn_with_state(web.clone(), add_cors))
        .merge(consent_page(web))
}

/// The authorization endpoint. It is a page, so it gets the security headers and error pages of the site, and allowing
/// an app asks for fresh proof of who the person is.
fn consent_page(web: &WebState) -> Router<WebState> {
    let page = get_and_post(authorize::get, authorize::post);
    let page = Router::new()
        .route("/oauth/authorize", page)
        .layer(from_fn_with_state(web.clone(), site::sensitive::require_proof))
        .layer(from_fn_with_state(web.clone(), authorize::add_policy));
    site::with_page_headers(web, page)
}

/// Answers other methods with a JSON error that lists the allowed ones.
fn only(methods: MethodRouter<WebState>, allowed: &'static str) -> MethodRouter<WebState> {
    methods.fallback(async move |method: Method| {
        let allow = [(header::ALLOW, allowed)];
        if method == Method::OPTIONS {
            return (StatusCode::NO_CONTENT, allow).into_response();
        }
        let message = format!("{method} is not allowed here; use {allowed}");
        let body = error_body("invalid_request", &message);
        (allow, answer(StatusCode::METHOD_NOT_ALLOWED, &body)).into_response()
    })
}

/// Adds CORS headers for the origins that the operator allows to call the API.
async fn add_cors(State(web): State<WebState>, request: Request, next: Next) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut response = next.run(request).await;
    put_cors(response.headers_mut(), &web.settings.cors_origins, origin.as_ref());
    response
}

/// A JSON response that must not be cached, because it may contain secrets.
fn answer(status: StatusCode, body: &Value) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
        (header::PRAGMA, "no-cache"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (status, headers, body.to_string()).into_response()
}

fn error_body(error: &str, description: &str) -> Value {
    json!({ "error": error, "error_description": description })
}

fn close(outcome: OAuthResult<Response>) -> Response {
    outcome.unwrap_or_else(refusal)
}

/// An OAuth error (RFC 6749 section 5.2).
fn refusal(failure: OAuthFailure) -> Response {
    let error = match failure {
        OAuthFailure::Refused(OAuthError { code, message }) => {
            let body = error_body(code.as_str(), &plain(&message));
            return match code {
                OAuthErrorCode::InvalidClient => {
                    let challenge = [(header::WWW_AUTHENTICATE, "Basic realm=\"evenkeel\"")];
                    (challenge, answer(StatusCode::UNAUTHORIZED, &body)).into_response()
                }
                OAuthErrorCode::AccessDenied => answer(StatusCode::FORBIDDEN, &body),
                _ => answer(StatusCode::BAD_REQUEST, &body),
            };
        }
        OAuthFailure::Internal(error) => error,
    };
    let (status, code_text, message, retry_after) = match &error {
        Error::Limited { retry_after_seconds, .. } => (
            StatusCode::TOO_MANY_REQUESTS,
            "temporarily_unavailable",
            error.to_string(),
            Some((*retry_after_seconds).max(1)),
        ),
        Error::Unavailable(_) | Error::TooSlow => {
            tracing::error!(error = %error.with_causes(), "OAuth request failed");
            let message = "the service cannot reach its data right now".to_owned();
            (StatusCode::SERVICE_UNAVAILABLE, "temporarily_unavailable", message, Some(5))
        }
        _ => {
            tracing::error!(error = %error.with_causes(), "OAuth request failed");
            let message = "something went wrong on our side; it was logged".to_owned();
            (StatusCode::INTERNAL_SERVER_ERROR, "server_error", message, None)
        }
    };
    let mut response = answer(status, &error_body(code_text, &message));
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Removes characters that OAuth forbids in a description, which may repeat the app's own input.
fn plain(message: &str) -> String {
    let fits = |it: char| (' '..='~').contains(&it) && it != '"' && it != '\\';
    message.chars().take(200).map(|it| if fits(it) { it } else { '?' }).collect()
}
