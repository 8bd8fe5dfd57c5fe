//! Search over the documentation: endpoints, guides and error codes.

use axum::extract::RawQuery;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use maud::{Markup, html};
use wire::v1::Code;

use super::super::format::plural;
use super::super::public_page::{self, PublicNavItem, PublicPage};
use super::super::urls;
use super::search_form::{LENGTH_MAX, search_form};
use super::{endpoint_path, guides};
use crate::api::{ENDPOINTS, Endpoint};

pub(super) async fn get(RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let typed = query.and_then(|it| urls::find_param(&it, "q")).unwrap_or_default();
    let typed: String = typed.chars().take(LENGTH_MAX).collect();
    public_page::send(&headers, StatusCode::OK, page(typed.trim()))
}

pub(in super::super) fn page(typed: &str) -> Markup {
    let found = find(typed);
    let main = html! {
        h1 { "Search" }
        (search_form(typed))
        @if typed.is_empty() {
            p { "Type what you are looking for, such as a path, a parameter or an error code." }
        } @else if found.is_empty() {
            p { "Nothing in the documentation contains “" (typed) "”." }
        } @else {
            p { (plural(found.len() as i64, "result", "results")) " for “" (typed) "”." }
            ul.facts {
                @for (href, title, detail) in &found {
                    li { a href=(href) { (title) } " " span.soft { (detail) } }
                }
            }
        }
    };
    PublicPage {
        title: "Search",
        place: PublicNavItem::Reference,
        class: "docs search",
        side: Some(guides::contents("/docs/search")),
        scripts: &[],
        main,
    }
    .render()
}

/// The address, title and detail of everything that contains all words.
fn find(typed: &str) -> Vec<(String, String, String)> {
    let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let matches = |text: &str| {
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word.as_str()))
    };
    let mut found = Vec::new();
    for guide in &guides::GUIDES {
        if matches(guide.title) {
            found.push((guide.path.to_owned(), guide.title.to_owned(), "Guide".to_owned()));
        }
    }
    for endpoint in ENDPOINTS.iter().filter(|it| matches(&text_of(it))) {
        let route = format!("{} /v1{}", endpoint.method.as_str(), endpoint.path);
        found.push((endpoint_path(endpoint), endpoint.summary.to_owned(), route));
    }
    for code in Code::ALL {
        if matches(&format!("{} {} {}", code.as_str(), code.meaning(), code.recovery())) {
            let path = format!("/docs/errors/{}", code.slug());
            found.push((path, code.as_str().to_owned(), "Error code".to_owned()));
        }
    }
    found
}

fn text_of(endpoint: &Endpoint) -> String {
    let parameters = endpoint.path_parameters.iter().chain(endpoint.query);
    let parameters: Vec<String> =
        parameters.map(|it| format!("{} {}", it.name, it.description)).collect();
    let scopes: Vec<&str> = endpoint.scopes.iter().map(|it| it.as_str()).collect();
    format!(
        "{} {} {} {} {} {}",
        endpoint.method.as_str(),
        endpoint.path,
        endpoint.summary,
        endpoint.description,
        parameters.join(" "),
        scopes.join(" ")
    )
}
