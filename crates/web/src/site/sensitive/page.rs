//! The page that asks for proof: it carries the form that was sent, and sends it again once the person proved who they
//! are.

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use maud::{Markup, html};
use service::access::passkeys::{self, Party};
use service::access::users;

use super::{PASSWORD_FIELD, Sensitive};
use crate::site::app_page::{self, Decision};
use crate::site::auth::proof_button;
use crate::site::errors::{PageError, sentence};
use crate::site::fields::{self, Field, FormError};
use crate::site::form::{Form, TOKEN_FIELD};
use crate::site::person::Person;

const TITLE: &str = "Confirm that it is you";
/// By which the script of the passkey button finds the form.
const FORM_ID: &str = "confirmed";
/// Fields that are never written into a page; they are typed again.
const SECRETS: [&str; 2] = ["password", "new_password"];

/// Draws the page for a form that was sent without fresh proof, or with a wrong one.
pub(super) async fn ask(
    person: &Person,
    rule: &Sensitive,
    form: &Form,
    status: StatusCode,
    wrong: &FormError,
) -> Response {
    let known = async {
        let has_password = users::has_password(person.app(), person.user.id).await?;
        let has_passkey = !passkeys::list(person.app(), &person.caller).await?.is_empty();
        Ok::<_, service::Error>((has_password, has_passkey))
    };
    match known.await {
        Ok(ways) => {
            let about = Decision { status, title: TITLE, live: false };
            app_page::decision_with(person, &about, card(person, rule, form, wrong, ways))
        }
        Err(error) => PageError::from(error).into_response(),
    }
}

fn card(
    person: &Person,
    rule: &Sensitive,
    form: &Form,
    wrong: &FormError,
    (has_password, has_passkey): (bool, bool),
) -> Markup {
    let token = &person.form_token;
    // The service names its own field.
    let at_field = FormError {
        param: wrong.param.as_ref().map(|_| PASSWORD_FIELD.to_owned()),
        message: wrong.message.clone(),
    };
    let password = Field::text(PASSWORD_FIELD, "Password", "").autocomplete("current-password");
    html! {
        h1 { (TITLE) }
        p {
            "To " (rule.about) ", confirm that it is you. After that you are not asked again for ten \
             minutes."
        }
        (wrong.summary())
        form id=(FORM_ID) method="post" action=(person.here) {
            input type="hidden" name=(TOKEN_FIELD) value=(token);
            @for (name, value) in form.fields().filter(|it| is_carried(it.0)) {
                input type="hidden" name=(name) value=(value);
            }
            @if has_password {
                (password.kind("password").show(&at_field))
                button.primary type="submit" { "Confirm" }
            }
        }
        @if has_passkey {
            @match Party::of(person.public_url()) {
                Ok(party) => (proof_button(&party, token, rule.back, FORM_ID)),
                Err(reason) => p.warning { (sentence(reason)) },
            }
        }
        @if !has_password && !has_passkey {
            p { "You have no password and no passkey. Sign in again, then come back." }
            (fields::button("/sign-out", token, "Sign out", "outlined"))
        }
        p.soft { a href=(rule.back) { "Cancel" } }
    }
}

fn is_carried(name: &str) -> bool {
    name != TOKEN_FIELD && name != PASSWORD_FIELD && !SECRETS.contains(&name)
}
