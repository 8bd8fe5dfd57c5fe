//! The layout of public pages, such as the documentation and error pages.

use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use maud::{DOCTYPE, Markup, html};
use xxhash_rust::xxh3::xxh3_64;

use super::assets::Asset;
use super::logo;

/// The page with the changes of each version.
pub(super) const CHANGES_PATH: &str = "/docs/changes";

/// The entry of the top navigation that a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PublicNavItem {
    Guides,
    Reference,
    Errors,
    Nowhere,
}

pub(super) struct PublicPage<'a> {
    pub(super) title: &'a str,
    pub(super) place: PublicNavItem,
    /// The class of the body element.
    pub(super) class: &'static str,
    /// The table of contents: beside the page on wide screens, behind a button on narrow ones.
    pub(super) side: Option<Markup>,
    pub(super) scripts: &'static [Asset],
    pub(super) main: Markup,
}

impl PublicPage<'_> {
    pub(super) fn render(&self) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    title { (self.title) " · Evenkeel" }
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    // An installation is private, so search engines must not index it.
                    meta name="robots" content="noindex, nofollow";
                    link rel="icon" type="image/svg+xml" href=(Asset::Logo.href());
                    link rel="stylesheet" href=(Asset::Style.href());
                    @for script in self.scripts {
                        script src=(script.href()) defer {}
                    }
                }
                body class=(self.class) {
                    a.skip href="#main" { "Skip to content" }
                    (self.top())
                    div.shell {
                        @if let Some(side) = &self.side {
                            nav.side id="contents" aria-label="Contents" popover { (side) }
                        }
                        main id="main" tabindex="-1" { (self.main) }
                    }
                    (foot())
                }
            }
        }
    }

    fn top(&self) -> Markup {
        let entry = |item: PublicNavItem, href: &str, text: &str| {
            let current = (self.place == item).then_some("page");
            html! { li { a href=(href) aria-current=[current] { (text) } } }
        };
        html! {
            header.top {
                div.bar {
                    a.brand href="/" { (logo::svg()) span { "Evenkeel" } }
                    nav aria-label="Site" {
                        ul {
                            (entry(PublicNavItem::Guides, "/docs/start", "Guides"))
                            (entry(PublicNavItem::Reference, "/docs", "API reference"))
                            (entry(PublicNavItem::Errors, "/docs/errors", "Errors"))
                        }
                    }
                    @if self.side.is_some() {
                        button.contents type="button" popovertarget="contents" { "Contents" }
                    }
                }
            }
        }
    }
}

fn foot() -> Markup {
    html! {
        footer.foot {
            p {
                "Evenkeel " (env!("CARGO_PKG_VERSION"))
                ". This page loads nothing from other servers."
            }
            ul {
                li { a href=(CHANGES_PATH) { "What's new" } }
                li { a href="/v1/openapi.json" { "OpenAPI document" } }
                li { a href="/healthz" { "Liveness" } }
                li { a href="/readyz" { "Readiness" } }
            }
        }
    }
}

/// Sends a page that is the same for everyone. Browsers may cache it but must revalidate it, because it changes with
/// the next version.
pub(super) fn send(asked: &HeaderMap, status: StatusCode, page: impl Into<String>) -> Response {
    let page: String = page.into();
    let tag = format!("W/\"{:016x}\"", xxh3_64(page.as_bytes()));
    let known = asked.get(header::IF_NONE_MATCH).and_then(|it| it.to_str().ok());
    let unchanged = known.is_some_and(|it| it.split(',').any(|one| one.trim() == tag));
    let mut response = if status == StatusCode::OK && unchanged {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let kind = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
        (status, kind, page).into_response()
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}
