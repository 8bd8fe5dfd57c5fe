//! Single sign-on: to the provider's page and back.

use std::time::Duration;

use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use http::StatusCode;
use http::request::Parts;
use maud::html;
use service::Error;
use service::access::oidc::{self, Browser, Callback, Outcome};
use service::access::sign_ins::SignInOutcome;
use service::platform::requests;

use super::{next_of, sign_in, start_session};
use crate::WebState;
use crate::site::app_page::{self, Decision, see_other};
use crate::site::errors::{PageResult, sentence};
use crate::site::fields::FormError;
use crate::site::form::Form;
use crate::site::person::{self, Person};
use crate::site::visitor::Visitor;
use crate::site::{sensitive, urls};

const SECURITY: &str = "/settings/security";
/// The answers of a provider that a request may wait for, beside the database: metadata, token, keys and profile.
const PROVIDER_MAX: Duration = Duration::from_secs(40);

/// Redirects to the provider's sign-in page.
pub(super) async fn start(
    visitor: Visitor,
    Path(provider): Path<String>,
    RawQuery(query): RawQuery,
) -> PageResult {
    requests::extend_deadline(PROVIDER_MAX);
    let (web, next) = (&visitor.web, next_of(query));
    let browser =
        Browser { secret: &visitor.form_token, next: &next, public_url: &web.settings.public_url };
    match oidc::start_sign_in(&web.app, &provider, browser, &visitor.visit).await {
        Ok(address) => Ok(visitor.remember(Redirect::to(&address).into_response())),
        Err(error @ Error::NotFound(_)) => Err(error.into()),
        Err(error) => {
            let (status, wrong) = sign_in::refusal(error)?;
            Ok(sign_in::page_to(status, &visitor, &next, &wrong))
        }
    }
}

/// Redirects to the provider's sign-in page, to prove one's identity again.
pub(super) async fn confirm(
    mut person: Person,
    Path(provider): Path<String>,
    RawQuery(query): RawQuery,
) -> PageResult {
    person.wait_for(PROVIDER_MAX.as_secs());
    let next = next_of(query);
    let browser = browser_of(&person, &next);
    let started = oidc::start_proof(person.app(), &person.caller, &provider, browser).await;
    Ok(Redirect::to(&started?).into_response())
}

/// Begins to link an identity. The provider's page is opened by a link and not by a redirect after a form, which the
/// content security policy would stop.
pub(super) async fn link(
    mut person: Person,
    Path(provider): Path<String>,
    _form: Form,
) -> PageResult {
    person.wait_for(PROVIDER_MAX.as_secs());
    let browser = browser_of(&person, SECURITY);
    let address = oidc::start_link(person.app(), &person.caller, &provider, browser).await?;
    let mut providers = person.app().single_sign_on.providers();
    let label = providers.find(|it| it.name == provider).map_or("", |it| it.label.as_str());
    let card = html! {
        h1 { "Link " (label) }
        p { "Sign in to " (label) " with the account that you want to use here." }
        p { a.button.primary href=(address) { "Continue to " (label) } }
        p.soft { a href=(SECURITY) { "Cancel" } }
    };
    let about = Decision { status: StatusCode::OK, title: "Link single sign-on", live: false };
    Ok(app_page::decision_with(&person, &about, card))
}

fn browser_of<'a>(person: &'a Person, next: &'a str) -> Browser<'a> {
    Browser { secret: &person.form_token, next, public_url: person.public_url() }
}

/// The provider's answer. It may be for a visitor who signs in, or for a signed-in person.
pub(super) async fn callback(
    State(web): State<WebState>,
    Path(provider): Path<String>,
    visitor: Visitor,
    parts: Parts,
) -> PageResult {
    requests::extend_deadline(PROVIDER_MAX);
    let mut person = person::find(&parts, &web).await?;
    if let Some(person) = &mut person {
        person.wait_for(0);
    }
    let pairs = urls::parse_pairs(parts.uri.query().unwrap_or_default()).unwrap_or_default();
    let answer = Answer(&pairs);
    let callback = Callback {
        provider: &provider,
        state: answer.get("state").unwrap_or_default(),
        code: answer.get("code").unwrap_or_default(),
        issuer: answer.get("iss"),
        error: answer.get("error"),
        visitor: &visitor.form_token,
        session: person.as_ref().map(|it| it.form_token.as_str()),
        public_url: &web.settings.public_url,
    };
    let caller = person.as_ref().map(|it| &it.caller);
    match oidc::finish(&web.app, caller, callback, visitor.visit.clone()).await {
        Ok(outcome) => Ok(arrive(&visitor, person.as_ref(), outcome).await),
        Err(error @ Error::NotFound(_)) => Err(error.into()),
        Err(error) => match &person {
            Some(person) => show_refusal(person, error),
            None => {
                let (status, wrong) = sign_in::refusal(error)?;
                Ok(sign_in::page(status, &visitor, &wrong))
            }
        },
    }
}

/// The parameters of an answer. One that comes twice counts as missing, because one of them may be planted.
struct Answer<'a>(&'a [(String, String)]);

impl<'a> Answer<'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        let mut found = self.0.iter().filter(|(it, _)| it == name).map(|(_, it)| it.as_str());
        match (found.next(), found.next()) {
            (Some(value), None) => Some(value),
            _ => None,
        }
    }
}

async fn arrive(visitor: &Visitor, person: Option<&Person>, outcome: Outcome) -> Response {
    match (outcome, person) {
        (Outcome::SignIn { outcome: SignInOutcome::SignedIn { session }, next }, _) => {
            start_session(visitor, &session, &next).await
        }
        (Outcome::SignIn { outcome: SignInOutcome::SecondStep { token }, next }, _) => {
            sign_in::to_second_step(&visitor.web, &token, urls::local_path(&next))
        }
        (Outcome::Linked { next }, Some(person)) => see_other(
            person,
            urls::local_path(&next),
            "Linked. You can sign in with it from now on.",
        ),
        (Outcome::Proved { next }, Some(person)) => see_other(
            person,
            urls::local_path(&next),
            "Confirmed. We won't ask again for ten minutes.",
        ),
        (Outcome::Linked { next } | Outcome::Proved { next }, None) => {
            Redirect::to(urls::local_path(&next)).into_response()
        }
    }
}

/// The reason why a signed-in person's identity was not linked or taken as proof.
fn show_refusal(person: &Person, error: Error) -> PageResult {
    let (status, wrong) = match error {
        Error::Unauthenticated(reason) => {
            (StatusCode::BAD_REQUEST, FormError::general(sentence(reason)))
        }
        other => sensitive::refusal(other)?,
    };
    let card = html! {
        h1 { "Single sign-on didn't work" }
        (wrong.summary())
        p { a.button.outlined href=(SECURITY) { "Back to security settings" } }
    };
    let about = Decision { status, title: "Single sign-on didn't work", live: false };
    Ok(app_page::decision_with(person, &about, card))
}
