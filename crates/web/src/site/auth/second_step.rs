//! The second sign-in step: a passkey or a recovery code after the password.

use axum::extract::RawQuery;
use axum::response::{IntoResponse as _, Redirect};
use http::HeaderMap;
use maud::{Markup, html};
use service::access::passkeys::RelyingParty;
use service::access::sign_ins;

use super::{next_of, sign_in, start_session};
use crate::WebState;
use crate::site::assets::Asset;
use crate::site::errors::PageResult;
use crate::site::fields::{self, Field, FormError};
use crate::site::form::PublicForm;
use crate::site::identity_buttons::passkey_button;
use crate::site::visitor::Visitor;
use crate::site::{app_page, cookies, urls};

pub(super) fn token<'a>(headers: &'a HeaderMap, web: &WebState) -> &'a str {
    let secure = cookies::is_secure(&web.settings.public_url);
    cookies::get(headers, cookies::SECOND, secure).unwrap_or_default()
}

pub(super) async fn get(
    visitor: Visitor,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> PageResult {
    let waiting = token(&headers, &visitor.web);
    if sign_ins::find_second_step(&visitor.web.app, waiting).await?.is_none() {
        return Ok(Redirect::to("/sign-in").into_response());
    }
    let card = card(&visitor, &next_of(query), &FormError::default());
    Ok(app_page::auth_page(&visitor, "Second step", &[Asset::Passkeys], card))
}

pub(super) async fn post(
    visitor: Visitor,
    headers: HeaderMap,
    PublicForm(form): PublicForm,
) -> PageResult {
    let (web, next) = (&visitor.web, urls::local_path(form.text("next")));
    let (waiting, from) = (token(&headers, web), visitor.visit.clone());
    if sign_ins::find_second_step(&web.app, waiting).await?.is_none() {
        return Ok(Redirect::to("/sign-in").into_response());
    }
    match sign_ins::second_by_recovery_code(&web.app, waiting, form.text("code"), from).await {
        Ok(session) => Ok(start_session(&visitor, &session, next).await),
        Err(error) => {
            let (status, wrong) = sign_in::refusal(error)?;
            let card = card(&visitor, next, &wrong);
            Ok(app_page::auth_page_with(status, &visitor, "Second step", &[Asset::Passkeys], card))
        }
    }
}

fn card(visitor: &Visitor, next: &str, wrong: &FormError) -> Markup {
    let code = Field::text("code", "Recovery code", "").autocomplete("one-time-code");
    let fields = html! {
        input type="hidden" name="next" value=(next);
        (code.hint("One of your recovery codes, such as k7wq-3m2x-9d4h. Each code works once.").show(wrong))
        button type="submit" { "Use recovery code" }
    };
    html! {
        h1 { "Verify it's you" }
        p { "Use your passkey to finish signing in." }
        (wrong.summary())
        @match RelyingParty::from_url(&visitor.web.settings.public_url) {
            Ok(party) => {
                (passkey_button(&party, "second", "Use passkey", &visitor.form_token, next))
            }
            Err(reason) => p.warning { (reason) },
        }
        details open[!wrong.message.is_empty()] {
            summary { "Use a recovery code instead" }
            (fields::form("/sign-in/second", &visitor.form_token, fields))
        }
        p.soft { a href="/sign-in" { "Back to sign-in" } }
    }
}
