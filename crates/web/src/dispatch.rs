//! The handling that all requests under `/v1` share: request id, authentication, rate limit, ETag and headers.

use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::response::Response;
use base::AddressGroup;
use futures_util::FutureExt as _;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use service::access::oauth::Audience;
use service::access::{keys, oauth};
use service::platform::limits::{self, RateLimitStatus};
use service::platform::requests;
use service::{Caller, Error};
use wire::v1::{API_VERSION, API_VERSIONS, Code};

use crate::answer::Answer;
use crate::api::{Call, Endpoint, Found, find};
use crate::cors::put_cors;
use crate::error::Refusal;
use crate::metrics::{Answered, Entry};
use crate::oauth::resource_metadata_url;
use crate::query::Query;
use crate::{WebState, body, deadlines, observe};

/// The version of the API: a request can ask for one, and every response names its own.
const VERSION: HeaderName = HeaderName::from_static("evenkeel-version");

/// How long counting a request against its rate limit may take, which is a small write on PostgreSQL.
const COUNT_MAX: Duration = Duration::from_secs(5);
/// How often a change is tried in all, if another transaction is in its way.
const CHANGE_TRIES: usize = 3;

/// Facts about a request for its response headers and log line.
#[derive(Default)]
struct RequestFacts {
    route: Option<&'static str>,
    rate_limit: Option<RateLimitStatus>,
    user: Option<base::UserId>,
    /// The allowed methods of the path, for an OPTIONS request.
    allow: Option<String>,
}

pub(crate) async fn handle(
    web: WebState,
    endpoints: &'static [Endpoint],
    request: Request,
) -> Response {
    let started = Instant::now();
    let span = observe::start(&web, request.headers());
    let method = request.method().clone();
    let (response, route) = span.scope(answer(&web, endpoints, request, started)).await;
    let answered = Answered {
        entry: Entry::Api,
        method: &method,
        route,
        is_whole_route: false,
        status: response.status().as_u16(),
        took: started.elapsed(),
    };
    observe::end(&web, span, &answered);
    response
}

/// Answers a request, and returns its route.
async fn answer(
    web: &WebState,
    endpoints: &'static [Endpoint],
    request: Request,
    started: Instant,
) -> (Response, Option<&'static str>) {
    let request_id = web.app.ids.make::<base::kinds::Request>().to_string();
    let method = request.method().clone();
    let if_none_match = request.headers().get(header::IF_NONE_MATCH).cloned();
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut facts = RequestFacts::default();
    let handled = AssertUnwindSafe(requests::with_deadline(
        deadlines::of_method(&method),
        run(web, endpoints, request, &mut facts),
    ));
    let outcome = match handled.catch_unwind().await {
        Ok(Some(outcome)) => outcome,
        Ok(None) => Err(Failure::Own(Error::TooSlow)),
        Err(_) => Err(Failure::Own(Error::internal("handler panicked"))),
    };

    let mut headers = HeaderMap::new();
    let answer = match outcome {
        Ok(answer) => answer,
        Err(failure) => {
            failure.log(&request_id, facts.route);
            let refusal = failure.into_refusal();
            for (name, value) in &refusal.headers {
                put(&mut headers, HeaderName::from_static(name), value);
            }
            let open_body = refusal.open_body(&web.settings.public_url);
            Answer::refusal(refusal.code.status(), open_body)
        }
    };
    if let Some(allow) = &facts.allow {
        put(&mut headers, header::ALLOW, allow);
    }
    if let Some(rate_limit) = &facts.rate_limit {
        put_rate_limit(&mut headers, rate_limit, web.app.clock.now().as_second());
    }
    put_cors(&mut headers, &web.settings.cors_origins, origin.as_ref());
    let parts = ResponseParts { method: &method, if_none_match, headers, request_id: &request_id };
    let response = render(web, parts, answer);
    let (status, elapsed) = (response.status().as_u16(), started.elapsed());
    let route = facts.route.unwrap_or("unknown");
    let microseconds = elapsed.as_micros() as u64;
    let user = facts.user.map(tracing::field::display);
    tracing::debug!(request_id, %method, route, status, microseconds, user, "request handled");
    (response, facts.route)
}

