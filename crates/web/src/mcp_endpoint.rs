//! `POST /mcp`: the Model Context Protocol over HTTP. Authentication, rate limit and headers are those of the API; the
//! messages are handled by the crate `mcp`.

use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use futures_util::stream;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use mcp::{Code, Headers, Reply};
use service::access::oauth::Audience;
use service::platform::limits::{self, RateLimitStatus};
use service::platform::requests;
use service::{Caller, Credential, Error, Scopes};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use crate::cors::put_cors;
use crate::dispatch::{Failure, authenticate, challenge, put, put_rate_limit};
use crate::{McpMode, WebState, body, deadlines};

const ALLOWED: &str = "POST, OPTIONS";
const ROUTE: &str = "/mcp";
const SESSION: &str = "mcp-session-id";

/// A response before its headers are complete.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    content: Content,
}

enum Content {
    /// One message; none if it is empty.
    Message(Vec<u8>),
    /// Server-sent events.
    Stream(Body),
}

impl Answer {
    fn new(status: StatusCode, body: Vec<u8>) -> Answer {
        Answer { status, headers: HeaderMap::new(), content: Content::Message(body) }
    }

    /// An error of the transport. It belongs to no message, so it has no id.
    fn error(status: StatusCode, code: Code, message: &str) -> Answer {
        Answer::new(status, mcp::transport_error(code, message))
    }

    /// A stream that begins with a message and ends with the response.
    fn stream(first: Vec<u8>, messages: UnboundedReceiver<Vec<u8>>, work: Work) -> Answer {
        let body = Body::from_stream(events(first, messages, work));
        let mut headers = HeaderMap::new();
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        Answer { status: StatusCode::OK, headers, content: Content::Stream(body) }
    }
}

pub(crate) async fn handle(State(web): State<WebState>, request: Request) -> Response {
    let started = Instant::now();
    let request_id = web.app.ids.make::<base::kinds::Request>().to_string();
    let origin = request.headers().get(header::ORIGIN).cloned();
    let rate_limit = Arc::new(OnceLock::new());
    let (sender, mut messages) = mpsc::unbounded_channel();
    let mut work: Work =
        Box::pin(finish(web.clone(), request, request_id.clone(), rate_limit.clone(), sender));
    let mut answer = tokio::select! {
        biased;
        // A message before the response makes the answer a stream.
        Some(first) = messages.recv() => Answer::stream(first, messages, work),
        answer = &mut work => match messages.try_recv() {
            // The work has sent it and ended at once.
            Ok(first) => Answer::stream(first, messages, Box::pin(std::future::ready(answer))),
            Err(_) => answer,
        },
    };
    if let Some(rate_limit) = rate_limit.get() {
        put_rate_limit(&mut answer.headers, rate_limit, web.app.clock.now().as_second());
    }
    put_cors(&mut answer.headers, &web.settings.cors_origins, origin.as_ref());
    put(&mut answer.headers, HeaderName::from_static("x-request-id"), &request_id);
    let (status, microseconds) = (answer.status, started.elapsed().as_micros() as u64);
    tracing::debug!(request_id, route = ROUTE, %status, microseconds, "request handled");
    render(answer)
}

/// The work of one request, which goes on while its answer is streamed. Dropping it cancels the request.
type Work = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// Handles a request to its end, within its deadline.
async fn finish(
    web: WebState,
    request: Request,
    request_id: String,
    rate_limit: Arc<OnceLock<RateLimitStatus>>,
    messages: UnboundedSender<Vec<u8>>,
) -> Answer {
    let work = run(&web, request, &request_id, &rate_limit, &messages);
    match requests::with_deadline(deadlines::READ_MAX, work).await {
        Some(answer) => answer.unwrap_or_else(|refused| *refused),
        None => *refusal(Error::TooSlow.into(), &request_id),
    }
}

/// One event of a stream. A message is JSON on one line.
fn event(message: &[u8]) -> Bytes {
    Bytes::from([b"event: message\ndata: ", message, b"\n\n"].concat())
}

