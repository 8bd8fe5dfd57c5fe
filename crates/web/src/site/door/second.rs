//! The second step: a passkey behind the password, or a recovery code in its place.

use axum::extract::RawQuery;
use axum::response::{IntoResponse as _, Redirect};
use http::HeaderMap;
use maud::{Markup, html};
use service::access::passkeys::Party;
use service::access::sign_ins;

use super::{let_in, next_of, passkey_button, sign_in};
use crate::Door;
use crate::site::assets::Asset;
use crate::site::fields::{self, Field, Wrong};
use crate::site::form::DoorForm;
use crate::site::trouble::Shown;
use crate::site::visitor::Visitor;
use crate::site::{address, cookies, shell};

pub(super) fn token<'a>(headers: &'a HeaderMap, door: &Door) -> &'a str {
    let secure = cookies::is_secure(&door.settings.public_url);
    cookies::get(headers, cookies::SECOND, secure).unwrap_or_default()
}

pub(super) async fn get(visitor: Visitor, headers: HeaderMap, RawQuery(query): RawQuery) -> Shown {
    let waiting = token(&headers, &visitor.door);
    if sign_ins::find_second_step(&visitor.door.app, waiting).await?.is_none() {
        return Ok(Redirect::to("/sign-in").into_response());
    }
    let card = card(&visitor, &next_of(query), &Wrong::default());
    Ok(shell::door(&visitor, "Second step", &[Asset::Passkeys], card))
}

pub(super) async fn post(visitor: Visitor, headers: HeaderMap, DoorForm(form): DoorForm) -> Shown {
    let (door, next) = (&visitor.door, address::local(form.text("next")));
    let (waiting, from) = (token(&headers, door), visitor.visit.clone());
    if sign_ins::find_second_step(&door.app, waiting).await?.is_none() {
        return Ok(Redirect::to("/sign-in").into_response());
    }
    match sign_ins::second_by_recovery_code(&door.app, waiting, form.text("code"), from).await {
        Ok(session) => Ok(let_in(&visitor, &session, next).await),
        Err(error) => {
            let (status, wrong) = sign_in::refusal(error)?;
            let card = card(&visitor, next, &wrong);
            Ok(shell::door_with(status, &visitor, "Second step", &[Asset::Passkeys], card))
        }
    }
}

fn card(visitor: &Visitor, next: &str, wrong: &Wrong) -> Markup {
    let code = Field::text("code", "Recovery code", "").autocomplete("one-time-code");
    let fields = html! {
        input type="hidden" name="next" value=(next);
        (code.hint("One of the ten you kept, such as k7wq-3m2x-9d4h. It works once.").show(wrong))
        button type="submit" { "Use the code" }
    };
    html! {
        h1 { "One more step" }
        p { "Your password is right. Now show your passkey." }
        (wrong.summary())
        @match Party::of(&visitor.door.settings.public_url) {
            Ok(party) => {
                (passkey_button(&party, "second", "Use your passkey", &visitor.form_token, next))
            }
            Err(reason) => p.warning { (reason) },
        }
        details open[!wrong.message.is_empty()] {
            summary { "Use a recovery code instead" }
            (fields::form("/sign-in/second", &visitor.form_token, fields))
        }
        p.soft { a href="/sign-in" { "Start again" } }
    }
}
