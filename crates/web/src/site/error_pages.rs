//! The pages for an unknown address and for a method that a page does not accept.

use axum::response::Response;
use http::{HeaderMap, Method, StatusCode, Uri};
use maud::{Markup, html};

use super::public_page::{self, PublicNavItem, PublicPage};

/// What an error page says. It is kept with the response, so that a signed-in person sees it within the app.
#[derive(Clone)]
pub(super) struct ErrorContent {
    pub(super) title: String,
    pub(super) body: Markup,
}

impl ErrorContent {
    /// The page for visitors who are not signed in.
    pub(super) fn send(self, status: StatusCode) -> Response {
        let page = page(&self.title, self.body.clone());
        let mut response = public_page::send(&HeaderMap::new(), status, page);
        response.extensions_mut().insert(self);
        response
    }
}

pub(super) async fn not_found(uri: Uri) -> Response {
    not_found_content(uri.path()).send(StatusCode::NOT_FOUND)
}

/// axum adds the `Allow` header.
pub(super) async fn method_not_allowed(method: Method, uri: Uri) -> Response {
    let (path, method) = (shown(uri.path()), shown(method.as_str()));
    let body = html! { p { code { (path) } " doesn't accept " code { (method) } " requests." } };
    let title = "Method not allowed".to_owned();
    ErrorContent { title, body }.send(StatusCode::METHOD_NOT_ALLOWED)
}

fn not_found_content(path: &str) -> ErrorContent {
    let body = html! {
        p {
            "There is no page at " code { (shown(path)) } ". Check the address for typos. The page may have \
                moved."
        }
    };
    ErrorContent { title: "Page not found".to_owned(), body }
}

/// The page for an unknown address, as visitors see it.
#[cfg(test)]
pub(super) fn not_found_page(path: &str) -> Markup {
    let content = not_found_content(path);
    page(&content.title, content.body)
}

fn page(title: &str, body: Markup) -> Markup {
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
