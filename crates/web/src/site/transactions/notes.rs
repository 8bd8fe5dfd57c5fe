//! The form for the note and the tags of a transaction.

use axum::extract::Path;
use base::TransactionId;
use maud::{Markup, html};
use service::insights::transaction_detail;
use service::ledger::annotations::{self, Tags};

use super::detail;
use crate::site::app_page::see_other;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::{Field, FormError};
use crate::site::form::Form;
use crate::site::person::Person;

/// The values of the form as text, so that they are kept if the form is shown again.
pub(super) struct Typed<'a> {
    pub(super) note: &'a str,
    pub(super) tags: &'a str,
}

pub(in crate::site) async fn save(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let (app, caller) = (person.app(), &person.caller);
    let id = TransactionId::parse(&id).map_err(|_| PageError::not_found())?;
    let (note, back) = (form.text("note"), form.text("back"));
    let saved = async {
        let tags = Tags::parse(form.text("tags"))?;
        annotations::set(app, caller, id, (note, tags)).await
    };
    match saved.await.map_err(FormError::from_error) {
        Ok(()) => Ok(see_other(&person, &detail::address_of(id, back), "Saved.")),
        Err(Ok(wrong)) => {
            let transaction = transaction_detail::get(app, caller, id).await?;
            let typed = Typed { note, tags: form.text("tags") };
            Ok(detail::page_with(&person, &transaction, back, &wrong, Some(typed)))
        }
        Err(Err(error)) => Err(PageError::from(error)),
    }
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
