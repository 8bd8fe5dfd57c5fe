//! `evenkeel mcp`: the MCP server over standard input and output, for desktop clients. It works on the data directory, or
//! passes the messages on to a running server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp::{Reply, Request};
use net::{Guard, HttpClient, HttpRequest, Limits, Policy};
use serde_json::{Value, json};
use service::access::keys;
use service::platform::limits;
use service::{App, Error};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::{AbortHandle, JoinSet};

use super::key;
use crate::cli;
use crate::config::Config;
use crate::open::{self, IfMissing};

/// Longer than the longest wait of a tool.
const LIMITS: Limits =
    Limits { connect: Duration::from_secs(5), total: Duration::from_secs(45), body_max: 1 << 20 };

const SESSION: &str = "mcp-session-id";

const NO_KEY: &str = "set EVENKEEL_MCP__KEY to an API key; create one with `evenkeel key create` or under Settings, API keys";

pub(crate) async fn run(config: &Config, args: &cli::Mcp) -> Result<()> {
    let Some(api_key) = config.mcp_key.clone() else { bail!(NO_KEY) };
    let server = match args.url.as_deref() {
        Some(url) => Server::running(url, api_key)?,
        None => {
            let app = open::app(config, IfMissing::Fail).await?;
            keys::authenticate(&app, &api_key, None).await.context("EVENKEEL_MCP__KEY")?;
            let public_url = key::url(config);
            let read_only = config.mcp == web::McpMode::ReadOnly;
            let surface = &mcp::Household;
            let settings = mcp::Settings { public_url, read_only, surface };
            Server::Own { app, key: api_key, settings }
        }
    };
    let server = Connected { server, session: Mutex::default() };
    serve(Arc::new(server), tokio::io::stdin(), tokio::io::stdout()).await
}

/// The server, with the session that it gave to this client, if any.
struct Connected {
    server: Server,
    session: Mutex<Option<String>>,
}

/// The server that answers the client's messages.
enum Server {
    /// This process, on the data directory.
    Own { app: App, key: String, settings: mcp::Settings },
    /// A running server.
    Running { client: HttpClient, url: String, key: String },
}

impl Server {
    fn running(url: &str, key: String) -> Result<Server> {
        let plain = url.trim_end_matches('/').trim_end_matches("/mcp");
        let is_web = plain.starts_with("http://") || plain.starts_with("https://");
        ensure!(is_web, "--url must be the address of a server, such as http://127.0.0.1:4680");
        let policy = Policy { guard: Guard::Any, extra_ca: None };
        let client = HttpClient::new(policy).context("cannot prepare requests to --url")?;
        Ok(Server::Running { client, url: format!("{plain}/mcp"), key })
    }
}

/// The way back to the client, one message a line.
type Lines = UnboundedSender<Vec<u8>>;

/// The response to one message, and the session that a new client gets.
#[derive(Default)]
struct Answered {
    /// None for a notification.
    response: Option<Vec<u8>>,
    session: Option<String>,
}

impl Connected {
    /// Answers one message. Messages of the server that come before the response go out first.
    async fn answer(&self, message: &Message, lines: &Lines) -> Option<Vec<u8>> {
        let held = || self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let session = held().clone();
        let session = session.as_deref();
        let answered = match &self.server {
            Server::Own { app, key, settings } => {
                own(app, key, settings, message, session, lines).await
            }
            Server::Running { client, url, key } => {
                passed_on(client, url, key, message, session, lines).await
            }
        };
        match answered {
            Ok(Answered { response, session }) => {
                if session.is_some() {
                    *held() = session;
                }
                response
            }
            Err(why) => message.id.as_ref().map(|id| {
                let error = json!({ "code": -32000, "message": why });
                json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into_bytes()
            }),
        }
    }
}

async fn own(
    app: &App,
    key: &str,
    settings: &mcp::Settings,
    message: &Message,
    session: Option<&str>,
    lines: &Lines,
) -> Result<Answered, String> {
    let said = |error: Error| error.to_string();
    let caller = keys::authenticate(app, key, None).await.map_err(said)?;
    let counted = limits::count_request(app, caller.credential_id()).await.map_err(said)?;
    if !counted.accepted {
        let seconds = counted.reset_seconds.max(1);
        return Err(format!("too many requests; try again in {seconds} seconds"));
    }
    let send = |line: Vec<u8>| drop(lines.send(line));
    let request = Request {
        body: message.line.as_bytes(),
        headers: None,
        session,
        stream: Some(&send),
        before_waiting: &|_| {},
    };
    Ok(match mcp::handle(app, settings, &caller, request).await {
        Reply::Accepted => Answered::default(),
        Reply::Response { body, session, .. } => Answered { response: Some(body), session },
        Reply::MissingScopes { body, .. } => Answered { response: Some(body), session: None },
    })
}

