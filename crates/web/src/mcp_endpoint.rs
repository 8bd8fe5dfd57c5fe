//! `POST /mcp`: the Model Context Protocol over HTTP. Authentication, rate limit and headers are those of the API; the
//! messages are handled by the crate `mcp`.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use mcp::{Code, Headers, Reply};
use service::access::oauth::Audience;
use service::platform::limits::{self, RateLimitStatus};
use service::platform::requests;
use service::{Caller, Credential, Error, Scopes};

use crate::cors::put_cors;
use crate::dispatch::{Failure, authenticate, challenge, put, put_rate_limit};
use crate::{McpMode, WebState, body, deadlines};

const ALLOWED: &str = "POST, OPTIONS";
const ROUTE: &str = "/mcp";

/// A response before its headers are complete.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Answer {
    fn new(status: StatusCode, body: Vec<u8>) -> Answer {
        Answer { status, headers: HeaderMap::new(), body }
    }

    /// An error of the transport. It belongs to no message, so it has no id.
    fn error(status: StatusCode, code: Code, message: &str) -> Answer {
        Answer::new(status, mcp::transport_error(code, message))
    }
}

pub(crate) async fn handle(State(web): State<WebState>, request: Request) -> Response {
    let started = Instant::now();
    let request_id = web.app.ids.make::<base::kinds::Request>().to_string();
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut rate_limit = None;
    let work = run(&web, request, &request_id, &mut rate_limit);
    let mut answer = match requests::with_deadline(deadlines::READ_MAX, work).await {
        Some(answer) => answer.unwrap_or_else(|refused| *refused),
        None => *refusal(Error::TooSlow.into(), &request_id),
    };
    if let Some(rate_limit) = &rate_limit {
        put_rate_limit(&mut answer.headers, rate_limit, web.app.clock.now().as_second());
    }
    put_cors(&mut answer.headers, &web.settings.cors_origins, origin.as_ref());
    put(&mut answer.headers, HeaderName::from_static("x-request-id"), &request_id);
    let (status, microseconds) = (answer.status, started.elapsed().as_micros() as u64);
    web.metrics.note("POST", ROUTE, status.as_u16(), started.elapsed());
    tracing::debug!(request_id, route = ROUTE, %status, microseconds, "request handled");
    render(answer)
}

