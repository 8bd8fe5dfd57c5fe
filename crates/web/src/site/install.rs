//! Installing the app on a phone: the manifest, the worker script, and the page that it shows without a connection.

use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, StatusCode, header};
use maud::{Markup, html};

use super::assets::Asset;
use super::public_page::{self, PublicNavItem, PublicPage};

/// The manifest of the installed app.
pub(super) async fn manifest() -> Response {
    let body = serde_json::json!({
        "id": "/",
        "name": "Evenkeel",
        "short_name": "Evenkeel",
        "description": "Your finances on your own server",
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": "#fbfbf9",
        "theme_color": "#0f766e",
        "icons": [
            { "src": Asset::Icon.href(), "sizes": "512x512", "type": "image/png", "purpose": "any maskable" },
            { "src": Asset::Logo.href(), "sizes": "any", "type": "image/svg+xml" },
        ],
        "shortcuts": [
            { "name": "Transactions", "url": "/transactions" },
            { "name": "Approvals", "url": "/approvals" },
            { "name": "Import", "url": "/import" },
        ],
    });
    let headers =
        [(header::CONTENT_TYPE, "application/manifest+json"), (header::CACHE_CONTROL, "no-cache")];
    (headers, body.to_string()).into_response()
}

/// The worker must be at the root to see requests for every page.
pub(super) async fn worker() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    let files = serde_json::json!([Asset::Style.href(), Asset::Logo.href()]);
    let script = include_str!("../../assets/worker.js");
    (headers, format!("'use strict';\nconst FILES = {files};\n{script}")).into_response()
}

/// The only page that is stored on the device, with its style and its icon.
pub(super) async fn offline(headers: HeaderMap) -> Response {
    public_page::send(&headers, StatusCode::OK, offline_page())
}

fn offline_page() -> Markup {
    let main = html! {
        div.note {
            h1 { "You're offline" }
            p { "Evenkeel can't reach your server. Check your connection, then try again." }
            p { "Nothing about your finances is stored on this device." }
            ul.next { li { a href="/" { "Try again" } } }
        }
    };
    let (title, place) = ("You're offline", PublicNavItem::Nowhere);
    PublicPage { title, place, class: "plain", side: None, scripts: &[], main }.render()
}
