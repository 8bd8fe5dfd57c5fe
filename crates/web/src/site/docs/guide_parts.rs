//! What all guides use: the address and limits of this installation, sections, and commands.

use maud::{Markup, html};
use service::platform::limits::Policy;

/// Values that the guides' commands use.
pub(in super::super) struct GuideContext {
    pub(super) base: String,
    pub(super) limit: Policy,
}

pub(super) fn section(id: &str, title: &str, body: Markup) -> Markup {
    html! { section.guide aria-labelledby=(id) { h2 id=(id) { (title) } (body) } }
}

/// A command with double quotes around the URL, so that the shell expands variables in it.
pub(super) fn filled(command: &str) -> String {
    command.replacen('\'', "\"", 2)
}
