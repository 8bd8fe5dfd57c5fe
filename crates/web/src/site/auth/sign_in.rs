//! The sign-in page, and signing out.

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use http::{StatusCode, header};
use maud::{Markup, html};
use service::Error;
use service::access::passkeys::RelyingParty;
use service::access::sign_ins::{self, SignInOutcome};
use service::access::{password_resets, sessions};

use super::{next_of, sign_on_links, start_session};
use crate::WebState;
use crate::site::assets::Asset;
use crate::site::errors::{PageError, PageResult, duration_text, sentence};
use crate::site::fields::{self, Field, FormError};
use crate::site::form::{Form, PublicForm};
use crate::site::identity_buttons::passkey_button;
use crate::site::person::Person;
use crate::site::visitor::Visitor;
use crate::site::{app_page, cookies, urls};

const SECOND_STEP_SECONDS: i64 = 300;
/// Advice for a person whose account is locked by failed attempts.
const OTHER_WAYS: &str =
    " You can still sign in with a passkey, or in a browser you've used before.";

pub(super) async fn get(visitor: Visitor, RawQuery(query): RawQuery) -> PageResult {
    if sign_ins::is_first_run(&visitor.web.app).await? {
        return Ok(Redirect::to("/setup").into_response());
    }
    let card = card(&visitor, "", &next_of(query), &FormError::default());
    Ok(app_page::auth_page(&visitor, "Sign in", &[Asset::Passkeys], card))
}

pub(super) async fn post(visitor: Visitor, PublicForm(form): PublicForm) -> PageResult {
    let (web, next) = (&visitor.web, urls::local_path(form.text("next")));
    let (email, password) = (form.text("email"), form.raw("password"));
    match sign_ins::by_password(&web.app, email, password, visitor.visit.clone()).await {
        Ok(SignInOutcome::SignedIn { session }) => {
            Ok(start_session(&visitor, &session, next).await)
        }
        Ok(SignInOutcome::SecondStep { token }) => Ok(to_second_step(web, &token, next)),
        Err(error) => {
            let is_limited = matches!(error, Error::Limited { .. });
            let (status, mut wrong) = refusal(error)?;
            if is_limited {
                wrong.message.push_str(OTHER_WAYS);
            }
            let card = card(&visitor, email, next, &wrong);
            Ok(app_page::auth_page_with(status, &visitor, "Sign in", &[Asset::Passkeys], card))
        }
    }
}

/// The page after creating an account. It is identical if the email already had an account, so that nobody can find
/// out.
pub(super) fn welcome(visitor: &Visitor, email: &str) -> Response {
    let card = html! {
        p.notice role="status" {
            "Sign in as " strong { (email) } " with your new password. If this email already had an account, use \
                                              its existing password."
        }
        (card(visitor, email, "/", &FormError::default()))
    };
    app_page::auth_page(visitor, "Sign in", &[Asset::Passkeys], card)
}

/// The message for an error that the visitor can correct.
pub(super) fn refusal(error: Error) -> Result<(StatusCode, FormError), PageError> {
    let plain = FormError::general;
    match error {
        Error::Unauthenticated(reason) => Ok((StatusCode::BAD_REQUEST, plain(sentence(reason)))),
        Error::Limited { retry_after_seconds, .. } => {
            let wait = duration_text(retry_after_seconds);
            let message = format!("Too many attempts. Wait {wait}, then try again.");
            Ok((StatusCode::TOO_MANY_REQUESTS, plain(message)))
        }
        other => Ok((StatusCode::BAD_REQUEST, FormError::from_error(other)?)),
    }
}

/// Redirects to the second step. Its token is kept in a cookie that grants nothing else.
pub(super) fn to_second_step(web: &WebState, token: &str, next: &str) -> Response {
    let secure = cookies::is_secure(&web.settings.public_url);
    let location = format!("/sign-in/second{}", urls::query_string(&[("next", next)]));
    let mut response = Redirect::to(&location).into_response();
    let line = cookies::set(cookies::SECOND, token, Some(SECOND_STEP_SECONDS), secure);
    response.headers_mut().append(header::SET_COOKIE, line);
    response
}

/// The sign-in page with a message about what went wrong.
pub(super) fn page(status: StatusCode, visitor: &Visitor, wrong: &FormError) -> Response {
    page_to(status, visitor, "/", wrong)
}

/// The same, for a page to go on to.
pub(super) fn page_to(
    status: StatusCode,
    visitor: &Visitor,
    next: &str,
    wrong: &FormError,
) -> Response {
    let card = card(visitor, "", next, wrong);
    app_page::auth_page_with(status, visitor, "Sign in", &[Asset::Passkeys], card)
}

fn card(visitor: &Visitor, email: &str, next: &str, wrong: &FormError) -> Markup {
    let settings = &visitor.web.settings;
    let password = Field::text("password", "Password", "");
    // `webauthn` lets the browser offer passkeys beside saved passwords.
    let email = Field::text("email", "Email", email).autocomplete("username webauthn");
    let fields = html! {
        input type="hidden" name="next" value=(next);
        (email.kind("email").show(wrong))
        (password.kind("password").autocomplete("current-password").show(wrong))
        button.primary type="submit" { "Sign in" }
    };
    html! {
        h1 { "Sign in" }
        (wrong.summary())
        @if let Some(demo) = &settings.demo {
            p.notice {
                "This is a demo. Sign in as " code { (demo.email) } " with the password "
                code { (demo.password) } "."
            }
        }
        @if visitor.web.app.password_sign_in {
            (fields::form("/sign-in", &visitor.form_token, fields))
        }
        (sign_on_links(&visitor.web, next))
        @if let Ok(party) = RelyingParty::from_url(&settings.public_url) {
            (passkey_button(&party, "sign-in", "Sign in with a passkey", &visitor.form_token, next))
        }
        @if password_resets::is_offered(&visitor.web.app) {
            p { a href="/forgot-password" { "Forgot password?" } }
        } @else if visitor.web.app.password_sign_in {
            (forgotten())
        }
        @if settings.sign_up_open && visitor.web.app.password_sign_in {
            p.soft { "New here? " a href="/sign-up" { "Create an account" } "." }
        }
    }
}

/// What to do without the password where no email is sent.
fn forgotten() -> Markup {
    html! {
        details {
            summary { "Forgot password?" }
            p.soft {
                "No emails are sent here. Sign in with a passkey if you added one. Otherwise ask the administrator of this \
                 server to set a new password for you with " code { "evenkeel user password" } ". Your data stays as it is."
            }
        }
    }
}

pub(super) async fn sign_out(
    person: Person,
    State(web): State<WebState>,
    _form: Form,
) -> PageResult {
    sessions::revoke(person.app(), &person.caller, person.session.id).await?;
    let secure = cookies::is_secure(&web.settings.public_url);
    let mut response = Redirect::to("/sign-in").into_response();
    let line = cookies::set(cookies::SESSION, "", Some(0), secure);
    response.headers_mut().append(header::SET_COOKIE, line);
    Ok(response)
}
