//! The logo as inline SVG: a waterline with a keel below it.

use maud::{Markup, html};

/// It stands beside the product's name, so it is hidden from screen readers.
pub(super) fn svg() -> Markup {
    html! {
        svg.mark viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.75"
            stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false" {
            path d="M1 5h14" {}
            path d="M2.9 5C4.1 9.4 6 11.25 8 11.25S11.9 9.4 13.1 5" {}
        }
    }
}