/// The events of a stream: the messages as they come, and the response as the last one.
fn events(
    first: Vec<u8>,
    messages: UnboundedReceiver<Vec<u8>>,
    work: Work,
) -> impl stream::Stream<Item = Result<Bytes, std::convert::Infallible>> + Send {
    let next = |(first, mut messages, work): (
        Option<Vec<u8>>,
        UnboundedReceiver<Vec<u8>>,
        Option<Work>,
    )| async move {
        if let Some(first) = first {
            return Some((Ok(event(&first)), (None, messages, work)));
        }
        let mut work = work?;
        tokio::select! {
            biased;
            Some(message) = messages.recv() => {
                Some((Ok(event(&message)), (None, messages, Some(work))))
            }
            answer = &mut work => {
                let Content::Message(last) = answer.content else { return None };
                // Messages that were sent together with the response come before it.
                let mut rest: Vec<u8> = Vec::new();
                while let Ok(message) = messages.try_recv() {
                    rest.extend_from_slice(&event(&message));
                }
                rest.extend_from_slice(&event(&last));
                Some((Ok(Bytes::from(rest)), (None, messages, None)))
            }
        }
    };
    stream::unfold((Some(first), messages, Some(work)), next)
}

fn render(answer: Answer) -> Response {
    let Answer { status, mut headers, content } = answer;
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let (kind, body) = match content {
        Content::Message(body) if body.is_empty() => (None, Body::empty()),
        Content::Message(body) => (Some("application/json"), Body::from(body)),
        Content::Stream(body) => (Some("text/event-stream"), body),
    };
    if let Some(kind) = kind {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// Handles a request. Both sides of the result are responses; an error ends the handling early.
async fn run(
    web: &WebState,
    request: Request,
    request_id: &str,
    rate_limit: &OnceLock<RateLimitStatus>,
    messages: &UnboundedSender<Vec<u8>>,
) -> Result<Answer, Box<Answer>> {
    let (parts, body) = request.into_parts();
    check_entry(web, &parts)?;
    let failed = |failure: Failure| refusal(failure, request_id);
    let caller = match authenticate(web, &parts, Audience::Mcp).await {
        Ok(caller) => caller,
        Err(failure) => {
            body::discard(&parts.headers, body).await;
            return Err(failed(failure));
        }
    };
    let counted = limits::count_request(&web.app, caller.credential_id()).await;
    let counted = counted.map_err(|error| failed(error.into()))?;
    let _ = rate_limit.set(counted);
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
        surface: web.settings.mcp_surface.unwrap_or(&mcp::Household),
    };
    requests::charge_to(&caller);
    let turn = web.take_read_turn(caller.user).await.map_err(|error| failed(error.into()))?;
    let turn = Mutex::new(Some(turn));
    // While it waits for a decision, the person's other requests go on.
    let before_waiting = |seconds: u64| {
        turn.lock().unwrap_or_else(PoisonError::into_inner).take();
        requests::extend_deadline(Duration::from_secs(seconds));
    };
    // A client that has gone away takes no messages.
    let send = |message: Vec<u8>| drop(messages.send(message));
    let request = mcp::Request {
        body: &bytes,
        headers: Some(protocol_headers(&parts.headers)),
        session: parts.headers.get(SESSION).and_then(|it| it.to_str().ok()),
        stream: takes_streams(&parts.headers).then_some(&send),
        before_waiting: &before_waiting,
    };
    Ok(match mcp::handle(&web.app, &settings, &caller, request).await {
        Reply::Accepted => Answer::new(StatusCode::ACCEPTED, Vec::new()),
        Reply::Response { status, body, session } => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let mut answer = Answer::new(status, body);
            if let Some(session) = session {
                put(&mut answer.headers, HeaderName::from_static(SESSION), &session);
            }
            answer
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

/// Whether a client takes server-sent events as an answer.
fn takes_streams(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(header::ACCEPT).iter().filter_map(|it| it.to_str().ok());
    accepted.any(|it| it.to_ascii_lowercase().contains("text/event-stream"))
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
