//! A simulated Alpaca market data server, after its documentation: it checks keys, paginates, and answers with Alpaca's
//! error bodies. Numbers are sent as a test wrote them.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex};

use http::{Request, Response};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use tokio::net::TcpListener;

pub struct Alpaca {
    url: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    snapshots: BTreeMap<String, String>,
    /// The name of the list, such as `cash_dividends`, and the action as JSON.
    actions: Vec<(&'static str, String)>,
    faults: VecDeque<Fault>,
    requests: Vec<String>,
}

/// A fault in the response to one request.
pub enum Fault {
    /// The rate limit is exceeded, for this many seconds.
    Limited(i64),
    /// A response with this status and body.
    Response(u16, String),
    /// The connection closes without a response.
    Cut,
}

impl Alpaca {
    pub const KEY_ID: &str = "PKTESTKEYOFTHETESTKIT";
    pub const SECRET: &str = "x8h2secretofthetestkit";

    pub async fn start() -> Alpaca {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        tokio::spawn(serve(listener, state.clone()));
        Alpaca { url, state }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Sets a snapshot as raw JSON.
    pub fn snapshot(&self, symbol: &str, json: &str) {
        self.state.lock().unwrap().snapshots.insert(symbol.to_owned(), json.to_owned());
    }

    /// An action with at least `symbol` and `process_date`, on a list such as `cash_dividends`.
    pub fn action(&self, list: &'static str, json: &str) {
        self.state.lock().unwrap().actions.push((list, json.to_owned()));
    }

    /// Adds a fault for the next request; several faults apply to the following requests in order.
    pub fn fail_next(&self, fault: Fault) {
        self.state.lock().unwrap().faults.push_back(fault);
    }

    /// Path and query of each request so far.
    pub fn requests(&self) -> Vec<String> {
        self.state.lock().unwrap().requests.clone()
    }
}

async fn serve(listener: TcpListener, state: Arc<Mutex<State>>) -> Infallible {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let state = state.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let answer = answer(&request, &mut state.lock().unwrap());
                std::future::ready(answer.ok_or_else(|| io::Error::other("cut")))
            });
            // A connection cut on purpose is an error here.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// The server's clock always shows 14:00:00 of one day.
const DATE: &str = "Mon, 16 Nov 2026 14:00:00 GMT";
const SECONDS: i64 = 1_794_837_600;

fn answer(request: &Request<Incoming>, state: &mut State) -> Option<Response<Full<Bytes>>> {
    let asked = request.uri().path_and_query().unwrap().as_str().to_owned();
    state.requests.push(asked);
    let mut opens_in = 60;
    let (status, body) = match state.faults.pop_front() {
        Some(Fault::Cut) => return None,
        Some(Fault::Response(status, body)) => (status, body),
        Some(Fault::Limited(seconds)) => {
            opens_in = seconds;
            (429, message("too many requests."))
        }
        None => respond(request, state).unwrap_or_else(|(status, text)| (status, message(&text))),
    };
    let remaining = if status == 429 { "0" } else { "199" };
    let response = Response::builder()
        .status(status)
        .header("content-type", "application/json; charset=UTF-8")
        .header("date", DATE)
        .header("x-ratelimit-limit", "200")
        .header("x-ratelimit-remaining", remaining)
        .header("x-ratelimit-reset", (SECONDS + opens_in).to_string());
    Some(response.body(Full::new(body.into())).unwrap())
}

fn message(text: &str) -> String {
    serde_json::json!({ "message": text }).to_string()
}

type Outcome = Result<(u16, String), (u16, String)>;

fn respond(request: &Request<Incoming>, state: &State) -> Outcome {
    let header = |name: &str| request.headers().get(name).and_then(|it| it.to_str().ok());
    match (header("apca-api-key-id"), header("apca-api-secret-key")) {
        (Some(Alpaca::KEY_ID), Some(Alpaca::SECRET)) => {}
        (Some(_), Some(_)) => return Err((403, "forbidden.".to_owned())),
        _ => return Err((401, "unauthorized.".to_owned())),
    }
    let query = Query(request.uri().query().unwrap_or_default());
    match (request.method().as_str(), request.uri().path()) {
        ("GET", "/v2/stocks/snapshots") => snapshots(&query, state),
        ("GET", "/v1/corporate-actions") => actions(&query, state),
        _ => Err((404, "endpoint not found.".to_owned())),
    }
}

struct Query<'a>(&'a str);

