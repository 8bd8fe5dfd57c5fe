//! Signing in and out.

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use http::{StatusCode, header};
use maud::{Markup, html};
use service::sessions::{self, Method};
use service::users;

use crate::Door;
use crate::site::fields::{self, Field, Wrong};
use crate::site::form::{DoorForm, Form};
use crate::site::person::Person;
use crate::site::trouble::Shown;
use crate::site::visitor::Visitor;
use crate::site::{address, cookies, shell};

pub(in crate::site) async fn get(visitor: Visitor, RawQuery(query): RawQuery) -> Shown {
    if users::list(&visitor.door.app, 1).await?.is_empty() {
        return Ok(Redirect::to("/setup").into_response());
    }
    let pairs = query.and_then(|it| address::pairs(&it)).unwrap_or_default();
    let next = pairs.iter().find(|(name, _)| name == "next").map(|(_, next)| next.as_str());
    let card = card(&visitor, "", next.unwrap_or("/"), &Wrong::default());
    Ok(shell::door(&visitor, "Sign in", &[], card))
}

pub(in crate::site) async fn post(visitor: Visitor, DoorForm(form): DoorForm) -> Shown {
    let app = &visitor.door.app;
    let (email, next) = (form.text("email"), address::local(form.text("next")));
    match users::check_password(app, email, form.raw("password")).await? {
        Some(user) => {
            let token =
                sessions::create(app, &user, Method::Password, visitor.visit.clone()).await?;
            Ok(signed_in(&visitor.door, &token, next))
        }
        None => {
            let message = "That email and password do not belong together.".to_owned();
            let card = card(&visitor, email, next, &Wrong { param: None, message });
            Ok(shell::door_with(StatusCode::BAD_REQUEST, &visitor, "Sign in", &[], card))
        }
    }
}

fn card(visitor: &Visitor, email: &str, next: &str, wrong: &Wrong) -> Markup {
    let password = Field::text("password", "Password", "");
    let fields = html! {
        input type="hidden" name="next" value=(address::local(next));
        (Field::text("email", "Email", email).kind("email").autocomplete("username").show(wrong))
        (password.kind("password").autocomplete("current-password").show(wrong))
        button.primary type="submit" { "Sign in" }
    };
    html! {
        h1 { "Sign in" }
        (wrong.summary())
        (fields::form("/sign-in", &visitor.form_token, fields))
    }
}

/// A new session, under a token the browser never had before.
pub(crate) fn signed_in(door: &Door, token: &str, next: &str) -> Response {
    let secure = cookies::is_secure(&door.settings.public_url);
    let mut response = Redirect::to(address::local(next)).into_response();
    let line = cookies::set(cookies::SESSION, token, Some(cookies::YEAR_SECONDS), secure);
    response.headers_mut().append(header::SET_COOKIE, line);
    response
}

pub(in crate::site) async fn sign_out(
    person: Person,
    State(door): State<Door>,
    _form: Form,
) -> Shown {
    sessions::revoke(person.app(), &person.caller, person.session.id).await?;
    let secure = cookies::is_secure(&door.settings.public_url);
    let mut response = Redirect::to("/sign-in").into_response();
    let line = cookies::set(cookies::SESSION, "", Some(0), secure);
    response.headers_mut().append(header::SET_COOKIE, line);
    Ok(response)
}
