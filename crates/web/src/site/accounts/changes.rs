//! Form handlers that change an account.

use axum::extract::Path;
use base::AccountId;
use service::ingest::account_types;
use service::insights::benefits;
use service::ledger::{account_terms, accounts};
use service::{Error, insights};

use super::{debt, detail, parse, types};
use crate::site::app_page;
use crate::site::errors::PageResult;
use crate::site::fields::{self, FormError};
use crate::site::form::Form;
use crate::site::person::Person;

pub(in crate::site) async fn rename(person: Person, id: Path<String>, form: Form) -> PageResult {
    let id = parse(id)?;
    let done = accounts::rename(person.app(), &person.caller, id, Some(form.text("name"))).await;
    answer(&person, id, &form, done, "Name saved.").await
}

pub(in crate::site) async fn hide(person: Person, id: Path<String>, form: Form) -> PageResult {
    let (id, hidden) = (parse(id)?, form.text("hidden") == "1");
    let done = accounts::set_hidden(person.app(), &person.caller, id, hidden).await;
    let message = match hidden {
        true => "Account hidden. You can find it under hidden and closed accounts.",
        false => "Account is visible again.",
    };
    answer(&person, id, &form, done, message).await
}

pub(in crate::site) async fn close(person: Person, id: Path<String>, form: Form) -> PageResult {
    let id = parse(id)?;
    let done = match fields::day("closed_on", form.text("closed_on")) {
        Ok(Some(on)) => accounts::close(person.app(), &person.caller, id, on).await,
        Ok(None) => Err(Error::invalid("closed_on", "enter the closing date")),
        Err(error) => Err(error),
    };
    answer(&person, id, &form, done, "Account closed. Its history is kept.").await
}

pub(in crate::site) async fn reopen(person: Person, id: Path<String>, form: Form) -> PageResult {
    let id = parse(id)?;
    let done = accounts::reopen(person.app(), &person.caller, id).await;
    answer(&person, id, &form, done, "Account reopened.").await
}

pub(in crate::site) async fn card(person: Person, id: Path<String>, form: Form) -> PageResult {
    let id = parse(id)?;
    let (app, caller) = (person.app(), &person.caller);
    let product = Some(form.text("product")).filter(|it| !it.is_empty());
    let done = match fields::day("opened_on", form.text("opened_on")) {
        Ok(opened_on) => benefits::set_card(app, caller, id, product, opened_on).await,
        Err(error) => Err(error),
    };
    if done.is_ok() {
        // Recomputed at once, so that the benefits page shows the change.
        insights::pipeline::run_for(app, caller.user).await?;
    }
    answer(&person, id, &form, done, "Card saved.").await
}

pub(in crate::site) async fn set_type(person: Person, id: Path<String>, form: Form) -> PageResult {
    let id = parse(id)?;
    let (app, caller) = (person.app(), &person.caller);
    let done = match types::parse(form.text("type")) {
        Some((kind, subtype)) => account_types::set(app, caller, id, kind, subtype).await,
        None => Err(Error::invalid("type", "choose an account type")),
    };
    if done.is_ok() {
        // Recomputed at once, so that the next page shows categories, transfers and totals for the new type.
        insights::pipeline::run_for(app, caller.user).await?;
    }
    let message = "Type saved. Categories, transfers and totals are up to date.";
    answer(&person, id, &form, done, message).await
}

pub(in crate::site) async fn set_terms(person: Person, id: Path<String>, form: Form) -> PageResult {
    let id = parse(id)?;
    let (app, caller) = (person.app(), &person.caller);
    let account = accounts::get(app, caller, id).await?;
    let done = match debt::read(&form, &account) {
        Ok(terms) => account_terms::set_terms(app, caller, id, terms).await,
        Err(error) => Err(error),
    };
    answer(&person, id, &form, done, "Terms saved.").await
}

/// Redirects to the account with a message, or shows the form again with the error.
pub(super) async fn answer(
    person: &Person,
    id: AccountId,
    form: &Form,
    done: service::Result<()>,
    message: &str,
) -> PageResult {
    answer_with(person, id, form, done.map_err(FormError::from_error), message).await
}

/// The same, where the errors of several fields may be known.
pub(super) async fn answer_with(
    person: &Person,
    id: AccountId,
    form: &Form,
    done: Result<(), service::Result<FormError>>,
    message: &str,
) -> PageResult {
    match done {
        Ok(()) => Ok(app_page::see_other(person, &format!("/accounts/{id}"), message)),
        Err(wrong) => detail::again(person, id, form, wrong?).await,
    }
}
