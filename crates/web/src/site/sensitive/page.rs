//! The confirmation page. It carries the submitted form and sends it again after the person confirmed.

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use maud::{Markup, html};
use service::access::oidc::{self, LinkedIdentity};
use service::access::passkeys::{self, RelyingParty};
use service::access::users;

use super::{PASSWORD_FIELD, Sensitive};
use crate::site::app_page::{self, Decision};
use crate::site::errors::{PageError, sentence};
use crate::site::fields::{self, Field, FormError};
use crate::site::form::{Form, TOKEN_FIELD};
use crate::site::identity_buttons::{proof_button, sign_on_proofs};
use crate::site::person::Person;

const TITLE: &str = "Confirm it's you";
/// The id by which the passkey script finds the form.
const FORM_ID: &str = "confirmed";
/// Fields that are never written into a page and must be typed again.
const SECRETS: [&str; 2] = ["password", "new_password"];

/// Renders the confirmation page, with an error if the last attempt failed.
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
        let identities = oidc::list(person.app(), &person.caller).await?;
        Ok::<_, service::Error>((has_password, has_passkey, identities))
    };
    match known.await {
        Ok(methods) => {
            let about = Decision { status, title: TITLE, live: false };
            app_page::decision_with(person, &about, card(person, rule, form, wrong, methods))
        }
        Err(error) => PageError::from(error).into_response(),
    }
}

fn card(
    person: &Person,
    rule: &Sensitive,
    form: &Form,
    wrong: &FormError,
    (has_password, has_passkey, identities): (bool, bool, Vec<LinkedIdentity>),
) -> Markup {
    let token = &person.form_token;
    // The service reports the error under its own field name.
    let at_field = FormError {
        param: wrong.param.as_ref().map(|_| PASSWORD_FIELD.to_owned()),
        message: wrong.message.clone(),
        more: Vec::new(),
    };
    let password = Field::text(PASSWORD_FIELD, "Password", "").autocomplete("current-password");
    html! {
        h1 { (TITLE) }
        p {
            "To " (rule.about) ", confirm it's you. We won't ask again for ten minutes."
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
            @match RelyingParty::from_url(person.public_url()) {
                Ok(party) => (proof_button(&party, token, rule.back, FORM_ID)),
                Err(reason) => p.warning { (sentence(reason)) },
            }
        }
        (sign_on_proofs(person, &identities, rule.back))
        @if !has_password && !has_passkey && identities.is_empty() {
            p { "You have no password or passkey. Sign in again, then come back." }
            (fields::button("/sign-out", token, "Sign out", "outlined"))
        }
        p.soft { a href=(rule.back) { "Cancel" } }
    }
}

fn is_carried(name: &str) -> bool {
    name != TOKEN_FIELD && name != PASSWORD_FIELD && !SECRETS.contains(&name)
}
