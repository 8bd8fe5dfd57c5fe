//! Pages and plain answers outside the API.

mod accounts;
pub(crate) mod address;
mod approvals;
mod assets;
mod astray;
mod benefits;
mod chart;
mod connections;
pub(crate) mod cookies;
mod currencies;
mod docs;
mod door;
pub(crate) mod fields;
pub(crate) mod form;
mod goals;
mod health;
mod imports;
mod income;
mod investments;
mod layout;
mod mark;
mod markdown;
mod overview;
mod paper;
pub(crate) mod person;
mod recurring;
mod scores;
pub(crate) mod sensitive;
mod settings;
pub(crate) mod shell;
pub(crate) mod show;
mod snippet;
#[cfg(test)]
mod tests;
mod transactions;
pub(crate) mod trouble;
mod upload;
mod viewing;
pub(crate) mod visitor;
mod webhooks;

use axum::Router;
use axum::extract::State;
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use http::{HeaderValue, Method, header};
use wire::v1::Code;

use crate::Door;
use crate::answer::Answer;
use crate::error::Refusal;
use crate::oauth::authorize;

pub(crate) fn router(door: &Door) -> Router<Door> {
    Router::new()
        .merge(pages().layer(from_fn_with_state(door.clone(), sensitive::guard)))
        .route("/docs", docs::route())
        .merge(docs::guides::router())
        .route("/docs/", get(|| async { Redirect::permanent("/docs") }))
        .route("/docs/errors", get(docs::errors::list))
        .route("/docs/errors/", get(|| async { Redirect::permanent("/docs/errors") }))
        .route("/docs/errors/{slug}", get(docs::errors::get))
        .route("/assets/{name}", get(assets::get))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/v1/openapi.json", get(openapi).fallback(openapi_otherwise))
        .method_not_allowed_fallback(astray::method_not_allowed)
        .fallback(astray::not_found)
        .layer(map_response(guard))
}

/// What people see and do.
fn pages() -> Router<Door> {
    Router::new()
        .route("/", get(overview::get))
        .route("/view", post(viewing::post))
        .route("/accounts", get(accounts::list))
        .route("/accounts/new", get(accounts::new).post(accounts::create))
        .route("/accounts/{id}", get(accounts::one))
        .route("/accounts/{id}/balance", post(accounts::set_balance))
        .route("/accounts/{id}/transactions", post(accounts::write_down))
        .route("/accounts/{id}/name", post(accounts::rename))
        .route("/accounts/{id}/hide", post(accounts::hide))
        .route("/accounts/{id}/close", post(accounts::close))
        .route("/accounts/{id}/reopen", post(accounts::reopen))
        .route("/accounts/{id}/card", post(accounts::card))
        .route("/investments", get(investments::get))
        .route("/goals", get(goals::list))
        .route("/goals/new", get(goals::new).post(goals::create))
        .route("/goals/{id}", get(goals::edit).post(goals::change))
        .route("/goals/{id}/status", post(goals::set_status))
        .route("/scores", get(scores::get))
        .route("/benefits", get(benefits::get))
        .route("/benefits/{id}", post(benefits::mark))
        .merge(approvals::router())
        .merge(connections::router())
        .merge(imports::router())
        .merge(paper::router())
        .merge(door::router())
        .merge(settings::router())
        .merge(webhooks::router())
        .route("/oauth/authorize", get(authorize::get).post(authorize::post))
        .merge(money())
}

/// What came in and went out.
fn money() -> Router<Door> {
    use settings::rules;
    use transactions::{by_hand, change, download, one};
    Router::new()
        .route("/transactions", get(transactions::get))
        .route("/transactions.csv", get(download::csv))
        .route("/transactions.json", get(download::json))
        .route("/transactions/recategorise", post(change::several))
        .route("/transactions/{id}", get(one::get).post(change::correct))
        .route("/transactions/{id}/edit", get(by_hand::get).post(by_hand::change))
        .route("/transactions/{id}/delete", post(by_hand::delete))
        .route("/transactions/{id}/hide", post(change::hide))
        .route("/transactions/{id}/undo", post(change::undo))
        .route("/transactions/{id}/transfer", post(change::transfer))
        .route("/settings/rules", get(rules::get))
        .route("/settings/rules/{id}", get(rules::edit::get).post(rules::edit::change))
        .route("/settings/rules/{id}/apply", post(rules::apply))
        .route("/settings/rules/{id}/delete", post(rules::delete))
        .route("/recurring", get(recurring::get))
        .route("/recurring/{id}", get(recurring::one::get))
        .route("/income", get(income::get))
}

/// Nothing from elsewhere is loaded, nothing inline runs, and nobody frames a page.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

async fn guard(mut response: Response) -> Response {
    let headers = response.headers_mut();
    // A page may have brought a policy of its own.
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn openapi(State(door): State<Door>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], door.openapi.clone()).into_response()
}

/// The document is under `/v1`, where every refusal is JSON.
async fn openapi_otherwise(State(door): State<Door>, method: Method) -> Response {
    let allow = (header::ALLOW, "GET, HEAD, OPTIONS");
    if method == Method::OPTIONS {
        return (http::StatusCode::NO_CONTENT, [allow]).into_response();
    }
    let message = format!("{method} is not allowed here; use {}", allow.1);
    let refusal = Refusal::new(Code::MethodNotAllowed, message);
    let open_body = refusal.open_body(&door.settings.public_url);
    let answer = Answer::refusal(refusal.code.status(), open_body);
    let request_id = door.app.ids.make::<base::kinds::Request>().to_string();
    let body = answer.close(&request_id, door.app.clock.now().as_microsecond());
    let headers = [
        (header::CONTENT_TYPE, "application/json".to_owned()),
        (allow.0, allow.1.to_owned()),
        (http::HeaderName::from_static("x-request-id"), request_id),
    ];
    (http::StatusCode::METHOD_NOT_ALLOWED, headers, body).into_response()
}
