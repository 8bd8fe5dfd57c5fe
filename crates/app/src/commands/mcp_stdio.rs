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
use tokio::task::{AbortHandle, JoinSet};

use super::key;
use crate::cli;
use crate::config::Config;
use crate::open::{self, IfMissing};

/// Longer than the longest wait of a tool.
const LIMITS: Limits =
    Limits { connect: Duration::from_secs(5), total: Duration::from_secs(45), body_max: 1 << 20 };

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
            Server::Own { app, key: api_key, settings: mcp::Settings { public_url, read_only } }
        }
    };
    serve(Arc::new(server), tokio::io::stdin(), tokio::io::stdout()).await
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

    /// The response to one message; none for a notification.
    async fn answer(&self, message: &Message) -> Option<Vec<u8>> {
        let answered = match self {
            Server::Own { app, key, settings } => own(app, key, settings, message).await,
            Server::Running { client, url, key } => passed_on(client, url, key, message).await,
        };
        match answered {
            Ok(response) => response,
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
) -> Result<Option<Vec<u8>>, String> {
    let said = |error: Error| error.to_string();
    let caller = keys::authenticate(app, key, None).await.map_err(said)?;
    let counted = limits::count_request(app, caller.credential_id()).await.map_err(said)?;
    if !counted.accepted {
        let seconds = counted.reset_seconds.max(1);
        return Err(format!("too many requests; try again in {seconds} seconds"));
    }
    let request = Request { body: message.line.as_bytes(), headers: None, before_waiting: &|_| {} };
    Ok(match mcp::handle(app, settings, &caller, request).await {
        Reply::Accepted => None,
        Reply::Response { body, .. } | Reply::MissingScopes { body, .. } => Some(body),
    })
}

async fn passed_on(
    client: &HttpClient,
    url: &str,
    key: &str,
    message: &Message,
) -> Result<Option<Vec<u8>>, String> {
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
    let reply = client.send(request, LIMITS).await;
    let reply = reply.map_err(|failure| format!("{url} gave no answer: {failure}"))?;
    if message.id.is_none() {
        return Ok(None);
    }
    let Ok(mut response) = serde_json::from_slice::<Value>(&reply.body) else {
        return Err(format!("{url} answered {} without a message", reply.status));
    };
    // An error that the server found before it read the message has no id. Others are passed on as they are.
    if response["id"].is_null() && response["error"].is_object() {
        response["id"] = message.id.clone().unwrap_or_default();
        return Ok(Some(response.to_string().into_bytes()));
    }
    Ok(Some(reply.body.to_vec()))
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
    server: Arc<Server>,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<()> {
    let output = Arc::new(tokio::sync::Mutex::new(output));
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
        let (server, output) = (server.clone(), output.clone());
        let request = requests.spawn(async move {
            let Some(mut response) = server.answer(&message).await else { return };
            response.push(b'\n');
            let mut output = output.lock().await;
            // A client that no longer reads has ended.
            let _ = output.write_all(&response).await;
            let _ = output.flush().await;
        });
        if let Some(id) = id {
            let mut running = locked();
            running.retain(|_, it| !it.is_finished());
            running.insert(id, request);
        }
    }
    while requests.join_next().await.is_some() {}
    Ok(())
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
    }
}
