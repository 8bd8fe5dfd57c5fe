//! Sensitive changes: a session that was left open, or taken, must not make them. Each asks that the person proved
//! lately who they are, by password or passkey; the page that asks sends the same form again afterwards.

mod lists;
mod page;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode, header};
use service::Error;
use service::access::{sign_ins, users};

use super::fields::Wrong;
use super::form::{self, Form};
use super::person::{self, Person};
use super::settings::CONFIRM;
use super::trouble::{Trouble, waiting};
use super::{address, cookies};
use crate::Door;
use crate::oauth::authorize;

pub use lists::{NO_PROOF, SENSITIVE};

/// The field of the page that asks, which no other form has.
const PASSWORD_FIELD: &str = "confirm_password";

/// One sensitive form or download.
#[derive(Debug, PartialEq, Eq)]
pub struct Sensitive {
    /// The pattern of its route.
    pub path: &'static str,
    pub proof: Proof,
    /// What the person is about to do; it follows "to".
    pub about: &'static str,
    /// Where to go instead.
    pub back: &'static str,
}

/// How a sensitive change is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// A page asks before the form is passed on.
    Fresh,
    /// The same, where a field of the form has that value.
    FreshIf { field: &'static str, value: &'static str },
    /// The form has a field for the password. Somebody without a password is asked as for `Fresh`.
    PasswordInForm,
    /// A script of ours asks, and is refused in JSON by what it calls.
    Script,
    /// A file behind a link. The page that asks comes first and then leads to it.
    Download,
}

/// A form that is on neither list asks for proof, until somebody thinks about it.
static UNLISTED: Sensitive =
    Sensitive { path: "", proof: Proof::Fresh, about: "do this", back: "/" };

/// Which rule a request is under; none where it needs no proof.
fn rule(request: &Request) -> Option<&'static Sensitive> {
    let path = request.extensions().get::<MatchedPath>()?.as_str();
    let listed = SENSITIVE.iter().find(|it| it.path == path);
    match *request.method() {
        Method::GET | Method::HEAD => listed.filter(|it| it.proof == Proof::Download),
        Method::POST if NO_PROOF.iter().any(|it| it.0 == path) => None,
        Method::POST => Some(listed.unwrap_or(&UNLISTED)),
        _ => None,
    }
}

/// Stands before every page.
pub(super) async fn guard(State(door): State<Door>, request: Request, next: Next) -> Response {
    let Some(rule) = rule(&request) else { return next.run(request).await };
    if rule.proof == Proof::Script {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let person = match person::find(&parts, &door).await {
        Ok(Some(person)) => person,
        // The handler sends them to sign in.
        Ok(None) => return next.run(Request::from_parts(parts, body)).await,
        Err(error) => return Trouble::from(error).into_response(),
    };
    if person.session.proved_lately(door.app.clock.now()) {
        return next.run(Request::from_parts(parts, body)).await;
    }
    if rule.proof == Proof::Download {
        let place = format!("{CONFIRM}{}", address::query(&[("next", &person.here)]));
        return Redirect::to(&place).into_response();
    }
    let text = match form::body_text(body).await {
        Ok(text) => text,
        Err(refusal) => return refusal,
    };
    match prove(&person, rule, &parts.headers, &text).await {
        Ok(Proved) => next.run(Request::from_parts(parts, Body::from(text))).await,
        Err(answer) => with_policy(&door, &parts, rule, &text, *answer).await,
    }
}

/// The form may be passed on.
struct Proved;

async fn prove(
    person: &Person,
    rule: &'static Sensitive,
    headers: &HeaderMap,
    text: &str,
) -> Result<Proved, Box<Response>> {
    let form = Form::parse(text).ok_or_else(form::unreadable)?;
    if !form::is_ours(&person.door, headers, cookies::SESSION, form.token(headers)) {
        return Err(Box::new(form::stale()));
    }
    match rule.proof {
        Proof::FreshIf { field, value } if form.raw(field) != value => return Ok(Proved),
        Proof::PasswordInForm => match users::has_password(person.app(), person.user.id).await {
            Ok(true) => return Ok(Proved),
            Ok(false) => {}
            Err(error) => return Err(Box::new(Trouble::from(error).into_response())),
        },
        _ => {}
    }
    if !form.has(PASSWORD_FIELD) {
        let wrong = Wrong::default();
        return Err(Box::new(page::ask(person, rule, &form, StatusCode::FORBIDDEN, &wrong).await));
    }
    let given = form.raw(PASSWORD_FIELD);
    match sign_ins::prove_by_password(person.app(), &person.caller, given).await {
        Ok(()) => Ok(Proved),
        Err(error) => {
            let (status, wrong) = match refusal(error) {
                Ok(refusal) => refusal,
                Err(trouble) => return Err(Box::new(trouble.into_response())),
            };
            Err(Box::new(page::ask(person, rule, &form, status, &wrong).await))
        }
    }
}

/// What is wrong with a proof, in words for the page that asked for it.
pub(super) fn refusal(error: Error) -> Result<(StatusCode, Wrong), Trouble> {
    match error {
        Error::Limited { retry_after_seconds, .. } => {
            let wait = waiting(retry_after_seconds);
            let message = format!("Too many attempts. Wait {wait}, then try again.");
            Ok((StatusCode::TOO_MANY_REQUESTS, Wrong { param: None, message }))
        }
        other => Ok((StatusCode::BAD_REQUEST, Wrong::from_error(other)?)),
    }
}

/// The answer to the form about an app leads to the app, which the browser must let the page that asks do as well.
async fn with_policy(
    door: &Door,
    parts: &Parts,
    rule: &Sensitive,
    text: &str,
    mut answer: Response,
) -> Response {
    let is_about_an_app = parts.uri.path() == "/oauth/authorize" && rule.path == "/oauth/authorize";
    let asked = is_about_an_app.then(|| address::asked(text, "asked")).flatten();
    if let Some(asked) = asked
        && let Some(policy) = authorize::policy_of(door, &asked).await
    {
        answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    answer
}
