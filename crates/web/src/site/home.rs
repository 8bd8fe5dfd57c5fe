//! The first page: what this is, and the way to a first answer.

use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use maud::{Markup, html};

use super::assets::Asset;
use super::layout::{self, Page, Place};
use super::{mark, snippet};
use crate::Door;

pub(super) async fn get(State(door): State<Door>, headers: HeaderMap) -> Response {
    layout::send(&headers, StatusCode::OK, page(&door.settings.public_url))
}

pub(super) fn page(public_url: &str) -> Markup {
    let main = html! {
        div.hero {
            (mark::svg())
            h1 { "Evenkeel" }
            p.lead {
                "This installation keeps a household's accounts, transactions, investments and \
                 goals, on a machine of its own. Programs and assistants that you give a key may \
                 read them, and may propose; only you decide."
            }
            p.actions {
                a.button href="/docs" { "Open the API reference" }
                a.button.outlined href="/docs/errors" { "Look up an error" }
            }
        }
        section aria-labelledby="first" {
            h2 id="first" { "Your first answer" }
            ol.steps {
                li {
                    p { "Make a key on the machine that runs this. It is shown once." }
                    (snippet::text("Shell", "evenkeel key create --user EMAIL --name NAME"))
                }
                li {
                    p { "Keep it in your shell." }
                    (snippet::text("Shell", "export EVENKEEL_KEY=ek_..."))
                }
                li {
                    p { "Ask for your accounts." }
                    (snippet::text("Shell", &snippet::curl(&format!("{public_url}/v1/accounts"))))
                }
            }
            p.soft {
                "There are no sign-in pages in this version; they arrive with a later release. \
                 Until then, people and keys are made on the command line."
            }
        }
        section aria-labelledby="more" {
            h2 id="more" { "What else is here" }
            dl.links {
                (link("/docs", "API reference", "Every endpoint, and a form to try each."))
                (link("/docs/errors", "Errors", "What each code means and how to recover."))
                (link("/v1/openapi.json", "OpenAPI document", "The same, for tools."))
                (link("/readyz", "Health", "Whether this can reach its database right now."))
            }
        }
    };
    let scripts = &[Asset::Copying];
    let (title, class) = ("Evenkeel", "home");
    Page { title, place: Place::Home, class, side: None, scripts, main }.render()
}

fn link(href: &str, name: &str, about: &str) -> Markup {
    html! { div { dt { a href=(href) { (name) } } dd { (about) } } }
}
