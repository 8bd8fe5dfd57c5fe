//! The mark: a level waterline, and a keel that hangs from its middle.

use maud::{Markup, html};

/// Beside a word that already names it, so it is hidden from those who listen.
pub(super) fn svg() -> Markup {
    html! {
        svg.mark viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.75"
            stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false" {
            path d="M1 5h14" {}
            path d="M2.9 5C4.1 9.4 6 11.25 8 11.25S11.9 9.4 13.1 5" {}
        }
    }
}
