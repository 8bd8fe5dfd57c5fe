//! The fields for the note and the tags of a transaction.

use maud::{Markup, html};
use service::ledger::annotations;

use crate::site::fields::{Field, FormError};

/// The values of the form as text, so that they are kept if the form is shown again.
pub(super) struct Typed<'a> {
    pub(super) note: &'a str,
    pub(super) tags: &'a str,
}

/// The fields of the form and its button.
pub(super) fn fields(typed: &Typed<'_>, wrong: &FormError) -> Markup {
    let tags = Field::text("tags", "Tags", typed.tags).optional();
    html! {
        div.field {
            label for="f-note" { "Note" }
            textarea id="f-note" name="note" maxlength=(annotations::NOTE_LENGTH_MAX) { (typed.note) }
        }
        (tags.hint("Separate tags with spaces, such as: work summer-trip").show(wrong))
        button.outlined type="submit" { "Save note and tags" }
    }
}
