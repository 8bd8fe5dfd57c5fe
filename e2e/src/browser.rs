//! Uses pages like a person: opens addresses, finds controls by their accessible names, types and clicks.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::time::Instant;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::browser_log::CollectedLog;
use crate::session::Session;
use crate::viewport::{self, Viewport};
use crate::{TIMEOUT, pause_after, until};

/// The JSON field in which WebDriver returns an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Visible controls of a kind whose texts contain these words. The browser's accessible name then decides.
const CANDIDATES: &str = r#"
const [kinds, words] = arguments;
const plain = text => (text ?? "").replace(/\s+/g, " ");
const labels = it => (it.getAttribute("aria-labelledby") ?? "").split(" ")
    .map(id => document.getElementById(id)).concat([...(it.labels ?? [])]);
const texts = it => [it.textContent, it.value, it.getAttribute("aria-label")]
    .concat(labels(it).map(label => label?.textContent));
return [...document.querySelectorAll(kinds)]
    .filter(it => it.checkVisibility({ visibilityProperty: true }))
    .filter(it => texts(it).some(text => plain(text).includes(words)));
"#;

/// Waits until the page has been painted. In a tab that is not shown it stops waiting after a second.
const PAINTED: &str = "
return new Promise(done => { requestAnimationFrame(() => setTimeout(done)); setTimeout(done, 1000) });
";

const FIELDS: &str = "input:not([type=hidden]), select, textarea";
const BUTTONS: &str = "button, input[type=submit], [role=button], summary";

pub struct Browser {
    pub session: Session,
    /// The origin of the tested program, such as `http://127.0.0.1:8080`.
    pub origin: String,
    pub(crate) collected: RefCell<CollectedLog>,
    /// The viewport of the open tab. None for a tab that has the browser's own.
    pub(crate) viewport: Cell<Option<Viewport>>,
    has_scripts: Cell<bool>,
}

#[derive(Debug, Clone)]
pub struct Element(String);

impl Browser {
    pub fn start(origin: &str) -> Browser {
        let browser = Browser {
            session: Session::start(),
            origin: origin.to_owned(),
            collected: RefCell::default(),
            viewport: Cell::default(),
            has_scripts: Cell::new(true),
        };
        browser.set_viewport(viewport::DESKTOP);
        // Discards the requests of the browser's own start page.
        browser.go("about:blank");
        browser.logged_problems();
        browser
    }

    /// Opens a path of the program, or another address.
    #[track_caller]
    pub fn go(&self, to: &str) {
        let url = if to.starts_with('/') { format!("{}{to}", self.origin) } else { to.to_owned() };
        self.must("/url", json!({"url": url}));
        self.wait_for_paint();
    }

    /// Chromium drops keys and clicks that come before a page is painted for the first time. Pages without scripts cannot say
    /// when that was, so it waits until they are loaded.
    pub(crate) fn wait_for_paint(&self) {
        if self.has_scripts.get() {
            // A page that leads to another one meanwhile is gone, and its script fails.
            let _ = self.try_script(PAINTED, json!([]));
        } else {
            until("the page is loaded", || self.is_loaded().then_some(()));
        }
    }

    /// While a page is loading, its end is missing. A page that leads to another one has no state for a moment.
    fn is_loaded(&self) -> bool {
        self.try_script("return document.readyState", json!([])).is_ok_and(|it| it == "complete")
    }

    /// Presses the browser's Back button.
    #[track_caller]
    pub fn back(&self) {
        self.must("/back", json!({}));
    }

    #[track_caller]
    pub fn url(&self) -> String {
        let url = self.session.get("/url").unwrap_or_else(|error| panic!("{error}"));
        url.as_str().unwrap_or_default().to_owned()
    }

    /// The path and query, or the whole URL if the page is not the program's.
    #[track_caller]
    pub fn path(&self) -> String {
        let url = self.url();
        url.strip_prefix(&self.origin).unwrap_or(&url).to_owned()
    }

    /// Waits until the path, without its query, is this one.
    #[track_caller]
    pub fn arrive(&self, path: &str) {
        until(&format!("the page is {path}, not {}", self.path()), || {
            let now = self.path();
            (now.split(['?', '#']).next() == Some(path)).then_some(())
        });
    }

