//! Form handlers for the keys of Plaid.

use base::draft::Source;
use http::StatusCode;
use service::ingest::connections::{self, plaid};

use super::add;
use super::add_parts::{Region, URL, region_of, url_of};
use crate::site::app_page::see_other;
use crate::site::errors::PageResult;
use crate::site::fields::FormError;
use crate::site::form::Form;
use crate::site::person::Person;

pub(super) async fn save(person: Person, form: Form) -> PageResult {
    let environment = plaid::Environment::parse(form.text("environment"));
    let keys = plaid::Keys {
        client_id: form.text("client_id").to_owned(),
        secret: form.text("secret").to_owned(),
        environment: environment.unwrap_or(plaid::Environment::Production),
    };
    let (app, caller) = (person.app(), &person.caller);
    let region = region_of(&form);
    match connections::save_keys(app, caller, Source::Plaid, &keys.to_secret()).await {
        Ok(()) => {
            let message = "Keys saved. You can connect a bank now.";
            Ok(see_other(&person, &url_of(region), message))
        }
        Err(error) => again(&person, region, error).await,
    }
}

pub(super) async fn delete(person: Person, form: Form) -> PageResult {
    match connections::delete_keys(person.app(), &person.caller, Source::Plaid).await {
        Ok(()) => Ok(see_other(&person, URL, "Keys deleted.")),
        Err(error) => again(&person, region_of(&form), error).await,
    }
}

async fn again(person: &Person, region: Option<Region>, error: service::Error) -> PageResult {
    let wrong = FormError::from_error(error)?;
    add::show(person, StatusCode::BAD_REQUEST, region, &wrong, "").await
}
