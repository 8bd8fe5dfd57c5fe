//! Creates a connection from a SimpleFIN setup token.

use http::StatusCode;
use service::ingest::connections;

use super::{add, add_parts, url_of};
use crate::site::app_page::see_other;
use crate::site::errors::PageResult;
use crate::site::fields::FormError;
use crate::site::form::Form;
use crate::site::person::Person;

pub(super) async fn post(person: Person, form: Form) -> PageResult {
    let name = Some(form.text("name")).filter(|it| !it.is_empty());
    let claimed = connections::create(person.app(), &person.caller, form.text("token"), name).await;
    match claimed {
        Ok(id) => {
            let message = "Connected. Now choose which accounts to add.";
            Ok(see_other(&person, &url_of(id), message))
        }
        Err(error) => {
            let wrong = FormError::from_error(error)?;
            let (status, region) = (StatusCode::BAD_REQUEST, add_parts::region_of(&form));
            add::show(&person, status, region, &wrong, form.text("name")).await
        }
    }
}
