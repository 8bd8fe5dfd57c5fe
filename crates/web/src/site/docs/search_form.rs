//! The search field above the contents of the documentation.

use maud::{Markup, html};

/// Longer texts are cut.
pub(super) const LENGTH_MAX: usize = 100;

pub(super) fn search_form(typed: &str) -> Markup {
    html! {
        form role="search" action="/docs/search" {
            div.field {
                label for="docs-search" { "Search the documentation" }
                input id="docs-search" type="search" name="q" value=(typed) maxlength=(LENGTH_MAX);
            }
        }
    }
}
