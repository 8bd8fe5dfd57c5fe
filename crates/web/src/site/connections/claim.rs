//! A new connection, from the token that the person copied.

use http::StatusCode;
use service::ingest::connections;

use super::{address, list};
use crate::site::fields::Wrong;
use crate::site::form::Form;
use crate::site::person::Person;
use crate::site::shell::see_other;
use crate::site::trouble::Shown;

pub(super) async fn post(person: Person, form: Form) -> Shown {
    let name = Some(form.text("name")).filter(|it| !it.is_empty());
    let claimed = connections::create(person.app(), &person.caller, form.text("token"), name).await;
    match claimed {
        Ok(id) => {
            let said = "Connected. Now say which of its accounts you want here.";
            Ok(see_other(&person, &address(id), said))
        }
        Err(error) => {
            let wrong = Wrong::from_error(error)?;
            list::show(&person, StatusCode::BAD_REQUEST, &wrong, form.text("name")).await
        }
    }
}
