//! The webhook pages: endpoints, the event log, delivery attempts and failed deliveries.

mod actions;
mod attempts;
mod create;
mod detail;
mod event;
mod events;
mod failed;
mod manager;
mod portal;

use axum::Router;
use base::{EndpointId, Percent, Timestamp};
use http::StatusCode;
use maud::{Markup, html};
use service::webhooks::{self, Endpoint, EndpointHealth};

use super::errors::{PageError, PageResult};
use super::fields::FormError;
use super::format::percent;
use crate::WebState;
use crate::routing::{get, get_and_post, post};
use manager::{EndpointManager, HOME, PORTAL, Section};

pub(super) use manager::{disabled_text, needs_attention};

/// The endpoints of the list with their success rate. Those of further ones are on their pages.
const HEALTH_SHOWN: usize = 20;

pub(super) fn router() -> Router<WebState> {
    pages(HOME)
        .merge(pages(PORTAL))
        .route("/portal/{token}", get_and_post(portal::get, portal::open))
        .route("/portal/webhooks/leave", post(portal::leave))
}

/// The routes under `home`. They are not nested, because a page needs its whole path to return to.
fn pages(home: &str) -> Router<WebState> {
    let at = |rest: &str| format!("{home}{rest}");
    Router::new()
        .route(home, get_and_post(list, create::post))
        .route(&at("/attempts"), get(attempts::get))
        .route(&at("/failed"), get(failed::get))
        .route(&at("/failed/send"), post(failed::send))
        .route(&at("/failed/replay"), post(failed::start))
        .route(&at("/events"), get(events::get))
        .route(&at("/events/{id}"), get(event::get))
        .route(&at("/events/{id}/replay"), post(events::replay))
        .route(&at("/{id}"), get_and_post(detail::get, actions::change))
        .route(&at("/{id}/test"), post(actions::test))
        .route(&at("/{id}/enable"), post(actions::enable))
        .route(&at("/{id}/disable"), post(actions::disable))
        .route(&at("/{id}/rotate"), post(actions::rotate))
        .route(&at("/{id}/delete"), post(actions::delete))
}

async fn list(manager: EndpointManager) -> PageResult {
    show(&manager, &create::FormValues::default(), &FormError::default()).await
}

/// The list of endpoints and the form for a new one.
async fn show(
    manager: &EndpointManager,
    typed: &create::FormValues,
    wrong: &FormError,
) -> PageResult {
    let endpoints = webhooks::list(manager.app(), manager.caller()).await?;
    let names = manager.key_names().await?;
    let keys = manager.keys().await?;
    let mut health = Vec::new();
    for endpoint in endpoints.iter().take(HEALTH_SHOWN) {
        health.push(webhooks::health(manager.app(), manager.caller(), endpoint.id).await?);
    }
    health.resize(endpoints.len(), None);
    let main = html! {
        (wrong.summary())
        @for it in endpoints.iter().filter(|it| needs_attention(it)) { (banner(manager, it)) }
        section.card aria-labelledby="endpoints" {
            h2 id="endpoints" { "Endpoints" }
            p.soft {
                "Evenkeel sends signed events to your endpoints. "
                a href="/docs/webhooks" { "How to receive and verify events" }
            }
            @if endpoints.is_empty() {
                p { "No endpoints yet. Create one below." }
            } @else {
                ul.key-list {
                    @for (it, health) in endpoints.iter().zip(&health) {
                        @let key = names.get(&it.key).map_or("a deleted key", String::as_str);
                        (row(manager, it, key, health.as_ref()))
                    }
                }
            }
        }
        (create::card(manager, &keys, typed, wrong))
    };
    let bad = !wrong.message.is_empty();
    let status = if bad { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(manager.page(status, Section::Endpoints, main))
}

/// A warning about a disabled endpoint.
fn banner(manager: &EndpointManager, endpoint: &Endpoint) -> Markup {
    html! {
        p.warning role="status" {
            strong { (endpoint.url) } ": " (disabled_text(endpoint).unwrap_or_default()) " "
            a href=(manager.at(&format!("/{}", endpoint.id))) { "View endpoint" }
        }
    }
}

fn row(
    manager: &EndpointManager,
    endpoint: &Endpoint,
    key: &str,
    health: Option<&EndpointHealth>,
) -> Markup {
    let now = manager.now();
    html! {
        li {
            div.heading {
                h3 { a href=(manager.at(&format!("/{}", endpoint.id))) { (endpoint.url) } }
                (badge(endpoint))
            }
            @if let Some(text) = &endpoint.description { p { (text) } }
            dl.key-facts {
                div { dt { "Key" } dd { (key) } }
                div { dt { "Events" } dd { (types(endpoint)) } }
                div { dt { "Last delivery" } dd { (when(manager, endpoint.last_delivery_at)) } }
                @if let Some(health) = health {
                    div { dt { "Success rate" } dd { (success_rate(health)) } }
                    div { dt { "Response time" } dd { (health.median_ms) " ms" } }
                }
                @if let Some(since) = endpoint.failing_since {
                    div { dt { "Failing since" } dd { (manager.view().time_ago(since, now)) } }
                }
            }
        }
    }
}

fn badge(endpoint: &Endpoint) -> Markup {
    let (class, name) = match (disabled_text(endpoint), endpoint.failing_since) {
        (Some(_), _) if needs_attention(endpoint) => ("warn", "Disabled"),
        (Some(_), _) => ("", "Disabled"),
        (None, Some(_)) => ("warn", "Failing"),
        (None, None) => ("good", "Active"),
    };
    html! { span.badge.(class) { (name) } }
}

fn types(endpoint: &Endpoint) -> String {
    match endpoint.filter_types.as_slice() {
        [] => "All".to_owned(),
        some => some.join(", "),
    }
}

/// "98.5%".
fn success_rate(health: &EndpointHealth) -> String {
    let rate = Percent::of(health.succeeded as i64, health.attempts as i64);
    rate.map(percent).unwrap_or_default()
}

fn when(manager: &EndpointManager, at: Option<Timestamp>) -> String {
    at.map_or("Never".to_owned(), |at| manager.view().time_ago(at, manager.now()))
}

/// Parses the id in a path. A malformed id gets the same page as an unknown one.
fn parse(id: &str) -> Result<EndpointId, PageError> {
    EndpointId::parse(id).map_err(|_| PageError::not_found())
}
