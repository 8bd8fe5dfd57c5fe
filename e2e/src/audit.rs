//! The accessibility audit of the open page. Each problem is reported as a sentence.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::Browser;
use crate::axe::Axe;
use crate::viewport::{self, NARROWEST, Viewport};

/// Our own checks, after the success criteria of WCAG 2.1 AA. They look at every viewport, and at more than axe-core does:
/// overflow, touching words, focus, and edges of fields.
const AUDIT: &str = include_str!("audit.js");

const OPEN_DETAILS: &str = "
document.querySelectorAll('details').forEach(it => { it.open = true });
if (arguments[0]) document.querySelectorAll('[popover]').forEach(it => it.showPopover());
";

/// Roles that need a name for screen readers.
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

/// Closes the menus that `OPEN_DETAILS` opened, so that they cover nothing that a test clicks next.
const CLOSE_MENUS: &str = "
document.querySelectorAll('[popover]:popover-open').forEach(it => it.hidePopover());
";

impl Browser {
    /// Fails if the open page has an accessibility problem.
    #[track_caller]
    pub fn assert_accessible(&self) {
        let found = self.accessibility_problems();
        assert!(found.is_empty(), "{} accessibility problems\n{}", found.len(), found.join("\n"));
    }

    /// The accessibility problems of the open page in all viewports, with details closed and open, each listed once.
    #[track_caller]
    pub fn accessibility_problems(&self) -> Vec<String> {
        self.problems_with(None)
    }

    /// The same, and what axe-core finds on a desktop with dark colors and on a phone with light ones: these two have both
    /// widths and both sets of colors. Our own checks, which take a fifth of the time, look at all four.
    #[track_caller]
    pub fn problems_with(&self, axe: Option<&Axe>) -> Vec<String> {
        let path = self.path();
        // From here on, the focus is treated as keyboard focus.
        self.keys("\u{e004}");
        let mut found: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for viewport in viewport::ALL {
            self.set_viewport(viewport);
            // Each width is checked as the page opens, and then in other colors with all details and menus open, which shows
            // every name.
            let problems = if viewport.dark == viewport.is_phone() {
                self.check(viewport)
            } else {
                self.open_details(viewport);
                let violations = axe.iter().flat_map(|it| it.violations(self));
                self.audit(viewport).into_iter().chain(violations).collect()
            };
            for problem in problems {
                found.entry(problem).or_default().insert(viewport.name);
            }
        }
        self.set_viewport(NARROWEST);
        let overflow_px = self.overflow(NARROWEST);
        if overflow_px > 0 {
            let problem = format!("width: {overflow_px} px too much");
            found.entry(problem).or_default().insert(NARROWEST.name);
        }
        self.set_viewport(viewport::DESKTOP);
        self.script(CLOSE_MENUS, json!([]));
        let describe = |(what, viewports): (_, BTreeSet<&str>)| {
            let viewports: Vec<&str> = viewports.into_iter().collect();
            format!("{path} ({}): {what}", viewports.join(", "))
        };
        found.into_iter().map(describe).collect()
    }

    /// The problems of the page in this viewport.
    #[track_caller]
    pub fn audit(&self, viewport: Viewport) -> Vec<String> {
        let mut found = self.nameless();
        found.extend(self.check(viewport));
        found
    }

    /// The problems without those of names.
    #[track_caller]
    fn check(&self, viewport: Viewport) -> Vec<String> {
        let messages =
            self.script(AUDIT, json!([{"phone": viewport.is_phone(), "width": viewport.width}]));
        let messages = messages.as_array().map_or(&[][..], Vec::as_slice);
        messages.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect()
    }

    /// Controls and pictures without a name in the browser's accessibility tree.
    #[track_caller]
    fn nameless(&self) -> Vec<String> {
        let tree = self.session.command("Accessibility.getFullAXTree", json!({}));
        let nodes = tree["nodes"].as_array().map_or(&[][..], Vec::as_slice);
        assert!(nodes.len() > 3, "the page has no accessibility tree");
        nodes.iter().filter_map(|it| self.problem(it)).collect()
    }

    fn problem(&self, node: &Value) -> Option<String> {
        let role = node["role"]["value"].as_str()?;
        let name = node["name"]["value"].as_str().unwrap_or_default();
        let counts = node["ignored"] != true && NAMED.contains(&role);
        if !counts || !name.trim().is_empty() {
            return None;
        }
        let parameters = json!({"backendNodeId": node["backendDOMNodeId"]});
        let html = self.session.command("DOM.getOuterHTML", parameters);
        let html: String = html["outerHTML"].as_str()?.chars().take(120).collect();
        Some(format!("name: a {role} has none: {html}"))
    }

    /// Opens all details, and on a phone the menu, so that they are checked too.
    #[track_caller]
    pub fn open_details(&self, viewport: Viewport) {
        self.script(OPEN_DETAILS, json!([viewport.is_phone()]));
    }
}
