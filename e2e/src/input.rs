//! Input that WebDriver describes as actions: key combinations, the mouse, and a finger.

use serde_json::{Value, json};

use crate::Browser;

/// Code points of WebDriver for keys without a letter.
pub mod key {
    pub const TAB: &str = "\u{e004}";
    pub const ENTER: &str = "\u{e007}";
    pub const CONTROL: char = '\u{e009}';
    pub const ESCAPE: &str = "\u{e00c}";
    pub const END: &str = "\u{e010}";
    pub const HOME: &str = "\u{e011}";
    pub const LEFT: &str = "\u{e012}";
    pub const RIGHT: &str = "\u{e014}";
    pub const DOWN: &str = "\u{e015}";
}

/// A place in the viewport, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub x: i64,
    pub y: i64,
}

impl Browser {
    /// Presses a key while another one is held, such as Ctrl+K.
    #[track_caller]
    pub fn chord(&self, held: char, key: char) {
        let stroke = |kind: &str, key: char| json!({"type": kind, "value": key});
        let strokes = json!([
            stroke("keyDown", held),
            stroke("keyDown", key),
            stroke("keyUp", key),
            stroke("keyUp", held),
        ]);
        self.act(json!({"type": "key", "id": "keys", "actions": strokes}));
    }

    /// Moves the mouse there.
    #[track_caller]
    pub fn hover(&self, at: Place) {
        self.point("mouse", &[move_to(at)]);
    }

    /// Clicks there with the mouse.
    #[track_caller]
    pub fn click_at(&self, at: Place) {
        self.point("mouse", &press_at(at));
    }

    /// Touches the screen there with a finger, and lifts it.
    #[track_caller]
    pub fn tap(&self, at: Place) {
        self.point("touch", &press_at(at));
    }

    #[track_caller]
    fn point(&self, with: &str, actions: &[Value]) {
        let parameters = json!({"pointerType": with});
        let pointer =
            json!({"type": "pointer", "id": with, "parameters": parameters, "actions": actions});
        self.act(pointer);
    }

    #[track_caller]
    pub(crate) fn act(&self, device: Value) {
        self.wait_for_paint();
        self.must("/actions", json!({"actions": [device]}));
    }
}

fn move_to(at: Place) -> Value {
    json!({"type": "pointerMove", "x": at.x, "y": at.y})
}

fn press_at(at: Place) -> [Value; 3] {
    let button = |kind: &str| json!({"type": kind, "button": 0});
    [move_to(at), button("pointerDown"), button("pointerUp")]
}
