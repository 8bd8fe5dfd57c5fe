//! The authorization endpoint: checks an app's request, shows the consent page, and redirects with the decision.

use axum::body::Body;
use axum::extract::{FromRequestParts as _, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect as To, Response};
use http::{HeaderValue, Method, StatusCode, header};
use maud::html;
use service::access::oauth::clients::Client;
use service::access::oauth::redirects::Redirect;
use service::access::oauth::requests::{self, AuthorizationParams, InvalidRequest};
use service::access::oauth::{
    DocumentSource, OAuthError, OAuthErrorCode, codes, grants, is_document,
};
use service::{Error, Scopes};

use super::fields::FIELDS_MAX;
use super::{consent, fields, plain};
use crate::WebState;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::FormError;
use crate::site::form::{self, Form};
use crate::site::person::{self, Person};
use crate::site::urls;

/// Shows the consent page. The request is checked before the person signs in, so that a bad one fails at once.
pub(crate) async fn get(State(web): State<WebState>, request: Request) -> PageResult {
    let (mut parts, _) = request.into_parts();
    let query = parts.uri.query().unwrap_or_default().to_owned();
    // A document is fetched only for a person who is signed in, so that strangers cannot make this server send requests.
    let client_id = urls::find_param(&query, "client_id").unwrap_or_default();
    if is_document(&client_id)
        && let Err(redirect_to_sign_in) = Person::from_request_parts(&mut parts, &web).await
    {
        return Ok(redirect_to_sign_in);
    }
    let asked = match check(&web, &query, DocumentSource::Fetched).await {
        Ok(asked) => asked,
        Err(BadRequest::Page(error)) => return Err(error),
        Err(BadRequest::OfKnownApp(mistake)) => {
            let person = person::find(&parts, &web).await?;
            return answer_mistake(&web, person.as_ref(), &mistake).await;
        }
    };
    match Person::from_request_parts(&mut parts, &web).await {
        Ok(person) => Ok(consent::page(&person, &asked, &query, &FormError::default())),
        Err(redirect_to_sign_in) => Ok(redirect_to_sign_in),
    }
}

/// Handles the person's decision. The form carries the original request, which is checked again.
pub(crate) async fn post(person: Person, form: Form) -> PageResult {
    let query = form.raw("asked");
    let asked = match check(&person.web, query, DocumentSource::Fetched).await {
        Ok(asked) => asked,
        Err(BadRequest::Page(error)) => return Err(error),
        Err(BadRequest::OfKnownApp(mistake)) => {
            return answer_mistake(&person.web, Some(&person), &mistake).await;
        }
    };
    let state = asked.state.as_deref();
    if form.raw("decision") != "allow" {
        let refusal = OAuthError::new(OAuthErrorCode::AccessDenied, "the person declined");
        return Ok(refused(&person.web, &asked.redirect, state, &refusal));
    }
    let chosen: Vec<&str> = form.all("scope").collect();
    let scopes = Scopes::parse(&chosen.join(" ")).map_err(Error::from)?;
    match codes::allow(person.app(), &person.caller, &asked, scopes).await {
        Ok(code) => Ok(back(&person.web, &asked.redirect, state, &[("code", &code)])),
        Err(error @ Error::Invalid { .. }) => {
            let wrong = FormError::from_error(error)?;
            Ok(consent::page(&person, &asked, query, &wrong))
        }
        Err(error) => Err(error.into()),
    }
}

/// An error of a known app, with the redirect address for it.
struct Mistake {
    client: Box<Client>,
    redirect: Redirect,
    state: Option<String>,
    refusal: OAuthError,
}

/// Why an authorization request is not shown to the person.
enum BadRequest {
    /// The app or its redirect address is unknown: the error is shown on a page of this site.
    Page(PageError),
    /// The app is known and may be told about its error.
    OfKnownApp(Mistake),
}

/// Parses an app's request and checks it.
async fn check(
    web: &WebState,
    query: &str,
    documents: DocumentSource,
) -> Result<requests::AuthorizationRequest, BadRequest> {
    let pairs = urls::parse_pairs(query).filter(|it| it.len() <= FIELDS_MAX);
    let Some(pairs) = pairs else {
        let message = "The address that the app sent you to is malformed.";
        return Err(BadRequest::Page(unknown(message)));
    };
    let params = AuthorizationParams { documents, ..read(&pairs) };
    let checked = requests::check(&web.app, &web.settings.public_url, params).await;
    checked.map_err(|error| match error {
        InvalidRequest::Unknown(why) => BadRequest::Page(unknown(why)),
        InvalidRequest::Undescribed(why) => BadRequest::Page(unknown(&plain(&why))),
        InvalidRequest::Refused { client, redirect, state, error } => {
            BadRequest::OfKnownApp(Mistake { client, redirect, state, refusal: error })
        }
        InvalidRequest::Internal(error) => BadRequest::Page(error.into()),
    })
}