    #[track_caller]
    pub fn field(&self, name: &str) -> Element {
        self.named(FIELDS, name)
    }

    #[track_caller]
    pub fn button(&self, name: &str) -> Element {
        self.named(BUTTONS, name)
    }

    /// A button that submits a form, where something else has the same name, such as the summary above it.
    #[track_caller]
    pub fn submit_button(&self, name: &str) -> Element {
        self.named("button[type=submit], input[type=submit]", name)
    }

    #[track_caller]
    pub fn link(&self, name: &str) -> Element {
        self.named("a[href]", name)
    }

    /// Waits for the control whose accessible name, as the browser computes it, is this.
    #[track_caller]
    fn named(&self, kinds: &str, name: &str) -> Element {
        let what = format!("there is {name:?} ({kinds}) at {}", self.path());
        until(&what, || self.find(kinds, name))
    }

    fn find(&self, kinds: &str, name: &str) -> Option<Element> {
        let found = self.try_script(CANDIDATES, json!([kinds, name])).ok()?;
        let elements = found.as_array()?.iter().filter_map(|it| it[ELEMENT].as_str());
        let mut elements = elements.map(|it| Element(it.to_owned()));
        elements.find(|it| self.name_of(it).as_deref() == Some(name))
    }

    pub fn has_button(&self, name: &str) -> bool {
        self.find(BUTTONS, name).is_some()
    }

    pub fn has_link(&self, name: &str) -> bool {
        self.find("a[href]", name).is_some()
    }

    /// Its accessible name.
    fn name_of(&self, element: &Element) -> Option<String> {
        let name = self.session.get(&format!("/element/{}/computedlabel", element.0)).ok()?;
        name.as_str().map(|it| it.trim().to_owned())
    }

    #[track_caller]
    pub fn click(&self, element: &Element) {
        self.wait_for_paint();
        let click = format!("/element/{}/click", element.0);
        let Err(error) = self.session.post(&click, json!({})) else { return };
        let is_covered = error.contains("element click intercepted");
        assert!(is_covered, "at {}: {error}", self.path());
        // WebDriver scrolls only to the edge of the window, where the bar of a phone covers it. A person scrolls further.
        let scroll = "arguments[0].scrollIntoView({ block: 'center' })";
        self.script(scroll, json!([{ELEMENT: element.0}]));
        self.must(&click, json!({}));
    }

    #[track_caller]
    pub fn press(&self, button: &str) {
        self.click(&self.button(button));
    }

    #[track_caller]
    pub fn follow(&self, link: &str) {
        self.click(&self.link(link));
    }

    /// Replaces the content of a field.
    #[track_caller]
    pub fn fill(&self, field: &str, text: &str) {
        let element = self.field(field);
        self.must(&format!("/element/{}/clear", element.0), json!({}));
        self.must(&format!("/element/{}/value", element.0), json!({"text": text}));
    }

    /// Chooses an entry of a list by its text.
    #[track_caller]
    pub fn choose(&self, list: &str, entry: &str) {
        let list = self.field(list);
        let find = "return [...arguments[0].options].find(it => it.text.trim() === arguments[1])";
        let found = self.script(find, json!([{ELEMENT: list.0}, entry]));
        let found = found[ELEMENT].as_str();
        let found = found.unwrap_or_else(|| panic!("no {entry:?} to choose at {}", self.path()));
        self.click(&Element(found.to_owned()));
    }

    /// Chooses files from the disk for a file field.
    #[track_caller]
    pub fn attach(&self, field: &str, files: &[&Path]) {
        let element = self.field(field);
        let paths: Vec<String> = files.iter().map(|it| it.display().to_string()).collect();
        self.must(&format!("/element/{}/value", element.0), json!({"text": paths.join("\n")}));
    }