fn render(answer: Answer) -> Response {
    let Answer { status, mut headers, body } = answer;
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !body.is_empty() {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// Handles a request. Both sides of the result are responses; an error ends the handling early.
async fn run(
    web: &WebState,
    request: Request,
    request_id: &str,
    rate_limit: &mut Option<RateLimitStatus>,
) -> Result<Answer, Box<Answer>> {
    let (parts, body) = request.into_parts();
    check_entry(web, &parts)?;
    let failed = |failure: Failure| refusal(failure, request_id);
    let caller = authenticate(web, &parts, Audience::Mcp).await.map_err(failed)?;
    let counted = limits::count_request(&web.app, caller.credential_id()).await;
    let counted = counted.map_err(|error| failed(error.into()))?;
    *rate_limit = Some(counted);
    if !counted.accepted {
        let retry_after_seconds = counted.reset_seconds.max(1);
        return Err(failed(Error::Limited { retry_after_seconds, what: "requests" }.into()));
    }
    let refused = |it: crate::error::Refusal| refusal(it.into(), request_id);
    body::check_encoding(&parts.headers).map_err(refused)?;
    let bytes = body::read(&parts.headers, body).await.map_err(refused)?;
    body::check_type(&parts.headers, &bytes).map_err(refused)?;
    let settings = mcp::Settings {
        public_url: web.settings.public_url.clone(),
        read_only: web.settings.mcp == McpMode::ReadOnly,
    };
    requests::charge_to(&caller);
    let turn = web.read_turns.take(caller.user).await.map_err(|error| failed(error.into()))?;
    let turn = Mutex::new(Some(turn));
    // While it waits for a decision, the person's other requests go on.
    let before_waiting = |seconds: u64| {
        turn.lock().unwrap_or_else(PoisonError::into_inner).take();
        requests::extend_deadline(Duration::from_secs(seconds));
    };
    let request = mcp::Request {
        body: &bytes,
        headers: Some(protocol_headers(&parts.headers)),
        before_waiting: &before_waiting,
    };
    Ok(match mcp::handle(&web.app, &settings, &caller, request).await {
        Reply::Accepted => Answer::new(StatusCode::ACCEPTED, Vec::new()),
        Reply::Response { status, body } => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            Answer::new(status, body)
        }
        Reply::MissingScopes { needed, body } => {
            let scopes = with_granted(&caller, needed).to_words();
            let error = format!(", error=\"insufficient_scope\", scope=\"{scopes}\"");
            let mut answer = Answer::new(StatusCode::FORBIDDEN, body);
            let challenge = challenge(web, Audience::Mcp, &error);
            put(&mut answer.headers, header::WWW_AUTHENTICATE, &challenge);
            answer
        }
    })
}

/// The scopes to ask for: those that the call takes, and those that the token has, because some clients ask for exactly
/// what the challenge names and would lose the others.
fn with_granted(caller: &Caller, needed: Scopes) -> Scopes {
    match &caller.credential {
        Credential::Grant { scopes, .. } => scopes.iter().chain(needed.iter()).collect(),
        _ => needed,
    }
}

/// Checks what needs no token: whether there is a server here, the method, and where the request comes from.
fn check_entry(web: &WebState, parts: &Parts) -> Result<(), Box<Answer>> {
    if web.settings.mcp == McpMode::Off {
        let message = "the operator of this installation has switched MCP off";
        return Err(Answer::error(StatusCode::NOT_FOUND, Code::Refused, message).into());
    }
    let url = &web.settings.public_url;
    let host = parts.headers.get(header::HOST).map(|it| it.to_str().unwrap_or("?"));
    if host.is_some_and(|it| !is_own_host(url, it)) {
        let message =
            "the header Host names another host; connect to the address of this installation";
        return Err(Answer::error(StatusCode::FORBIDDEN, Code::Refused, message).into());
    }
    let origin = parts.headers.get(header::ORIGIN).map(|it| it.to_str().unwrap_or("?"));
    if origin.is_some_and(|it| !is_allowed_origin(url, &web.settings.cors_origins, it)) {
        let message =
            "pages of this origin may not connect; the operator can list it in cors.origins";
        return Err(Answer::error(StatusCode::FORBIDDEN, Code::Refused, message).into());
    }
    if parts.method == Method::POST {
        return Ok(());
    }
    let mut answer = match parts.method {
        Method::OPTIONS => Answer::new(StatusCode::NO_CONTENT, Vec::new()),
        _ => {
            let message =
                "send each message as a POST; there are no sessions and no other streams here";
            Answer::error(StatusCode::METHOD_NOT_ALLOWED, Code::InvalidRequest, message)
        }
    };
    answer.headers.insert(header::ALLOW, HeaderValue::from_static(ALLOWED));
    Err(answer.into())
}

/// Whether a request was sent to this installation. A page of another site can make its own host name lead here, but not
/// an address or `localhost`.
fn is_own_host(public_url: &str, host: &str) -> bool {
    let own = public_url.split_once("://").map_or("", |(_, it)| it);
    let own = own.split('/').next().unwrap_or_default();
    let name = without_port(host);
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case(without_port(own))
        || name.eq_ignore_ascii_case("localhost")
        || address.parse::<std::net::IpAddr>().is_ok()
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Whether pages of an origin may call: this installation's own, and those that the operator lists.
fn is_allowed_origin(public_url: &str, listed: &[String], origin: &str) -> bool {
    let end = public_url.split_once("://").map(|(scheme, rest)| {
        let host = rest.split('/').next().unwrap_or_default();
        format!("{scheme}://{host}")
    });
    end.is_some_and(|own| own.eq_ignore_ascii_case(origin)) || listed.iter().any(|it| it == origin)
}

fn protocol_headers(headers: &HeaderMap) -> Headers<'_> {
    // A header that is given twice, or that is no text, is none.
    let one = |name: &str| {
        let mut values = headers.get_all(name).iter();
        let (value, None) = (values.next()?, values.next()) else { return Some("?") };
        Some(value.to_str().unwrap_or("?").trim())
    };
    Headers {
        protocol_version: one("mcp-protocol-version"),
        method: one("mcp-method"),
        name: one("mcp-name"),
    }
}

/// An error of authentication, of the rate limit or of the body, with the headers that belong to it.
fn refusal(failure: Failure, request_id: &str) -> Box<Answer> {
    failure.log(request_id, Some(ROUTE));
    let refusal = failure.into_refusal();
    let status = StatusCode::from_u16(refusal.code.status());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let code = match status {
        StatusCode::INTERNAL_SERVER_ERROR | StatusCode::SERVICE_UNAVAILABLE => Code::Internal,
        StatusCode::UNAUTHORIZED | StatusCode::TOO_MANY_REQUESTS => Code::Refused,
        _ => Code::InvalidRequest,
    };
    let mut answer = Answer::error(status, code, &refusal.message);
    for (name, value) in &refusal.headers {
        put(&mut answer.headers, HeaderName::from_static(name), value);
    }
    Box::new(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_hosts_and_origins_are_let_in() {
        let url = "https://money.example:8443/home";
        for (host, is_own) in [
            ("money.example:8443", true),
            ("MONEY.example", true),
            ("localhost:4680", true),
            ("127.0.0.1:4680", true),
            ("[::1]:4680", true),
            ("192.168.1.7", true),
            ("evil.example", false),
            ("money.example.evil.example", false),
            ("?", false),
        ] {
            assert_eq!(is_own_host(url, host), is_own, "{host}");
        }
        let listed = ["https://app.example".to_owned()];
        for (origin, is_allowed) in [
            ("https://money.example:8443", true),
            ("https://app.example", true),
            ("https://money.example", false),
            ("http://money.example:8443", false),
            ("null", false),
            ("https://evil.example", false),
        ] {
            assert_eq!(is_allowed_origin(url, &listed, origin), is_allowed, "{origin}");
        }
    }
}