/// Middleware that sets the content security policy of the confirmation page, which may stand between the form and its
/// answer: the browser must let that page lead to the app too.
pub(super) async fn add_policy(
    State(web): State<WebState>,
    request: Request,
    next: Next,
) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let text = match form::body_text(body).await {
        Ok(text) => text,
        Err(refusal) => return refusal,
    };
    let asked = urls::find_param(&text, "asked");
    let mut response = next.run(Request::from_parts(parts, Body::from(text))).await;
    if !response.headers().contains_key(header::CONTENT_SECURITY_POLICY)
        && !response.status().is_redirection()
        && let Some(asked) = asked
        && let Ok(request) = check(&web, &asked, DocumentSource::Stored).await
        && let Ok(policy) = HeaderValue::from_str(&consent::policy(&request.redirect))
    {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// Sends the error to the app if the signed-in person has allowed that app before. Otherwise the error is shown here:
/// anyone can register an app, and a link to this site must not redirect to the app's address.
async fn answer_mistake(web: &WebState, person: Option<&Person>, mistake: &Mistake) -> PageResult {
    let Mistake { client, redirect, state, refusal } = mistake;
    let is_granted = match person {
        Some(it) => grants::is_granted(&web.app, &it.caller, client.id, redirect).await?,
        None => false,
    };
    if is_granted {
        return Ok(refused(web, redirect, state.as_deref(), refusal));
    }
    let body = html! {
        p { "The app that sent you here made a mistake in its request. Nothing was shared." }
        dl.asked {
            div { dt { "App" } dd { (client.name) } }
            div { dt { "Its address" } dd { (redirect.host()) } }
            div { dt { "Problem" } dd { (plain(&refusal.message)) " (" (refusal.code.as_str()) ")" } }
        }
        p {
            "Go back to the app and try again. If this happens again, send these details to the \
             developer of the app. The app chose this name itself."
        }
    };
    Err(PageError::with(StatusCode::BAD_REQUEST, "This app cannot connect", body))
}

fn read(pairs: &[(String, String)]) -> AuthorizationParams {
    let find = |name: &str| {
        let found = pairs.iter().find(|(it, _)| it == name);
        found.map(|(_, value)| value.clone()).filter(|it| !it.is_empty())
    };
    // `resource` may be given more than once (RFC 8707).
    let is_other = |it: &&(String, String)| it.0 != "resource";
    let others: Vec<(String, String)> = pairs.iter().filter(is_other).cloned().collect();
    AuthorizationParams {
        client_id: find("client_id"),
        redirect_uri: find("redirect_uri"),
        response_type: find("response_type"),
        response_mode: find("response_mode"),
        code_challenge: find("code_challenge"),
        code_challenge_method: find("code_challenge_method"),
        scope: find("scope"),
        resource: resources(pairs),
        state: find("state"),
        repeated: fields::repeated(&others).map(str::to_owned),
        documents: DocumentSource::default(),
    }
}

fn resources(pairs: &[(String, String)]) -> Option<String> {
    let given = pairs.iter().filter(|(name, value)| name == "resource" && !value.is_empty());
    let given: Vec<&str> = given.map(|(_, value)| value.as_str()).collect();
    if given.is_empty() { None } else { Some(given.join(" ")) }
}

/// The error page for a request without a known app or a registered redirect address, which is never redirected.
fn unknown(why: &str) -> PageError {
    let message =
        format!("{why} Nothing was shared. Go back to the app and start again from there.");
    PageError::new(StatusCode::BAD_REQUEST, "This app cannot connect", &message)
}

fn refused(web: &WebState, to: &Redirect, state: Option<&str>, refusal: &OAuthError) -> Response {
    let message = plain(&refusal.message);
    let answer = [("error", refusal.code.as_str()), ("error_description", message.as_str())];
    back(web, to, state, &answer)
}

/// Redirects to the app with the result, the request's `state`, and our issuer (RFC 9207).
fn back(web: &WebState, to: &Redirect, state: Option<&str>, answer: &[(&str, &str)]) -> Response {
    let mut answer = answer.to_vec();
    answer.extend(state.map(|it| ("state", it)));
    answer.push(("iss", &web.settings.public_url));
    let mut response = To::to(&to.with_params(&answer)).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
