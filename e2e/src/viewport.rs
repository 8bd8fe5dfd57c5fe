//! Viewports: desktop and phone, each with light and dark colors.

use serde_json::json;

use crate::Browser;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Viewport {
    pub name: &'static str,
    pub width: u32,
    pub height: u32,
    pub dark: bool,
}

pub const DESKTOP: Viewport =
    Viewport { name: "desk-light", width: 1280, height: 900, dark: false };
pub const DESKTOP_DARK: Viewport = Viewport { name: "desk-dark", dark: true, ..DESKTOP };
pub const PHONE: Viewport = Viewport { name: "phone-light", width: 360, height: 740, dark: false };
pub const PHONE_DARK: Viewport = Viewport { name: "phone-dark", dark: true, ..PHONE };

/// The width at which WCAG requires a page to be readable without scrolling sideways.
pub const NARROWEST: Viewport = Viewport { name: "320 px", width: 320, ..PHONE };

/// In an order in which each differs from the one before only in its width or in its colors.
pub const ALL: [Viewport; 4] = [DESKTOP, DESKTOP_DARK, PHONE_DARK, PHONE];

impl Viewport {
    pub fn is_phone(self) -> bool {
        self.width < 500
    }
}

impl Browser {
    /// Changes only what differs from the viewport before, because each change lays out and paints the page again.
    #[track_caller]
    pub fn set_viewport(&self, viewport: Viewport) {
        let before = self.viewport.replace(Some(viewport));
        let size = |it: Viewport| (it.width, it.height);
        if before.map(size) != Some(size(viewport)) {
            self.set_size(viewport);
        }
        if before.map(|it| it.dark) != Some(viewport.dark) {
            self.set_colors(viewport);
        }
    }

    #[track_caller]
    fn set_size(&self, viewport: Viewport) {
        let metrics = json!({
            "width": viewport.width,
            "height": viewport.height,
            "deviceScaleFactor": 1,
            "mobile": viewport.is_phone(),
        });
        self.session.command("Emulation.setDeviceMetricsOverride", metrics);
    }

    #[track_caller]
    fn set_colors(&self, viewport: Viewport) {
        let scheme = if viewport.dark { "dark" } else { "light" };
        // Animations would be checked half-way.
        let features = json!([
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]);
        self.session.command("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// The height of the whole page.
    #[track_caller]
    pub fn height(&self) -> u32 {
        let height = self.script("return document.documentElement.scrollHeight", json!([]));
        height.as_u64().and_then(|it| it.try_into().ok()).unwrap_or_default()
    }

    /// By how many pixels the page is wider than the viewport, so that it scrolls sideways.
    #[track_caller]
    pub fn overflow(&self, viewport: Viewport) -> u64 {
        let width = self.script("return document.scrollingElement.scrollWidth", json!([]));
        width.as_u64().unwrap_or_default().saturating_sub(viewport.width.into())
    }
}