async fn passed_on(
    client: &HttpClient,
    url: &str,
    key: &str,
    message: &Message,
    session: Option<&str>,
    lines: &Lines,
) -> Result<Answered, String> {
    let mut request = HttpRequest::post(url, message.line.clone())
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .pooled("mcp");
    let headers = [
        ("mcp-protocol-version", &message.version),
        ("mcp-method", &message.method),
        ("mcp-name", &message.name),
    ];
    for (name, value) in headers {
        if let Some(value) = value {
            request = request.header(name, header_value(value));
        }
    }
    if let Some(session) = session {
        request = request.header(SESSION, session);
    }
    let reply = client.send(request, LIMITS).await;
    let reply = reply.map_err(|failure| format!("{url} gave no answer: {failure}"))?;
    if !message.is_request() {
        return Ok(Answered::default());
    }
    let is_stream =
        reply.header("content-type").is_some_and(|it| it.starts_with("text/event-stream"));
    let mut messages = if is_stream { events(&reply.body) } else { vec![reply.body.to_vec()] };
    let last = messages.pop().unwrap_or_default();
    for message in messages {
        let _ = lines.send(message);
    }
    let Ok(mut response) = serde_json::from_slice::<Value>(&last) else {
        return Err(format!("{url} answered {} without a message", reply.status));
    };
    let session = reply.header(SESSION).map(str::to_owned);
    // An error that the server found before it read the message has no id. Others are passed on as they are.
    if response["id"].is_null() && response["error"].is_object() {
        response["id"] = message.id.clone().unwrap_or_default();
        return Ok(Answered { response: Some(response.to_string().into_bytes()), session });
    }
    Ok(Answered { response: Some(last), session })
}

/// The messages of a stream of server-sent events; the last one is the response.
fn events(body: &[u8]) -> Vec<Vec<u8>> {
    let data = body.split(|it| *it == b'\n').filter_map(|line| line.strip_prefix(b"data: "));
    data.map(<[u8]>::to_vec).collect()
}

/// A value for a header: plain, or encoded as the protocol says if a header cannot have it.
fn header_value(value: &str) -> String {
    let is_plain = value.bytes().all(|it| (0x20..0x7f).contains(&it)) && value.trim() == value;
    match is_plain && !value.starts_with("=?base64?") {
        true => value.to_owned(),
        false => format!("=?base64?{}?=", STANDARD.encode(value)),
    }
}

/// A line of the client, and the parts of it that HTTP repeats in headers.
struct Message {
    line: String,
    id: Option<Value>,
    method: Option<String>,
    name: Option<String>,
    version: Option<String>,
    /// The request that a client no longer wants.
    cancels: Option<Value>,
}

impl Message {
    /// Whether the message gets a response: notifications and answers of the client do not.
    fn is_request(&self) -> bool {
        self.id.is_some() && self.method.is_some()
    }

    fn new(line: String) -> Message {
        let value: Value = serde_json::from_str(&line).unwrap_or_default();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let (method, params) = (text(&value["method"]), &value["params"]);
        let name = match method.as_deref() {
            Some("tools/call" | "prompts/get") => text(&params["name"]),
            Some("resources/read") => text(&params["uri"]),
            _ => None,
        };
        let cancels = match method.as_deref() {
            Some("notifications/cancelled") => Some(params["requestId"].clone()),
            _ => None,
        };
        let version = text(&params["_meta"]["io.modelcontextprotocol/protocolVersion"]);
        let id = value.get("id").cloned();
        Message { id, name, version, cancels, method, line }
    }
}

/// Answers the messages of a client until it closes its side. Requests run at the same time.
async fn serve(
    server: Arc<Connected>,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<()> {
    let (sender, receiver) = mpsc::unbounded_channel();
    let writer = tokio::spawn(write_lines(receiver, output));
    let running: Arc<Mutex<HashMap<String, AbortHandle>>> = Arc::default();
    let mut requests = JoinSet::new();
    let mut lines = BufReader::new(input).lines();
    while let Some(line) = lines.next_line().await.context("cannot read standard input")? {
        if line.trim().is_empty() {
            continue;
        }
        let message = Message::new(line);
        let locked = || running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(id) = &message.cancels {
            if let Some(request) = locked().remove(&id.to_string()) {
                request.abort();
            }
            continue;
        }
        let id = message.id.as_ref().map(Value::to_string);
        let (server, sender) = (server.clone(), sender.clone());
        let is_request = message.is_request();
        let request = requests.spawn(async move {
            if let Some(response) = server.answer(&message, &sender).await {
                let _ = sender.send(response);
            }
        });
        if let Some(id) = id.filter(|_| is_request) {
            let mut running = locked();
            running.retain(|_, it| !it.is_finished());
            running.insert(id, request);
        }
    }
    while requests.join_next().await.is_some() {}
    drop(sender);
    writer.await.context("cannot write to standard output")
}

/// Writes one message a line. A client that no longer reads has ended.
async fn write_lines(
    mut lines: UnboundedReceiver<Vec<u8>>,
    mut output: impl AsyncWrite + Unpin + Send + 'static,
) {
    while let Some(mut line) = lines.recv().await {
        line.push(b'\n');
        let _ = output.write_all(&line).await;
        let _ = output.flush().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_the_parts_that_headers_repeat() {
        let line = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"é","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
        let message = Message::new(line.to_owned());
        assert_eq!(message.id, Some(json!("a")));
        assert_eq!(message.method.as_deref(), Some("tools/call"));
        assert_eq!(message.version.as_deref(), Some("2026-07-28"));
        assert_eq!(header_value(&message.name.unwrap()), "=?base64?w6k=?=");
        assert_eq!(header_value("get_overview"), "get_overview");
        let cancelled =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        assert_eq!(Message::new(cancelled.to_owned()).cancels, Some(json!(7)));
        assert!(Message::new("nonsense".to_owned()).id.is_none());
        let answer = Message::new(r#"{"jsonrpc":"2.0","id":"e","result":{}}"#.to_owned());
        assert!(!answer.is_request());
    }

    #[test]
    fn the_last_event_of_a_stream_is_the_response() {
        let body = b"event: message\ndata: {\"a\":1}\n\nevent: message\ndata: {\"b\":2}\n\n";
        assert_eq!(events(body), [b"{\"a\":1}", b"{\"b\":2}"]);
    }
}
