//! The web app: its pages, the documentation, static assets and health checks.

mod accounts;
pub(crate) mod app_page;
mod approvals;
mod assets;
mod auth;
mod benefits;
mod chart;
mod connections;
pub(crate) mod cookies;
mod currencies;
mod display_settings;
mod docs;
mod error_pages;
pub(crate) mod errors;
mod excluded;
pub(crate) mod fields;
pub(crate) mod form;
pub(crate) mod format;
mod framed_errors;
mod goals;
mod health;
mod icons;
mod identity_buttons;
mod imports;
mod income;
mod install;
mod investments;
mod logo;
mod markdown;
mod navigation;
mod overview;
mod paper;
pub(crate) mod person;
mod public_page;
mod recurring;
mod scores;
mod search;
pub(crate) mod sensitive;
mod settings;
mod snippet;
mod spending;
#[cfg(test)]
mod tests;
mod timezones;
mod transactions;
mod upload;
pub(crate) mod urls;
pub(crate) mod visitor;
mod webhooks;

use axum::Router;
use axum::extract::{Path, State};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse as _, Redirect, Response};
use bytes::Bytes;
use http::{HeaderValue, Method, Uri, header};
use wire::v1::Code;

use crate::WebState;
use crate::answer::Answer;
use crate::error::Refusal;
use crate::routing::{get, get_and_post, post};

/// Every route of the site.
pub(crate) fn router(web: &WebState) -> Router<WebState> {
    let routes = Router::new()
        .merge(pages().layer(from_fn_with_state(web.clone(), sensitive::require_proof)))
        .merge(docs::router())
        .merge(docs::guides::router())
        .route("/docs/", get(|| async { Redirect::permanent("/docs") }))
        .route("/docs/errors", get(docs::errors::list))
        .route("/docs/errors/", get(|| async { Redirect::permanent("/docs/errors") }))
        .route("/docs/errors/{slug}", get(docs::errors::get))
        .route("/assets/{name}", get(asset))
        .route("/manifest.webmanifest", get(install::manifest))
        .route("/worker.js", get(install::worker))
        .route("/offline", get(install::offline))
        .route("/calendar/{file}", get(recurring::feed::get))
        .route("/healthz", get(health::alive))
        .route("/healthz/connection", get(health::connection))
        .route("/readyz", get(health::ready))
        .route("/v1/openapi.json", get(openapi).fallback(openapi_other_methods))
        .fallback(error_pages::not_found);
    with_page_headers(web, routes)
}

/// Adds the security headers that every page needs, the error page for other methods, and the app around errors.
pub(crate) fn with_page_headers(web: &WebState, routes: Router<WebState>) -> Router<WebState> {
    routes
        .method_not_allowed_fallback(error_pages::method_not_allowed)
        .layer(from_fn_with_state(web.clone(), framed_errors::frame))
        .layer(map_response(add_security_headers))
}

/// The pages for people.
fn pages() -> Router<WebState> {
    Router::new()
        .route("/", get(overview::get))
        .route("/view", post(display_settings::post))
        .route("/accounts", get(accounts::list))
        .route("/accounts/new", get_and_post(accounts::new, accounts::create))
        .route("/accounts/{id}", get(accounts::detail))
        .route("/accounts/{id}/balance", post(accounts::set_balance))
        .route("/accounts/{id}/transactions", post(accounts::add_transaction))
        .route("/accounts/{id}/name", post(accounts::rename))
        .route("/accounts/{id}/split", get(accounts::split::get).post(accounts::split::post))
        .route("/accounts/{id}/type", post(accounts::set_type))
        .route("/accounts/{id}/terms", post(accounts::set_terms))
        .route("/accounts/{id}/hide", post(accounts::hide))
        .route("/accounts/{id}/close", post(accounts::close))
        .route("/accounts/{id}/reopen", post(accounts::reopen))
        .route("/accounts/{id}/card", post(accounts::card))
        .route("/investments", get(investments::get))
        .route("/goals", get(goals::list))
        .route("/goals/new", get_and_post(goals::new, goals::create))
        .route("/goals/{id}", get_and_post(goals::edit, goals::change))
        .route("/goals/{id}/status", post(goals::set_status))
        .route("/goals/{id}/delete", post(goals::delete))
        .route("/scores", get(scores::get))
        .route("/benefits", get(benefits::get))
        .route("/benefits/{id}", post(benefits::mark))
        .merge(approvals::router())
        .merge(connections::router())
        .merge(imports::router())
        .merge(paper::router())
        .merge(auth::router())
        .merge(settings::router())
        .merge(webhooks::router())
        .merge(money())
}