/// An error of this layer or of a capability.
pub(crate) enum Failure {
    Own(Error),
    Refused(Refusal),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Own(error)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::Refused(refusal)
    }
}

impl Failure {
    pub(crate) fn into_refusal(self) -> Refusal {
        match self {
            Failure::Own(error) => error.into(),
            Failure::Refused(refusal) => refusal,
        }
    }

    /// Logs the cause of an internal error once; clients get a fixed message.
    pub(crate) fn log(&self, request_id: &str, route: Option<&str>) {
        let Failure::Own(error @ (Error::Internal(_) | Error::Unavailable(_) | Error::TooSlow)) =
            self
        else {
            return;
        };
        let chain = error.with_causes();
        tracing::error!(request_id, route, error = chain, "request failed");
    }
}

async fn run(
    web: &WebState,
    endpoints: &'static [Endpoint],
    request: Request,
    facts: &mut RequestFacts,
) -> Result<Answer, Failure> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().strip_prefix("/v1").unwrap_or_default();
    // HEAD is answered like GET, without the body.
    let method = if parts.method == Method::HEAD { &Method::GET } else { &parts.method };
    let found = find(endpoints, method, path);
    let (endpoint, path_values) = match found {
        Found::Endpoint(endpoint, values) => (endpoint, values),
        other => {
            count_if_authenticated(web, &parts, facts).await?;
            return no_endpoint(&parts.method, other, facts);
        }
    };
    facts.route = Some(endpoint.path);
    let caller = authenticate(web, &parts, Audience::Api).await?;
    requests::charge_to(&caller);
    count_request(web, &caller, facts).await?;
    check_version(&parts.headers)?;
    caller.require_all(endpoint.scopes).map_err(|error| refused(web, error, &[]))?;
    let query = Query::parse(parts.uri.query().unwrap_or_default(), endpoint.query)?;
    let bytes = match *method {
        Method::GET => bytes::Bytes::new(),
        _ => {
            body::check_encoding(&parts.headers)?;
            let bytes = body::read(&parts.headers, body).await?;
            body::check_type(&parts.headers, &bytes)?;
            bytes
        }
    };
    let turn = match *method {
        Method::GET => Some(web.take_read_turn(caller.user).await?),
        _ => None,
    };
    let ids = query.id_names();
    let public_url = web.settings.public_url.clone();
    let call = Call {
        app: web.app.clone(),
        caller,
        path: path_values,
        query,
        body: bytes,
        uri: parts.uri,
        method: parts.method,
        headers: parts.headers,
        public_url,
        turn,
    };
    call_handler(endpoint, call).await.map_err(|error| refused(web, error, &ids))
}

/// Calls the handler. A change that the database undid because of another one is tried again: it is one transaction, and
/// nothing of it is left.
async fn call_handler(endpoint: &Endpoint, mut call: Call) -> Result<Answer, Error> {
    for _ in 1..CHANGE_TRIES {
        let Some(again) = call.copy_of_change() else { break };
        match (endpoint.handle)(call).await {
            Err(Error::Unavailable(cause)) if cause.is_undone_conflict() => call = again,
            outcome => return outcome,
        }
    }
    (endpoint.handle)(call).await
}

/// Checks that the version of the API that the client asks for is known. Without the header it gets the oldest.
fn check_version(headers: &HeaderMap) -> Result<(), Failure> {
    let mut values = headers.get_all(&VERSION).iter();
    let refused = |what: String| Error::invalid("Evenkeel-Version", what);
    match (values.next(), values.next()) {
        (None, _) => Ok(()),
        (Some(value), None) if API_VERSIONS.iter().any(|known| *known == value) => Ok(()),
        (Some(_), None) => {
            let known = API_VERSIONS.join(", ");
            Err(refused(format!("Evenkeel-Version must be one of {known}")).into())
        }
        _ => Err(refused("Evenkeel-Version is given more than once".to_owned()).into()),
    }
}

