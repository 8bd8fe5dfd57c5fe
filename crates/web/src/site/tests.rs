//! Tests of the size and the headers of pages and assets.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::sync::LazyLock;

use axum::body::Body;
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{Request, StatusCode, header};
use http_body_util::BodyExt as _;
use service::platform::limits::Policy;
use testkit::World;
use tower::ServiceExt as _;
use wire::v1::{Code, Scope};

use super::{docs, error_pages};
use crate::api::ENDPOINTS;
use crate::{Settings, routers};

const URL: &str = "https://money.example";

/// Every public page, with its path.
fn pages() -> &'static [(String, String)] {
    static PAGES: LazyLock<Vec<(String, String)>> = LazyLock::new(rendered_pages);
    &PAGES
}

fn rendered_pages() -> Vec<(String, String)> {
    let mut pages = vec![
        ("/docs".to_owned(), docs::page(URL)),
        ("/docs/errors".to_owned(), docs::errors::list_page()),
        ("/nowhere".to_owned(), error_pages::not_found_page("/nowhere")),
    ];
    pages.push(("/docs/search?q=accounts".to_owned(), docs::search_page("accounts")));
    for guide in &docs::guides::GUIDES {
        let page = docs::guides::page(guide, URL, Policy::default());
        pages.push((guide.path.to_owned(), page));
    }
    for code in Code::ALL {
        let path = format!("/docs/errors/{}", code.slug());
        pages.push((path, docs::errors::code_page(code, URL)));
    }
    let mut pages: Vec<(String, String)> =
        pages.into_iter().map(|(path, page)| (path, page.into_string())).collect();
    let groups = docs::group_pages(URL).into_iter();
    pages.extend(groups.map(|(slug, page)| (format!("/docs/api/{slug}"), page)));
    pages
}

fn page(path: &str) -> &'static str {
    &pages().iter().find(|(it, _)| it == path).unwrap().1
}

/// An opening tag. maud quotes every value and escapes its content, so parsing one is simple.
struct Tag<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
}

impl<'a> Tag<'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(it, _)| *it == name).map(|(_, value)| *value)
    }
}

fn tags(page: &str) -> Vec<Tag<'_>> {
    let inner = page.split('<').skip(1).filter_map(|it| it.split_once('>')).map(|it| it.0);
    inner.filter(|it| it.starts_with(|it: char| it.is_ascii_alphabetic())).map(tag).collect()
}

fn tag(inner: &str) -> Tag<'_> {
    let (name, mut rest) = inner.split_once(' ').unwrap_or((inner, ""));
    let mut attributes = Vec::new();
    while !rest.is_empty() {
        let end = rest.find([' ', '=']).unwrap_or(rest.len());
        let (attribute, after) = rest.split_at(end);
        match after.strip_prefix("=\"").and_then(|it| it.split_once('"')) {
            Some((value, after)) => {
                attributes.push((attribute, value));
                rest = after.trim_start();
            }
            None => {
                attributes.push((attribute, ""));
                rest = after.trim_start();
            }
        }
    }
    Tag { name, attributes }
}

async fn send(world: &World, method: &str, path: &str) -> Response {
    let settings =
        Settings { public_url: URL.to_owned(), serve_metrics: true, ..Settings::default() };
    let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
    routers(world.app.clone(), settings).main.oneshot(request).await.unwrap()
}

async fn text(response: Response) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn every_error_code_page_gives_meaning_and_recovery() {
    let list = page("/docs/errors");
    for code in Code::ALL {
        let path = format!("/docs/errors/{}", code.slug());
        assert!(list.contains(&format!("href=\"{path}\"")), "{path}");
        let shown = page(&path);
        for sentence in [code.meaning(), code.recovery()] {
            let words = sentence.split('`').next().unwrap_or_default();
            let escaped = words.replace('<', "&lt;").replace('>', "&gt;");
            assert!(shown.contains(escaped.as_str()), "{path}: {sentence}");
        }
        assert!(shown.contains(&format!("&quot;{}&quot;", code.as_str())), "{path}: the body");
    }
}

#[test]
fn the_reference_lists_every_endpoint_and_parameter() {
    let reference = page("/docs");
    for endpoint in ENDPOINTS {
        let (id, path) = (docs::endpoint_id(endpoint), docs::endpoint_path(endpoint));
        assert!(reference.contains(&format!("href=\"{path}\"")), "{path} is not listed");
        let group = path.split('#').next().unwrap();
        let group = page(group);
        let ids: BTreeSet<&str> = tags(group).iter().filter_map(|it| it.get("id")).collect();
        assert!(ids.contains(id.as_str()), "{id}");
        assert!(group.contains(&format!("href=\"#{id}\"")), "{id} is not in the contents");
        for parameter in endpoint.path_parameters.iter().chain(endpoint.query) {
            let field = format!("{id}-{}", parameter.name);
            assert!(ids.contains(field.as_str()), "{field}");
            assert!(group.contains(&format!("<code>{}</code>", parameter.name)), "{field}");
        }
    }
    for scope in Scope::ALL {
        assert!(reference.contains(scope.describe()), "{scope}");
    }
}

