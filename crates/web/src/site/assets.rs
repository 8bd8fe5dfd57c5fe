//! Style sheets, scripts and the logo. They are part of the binary, and their URLs change with their content.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::response::{IntoResponse as _, Response};
use http::{Uri, header};
use xxhash_rust::xxh3::xxh3_64;

use super::error_pages;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asset {
    Style,
    Copying,
    Docs,
    Logo,
    /// The style of the signed-in pages, loaded after `Style`.
    App,
    /// Reads chart values aloud and closes menus.
    Pages,
    /// Asks the browser for a passkey.
    Passkeys,
    /// Keeps open pages up to date.
    Live,
    /// Uploads dropped files and refreshes the import preview.
    Imports,
    /// Chooses the browser's time zone for a new account.
    TimeZone,
}

struct Served {
    href: String,
    media_type: &'static str,
    text: &'static str,
}

/// The assets, in the order of `Asset`.
static SERVED: LazyLock<[Served; 10]> = LazyLock::new(|| {
    [
        served("app", "css", "text/css", include_str!("../../assets/app.css")),
        served("copying", "js", "text/javascript", include_str!("../../assets/copying.js")),
        served("docs", "js", "text/javascript", include_str!("../../assets/docs.js")),
        served("logo", "svg", "image/svg+xml", include_str!("../../assets/logo.svg")),
        served("pages", "css", "text/css", include_str!("../../assets/pages.css")),
        served("pages", "js", "text/javascript", include_str!("../../assets/pages.js")),
        served("passkeys", "js", "text/javascript", include_str!("../../assets/passkeys.js")),
        served("live", "js", "text/javascript", include_str!("../../assets/live.js")),
        served("imports", "js", "text/javascript", include_str!("../../assets/imports.js")),
        served("timezone", "js", "text/javascript", include_str!("../../assets/timezone.js")),
    ]
});

fn served(name: &str, ending: &str, media_type: &'static str, text: &'static str) -> Served {
    let hash = xxh3_64(text.as_bytes()) as u32;
    Served { href: format!("/assets/{name}.{hash:08x}.{ending}"), media_type, text }
}

impl Asset {
    pub(crate) fn href(self) -> &'static str {
        &SERVED[self as usize].href
    }
}

pub(super) async fn get(Path(name): Path<String>, uri: Uri) -> Response {
    let Some(found) = SERVED.iter().find(|it| it.href.strip_prefix("/assets/") == Some(&name))
    else {
        return error_pages::not_found(uri).await;
    };
    let headers = [
        (header::CONTENT_TYPE, format!("{}; charset=utf-8", found.media_type)),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable".to_owned()),
    ];
    (headers, found.text).into_response()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// The compressed size of all assets together.
    #[test]
    fn style_and_scripts_are_light_together() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        for served in SERVED.iter() {
            packed.write_all(served.text.as_bytes()).unwrap();
        }
        let bytes = packed.finish().unwrap().len();
        assert!(bytes < 20 * 1_024, "{bytes}");
    }

    #[test]
    fn each_asset_has_its_own_url() {
        for (asset, name) in [
            (Asset::Style, "/assets/app."),
            (Asset::Copying, "/assets/copying."),
            (Asset::Docs, "/assets/docs."),
            (Asset::Logo, "/assets/logo."),
            (Asset::App, "/assets/pages."),
            (Asset::Pages, "/assets/pages."),
            (Asset::Passkeys, "/assets/passkeys."),
            (Asset::Live, "/assets/live."),
            (Asset::Imports, "/assets/imports."),
        ] {
            assert!(asset.href().starts_with(name), "{}", asset.href());
        }
    }

    #[test]
    fn assets_load_nothing_from_other_sites() {
        for asset in SERVED.iter() {
            let plain = asset.text.replace("http://www.w3.org/2000/svg", "");
            assert!(!plain.contains("//") && !plain.contains("@import"), "{}", asset.href);
        }
    }
}