/// Counts a request against the rate limit of its credential, or refuses it.
async fn count_request(
    web: &WebState,
    caller: &Caller,
    facts: &mut RequestFacts,
) -> Result<(), Failure> {
    facts.user = Some(caller.user);
    let counting = limits::count_request(&web.app, caller.credential_id());
    let rate_limit = tokio::time::timeout(COUNT_MAX, counting)
        .await
        .map_err(|_| Error::unavailable("the database did not count the request in time"))??;
    facts.rate_limit = Some(rate_limit);
    if rate_limit.accepted {
        return Ok(());
    }
    let retry_after_seconds = rate_limit.reset_seconds.max(1);
    Err(Error::Limited { retry_after_seconds, what: "requests" }.into())
}

/// Counts a request that no endpoint handles, if its token is valid. Without a valid token it gets the same answer, so
/// that nobody has to authenticate to learn that an address does not exist. Tokens tried this way count as failed too.
async fn count_if_authenticated(
    web: &WebState,
    parts: &Parts,
    facts: &mut RequestFacts,
) -> Result<(), Failure> {
    if bearer(&parts.headers).is_err() {
        return Ok(());
    }
    match authenticate(web, parts, Audience::Api).await {
        Ok(caller) => count_request(web, &caller, facts).await,
        Err(Failure::Refused(_)) => Ok(()),
        Err(failure) => Err(failure),
    }
}

/// The answer where there is no endpoint: 404, 405, or the allowed methods for an OPTIONS request.
fn no_endpoint(method: &Method, found: Found, facts: &mut RequestFacts) -> Result<Answer, Failure> {
    let Found::OtherMethods(allowed) = found else {
        return Err(Refusal::new(Code::NotFound, "there is nothing at this address").into());
    };
    if *method == Method::OPTIONS {
        facts.allow = Some(allowed);
        return Ok(Answer::nothing());
    }
    let message = format!("{method} is not allowed here; use {allowed}");
    Err(Refusal::new(Code::MethodNotAllowed, message).with_header("allow", allowed).into())
}

/// The caller of a request to a part of the installation, by an API key or an access token.
pub(crate) async fn authenticate(
    web: &WebState,
    parts: &Parts,
    audience: Audience,
) -> Result<Caller, Failure> {
    let address = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|it| it.0.ip().to_string());
    let address = address.as_deref();
    let token = match bearer(&parts.headers) {
        Ok(token) => token,
        Err(message) => {
            let refusal = Refusal::new(Code::Unauthenticated, message);
            let challenge = challenge(web, audience, "");
            return Err(refusal.with_header("www-authenticate", challenge).into());
        }
    };
    let found = if oauth::access_tokens::is_access_token(token) {
        let issuer = web.settings.public_url.as_str();
        oauth::authenticate_for(&web.app, (issuer, audience), token, address).await
    } else {
        keys::authenticate(&web.app, token, address).await
    };
    match found {
        Ok(caller) => Ok(caller),
        Err(Error::Unauthenticated(reason)) => {
            let is_access_token = oauth::access_tokens::is_access_token(token);
            let credential = if is_access_token { "access_token" } else { "api_key" };
            web.app.meters.count_failed_authentication(credential);
            limits::count_failure(&web.app, AddressGroup::parse(address)).await?;
            let error = format!(", error=\"invalid_token\", error_description=\"{reason}\"");
            let refusal = Refusal::new(Code::Unauthenticated, reason);
            let challenge = challenge(web, audience, &error);
            Err(refusal.with_header("www-authenticate", challenge).into())
        }
        Err(error) => Err(error.into()),
    }
}

fn bearer(headers: &HeaderMap) -> Result<&str, &'static str> {
    let missing = "send a token as Authorization: Bearer <token>";
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return Err(missing) };
    let text = value.to_str().map_err(|_| missing)?;
    let (scheme, token) = text.split_once(' ').ok_or(missing)?;
    if !scheme.eq_ignore_ascii_case("bearer") || token.trim().is_empty() {
        return Err(missing);
    }
    Ok(token.trim())
}