#[tokio::test]
async fn every_link_works() {
    let world = World::new().await;
    let mut links = BTreeSet::new();
    for (path, page) in pages() {
        for tag in tags(page) {
            let Some(link) = tag.get("href").or_else(|| tag.get("src")) else { continue };
            let full =
                if link.starts_with('#') { format!("{path}{link}") } else { link.to_owned() };
            links.insert(full);
        }
    }
    assert!(links.len() > 40, "{links:?}");
    let mut targets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for link in &links {
        let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
        targets.entry(path).or_default().push(fragment);
    }
    for (path, fragments) in targets {
        assert!(path.starts_with('/') && !path.starts_with("//"), "{path} leaves the site");
        let response = send(&world, "GET", path).await;
        // Private pages redirect visitors who are not signed in.
        let private = path == "/" || path.starts_with("/settings");
        let expected = if private { StatusCode::SEE_OTHER } else { StatusCode::OK };
        assert!(response.status() == expected || path == "/nowhere", "{path}");
        let fragments: Vec<&str> = fragments.into_iter().filter(|it| !it.is_empty()).collect();
        let page = if fragments.is_empty() { String::new() } else { text(response).await };
        for fragment in fragments {
            assert!(page.contains(&format!("id=\"{fragment}\"")), "{path}#{fragment}");
        }
    }
}

#[test]
fn pages_have_no_inline_scripts_or_styles() {
    for (path, page) in pages() {
        assert!(!page.contains("<style") && !page.contains("javascript:"), "{path}");
        assert!(!page.contains("<script>"), "{path}");
        for tag in tags(page) {
            let inline = |it: &&(&str, &str)| it.0 == "style" || it.0.starts_with("on");
            let found = tag.attributes.iter().find(inline);
            assert!(found.is_none(), "{path}: {} {found:?}", tag.name);
        }
    }
}

#[test]
fn pages_are_accessible() {
    for (path, page) in pages() {
        let tags = tags(page);
        let count = |name: &str| tags.iter().filter(|it| it.name == name).count();
        assert_eq!((count("title"), count("main"), count("h1")), (1, 1, 1), "{path}");
        assert!(tags.iter().any(|it| it.name == "html" && it.get("lang") == Some("en")), "{path}");
        let mut last = 0;
        for level in tags.iter().filter_map(|it| it.name.strip_prefix('h')?.parse::<u8>().ok()) {
            assert!(level <= last + 1, "{path}: from h{last} to h{level}");
            last = level;
        }
        let mut ids = BTreeSet::new();
        for id in tags.iter().filter_map(|it| it.get("id")) {
            assert!(ids.insert(id), "{path}: the id {id} occurs twice");
        }
        for named in tags.iter().filter_map(|it| it.get("aria-labelledby")) {
            assert!(ids.contains(named), "{path}: {named}");
        }
    }
}

#[test]
fn every_control_has_a_label() {
    for (path, page) in pages() {
        let tags = tags(page);
        let labels: BTreeSet<&str> =
            tags.iter().filter(|it| it.name == "label").filter_map(|it| it.get("for")).collect();
        for control in tags.iter().filter(|it| ["input", "select", "textarea"].contains(&it.name)) {
            let id = control.get("id").unwrap_or_default();
            assert!(labels.contains(id), "{path}: {id}");
        }
    }
}

#[test]
fn pages_are_small() {
    for (path, page) in pages() {
        assert!(page.len() < 240 * 1_024, "{path}: {}", page.len());
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(page.as_bytes()).unwrap();
        let packed = packed.finish().unwrap().len();
        assert!(packed < 40 * 1_024, "{path}: {packed}");
    }
}

#[tokio::test]
async fn every_response_outside_the_api_has_security_headers() {
    let world = World::new().await;
    for path in ["/", "/docs", "/docs/errors", "/nowhere", "/assets/nothing.css", "/healthz"] {
        let response = send(&world, "GET", path).await;
        let get = |name: header::HeaderName| response.headers()[name].to_str().unwrap().to_owned();
        let policy = get(header::CONTENT_SECURITY_POLICY);
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(get(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
        assert_eq!(get(header::REFERRER_POLICY), "no-referrer");
        assert_eq!(get(header::X_FRAME_OPTIONS), "DENY");
    }
}

#[tokio::test]
async fn an_unknown_path_gets_the_not_found_page() {
    let world = World::new().await;
    for path in
        ["/nowhere", "/docs/errors/nothing", "/assets/app.css", "/docs/more", "/favicon.ico"]
    {
        let response = send(&world, "GET", path).await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
        assert!(text(response).await.contains("Page not found"), "{path}");
    }
    let response = send(&world, "GET", "/docs/").await;
    assert_eq!(response.headers()[header::LOCATION], "/docs");
}

#[tokio::test]
async fn an_unsupported_method_is_refused_with_the_allowed_ones() {
    let world = World::new().await;
    let response = send(&world, "POST", "/docs").await;
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(response.headers()[header::ALLOW], "GET,HEAD");
    assert!(text(response).await.contains("Method not allowed"));
    let response = send(&world, "DELETE", "/v1/openapi.json").await;
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(response.headers()[header::ALLOW], "GET, HEAD, OPTIONS");
    assert!(text(response).await.starts_with("{\"error\":"), "refusals under /v1 are JSON");
    let response = send(&world, "OPTIONS", "/v1/openapi.json").await;
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn cached_pages_are_not_sent_again() {
    let world = World::new().await;
    let tag = send(&world, "GET", "/docs").await.headers()[header::ETAG].clone();
    let settings =
        Settings { public_url: URL.to_owned(), serve_metrics: true, ..Settings::default() };
    let request = Request::get("/docs").header(header::IF_NONE_MATCH, tag).body(Body::empty());
    let router = routers(world.app.clone(), settings).main;
    let response = router.oneshot(request.unwrap()).await.unwrap();
    assert_eq!(response.status(), StatusCode::NOT_MODIFIED);
    let style = super::assets::Asset::Style.href();
    let response = send(&world, "GET", style).await;
    let cache_control = response.headers()[header::CACHE_CONTROL].to_str().unwrap().to_owned();
    assert_eq!(cache_control, "public, max-age=31536000, immutable");
}
