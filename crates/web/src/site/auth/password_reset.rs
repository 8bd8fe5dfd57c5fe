//! The pages that reset a password by email: asking for a link, and choosing a new password with it.

use std::time::Duration;

use axum::extract::Path;
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use service::Error;
use service::access::{password_resets, passwords};

use super::sign_in;
use crate::site::app_page;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::{self, Field, FormError};
use crate::site::form::PublicForm;
use crate::site::visitor::Visitor;

const ASK: &str = "Reset your password";
const CHOOSE: &str = "Choose a new password";
/// Every answer to a request for a link takes at least this long. Storing a link takes some milliseconds more than finding
/// no account, and the difference would show which addresses have one.
const ANSWER_AFTER: Duration = Duration::from_millis(500);

pub(super) async fn ask(visitor: Visitor) -> PageResult {
    require_offered(&visitor)?;
    let card = ask_card(&visitor, "", &FormError::default());
    Ok(app_page::auth_page(&visitor, ASK, &[], card))
}

/// The answer is the same whether or not the address has an account.
pub(super) async fn send(visitor: Visitor, PublicForm(form): PublicForm) -> PageResult {
    require_offered(&visitor)?;
    let email = form.text("email");
    let request = password_resets::request(&visitor.web.app, email, visitor.visit.clone());
    let (requested, ()) = tokio::join!(request, tokio::time::sleep(ANSWER_AFTER));
    match requested {
        Ok(()) => Ok(app_page::auth_page(&visitor, ASK, &[], sent_card(email))),
        Err(error) => {
            let (status, wrong) = sign_in::refusal(error)?;
            let card = ask_card(&visitor, email, &wrong);
            Ok(app_page::auth_page_with(status, &visitor, ASK, &[], card))
        }
    }
}

pub(super) async fn choose(visitor: Visitor, Path(token): Path<String>) -> PageResult {
    require_offered(&visitor)?;
    if !password_resets::is_valid(&visitor.web.app, &token).await? {
        return Ok(gone(&visitor));
    }
    let card = choose_card(&visitor, &token, &FormError::default());
    Ok(app_page::auth_page(&visitor, CHOOSE, &[], card))
}

pub(super) async fn save(
    visitor: Visitor,
    Path(token): Path<String>,
    PublicForm(form): PublicForm,
) -> PageResult {
    require_offered(&visitor)?;
    let (app, from) = (&visitor.web.app, visitor.visit.clone());
    match password_resets::finish(app, &token, form.raw("password"), from).await {
        Ok(()) => Ok(app_page::auth_page(&visitor, "Password changed", &[], saved_card())),
        Err(Error::NotFound(_)) => Ok(gone(&visitor)),
        Err(error) => {
            let (status, wrong) = sign_in::refusal(error)?;
            let card = choose_card(&visitor, &token, &wrong);
            Ok(app_page::auth_page_with(status, &visitor, CHOOSE, &[], card))
        }
    }
}

/// Answers with "not found" if no email is sent here, or passwords are turned off.
fn require_offered(visitor: &Visitor) -> Result<(), PageError> {
    match password_resets::is_offered(&visitor.web.app) {
        true => Ok(()),
        false => Err(PageError::not_found()),
    }
}

fn ask_card(visitor: &Visitor, email: &str, wrong: &FormError) -> Markup {
    let email = Field::text("email", "Email", email).kind("email").autocomplete("username");
    let fields = html! {
        (email.show(wrong))
        button.primary type="submit" { "Send link" }
    };
    html! {
        h1 { (ASK) }
        p { "We'll email you a link to choose a new password." }
        (wrong.summary())
        (fields::form("/forgot-password", &visitor.form_token, fields))
        p.soft { a href="/sign-in" { "Back to sign in" } }
    }
}

fn sent_card(email: &str) -> Markup {
    html! {
        h1 { "Check your email" }
        p role="status" {
            "If " strong { (email) } " has an account with a password here, we've sent a link to it. The link works once, "
            "for " (password_resets::LIFE_MINUTES) " minutes."
        }
        p.soft { "Nothing there after a few minutes? Check your spam folder, then try again." }
        p.soft { a href="/sign-in" { "Back to sign in" } }
    }
}

fn choose_card(visitor: &Visitor, token: &str, wrong: &FormError) -> Markup {
    let hint = format!("At least {} characters.", passwords::LENGTH_MIN);
    let password = Field::text("password", "New password", "").autocomplete("new-password");
    let fields = html! {
        (password.kind("password").hint(&hint).show(wrong))
        button.primary type="submit" { "Change password" }
    };
    html! {
        h1 { (CHOOSE) }
        p { "You'll be signed out everywhere." }
        (wrong.summary())
        (fields::form(&format!("/reset-password/{token}"), &visitor.form_token, fields))
    }
}

fn saved_card() -> Markup {
    html! {
        h1 { "Password changed" }
        p role="status" { "Your password was changed, and you were signed out everywhere." }
        p { a.button.primary href="/sign-in" { "Sign in" } }
    }
}

fn gone(visitor: &Visitor) -> Response {
    let title = "This link is no longer valid";
    let card = html! {
        h1 { (title) }
        p { "It was used, replaced by a newer one, or has expired." }
        p { a href="/forgot-password" { "Send a new link" } }
    };
    app_page::auth_page_with(StatusCode::NOT_FOUND, visitor, title, &[], card)
}
