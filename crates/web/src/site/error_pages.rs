//! The pages for an unknown address and for a method that a page does not accept.

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
        "Page not found",
        html! {
            p {
                "There is no page at " code { (shown(path)) } ". Check the address for typos. The page may have \
                    moved."
            }
        },
    )
}

fn method_not_allowed_page(method: &str, path: &str) -> Markup {
    page(
        "Method not allowed",
        html! { p { code { (shown(path)) } " doesn't accept " code { (shown(method)) } " requests." } },
    )
}

pub(super) fn page(title: &str, body: Markup) -> Markup {
    let main = html! {
        div.note {
            h1 { (title) }
            (body)
            ul.next {
                li { a href="/" { "Go to overview" } }
                li { a href="/docs" { "API reference" } }
                li { a href="/docs/errors" { "Error codes" } }
            }
        }
    };
    let class = "plain";
    PublicPage { title, place: PublicNavItem::Nowhere, class, side: None, scripts: &[], main }
        .render()
}

/// The text, shortened to a length that fits the page.
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
    fn the_path_is_escaped_and_shortened() {
        let page = not_found_page("/<script>alert(1)</script>").into_string();
        assert!(page.contains("/&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
        let long = not_found_page(&"/é".repeat(10_000)).into_string();
        assert!(long.contains('…') && long.len() < 4_000, "{}", long.len());
    }
}
