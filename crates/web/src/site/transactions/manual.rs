//! Editing and deleting a transaction that the person added.

use axum::extract::Path;
use base::TransactionId;
use http::StatusCode;
use maud::html;
use service::ingest::manual;
use service::insights::transaction_detail::{self, TransactionDetail};

use super::address_of;
use super::entry::EntryForm;
use crate::site::app_page::{AppPage, see_other};
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::{self, FormError};
use crate::site::form::Form;
use crate::site::navigation::NavItem;
use crate::site::person::Person;

pub(in crate::site) async fn get(person: Person, Path(id): Path<String>) -> PageResult {
    let it = written(&person, &id).await?;
    Ok(page(&person, &it, &EntryForm::of(&it).masked(person.view), &FormError::default()))
}

pub(in crate::site) async fn change(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let it = written(&person, &id).await?;
    let draft = EntryForm::typed(&form);
    let whole = draft.with_stored(&it);
    let done = async {
        let entry = whole.read(it.amount.currency())?;
        manual::update_transaction(person.app(), &person.caller, it.id, entry).await
    };
    match done.await {
        Ok(()) => Ok(see_other(&person, &address_of(it.id, ""), "Transaction saved.")),
        Err(error) => {
            let wrong = FormError::from_error(error)?.and(whole.checks(it.amount.currency()));
            Ok(page(&person, &it, &draft, &wrong))
        }
    }
}

pub(in crate::site) async fn delete(
    person: Person,
    Path(id): Path<String>,
    _form: Form,
) -> PageResult {
    let it = written(&person, &id).await?;
    manual::delete_transaction(person.app(), &person.caller, it.id).await?;
    let message = format!("“{}” deleted. The balance was updated.", it.description);
    Ok(see_other(&person, &format!("/accounts/{}", it.account.id), &message))
}

/// Finds a manual transaction. Imported ones cannot be edited here, so they have no such page.
async fn written(person: &Person, id: &str) -> Result<TransactionDetail, PageError> {
    let id = TransactionId::parse(id).map_err(|_| PageError::not_found())?;
    let it = transaction_detail::get(person.app(), &person.caller, id).await?;
    if it.by_hand { Ok(it) } else { Err(PageError::not_found()) }
}

fn page(
    person: &Person,
    it: &TransactionDetail,
    draft: &EntryForm,
    wrong: &FormError,
) -> axum::response::Response {
    let status = match wrong.message.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::BAD_REQUEST,
    };
    let body = html! {
        (draft.fields(it.amount.currency(), wrong))
        button.primary type="submit" { "Save transaction" }
    };
    let (save, delete) =
        (format!("/transactions/{}/edit", it.id), format!("/transactions/{}/delete", it.id));
    let main = html! {
        p.trail { a href=(address_of(it.id, "")) { "Back to transaction" } }
        h1 { "Edit transaction" }
        section.card aria-label="Transaction" {
            (wrong.summary())
            (fields::form(&save, &person.form_token, body))
        }
        section.card aria-labelledby="delete" {
            h2 id="delete" { "Delete transaction" }
            p.soft {
                "Removes it from all lists and totals, and updates the balance of " (it.account.name) "."
            }
            (fields::button(&delete, &person.form_token, "Delete transaction", "outlined"))
        }
    };
    AppPage::new(NavItem::Transactions, "Edit transaction").page_with(status, person, main)
}
