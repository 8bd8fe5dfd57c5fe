//! Sensitive changes ask the person to confirm with their password or passkey, unless they did so in the last ten
//! minutes. This protects them from a session that was left open or stolen. The confirmation page then sends the same
//! form again.

mod lists;
mod page;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::{HeaderMap, Method, StatusCode};
use service::Error;
use service::access::{sign_ins, users};

use super::errors::{PageError, duration_text};
use super::fields::FormError;
use super::form::{self, Form};
use super::person::{self, Person};
use super::{cookies, urls};
use crate::WebState;

pub use lists::{NO_PROOF, SENSITIVE};

/// The page that asks people to confirm before a download, and that the security settings link to.
pub(super) const CONFIRM: &str = "/settings/security/confirm";
/// The password field of the confirmation page. No other form has a field of this name.
const PASSWORD_FIELD: &str = "confirm_password";

/// One sensitive form or download.
#[derive(Debug, PartialEq, Eq)]
pub struct Sensitive {
    /// The pattern of its route, such as `/settings/webhooks/{id}`.
    pub path: &'static str,
    pub proof: Proof,
    /// The change or download in words, which the page shows after "to".
    pub about: &'static str,
    /// The page that "Cancel" leads to.
    pub back: &'static str,
}

/// How the person confirms a sensitive change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// The confirmation page comes before the form is handled.
    Fresh,
    /// As `Fresh`, but only if a field of the form has that value.
    FreshIf { field: &'static str, value: &'static str },
    /// The form has a password field of its own. A person without a password is asked as for `Fresh`.
    PasswordInForm,
    /// Called by our script; the endpoint itself checks and answers in JSON.
    Script,
    /// A file behind a link. The confirmation page comes first and then leads to it.
    Download,
}

/// The rule for a form that is on neither list: it asks for confirmation, to be safe.
static UNLISTED: Sensitive =
    Sensitive { path: "", proof: Proof::Fresh, about: "do this", back: "/" };

/// Finds the rule for a request; none if it needs no confirmation.
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

/// Middleware that asks for confirmation before a sensitive change.
pub(crate) async fn require_proof(
    State(web): State<WebState>,
    request: Request,
    next: Next,
) -> Response {
    let Some(rule) = rule(&request) else { return next.run(request).await };
    if rule.proof == Proof::Script {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let person = match person::find(&parts, &web).await {
        Ok(Some(person)) => person,
        // The handler redirects them to the sign-in page.
        Ok(None) => return next.run(Request::from_parts(parts, body)).await,
        Err(error) => return PageError::from(error).into_response(),
    };
    if person.session.proved_lately(web.app.clock.now()) {
        return next.run(Request::from_parts(parts, body)).await;
    }
    if rule.proof == Proof::Download {
        let location = format!("{CONFIRM}{}", urls::query_string(&[("next", &person.here)]));
        return Redirect::to(&location).into_response();
    }
    let text = match form::body_text(body).await {
        Ok(text) => text,
        Err(refusal) => return refusal,
    };
    match prove(&person, rule, &parts.headers, &text).await {
        Ok(Proved) => next.run(Request::from_parts(parts, Body::from(text))).await,
        Err(answer) => *answer,
    }
}

/// The person has confirmed, so the form may be handled.
struct Proved;

async fn prove(
    person: &Person,
    rule: &'static Sensitive,
    headers: &HeaderMap,
    text: &str,
) -> Result<Proved, Box<Response>> {
    let form = Form::parse(text).ok_or_else(form::unreadable)?;
    if !form::is_ours(&person.web, headers, cookies::SESSION, form.token(headers)) {
        return Err(Box::new(form::stale()));
    }
    match rule.proof {
        Proof::FreshIf { field, value } if form.raw(field) != value => return Ok(Proved),
        Proof::PasswordInForm => match users::has_password(person.app(), person.user.id).await {
            Ok(true) => return Ok(Proved),
            Ok(false) => {}
            Err(error) => return Err(Box::new(PageError::from(error).into_response())),
        },
        _ => {}
    }
    if !form.has(PASSWORD_FIELD) {
        let wrong = FormError::default();
        return Err(Box::new(page::ask(person, rule, &form, StatusCode::FORBIDDEN, &wrong).await));
    }
    let given = form.raw(PASSWORD_FIELD);
    match sign_ins::prove_by_password(person.app(), &person.caller, given).await {
        Ok(()) => Ok(Proved),
        Err(error) => {
            let (status, wrong) = match refusal(error) {
                Ok(refusal) => refusal,
                Err(error) => return Err(Box::new(error.into_response())),
            };
            Err(Box::new(page::ask(person, rule, &form, status, &wrong).await))
        }
    }
}

/// The message for a confirmation that failed.
pub(super) fn refusal(error: Error) -> Result<(StatusCode, FormError), PageError> {
    match error {
        Error::Limited { retry_after_seconds, .. } => {
            let wait = duration_text(retry_after_seconds);
            let message = format!("Too many attempts. Wait {wait}, then try again.");
            Ok((StatusCode::TOO_MANY_REQUESTS, FormError::general(message)))
        }
        other => Ok((StatusCode::BAD_REQUEST, FormError::from_error(other)?)),
    }
}
