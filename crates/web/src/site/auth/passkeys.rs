//! JSON endpoints for the passkey script: sign-in, second step, confirmation and registration.

use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use service::Error;
use service::access::passkeys::{self, RelyingParty};
use service::access::sign_ins;

use super::{second_step, with_session};
use crate::WebState;
use crate::site::errors::{duration_text, sentence};
use crate::site::form::is_ours;
use crate::site::person::Person;
use crate::site::visitor::Visitor;
use crate::site::{cookies, urls};

const TOKEN_HEADER: &str = "x-form-token";
const BYTES_MAX: usize = 64 * 1_024;

pub(super) async fn start_sign_in(visitor: Visitor, headers: HeaderMap) -> Response {
    let web = &visitor.web;
    answer(async {
        let party = asked(web, &headers, cookies::VISIT)?;
        Ok(json(&sign_ins::start_passkey(&web.app, &party, &visitor.visit).await?))
    })
    .await
}

pub(super) async fn finish_sign_in(visitor: Visitor, headers: HeaderMap, body: String) -> Response {
    let web = &visitor.web;
    answer(async {
        let party = asked(web, &headers, cookies::VISIT)?;
        let (given, sent) = credential(&body)?;
        let from = visitor.visit.clone();
        let session = sign_ins::by_passkey(&web.app, &party, &given, from).await?;
        Ok(with_session(&visitor, &session, next_page_json(&sent)).await)
    })
    .await
}

pub(super) async fn start_second(visitor: Visitor, headers: HeaderMap) -> Response {
    let web = &visitor.web;
    answer(async {
        let party = asked(web, &headers, cookies::VISIT)?;
        let waiting = second_step::token(&headers, web);
        Ok(json(&sign_ins::start_second_step(&web.app, &party, waiting).await?))
    })
    .await
}

pub(super) async fn finish_second(visitor: Visitor, headers: HeaderMap, body: String) -> Response {
    let web = &visitor.web;
    answer(async {
        let party = asked(web, &headers, cookies::VISIT)?;
        let (given, sent) = credential(&body)?;
        let (waiting, from) = (second_step::token(&headers, web), visitor.visit.clone());
        let session = sign_ins::second_by_passkey(&web.app, &party, waiting, &given, from).await?;
        Ok(with_session(&visitor, &session, next_page_json(&sent)).await)
    })
    .await
}

pub(super) async fn start_proof(person: Person, headers: HeaderMap) -> Response {
    answer(async {
        let party = asked(&person.web, &headers, cookies::SESSION)?;
        Ok(json(&sign_ins::start_proof(person.app(), &person.caller, &party).await?))
    })
    .await
}

pub(super) async fn finish_proof(person: Person, headers: HeaderMap, body: String) -> Response {
    answer(async {
        let party = asked(&person.web, &headers, cookies::SESSION)?;
        let (given, sent) = credential(&body)?;
        sign_ins::prove_by_passkey(person.app(), &person.caller, &party, &given).await?;
        Ok(next_page_json(&sent))
    })
    .await
}

pub(super) async fn start_registration(person: Person, headers: HeaderMap) -> Response {
    answer(async {
        let party = asked(&person.web, &headers, cookies::SESSION)?;
        Ok(json(&passkeys::start_registration(person.app(), &person.caller, &party).await?))
    })
    .await
}

pub(super) async fn finish_registration(
    person: Person,
    headers: HeaderMap,
    body: String,
) -> Response {
    answer(async {
        let party = asked(&person.web, &headers, cookies::SESSION)?;
        let (given, sent) = credential(&body)?;
        let name = sent["name"].as_str().map(str::trim).filter(|it| !it.is_empty());
        let name = name.unwrap_or("Passkey");
        passkeys::finish_registration(person.app(), &person.caller, &party, &given, name).await?;
        Ok(next_page_json(&sent))
    })
    .await
}

/// Checks that the request comes from a page of this site and that passkeys work on this host.
pub(in crate::site) fn asked(
    web: &WebState,
    headers: &HeaderMap,
    cookie: &str,
) -> Result<RelyingParty, Refused> {
    let given = headers.get(TOKEN_HEADER).and_then(|it| it.to_str().ok()).unwrap_or_default();
    if !is_ours(web, headers, cookie, given) {
        let message = "The page was open too long. Reload it and try again.";
        return Err(Refused(StatusCode::FORBIDDEN, message.to_owned()));
    }
    RelyingParty::from_url(&web.settings.public_url)
        .map_err(|reason| Refused(StatusCode::BAD_REQUEST, reason.to_owned()))
}

/// The browser's credential as text, and the whole request body.
pub(in crate::site) fn credential(body: &str) -> Result<(String, Value), Refused> {
    let sent: Option<Value> =
        (body.len() <= BYTES_MAX).then(|| serde_json::from_str(body).ok()).flatten();
    match sent {
        Some(sent) if sent["credential"].is_object() => Ok((sent["credential"].to_string(), sent)),
        _ => Err(Refused::unreadable()),
    }
}

pub(in crate::site) fn next_page_json(sent: &Value) -> Response {
    json(&json!({ "next": urls::local_path(sent["next"].as_str().unwrap_or("/")) }))
}

/// When to try again after a failure of the database, as in the API.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

pub(in crate::site) struct Refused(StatusCode, String);

impl Refused {
    pub(in crate::site) fn unreadable() -> Refused {
        let message = "We couldn't read your browser's answer. Try again.";
        Refused(StatusCode::BAD_REQUEST, message.to_owned())
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        let status = match &error {
            Error::Limited { retry_after_seconds, .. } => {
                let wait = duration_text(*retry_after_seconds);
                let message = format!("Too many attempts. Wait {wait}, then try again.");
                return Refused(StatusCode::TOO_MANY_REQUESTS, message);
            }
            Error::Unavailable(_) | Error::TooSlow => StatusCode::SERVICE_UNAVAILABLE,
            Error::Internal(_) => {
                tracing::error!(?error, "passkey check failed");
                StatusCode::INTERNAL_SERVER_ERROR
            }
            Error::NotFound(_) => StatusCode::NOT_FOUND,
            Error::Conflict { .. } => StatusCode::CONFLICT,
            _ => StatusCode::BAD_REQUEST,
        };
        Refused(status, sentence(&error.to_string()))
    }
}

pub(in crate::site) async fn answer(
    work: impl Future<Output = Result<Response, Refused>>,
) -> Response {
    match work.await {
        Ok(response) => response,
        Err(Refused(status, message)) => {
            let mut response = (status, json(&json!({ "message": message }))).into_response();
            if status == StatusCode::SERVICE_UNAVAILABLE {
                response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
            }
            response
        }
    }
}

pub(in crate::site) fn json(value: &Value) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    (headers, value.to_string()).into_response()
}
