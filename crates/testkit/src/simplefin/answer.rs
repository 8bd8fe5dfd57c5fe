//! Answers requests: checks credentials and the daily limit, and applies the faults of a test.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;

use super::render::{AccountsQuery, Render};
use super::{Fault, ReceivedRequest, SimpleFin, State};
use crate::tls_server::{self, Answer};

/// Requests per day: the Bridge recommends at most 24, warns at 48 and blocks at 96.
const WARNS_AT: u32 = 48;
const BLOCKS_AT: u32 = 96;
const WARNING: &str = "You have made too many requests today. Data is only refreshed once every 24 \
                       hours; please make fewer requests.";

type Outcome = (u16, &'static str, String);

pub(super) async fn answer(server: &SimpleFin, request: Request<Incoming>) -> Answer {
    let header =
        |name: &str| request.headers().get(name).and_then(|it| it.to_str().ok()).map(str::to_owned);
    let received = ReceivedRequest {
        method: request.method().to_string(),
        path: request.uri().path_and_query().unwrap().to_string(),
        authorization: header("authorization"),
        content_length: header("content-length"),
    };
    let is_for_accounts = request.uri().path() == "/simplefin/accounts";
    let fault = {
        let mut state = server.state();
        state.requests.push(received.clone());
        if is_for_accounts { state.faults.pop_front() } else { None }
    };
    let (status, header, body) = match fault {
        Some(Fault::Cut) => return tls_server::cut(),
        Some(Fault::Response(status, body)) => (status, None, body),
        Some(Fault::Redirect(status, location)) => {
            (status, Some(("location", location)), String::new())
        }
        Some(Fault::Huge(bytes)) => (200, None, " ".repeat(bytes)),
        Some(Fault::Slow(pause)) => {
            tokio::time::sleep(pause).await;
            let (status, kind, body) = respond(server, &received);
            (status, Some(("content-type", kind.to_owned())), body)
        }
        Some(Fault::Held(release)) => {
            release.notified().await;
            let (status, kind, body) = respond(server, &received);
            (status, Some(("content-type", kind.to_owned())), body)
        }
        None => {
            let (status, kind, body) = respond(server, &received);
            (status, Some(("content-type", kind.to_owned())), body)
        }
    };
    let mut response = Response::builder().status(status);
    if let Some((name, value)) = header {
        response = response.header(name, value);
    }
    Ok(response.body(Full::new(Bytes::from(body))).unwrap())
}

fn respond(server: &SimpleFin, received: &ReceivedRequest) -> Outcome {
    let (path, query) = received.path.split_once('?').unwrap_or((&received.path, ""));
    let path = path.strip_prefix("/simplefin").unwrap_or(path);
    match (received.method.as_str(), path) {
        ("GET", "/info") if server.state().behavior.only_version_one => {
            (200, JSON, "{\"versions\":[\"1.0\"]}".to_owned())
        }
        ("GET", "/info") => (200, JSON, "{\"versions\":[\"1\",\"2\"]}".to_owned()),
        ("POST", path) if path.starts_with("/claim/") => claim(server, &path["/claim/".len()..]),
        ("GET", "/accounts") => accounts(server, received.authorization.as_deref(), query),
        _ => (404, TEXT, "Not found".to_owned()),
    }
}

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

fn claim(server: &SimpleFin, code: &str) -> Outcome {
    let mut state = server.state();
    if let Some(body) = &state.behavior.claim_body {
        return (200, TEXT, body.clone());
    }
    match state.tokens.get_mut(code) {
        Some(is_claimed @ false) => *is_claimed = true,
        _ => return (403, TEXT, "Forbidden (was it already claimed?)".to_owned()),
    }
    let key = state.new_key();
    drop(state);
    (200, TEXT, format!("{}\n", server.access_url_of(&key)))
}

fn accounts(server: &SimpleFin, authorization: Option<&str>, query: &str) -> Outcome {
    let today = server.clock.now().as_second().div_euclid(86_400);
    let mut state = server.state();
    let is_known = authorization.and_then(credentials).is_some_and(|it| state.keys.contains(&it));
    if !is_known {
        return (403, TEXT, "Forbidden".to_owned());
    }
    if state.behavior.is_unpaid {
        return (402, TEXT, "Payment required".to_owned());
    }
    let count = state.count(today);
    if count >= BLOCKS_AT {
        return (403, TEXT, WARNING.to_owned());
    }
    let warning = (count >= WARNS_AT).then_some(WARNING);
    (200, JSON, Render { state: &state, query: AccountsQuery::parse(query), warning }.answer())
}

fn credentials(authorization: &str) -> Option<(String, String)> {
    let decoded = STANDARD.decode(authorization.strip_prefix("Basic ")?).ok()?;
    let decoded = String::from_utf8(decoded).ok()?;
    decoded.split_once(':').map(|(user, password)| (user.to_owned(), password.to_owned()))
}

impl State {
    /// The number of this request on its day.
    fn count(&mut self, today: i64) -> u32 {
        if self.counted.0 != today {
            self.counted = (today, 0);
        }
        self.counted.1 += 1;
        self.counted.1
    }
}