/// The WWW-Authenticate challenge (RFC 6750), with the address of the resource metadata (RFC 9728).
/// An assistant that has no token learns which scopes to ask for first.
pub(crate) fn challenge(web: &WebState, audience: Audience, error: &str) -> String {
    let metadata = resource_metadata_url(&web.settings.public_url, audience);
    let scope = match audience {
        Audience::Mcp if !error.contains("scope=") => {
            format!(", scope=\"{}\"", mcp::minimal_scopes().to_words())
        }
        _ => String::new(),
    };
    format!("Bearer realm=\"evenkeel\", resource_metadata=\"{metadata}\"{scope}{error}")
}

/// Completes an error of a handler: missing scopes get a challenge, and a 404 names the query parameter that it is about.
fn refused(web: &WebState, error: Error, ids: &[&'static str]) -> Failure {
    match error {
        Error::Forbidden(missing) => {
            let scope = missing.to_words();
            let error_part = format!(", error=\"insufficient_scope\", scope=\"{scope}\"");
            let challenge = challenge(web, Audience::Api, &error_part);
            Refusal::from(error).with_header("www-authenticate", challenge).into()
        }
        Error::NotFound(what) => {
            // "account" is given as `account_id`, "webhook endpoint" as `endpoint_id`.
            let noun = what.rsplit(' ').next().unwrap_or(what);
            let is_of = |name: &&str| name.strip_suffix("_id") == Some(noun);
            let param = ids.iter().copied().find(is_of).map(str::to_owned);
            Refusal { param, ..Refusal::from(error) }.into()
        }
        other => other.into(),
    }
}

struct ResponseParts<'a> {
    method: &'a Method,
    if_none_match: Option<HeaderValue>,
    headers: HeaderMap,
    request_id: &'a str,
}

fn render(web: &WebState, parts: ResponseParts<'_>, answer: Answer) -> Response {
    let ResponseParts { method, if_none_match, mut headers, request_id } = parts;
    put(&mut headers, HeaderName::from_static("x-request-id"), request_id);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(VERSION, HeaderValue::from_static(API_VERSION));
    if answer.replayed {
        let name = HeaderName::from_static("idempotent-replayed");
        headers.insert(name, HeaderValue::from_static("true"));
    }
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    if status == StatusCode::OK && is_read {
        // A weak ETag, because `meta` differs between responses with the same data.
        let tag = format!("W/\"{:032x}\"", answer.tag);
        put(&mut headers, header::ETAG, &tag);
        if if_none_match.is_some_and(|it| matches_tag(&it, &tag)) {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            *response.headers_mut() = headers;
            return response;
        }
    }
    if status != StatusCode::NO_CONTENT {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = answer.close(request_id, web.app.clock.now().as_microsecond());
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
        if *method != Method::HEAD {
            *response.body_mut() = Body::from(body);
        }
    }
    *response.headers_mut() = headers;
    response
}

fn matches_tag(header: &HeaderValue, tag: &str) -> bool {
    let opaque = |it: &str| it.trim().trim_start_matches("W/").to_owned();
    let Ok(text) = header.to_str() else { return false };
    text.trim() == "*" || text.split(',').any(|it| opaque(it) == opaque(tag))
}

pub(crate) fn put_rate_limit(
    headers: &mut HeaderMap,
    rate_limit: &RateLimitStatus,
    now_seconds: i64,
) {
    let RateLimitStatus { policy, remaining, reset_seconds, .. } = rate_limit;
    let pairs = [
        (
            "ratelimit-policy",
            format!("\"default\";q={};w={}", policy.requests, policy.window_seconds),
        ),
        ("ratelimit", format!("\"default\";r={remaining};t={reset_seconds}")),
        ("x-ratelimit-limit", policy.requests.to_string()),
        ("x-ratelimit-remaining", remaining.to_string()),
        ("x-ratelimit-reset", (now_seconds + reset_seconds).to_string()),
    ];
    for (name, value) in pairs {
        put(headers, HeaderName::from_static(name), &value);
    }
}

/// Adds a header. A value that is not valid in a header is left out rather than breaking the response.
pub(crate) fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
