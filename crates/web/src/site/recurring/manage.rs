//! Handles the forms that change a recurring payment: name and type, dismissing it, and bringing it back.

use axum::extract::Path;
use service::insights::recurring::{self, Kind, StreamLabels};

use super::{detail, parse};
use crate::site::app_page;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::FormError;
use crate::site::form::Form;
use crate::site::person::Person;

/// Sets the name and the type.
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
    let labels = StreamLabels { name: text("name").map(str::to_owned), kind };
    match recurring::set_labels(person.app(), &person.caller, id, labels.clone()).await {
        Ok(()) => Ok(app_page::see_other(&person, &format!("/recurring/{id}"), "Changes saved.")),
        Err(error) => detail::page(&person, id, labels, FormError::from_error(error)?).await,
    }
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