    /// Presses keys where the focus is. WebDriver has code points for keys without a letter, such as U+E004 for Tab and
    /// U+E007 for Enter.
    #[track_caller]
    pub fn keys(&self, text: &str) {
        let strokes: Vec<Value> = text
            .chars()
            .flat_map(|it| ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": it})))
            .collect();
        self.act(json!({"type": "key", "id": "keys", "actions": strokes}));
    }

    /// Presses Tab until the control with this name has the focus.
    #[track_caller]
    pub fn focus_by_keyboard(&self, name: &str) {
        let active = "return document.activeElement";
        for _ in 0..100 {
            self.keys("\u{e004}");
            let element = self.script(active, json!([]));
            let element = element[ELEMENT].as_str().map(|it| Element(it.to_owned()));
            if element.and_then(|it| self.name_of(&it)).as_deref() == Some(name) {
                return;
            }
        }
        panic!("the keyboard does not reach {name:?} at {}", self.path());
    }

    /// Changes to the tab that a page has opened.
    #[track_caller]
    pub fn enter_new_tab(&self) {
        let current = self.session.get("/window").unwrap_or_else(|error| panic!("{error}"));
        let other = until("there is a new tab", || {
            let all = self.session.get("/window/handles").ok()?;
            all.as_array()?.iter().find(|it| **it != current).cloned()
        });
        self.must("/window", json!({"handle": other}));
        self.viewport.set(None);
    }

    /// Closes the tab that a page has opened, and returns to the first one.
    #[track_caller]
    pub fn close_tab(&self) {
        let left = self.session.delete("/window").unwrap_or_else(|error| panic!("{error}"));
        self.must("/window", json!({"handle": left[0]}));
        self.viewport.set(None);
    }

    /// The visible text of the page.
    #[track_caller]
    pub fn text(&self) -> String {
        let text = self.script("return document.body.innerText", json!([]));
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the page is loaded and shows this text.
    #[track_caller]
    pub fn sees(&self, text: &str) {
        let start = Instant::now();
        let mut attempts = 0;
        while !(self.text().contains(text) && self.is_loaded()) {
            let late = start.elapsed() > TIMEOUT;
            assert!(!late, "no {text:?} at {}, but:\n{}", self.path(), self.text());
            pause_after(attempts);
            attempts += 1;
        }
    }

    #[track_caller]
    pub fn script(&self, script: &str, arguments: Value) -> Value {
        self.try_script(script, arguments).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Runs the body of an async function, and returns what its promise resolves to.
    #[track_caller]
    pub fn async_script(&self, body: &str) -> Value {
        self.script(&format!("return (async () => {{ {body} }})()"), json!([]))
    }

    fn try_script(&self, script: &str, arguments: Value) -> Result<Value, String> {
        self.session.post("/execute/sync", json!({"script": script, "args": arguments}))
    }

    /// From here on, pages run no scripts of their own.
    #[track_caller]
    pub fn without_script(&self) {
        self.has_scripts.set(false);
        self.session.command("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    }

    /// From here on, this script runs in every page before its own scripts.
    #[track_caller]
    pub fn before_pages(&self, script: &str) {
        let name = "Page.addScriptToEvaluateOnNewDocument";
        self.session.command(name, json!({"source": script}));
    }

    /// From here on, pages run in this time zone (IANA).
    #[track_caller]
    pub fn set_timezone(&self, name: &str) {
        self.session.command("Emulation.setTimezoneOverride", json!({"timezoneId": name}));
    }

    /// Adds a virtual passkey device that always agrees.
    #[track_caller]
    pub fn with_passkey_device(&self) {
        let device = json!({
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": true,
            "hasUserVerification": true,
            "isUserConsenting": true,
            "isUserVerified": true,
        });
        self.must("/webauthn/authenticator", device);
    }

    /// Deletes all cookies, which also signs out. It leaves the page first, whose requests would be given new ones.
    #[track_caller]
    pub fn forget_cookies(&self) {
        self.go("about:blank");
        self.session.command("Network.clearBrowserCookies", json!({}));
    }

    /// A screenshot as PNG.
    #[track_caller]
    pub fn picture(&self) -> Vec<u8> {
        let shot = self.session.command("Page.captureScreenshot", json!({"format": "png"}));
        let data = shot["data"].as_str().unwrap_or_default();
        BASE64_STANDARD.decode(data).expect("the screenshot is base64")
    }

    #[track_caller]
    pub(crate) fn must(&self, what: &str, body: Value) -> Value {
        self.session.post(what, body).unwrap_or_else(|error| panic!("at {}: {error}", self.path()))
    }
}
