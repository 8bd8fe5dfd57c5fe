//! The error pages of the documentation: meaning, recovery and an example for every code.

use axum::extract::{Path, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode, Uri};
use maud::{Markup, html};
use wire::v1::Code;

use super::super::assets::Asset;
use super::super::error_pages;
use super::super::public_page::{self, PublicNavItem, PublicPage};
use super::super::snippet::{self, prose};
use super::endpoint_id;
use crate::WebState;
use crate::api::{ENDPOINTS, Endpoint};
use crate::openapi::{self, examples};

pub(in super::super) async fn list(headers: HeaderMap) -> Response {
    public_page::send(&headers, StatusCode::OK, list_page())
}

pub(in super::super) async fn get(
    State(web): State<WebState>,
    Path(slug): Path<String>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    match Code::ALL.into_iter().find(|it| it.slug() == slug) {
        Some(code) => {
            public_page::send(&headers, StatusCode::OK, code_page(code, &web.settings.public_url))
        }
        None => error_pages::not_found(uri).await,
    }
}

pub(in super::super) fn list_page() -> Markup {
    let main = html! {
        h1 { "Errors" }
        p.lead {
            "Every error code of the API. The " code { "type" } " member of an error is the URL of its page here."
        }
        table.errors {
            (snippet::columns(["Status", "Code", "Description"]))
            tbody {
                @for code in Code::ALL {
                    tr {
                        td.figure { (code.status()) }
                        th scope="row" {
                            a href={ "/docs/errors/" (code.slug()) } { code { (code.as_str()) } }
                        }
                        td { (prose(code.meaning())) }
                    }
                }
            }
        }
    };
    page("Errors", main)
}

pub(in super::super) fn code_page(code: Code, public_url: &str) -> Markup {
    let body = snippet::json(&examples::error(code, public_url));
    let phrase = StatusCode::from_u16(code.status()).ok().and_then(|it| it.canonical_reason());
    let main = html! {
        p.trail { a href="/docs/errors" { "Errors" } }
        h1.code { (code.as_str()) }
        p.route { span.verb { (code.status()) } @if let Some(phrase) = phrase { (phrase) } }
        div.pair {
            div {
                h2 { "What it means" }
                p { (prose(code.meaning())) }
                h2 { "What to do" }
                p { (prose(code.recovery())) }
                h2 { "Returned by" }
                (answered_by(code))
            }
            div.aside { (snippet::block("Example body", &body)) }
        }
    };
    page(code.as_str(), main)
}

fn answered_by(code: Code) -> Markup {
    let answers = |it: &&Endpoint| openapi::errors_of(it).any(|one| one == code);
    let from: Vec<&Endpoint> = ENDPOINTS.iter().filter(answers).collect();
    html! {
        @if code == Code::MethodNotAllowed {
            p { "Any endpoint, for a method it doesn't support." }
        } @else if from.len() == ENDPOINTS.len() {
            p { "Every endpoint of the " a href="/docs" { "API" } "." }
        } @else if from.is_empty() {
            p { "No endpoint in this version. Reserved for future use." }
        } @else {
            ul.plain {
                @for endpoint in from {
                    li {
                        a.path href={ "/docs#" (endpoint_id(endpoint)) } {
                            (endpoint.method.as_str()) " " (endpoint.path)
                        }
                    }
                }
            }
        }
    }
}

fn page(title: &str, main: Markup) -> Markup {
    let (class, scripts) = ("wide", &[Asset::Copying]);
    PublicPage { title, place: PublicNavItem::Errors, class, side: None, scripts, main }.render()
}
