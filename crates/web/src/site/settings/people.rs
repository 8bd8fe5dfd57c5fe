//! Settings, people: an admin's invitations.

use axum::Router;
use axum::extract::Path;
use base::InvitationId;
use http::StatusCode;
use maud::{Markup, html};
use service::access::invitations::{self, Invitation};
use service::platform::mail_queue;

use super::{Settings, Tab};
use crate::WebState;
use crate::routing::{get_and_post, post};
use crate::site::app_page::see_other;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::person::Person;
use crate::site::snippet;

const HERE: &str = "/settings/people";

pub(super) fn router() -> Router<WebState> {
    Router::new()
        .route(HERE, get_and_post(show, invite))
        .route("/settings/people/{id}/withdraw", post(withdraw))
}

async fn show(person: Person) -> PageResult {
    page(&person, None, "", StatusCode::OK, &FormError::default()).await
}

async fn invite(person: Person, form: Form) -> PageResult {
    let email = form.text("email");
    match invitations::create(person.app(), &person.caller, Some(email)).await {
        Ok((_, token)) => {
            let link = format!("{}/invite/{token}", person.public_url());
            let mailed_to = mail_queue::is_sendable(email).then_some(email);
            let made = Made { link, mailed_to };
            page(&person, Some(&made), "", StatusCode::OK, &FormError::default()).await
        }
        Err(error) => {
            let wrong = FormError::from_error(error)?;
            page(&person, None, email, StatusCode::BAD_REQUEST, &wrong).await
        }
    }
}

async fn withdraw(person: Person, Path(id): Path<String>, _form: Form) -> PageResult {
    let id = InvitationId::parse(&id).map_err(|_| PageError::not_found())?;
    invitations::withdraw(person.app(), &person.caller, id).await?;
    Ok(see_other(&person, HERE, "Invitation withdrawn."))
}

/// An invitation that was just created.
struct Made<'a> {
    link: String,
    mailed_to: Option<&'a str>,
}

fn new_link(person: &Person, made: &Made<'_>) -> Markup {
    html! {
        section.card aria-labelledby="link" {
            @match made.mailed_to.filter(|_| person.app().sends_mail()) {
                Some(email) => {
                    h2 id="link" { "Invitation sent" }
                    p { "We're emailing this link to " strong { (email) } ". You can also send it yourself." }
                }
                None => h2 id="link" { "Send this link" },
            }
            p { "It works once and expires in a week. You won't see it again." }
            (snippet::text("Link", &made.link))
        }
    }
}

async fn page(
    person: &Person,
    made: Option<&Made<'_>>,
    email: &str,
    status: StatusCode,
    wrong: &FormError,
) -> PageResult {
    let listed = invitations::list(person.app(), &person.caller).await?;
    let main = html! {
        @if let Some(made) = made { (new_link(person, made)) }
        (form(person, email, wrong))
        (list(person, &listed))
    };
    let scripts = &[crate::site::assets::Asset::Copying];
    Ok(Settings { tab: Tab::People, status, scripts }.page(person, main))
}

fn form(person: &Person, email: &str, wrong: &FormError) -> Markup {
    let hint = match person.app().sends_mail() {
        true => {
            "We email them the link, and only they can use it. If you leave this empty, anyone with the link can."
        }
        false => {
            "If you enter an email, only that person can use the link. Otherwise anyone with the link can."
        }
    };
    let email = Field::text("email", "Their email", email).kind("email").optional();
    let fields = html! {
        (email.hint(hint).show(wrong))
        button.primary type="submit" { "Create invitation" }
    };
    html! {
        section.card aria-labelledby="invite" {
            h2 id="invite" { "Invite someone" }
            p.soft {
                "Each person has their own account and sees only their own data. You can't see theirs."
            }
            (wrong.summary())
            (fields::form(HERE, &person.form_token, fields))
        }
    }
}

fn list(person: &Person, invitations: &[Invitation]) -> Markup {
    let now = person.app().clock.now();
    let state = |it: &Invitation| match it.used_at {
        Some(at) => format!("Used {}", person.view.time_ago(at, now)),
        None if it.expires_at <= now => "Expired".to_owned(),
        None => format!("Open until {}", person.view.local(it.expires_at, "%a %-d %b")),
    };
    html! {
        section.card aria-labelledby="open" {
            h2 id="open" { "Invitations" }
            @if invitations.is_empty() { p.soft { "No invitations yet." } }
            ul.rows {
                @for it in invitations {
                    li {
                        span.what {
                            (it.email.as_deref().unwrap_or("Anyone with the link"))
                            span.soft { (state(it)) ", created " (person.view.time_ago(it.created_at, now)) }
                        }
                        @if it.used_at.is_none() && it.expires_at > now {
                            (fields::button(&format!("{HERE}/{}/withdraw", it.id),
                                &person.form_token, "Withdraw invitation", "danger"))
                        }
                    }
                }
            }
        }
    }
}
