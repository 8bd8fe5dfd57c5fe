//! Webhooks: where events are sent, what came of it, and what was not delivered.

mod acts;
mod attempts;
mod create;
mod event;
mod failed;
mod keeper;
mod one;
mod portal;

use axum::Router;
use axum::routing::{get, post};
use base::{EndpointId, Timestamp};
use http::StatusCode;
use maud::{Markup, html};
use service::webhooks::{self, Endpoint};

use super::fields::Wrong;
use super::show::moment;
use super::trouble::{Shown, Trouble};
use crate::Door;
use keeper::{HOME, Keeper, PORTAL, Part};

pub(super) use keeper::{needs_a_look, trouble};

pub(super) fn router() -> Router<Door> {
    pages(HOME)
        .merge(pages(PORTAL))
        .route("/portal/{token}", get(portal::get).post(portal::open))
        .route("/portal/webhooks/leave", post(portal::leave))
}

/// Not nested: a page must know its whole address, to be come back to.
fn pages(home: &str) -> Router<Door> {
    let at = |rest: &str| format!("{home}{rest}");
    Router::new()
        .route(home, get(list).post(create::post))
        .route(&at("/attempts"), get(attempts::get))
        .route(&at("/failed"), get(failed::get))
        .route(&at("/failed/send"), post(failed::send))
        .route(&at("/failed/replay"), post(failed::start))
        .route(&at("/events/{id}"), get(event::get))
        .route(&at("/{id}"), get(one::get).post(acts::change))
        .route(&at("/{id}/test"), post(acts::test))
        .route(&at("/{id}/enable"), post(acts::enable))
        .route(&at("/{id}/disable"), post(acts::disable))
        .route(&at("/{id}/rotate"), post(acts::rotate))
        .route(&at("/{id}/delete"), post(acts::delete))
}

async fn list(keeper: Keeper) -> Shown {
    show(&keeper, &create::Typed::default(), &Wrong::default()).await
}

/// The endpoints and the form for a new one, perhaps with what is wrong with it.
async fn show(keeper: &Keeper, typed: &create::Typed, wrong: &Wrong) -> Shown {
    let endpoints = webhooks::list(keeper.app(), keeper.caller()).await?;
    let names = keeper.key_names().await?;
    let keys = keeper.keys().await?;
    let main = html! {
        (wrong.summary())
        @for it in endpoints.iter().filter(|it| needs_a_look(it)) { (banner(keeper, it)) }
        section.card aria-labelledby="endpoints" {
            h2 id="endpoints" { "Endpoints" }
            p.soft {
                "When something happens, a signed message goes to each endpoint. "
                a href="/docs/webhooks" { "How to receive and verify them" }
            }
            @if endpoints.is_empty() {
                p { "There are none yet. Make your first one below." }
            } @else {
                ul.key-list {
                    @for it in &endpoints {
                        (row(keeper, it, names.get(&it.key).map_or("a key that is gone", String::as_str)))
                    }
                }
            }
        }
        (create::card(keeper, &keys, typed, wrong))
    };
    let bad = !wrong.message.is_empty();
    let status = if bad { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(keeper.page(status, Part::Endpoints, main))
}

/// Says why an endpoint gets nothing, and leads to where that is mended.
fn banner(keeper: &Keeper, endpoint: &Endpoint) -> Markup {
    html! {
        p.warning role="status" {
            strong { (endpoint.url) } ": " (trouble(endpoint).unwrap_or_default()) " "
            a href=(keeper.at(&format!("/{}", endpoint.id))) { "Look at it" }
        }
    }
}

fn row(keeper: &Keeper, endpoint: &Endpoint, key: &str) -> Markup {
    let now = keeper.now();
    html! {
        li {
            div.heading {
                h3 { a href=(keeper.at(&format!("/{}", endpoint.id))) { (endpoint.url) } }
                (badge(endpoint))
            }
            @if let Some(text) = &endpoint.description { p { (text) } }
            dl.key-facts {
                div { dt { "Key" } dd { (key) } }
                div { dt { "Hears of" } dd { (types(endpoint)) } }
                div { dt { "Last delivery" } dd { (when(endpoint.last_delivery_at, now)) } }
                @if let Some(since) = endpoint.failing_since {
                    div { dt { "Failing since" } dd { (moment(since, now)) } }
                }
            }
        }
    }
}

fn badge(endpoint: &Endpoint) -> Markup {
    let (class, name) = match (trouble(endpoint), endpoint.failing_since) {
        (Some(_), _) if needs_a_look(endpoint) => ("warn", "Disabled"),
        (Some(_), _) => ("", "Off"),
        (None, Some(_)) => ("warn", "Failing"),
        (None, None) => ("good", "Active"),
    };
    html! { span.badge.(class) { (name) } }
}

fn types(endpoint: &Endpoint) -> String {
    match endpoint.filter_types.as_slice() {
        [] => "Everything".to_owned(),
        some => some.join(", "),
    }
}

fn when(at: Option<Timestamp>, now: Timestamp) -> String {
    at.map_or("None yet".to_owned(), |at| moment(at, now))
}

/// To the second, in UTC: whoever looks for a fault compares it with a log.
fn exactly(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// What cannot be an id is as unknown as one that is not there.
fn parse(id: &str) -> Result<EndpointId, Trouble> {
    EndpointId::parse(id).map_err(|_| Trouble::not_found())
}