impl Query<'_> {
    fn get(&self, name: &str) -> Option<String> {
        let pairs = self.0.split('&').filter_map(|it| it.split_once('='));
        pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| decode(value))
    }

    /// Symbols consist of letters and points; others are malformed.
    fn symbols(&self) -> Result<Vec<String>, (u16, String)> {
        let text = self.get("symbols").filter(|it| !it.is_empty());
        let text = text.ok_or((400, "symbols parameter is required".to_owned()))?;
        let symbols: Vec<String> = text.split(',').map(str::to_owned).collect();
        let plain = |it: &String| it.bytes().all(|it| it.is_ascii_uppercase() || it == b'.');
        match symbols.iter().find(|it| !plain(it) || it.is_empty()) {
            Some(wrong) => Err((400, format!("invalid symbol: {wrong}"))),
            None => Ok(symbols),
        }
    }
}

fn decode(text: &str) -> String {
    let text = text.replace('+', " ");
    percent_decode_str(&text).decode_utf8().unwrap().into_owned()
}

/// The response has no wrapper, and unknown symbols are left out.
fn snapshots(query: &Query, state: &State) -> Outcome {
    let symbols = query.symbols()?;
    if query.get("feed").as_deref() == Some("sip") {
        let text = "subscription does not permit querying recent SIP data";
        return Err((403, text.to_owned()));
    }
    let known = symbols.iter().filter_map(|it| Some((it, state.snapshots.get(it)?)));
    let fields: Vec<String> = known.map(|(symbol, json)| format!("\"{symbol}\":{json}")).collect();
    Ok((200, format!("{{{}}}", fields.join(","))))
}

/// One page of corporate actions, sorted by process date.
fn actions(query: &Query, state: &State) -> Outcome {
    let symbols = query.symbols()?;
    let types = query.get("types").unwrap_or_default();
    let day = |name: &str| query.get(name).unwrap_or_else(|| "2026-11-16".to_owned());
    let (start, end) = (day("start"), day("end"));
    let limit: usize = query.get("limit").map_or(100, |it| it.parse().unwrap());
    if !(1..=1000).contains(&limit) {
        return Err((400, "invalid limit".to_owned()));
    }
    let mut found: Vec<(String, &str, &str)> = Vec::new();
    for (list, json) in &state.actions {
        let action: Value = serde_json::from_str(json).unwrap();
        let handled = action["process_date"].as_str().unwrap().to_owned();
        let asked = symbols.iter().any(|it| action["symbol"] == it.as_str())
            && types.split(',').any(|it| format!("{it}s") == *list);
        if asked && (&start..=&end).contains(&&handled) {
            found.push((handled, list, json));
        }
    }
    found.sort();
    // Like Alpaca's, the token contains characters that must be percent-encoded in a query.
    let skip = match query.get("page_token") {
        None => 0,
        Some(token) => match token.strip_suffix("+/==").and_then(|it| it.parse().ok()) {
            Some(skip) => skip,
            None => return Err((400, "invalid page_token".to_owned())),
        },
    };
    let next = match found.len() > skip + limit {
        true => format!("\"{}+/==\"", skip + limit),
        false => "null".to_owned(),
    };
    let mut lists: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (_, list, json) in found.into_iter().skip(skip).take(limit) {
        lists.entry(list).or_default().push(json);
    }
    let lists: Vec<String> =
        lists.iter().map(|(list, all)| format!("\"{list}\":[{}]", all.join(","))).collect();
    let lists = lists.join(",");
    Ok((200, format!("{{\"corporate_actions\":{{{lists}}},\"next_page_token\":{next}}}")))
}
