//! The documentation: the API reference, generated from the endpoint list and schemas, and the guides.

mod body;
mod endpoint;
pub(super) mod errors;
pub(super) mod guides;
mod introduction;
mod members;
mod proposing;
mod try_form;
pub(super) mod verify_examples;
mod webhooks;

use std::sync::{Arc, OnceLock};

use axum::extract::State;
use axum::routing::{MethodRouter, get};
use http::{HeaderMap, StatusCode};
use maud::{Markup, html};

use super::assets::Asset;
use super::public_page::{self, PublicNavItem, PublicPage};
use crate::WebState;
use crate::api::{ENDPOINTS, Endpoint};
use crate::openapi;

/// The reference page, rendered once per process.
pub(super) fn route() -> MethodRouter<WebState> {
    let made: Arc<OnceLock<String>> = Arc::default();
    get(async move |State(web): State<WebState>, headers: HeaderMap| {
        let make = || page(&web.settings.public_url).into_string();
        public_page::send(&headers, StatusCode::OK, made.get_or_init(make).as_str())
    })
}

pub(super) fn page(public_url: &str) -> Markup {
    let schemas = openapi::schemas();
    let main = html! {
        (introduction::sections(public_url))
        @for (tag, endpoints) in by_tag() {
            section.tag aria-labelledby=(anchor(tag)) {
                h2 id=(anchor(tag)) { (tag) }
                @for endpoint in endpoints { (endpoint::section(endpoint, public_url, &schemas)) }
            }
        }
    };
    PublicPage {
        title: "API reference",
        place: PublicNavItem::Reference,
        class: "docs",
        side: Some(contents()),
        scripts: &[Asset::Copying, Asset::Docs],
        main,
    }
    .render()
}

fn contents() -> Markup {
    html! {
        (guides::contents("/docs"))
        p { "On this page" }
        ul {
            @for (id, title) in introduction::TITLES { li { a href={ "#" (id) } { (title) } } }
        }
        @for (tag, endpoints) in by_tag() {
            p { (tag) }
            ul {
                @for endpoint in endpoints {
                    li { a href={ "#" (endpoint_id(endpoint)) } { (endpoint.summary) } }
                }
            }
        }
    }
}

/// The endpoints grouped by tag.
fn by_tag() -> Vec<(&'static str, &'static [Endpoint])> {
    ENDPOINTS.chunk_by(|a, b| a.tag == b.tag).map(|it| (it[0].tag, it)).collect()
}

/// The anchor of a tag.
fn anchor(tag: &str) -> String {
    format!("tag-{}", tag.to_ascii_lowercase().replace(' ', "-"))
}

/// The anchor of an endpoint: `GET /accounts/{id}/balances` is `get-accounts-id-balances`.
pub(super) fn endpoint_id(endpoint: &Endpoint) -> String {
    let path = endpoint.path.replace(['{', '}'], "").replace(['/', '_'], "-");
    format!("{}{path}", endpoint.method.as_str().to_ascii_lowercase())
}