/// Transactions, rules, recurring payments and income.
fn money() -> Router<WebState> {
    use settings::rules;
    use transactions::{
        attachments, bulk, corrections, detail, download, filters, manual, notes, refund, split,
    };
    Router::new()
        .route("/transactions", get(transactions::get))
        .route("/transactions.csv", get(download::csv))
        .route("/transactions.json", get(download::json))
        .route("/transactions/bulk", post(bulk::apply))
        .route("/transactions/filters", get_and_post(filters::list, filters::save))
        .route("/transactions/filters/{id}/delete", post(filters::delete))
        .route("/transactions/edits", get(bulk::edits))
        .route("/transactions/edits/{id}/undo", post(bulk::undo))
        .route("/transactions/{id}", get_and_post(detail::get, corrections::correct))
        .route("/transactions/{id}/edit", get_and_post(manual::get, manual::change))
        .route("/transactions/{id}/delete", post(manual::delete))
        .route("/transactions/{id}/hide", post(corrections::hide))
        .route("/transactions/{id}/note", post(notes::save))
        .route("/transactions/{id}/split", get_and_post(split::get, split::save))
        .route("/transactions/{id}/unsplit", post(split::remove))
        .route("/transactions/{id}/undo", post(corrections::undo))
        .route("/transactions/{id}/transfer", post(corrections::transfer))
        .route("/transactions/{id}/mark", post(corrections::mark))
        .route("/transactions/{id}/refund", get_and_post(refund::get, refund::link))
        .route("/transactions/{id}/unlink", post(refund::unlink))
        .route("/transactions/{id}/attachments", post(attachments::add))
        .route("/transactions/{id}/attachments/{attachment}", get(attachments::download))
        .route("/transactions/{id}/attachments/{attachment}/delete", post(attachments::delete))
        .route("/transactions/{id}/visibility", post(corrections::set_visibility))
        .route("/settings/rules", get(rules::get))
        .route("/settings/rules/new", get_and_post(rules::edit::new, rules::edit::create))
        .route("/settings/rules/{id}/up", post(rules::move_up))
        .route("/settings/rules/{id}/down", post(rules::move_down))
        .route("/settings/rules/{id}", get_and_post(rules::edit::get, rules::edit::change))
        .route("/settings/rules/{id}/apply", post(rules::apply))
        .route("/settings/rules/{id}/delete", post(rules::delete))
        .route("/spending", get(spending::get))
        .route("/search", get(search::get))
        .route("/recurring", get(recurring::get))
        .route("/recurring/{id}", get_and_post(recurring::detail::get, recurring::manage::update))
        .route("/recurring/feed", post(recurring::feed::create))
        .route("/recurring/feed/revoke", post(recurring::feed::revoke))
        .route("/recurring/{id}/merge", post(recurring::manage::merge))
        .route("/recurring/{id}/separate", post(recurring::manage::separate))
        .route("/recurring/{id}/dismiss", post(recurring::manage::dismiss))
        .route("/recurring/{id}/restore", post(recurring::manage::restore))
        .route("/income", get(income::get))
}

/// The content security policy: nothing is loaded from other sites, no inline code runs, and no site may frame a page.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

async fn add_security_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    // A page may have set a policy of its own.
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

async fn asset(Path(name): Path<String>, uri: Uri) -> Response {
    match assets::find(&name) {
        Some(found) => found,
        None => error_pages::not_found(uri).await,
    }
}

async fn openapi(State(web): State<WebState>) -> Response {
    let write = || crate::openapi::document(&web.settings.public_url).into();
    let document: Bytes = web.openapi.get_or_init(write).clone();
    ([(header::CONTENT_TYPE, "application/json")], document).into_response()
}

/// Answers other methods with a JSON error, as everything under `/v1` does.
async fn openapi_other_methods(State(web): State<WebState>, method: Method) -> Response {
    let allow = (header::ALLOW, "GET, HEAD, OPTIONS");
    if method == Method::OPTIONS {
        return (http::StatusCode::NO_CONTENT, [allow]).into_response();
    }
    let message = format!("{method} is not allowed here; use {}", allow.1);
    let refusal = Refusal::new(Code::MethodNotAllowed, message);
    let open_body = refusal.open_body(&web.settings.public_url);
    let answer = Answer::refusal(refusal.code.status(), open_body);
    let request_id = web.app.ids.make::<base::kinds::Request>().to_string();
    let body = answer.close(&request_id, web.app.clock.now().as_microsecond());
    let headers = [
        (header::CONTENT_TYPE, "application/json".to_owned()),
        (allow.0, allow.1.to_owned()),
        (http::HeaderName::from_static("x-request-id"), request_id),
    ];
    (http::StatusCode::METHOD_NOT_ALLOWED, headers, body).into_response()
}
