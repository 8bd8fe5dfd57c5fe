//! Where one arrives when an address leads nowhere, or does not take what was sent.

use axum::response::Response;
use http::{HeaderMap, Method, StatusCode, Uri};
use maud::{Markup, html};

use super::public_page::{self, PublicNavItem, PublicPage};

pub(super) async fn not_found(uri: Uri) -> Response {
    let page = not_found_page(uri.path());
    public_page::send(&HeaderMap::new(), StatusCode::NOT_FOUND, page)
}

/// axum adds the `Allow` header.
pub(super) async fn method_not_allowed(method: Method, uri: Uri) -> Response {
    let page = method_not_allowed_page(method.as_str(), uri.path());
    public_page::send(&HeaderMap::new(), StatusCode::METHOD_NOT_ALLOWED, page)
}

pub(super) fn not_found_page(path: &str) -> Markup {
    page(
        "There is no page here",
        html! {
            p {
                "Nothing is kept at " code { (shown(path)) }
                ". The address may be mistyped, or the page has moved."
            }
        },
    )
}

fn method_not_allowed_page(method: &str, path: &str) -> Markup {
    page(
        "This page can only be read",
        html! { p { code { (shown(path)) } " does not take " code { (shown(method)) } "." } },
    )
}

pub(super) fn page(title: &str, said: Markup) -> Markup {
    let main = html! {
        div.note {
            h1 { (title) }
            (said)
            ul.next {
                li { a href="/" { "Go to the start" } }
                li { a href="/docs" { "Open the API reference" } }
                li { a href="/docs/errors" { "Look up an error" } }
            }
        }
    };
    let class = "plain";
    PublicPage { title, place: PublicNavItem::Nowhere, class, side: None, scripts: &[], main }
        .render()
}

/// As much of what was asked as helps to see the mistake.
fn shown(text: &str) -> String {
    const LONGEST: usize = 120;
    let mut shown: String = text.chars().take(LONGEST).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_is_shown_as_text_and_not_at_any_length() {
        let page = not_found_page("/<script>alert(1)</script>").into_string();
        assert!(page.contains("/&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
        let long = not_found_page(&"/é".repeat(10_000)).into_string();
        assert!(long.contains('…') && long.len() < 4_000, "{}", long.len());
    }
}
