//! Lists of the words that a value can be.

use maud::{Markup, html};

pub(super) fn words_of(words: &[&str]) -> Markup {
    html! { span.words { @for word in words { code { (word) } " " } } }
}
