//! The accessibility check: what keeps a person from using the page that is open, as sentences.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::Browser;
use crate::look::{self, Look};

/// We looked for axe-core first: Debian does not package it, no crate that we found carries it, and
/// the machine that tests may reach nothing else. So these are checks of our own, after the success
/// criteria of WCAG 2.1 AA.
const AUDIT: &str = include_str!("audit.js");

const UNFOLD: &str = "
document.querySelectorAll('details').forEach(it => { it.open = true });
if (arguments[0]) document.querySelectorAll('[popover]').forEach(it => it.showPopover());
";

/// Roles that mean nothing to those who listen without a name.
const NAMED: [&str; 20] = [
    "alertdialog",
    "button",
    "checkbox",
    "combobox",
    "dialog",
    "heading",
    "image",
    "img",
    "link",
    "listbox",
    "menuitem",
    "meter",
    "option",
    "progressbar",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "textbox",
];

/// The width at which WCAG wants a page to be read without moving sideways.
const NARROWEST: Look = Look { name: "320 px", width: 320, ..look::PHONE };

/// Closes the menus that `UNFOLD` opened, so that they cover nothing that a test clicks next.
const CLOSE_MENUS: &str = "
document.querySelectorAll('[popover]:popover-open').forEach(it => it.hidePopover());
";

impl Browser {
    /// Fails when the page that is open keeps anybody out.
    #[track_caller]
    pub fn keeps_nobody_out(&self) {
        let found = self.complaints();
        assert!(found.is_empty(), "{} complaints\n{}", found.len(), found.join("\n"));
    }

    /// Everything wrong with the page that is open, in each look, folded and unfolded, told once.
    #[track_caller]
    pub fn complaints(&self) -> Vec<String> {
        let path = self.path();
        // From here on the focus is the keyboard's.
        self.keys("\u{e004}");
        let mut found: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for look in look::ALL {
            self.look(look);
            if look.dark {
                self.unfold(look);
            }
            for complaint in self.audit(look) {
                found.entry(complaint).or_default().insert(look.name);
            }
        }
        self.look(NARROWEST);
        let too_much = self.overflow(NARROWEST);
        if too_much > 0 {
            let complaint = format!("width: {too_much} px too much");
            found.entry(complaint).or_default().insert(NARROWEST.name);
        }
        self.look(look::DESK);
        self.script(CLOSE_MENUS, json!([]));
        let told = |(what, looks): (_, BTreeSet<&str>)| {
            let looks: Vec<&str> = looks.into_iter().collect();
            format!("{path} ({}): {what}", looks.join(", "))
        };
        found.into_iter().map(told).collect()
    }

    /// Everything wrong with the page in this look.
    #[track_caller]
    pub fn audit(&self, look: Look) -> Vec<String> {
        let mut found = self.nameless();
        let said = self.script(AUDIT, json!([{"phone": look.is_phone(), "width": look.width}]));
        let said = said.as_array().map_or(&[][..], Vec::as_slice);
        found.extend(said.iter().filter_map(|it| it.as_str().map(str::to_owned)));
        found
    }

    /// Controls and pictures without a name, by what the browser tells assistive technology.
    #[track_caller]
    fn nameless(&self) -> Vec<String> {
        let tree = self.session.command("Accessibility.getFullAXTree", json!({}));
        let nodes = tree["nodes"].as_array().map_or(&[][..], Vec::as_slice);
        assert!(nodes.len() > 3, "the page has no accessibility tree");
        nodes.iter().filter_map(|it| self.complaint(it)).collect()
    }

    fn complaint(&self, node: &Value) -> Option<String> {
        let role = node["role"]["value"].as_str()?;
        let name = node["name"]["value"].as_str().unwrap_or_default();
        let counts = node["ignored"] != true && NAMED.contains(&role);
        if !counts || !name.trim().is_empty() {
            return None;
        }
        let asked = json!({"backendNodeId": node["backendDOMNodeId"]});
        let html = self.session.command("DOM.getOuterHTML", asked);
        let html: String = html["outerHTML"].as_str()?.chars().take(120).collect();
        Some(format!("name: a {role} has none: {html}"))
    }

    /// Opens what is folded, and on a phone the menu, so that they are judged too.
    #[track_caller]
    pub fn unfold(&self, look: Look) {
        self.script(UNFOLD, json!([look.is_phone()]));
    }
}
