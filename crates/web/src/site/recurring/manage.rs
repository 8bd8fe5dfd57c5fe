//! Handles the forms that change a recurring payment: name, type and amount, merging, dismissing, and bringing it back.

use axum::extract::Path;
use base::StreamId;
use service::Error;
use service::insights::recurring::{self, Kind, StreamLabels};

use super::forms::LabelsForm;
use super::{detail, parse};
use crate::site::app_page;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::{self, FormError};
use crate::site::form::Form;
use crate::site::format::or_stored;
use crate::site::person::Person;

/// Sets the name, the type and the amount.
pub(in crate::site) async fn update(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let id = parse(&id)?;
    let text = |name| Some(form.text(name)).filter(|it| !it.is_empty());
    let kind = match text("stream_type") {
        Some(word) => Some(Kind::parse(word).ok_or_else(PageError::not_found)?),
        None => None,
    };
    let (stream, _, _) = recurring::get(person.app(), &person.caller, id).await?;
    let labels = recurring::get_labels(person.app(), &person.caller, id).await?;
    let stored = LabelsForm::stored(&stream, labels);
    let name = text("name").map(str::to_owned);
    let typed = form.text("amount");
    let amount = match or_stored(typed, &stored.amount) {
        "" => Ok(None),
        it => fields::amount("amount", it, stream.currency).map(|it| Some(it.minor())),
    };
    let saved = match amount {
        Ok(amount_minor) => {
            let labels = StreamLabels { name: name.clone(), kind, amount_minor };
            recurring::set_labels(person.app(), &person.caller, id, labels).await
        }
        Err(error) => Err(error),
    };
    match saved {
        Ok(()) => Ok(app_page::see_other(&person, &format!("/recurring/{id}"), "Changes saved.")),
        Err(error) => {
            let name = name.unwrap_or_default();
            let typed = LabelsForm { name, kind, amount: typed.to_owned() };
            detail::page(&person, id, typed, FormError::from_error(error)?).await
        }
    }
}

/// Merges the payment into another one.
pub(in crate::site) async fn merge(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let id = parse(&id)?;
    let merged = match StreamId::parse(form.text("into")) {
        Ok(into) => {
            let done = recurring::merge(person.app(), &person.caller, id, into).await;
            done.map(|()| into)
        }
        Err(_) => Err(Error::invalid("into", "choose the payment to merge with")),
    };
    match merged {
        Ok(into) => {
            Ok(app_page::see_other(&person, &format!("/recurring/{into}"), "Payments merged."))
        }
        Err(error) => detail::again(&person, id, FormError::from_error(error)?).await,
    }
}

/// Separates a payment from the one that it was merged into.
pub(in crate::site) async fn separate(
    person: Person,
    Path(id): Path<String>,
    _: Form,
) -> PageResult {
    let id = parse(&id)?;
    recurring::separate(person.app(), &person.caller, id).await?;
    Ok(app_page::see_other(&person, &format!("/recurring/{id}"), "Payments separated."))
}

pub(in crate::site) async fn dismiss(
    person: Person,
    Path(id): Path<String>,
    _: Form,
) -> PageResult {
    let id = parse(&id)?;
    recurring::dismiss(person.app(), &person.caller, id).await?;
    let message =
        "Payment dismissed. It no longer counts as recurring. You can bring it back below.";
    Ok(app_page::see_other(&person, "/recurring?show=dismissed", message))
}

pub(in crate::site) async fn restore(
    person: Person,
    Path(id): Path<String>,
    _: Form,
) -> PageResult {
    let id = parse(&id)?;
    recurring::restore(person.app(), &person.caller, id).await?;
    Ok(app_page::see_other(&person, &format!("/recurring/{id}"), "Payment restored."))
}
