//! Saves the note and the tags of a transaction.

use axum::extract::Path;
use base::TransactionId;
use service::insights::transaction_detail;
use service::ledger::annotations::{self, Tags};

use super::note_fields::Typed;
use super::{address_of, detail};
use crate::site::app_page::see_other;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::FormError;
use crate::site::form::Form;
use crate::site::person::Person;

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
        Ok(()) => Ok(see_other(&person, &address_of(id, back), "Saved.")),
        Err(Ok(wrong)) => {
            let transaction = transaction_detail::get(app, caller, id).await?;
            let typed = Typed { note, tags: form.text("tags") };
            Ok(detail::page_with(&person, &transaction, back, &wrong, Some(typed)))
        }
        Err(Err(error)) => Err(PageError::from(error)),
    }
}
