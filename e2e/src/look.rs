//! How a page is looked at: on a desk or in a hand, by day or by night.

use serde_json::json;

use crate::Browser;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    pub name: &'static str,
    pub width: u32,
    pub height: u32,
    pub dark: bool,
}

pub const DESK: Look = Look { name: "desk-light", width: 1280, height: 900, dark: false };
pub const DESK_DARK: Look = Look { name: "desk-dark", dark: true, ..DESK };
pub const PHONE: Look = Look { name: "phone-light", width: 360, height: 740, dark: false };
pub const PHONE_DARK: Look = Look { name: "phone-dark", dark: true, ..PHONE };

pub const ALL: [Look; 4] = [DESK, DESK_DARK, PHONE, PHONE_DARK];

impl Look {
    pub fn is_phone(self) -> bool {
        self.width < 500
    }
}

impl Browser {
    #[track_caller]
    pub fn look(&self, look: Look) {
        let metrics = json!({
            "width": look.width,
            "height": look.height,
            "deviceScaleFactor": 1,
            "mobile": look.is_phone(),
        });
        self.session.command("Emulation.setDeviceMetricsOverride", metrics);
        let scheme = if look.dark { "dark" } else { "light" };
        // What moves would be judged half-way.
        let features = json!([
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]);
        self.session.command("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// How high the page is, also below the fold.
    #[track_caller]
    pub fn height(&self) -> u32 {
        let height = self.script("return document.documentElement.scrollHeight", json!([]));
        height.as_u64().and_then(|it| it.try_into().ok()).unwrap_or_default()
    }

    /// How much wider the page is than this look: nobody likes to move sideways to read.
    #[track_caller]
    pub fn overflow(&self, look: Look) -> u64 {
        let width = self.script("return document.scrollingElement.scrollWidth", json!([]));
        width.as_u64().unwrap_or_default().saturating_sub(look.width.into())
    }
}
