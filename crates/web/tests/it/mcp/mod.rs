//! The MCP server over HTTP: the transport's rules, authorization and limits. The tools are tested in the crate `mcp`.

mod authorization;
mod transport;

use http::{Method, StatusCode};
use serde_json::{Value, json};
use testkit::World;

use crate::client::{Answer, Client};

const VERSION: &str = "2026-07-28";

/// A client that speaks the modern era with a token.
fn assistant(world: &World, token: &str) -> Client {
    modern(Client::with_token(world, token))
}

fn modern(client: Client) -> Client {
    client.header("content-type", "application/json").header("mcp-protocol-version", VERSION)
}

fn message(method: &str, params: Value) -> String {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

async fn list_tools(client: &Client) -> Answer {
    let client = client.header("mcp-method", "tools/list");
    client.send(Method::POST, "/mcp", message("tools/list", json!({}))).await
}

async fn call_tool(client: &Client, name: &str, arguments: Value) -> Answer {
    let client = client.header("mcp-method", "tools/call").header("mcp-name", name);
    let params = json!({ "name": name, "arguments": arguments });
    client.send(Method::POST, "/mcp", message("tools/call", params)).await
}

/// An error as one line: the HTTP status, the code and the sentence.
fn refused(answer: &Answer) -> String {
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("cache-control"), "private, no-store");
    let body = answer.json();
    let error = &body["error"];
    format!("{} {} {}", answer.status.as_u16(), error["code"], error["message"].as_str().unwrap())
}

fn tool_names(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.status, StatusCode::OK, "{}", String::from_utf8_lossy(&answer.bytes));
    let body = answer.json();
    let tools = body["result"]["tools"].as_array().unwrap();
    tools.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}
