//! Style sheets, scripts and the logo. They are part of the binary, and their URLs change with their content.

use std::sync::LazyLock;

use axum::response::{IntoResponse as _, Response};
use http::header;
use xxhash_rust::xxh3::xxh3_64;

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
    /// The search dialog and the keyboard shortcuts.
    Palette,
    /// Opens a transaction beside the list.
    Panel,
    /// The icon of the installed app.
    Icon,
    /// The icon on the home screen of an iPhone.
    TouchIcon,
}

struct Served {
    href: String,
    media_type: &'static str,
    content: &'static [u8],
}

/// The assets, in the order of `Asset`.
static SERVED: LazyLock<[Served; 14]> = LazyLock::new(|| {
    [
        served("app", "css", "text/css", include_bytes!("../../assets/app.css")),
        served("copying", "js", "text/javascript", include_bytes!("../../assets/copying.js")),
        served("docs", "js", "text/javascript", include_bytes!("../../assets/docs.js")),
        served("logo", "svg", "image/svg+xml", include_bytes!("../../assets/logo.svg")),
        served("pages", "css", "text/css", include_bytes!("../../assets/pages.css")),
        served("pages", "js", "text/javascript", include_bytes!("../../assets/pages.js")),
        served("passkeys", "js", "text/javascript", include_bytes!("../../assets/passkeys.js")),
        served("live", "js", "text/javascript", include_bytes!("../../assets/live.js")),
        served("imports", "js", "text/javascript", include_bytes!("../../assets/imports.js")),
        served("timezone", "js", "text/javascript", include_bytes!("../../assets/timezone.js")),
        served("palette", "js", "text/javascript", include_bytes!("../../assets/palette.js")),
        served("panel", "js", "text/javascript", include_bytes!("../../assets/panel.js")),
        served("icon", "png", "image/png", include_bytes!("../../assets/icon-512.png")),
        served("touch", "png", "image/png", include_bytes!("../../assets/icon-180.png")),
    ]
});

fn served(name: &str, ending: &str, media_type: &'static str, content: &'static [u8]) -> Served {
    let hash = xxh3_64(content) as u32;
    Served { href: format!("/assets/{name}.{hash:08x}.{ending}"), media_type, content }
}

impl Asset {
    pub(crate) fn href(self) -> &'static str {
        &SERVED[self as usize].href
    }
}

/// The answer with the asset of this name, if there is one.
pub(super) fn find(name: &str) -> Option<Response> {
    let found = SERVED.iter().find(|it| it.href.strip_prefix("/assets/") == Some(name))?;
    let charset = if found.media_type == "image/png" { "" } else { "; charset=utf-8" };
    let headers = [
        (header::CONTENT_TYPE, format!("{}{charset}", found.media_type)),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable".to_owned()),
    ];
    Some((headers, found.content).into_response())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// The compressed size of all assets together. No page loads all of them.
    #[test]
    fn style_and_scripts_are_light_together() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        for served in SERVED.iter().filter(|it| it.media_type != "image/png") {
            packed.write_all(served.content).unwrap();
        }
        let bytes = packed.finish().unwrap().len();
        assert!(bytes < 24 * 1_024, "{bytes}");
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
            (Asset::Panel, "/assets/panel."),
            (Asset::Icon, "/assets/icon."),
        ] {
            assert!(asset.href().starts_with(name), "{}", asset.href());
        }
    }

    #[test]
    fn assets_load_nothing_from_other_sites() {
        for asset in SERVED.iter() {
            let Ok(text) = str::from_utf8(asset.content) else { continue };
            let plain = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!plain.contains("//") && !plain.contains("@import"), "{}", asset.href);
        }
    }
}
