//! The documentation: the API reference, generated from the endpoint list and schemas, and the guides.

mod body;
pub(super) mod changes;
mod endpoint;
pub(super) mod errors;
mod guide_parts;
pub(super) mod guides;
mod introduction;
mod members;
mod proposing;
mod search;
mod search_form;
mod try_form;
pub(super) mod verify_examples;
mod webhooks;
mod words;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::{Path, State};
use http::{HeaderMap, StatusCode};
use maud::{Markup, html};

use self::search_form::search_form;
use super::assets::Asset;
use super::errors::PageError;
use super::public_page::{self, PublicNavItem, PublicPage};
use crate::WebState;
use crate::api::{ENDPOINTS, Endpoint};
use crate::openapi;
use crate::routing::get;

/// The pages of the reference: the introduction, one page for each group of endpoints, and search.
pub(super) fn router() -> Router<WebState> {
    let introduction: Arc<OnceLock<String>> = Arc::default();
    let groups: Arc<OnceLock<BTreeMap<String, String>>> = Arc::default();
    let show_introduction = async move |State(web): State<WebState>, headers: HeaderMap| {
        let make = || page(&web.settings.public_url).into_string();
        public_page::send(&headers, StatusCode::OK, introduction.get_or_init(make).as_str())
    };
    let show_group =
        async move |State(web): State<WebState>, Path(slug): Path<String>, headers: HeaderMap| {
            let url = &web.settings.public_url;
            let pages = groups.get_or_init(|| group_pages(url).into_iter().collect());
            match pages.get(&slug) {
                Some(page) => Ok(public_page::send(&headers, StatusCode::OK, page.as_str())),
                None => Err(PageError::not_found()),
            }
        };
    Router::new()
        .route("/docs", get(show_introduction))
        .route("/docs/api/{group}", get(show_group))
        .route("/docs/search", get(search::get))
        .merge(changes::router())
}

#[cfg(test)]
pub(super) use search::page as search_page;

/// The introduction, with a list of all endpoints.
pub(super) fn page(public_url: &str) -> Markup {
    let main = html! {
        (introduction::sections(public_url))
        section.guide aria-labelledby="endpoints" {
            h2 id="endpoints" { "Endpoints" }
            @for (tag, endpoints) in by_tag() {
                h3 id=(anchor(tag)) { a href=(group_path(tag)) { (tag) } }
                ul.facts {
                    @for endpoint in endpoints {
                        li id=(endpoint_id(endpoint)) {
                            a href=(endpoint_path(endpoint)) { (endpoint.summary) } " "
                            code { (endpoint.method.as_str()) " /v1" (endpoint.path) }
                        }
                    }
                }
            }
        }
    };
    render("API reference", contents("/docs", None), main)
}

/// The pages of all groups, by the last part of their paths.
pub(super) fn group_pages(public_url: &str) -> Vec<(String, String)> {
    let schemas = openapi::schemas();
    let page = |(tag, endpoints): (&'static str, &'static [Endpoint])| {
        let main = html! {
            h1 { (tag) }
            p.lead {
                "All paths start with " code { (public_url) "/v1" } ". "
                a href="/docs" { "How requests and responses work" }
            }
            (introduction::key_form())
            section.tag aria-label=(tag) {
                @for endpoint in endpoints { (endpoint::section(endpoint, public_url, &schemas)) }
            }
        };
        (slug(tag), render(tag, contents(&group_path(tag), Some(tag)), main).into_string())
    };
    by_tag().into_iter().map(page).collect()
}

fn render(title: &str, side: Markup, main: Markup) -> Markup {
    PublicPage {
        title,
        place: PublicNavItem::Reference,
        class: "docs",
        side: Some(side),
        scripts: &[Asset::Copying, Asset::Docs],
        main,
    }
    .render()
}

/// The contents beside a page, with the endpoints of the current group.
fn contents(here: &str, group: Option<&str>) -> Markup {
    html! {
        (search_form(""))
        (guides::contents(here))
        @if group.is_none() && here == "/docs" {
            p { "On this page" }
            ul {
                @for (id, title) in introduction::TITLES { li { a href={ "#" (id) } { (title) } } }
                li { a href="#endpoints" { "Endpoints" } }
            }
        }
        p { "Endpoints" }
        ul {
            @for (tag, endpoints) in by_tag() {
                @let is_here = group == Some(tag);
                li {
                    a href=(group_path(tag)) aria-current=[is_here.then_some("page")] { (tag) }
                    @if is_here {
                        ul {
                            @for endpoint in endpoints {
                                li { a href={ "#" (endpoint_id(endpoint)) } { (endpoint.summary) } }
                            }
                        }
                    }
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
    format!("tag-{}", slug(tag))
}

/// The last part of the path of a group's page.
fn slug(tag: &str) -> String {
    tag.to_ascii_lowercase().replace(' ', "-")
}

fn group_path(tag: &str) -> String {
    format!("/docs/api/{}", slug(tag))
}

/// The page and anchor of an endpoint.
pub(super) fn endpoint_path(endpoint: &Endpoint) -> String {
    format!("{}#{}", group_path(endpoint.tag), endpoint_id(endpoint))
}

/// The anchor of an endpoint: `GET /accounts/{id}/balances` is `get-accounts-id-balances`.
pub(super) fn endpoint_id(endpoint: &Endpoint) -> String {
    let path = endpoint.path.replace(['{', '}'], "").replace(['/', '_'], "-");
    format!("{}{path}", endpoint.method.as_str().to_ascii_lowercase())
}
