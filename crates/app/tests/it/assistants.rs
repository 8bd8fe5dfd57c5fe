//! `evenkeel mcp`: a desktop client over standard input and output, on the data folder and against a running server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::program::Installation;

const KEY: &str = "EVENKEEL_MCP__KEY";

/// A client that writes one message a line.
struct DesktopClient {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The last answer as it was written.
    line: String,
}

impl DesktopClient {
    fn start(mut command: Command) -> DesktopClient {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        DesktopClient { child, input, output, line: String::new() }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn read(&mut self) -> Value {
        self.line.clear();
        self.output.read_line(&mut self.line).unwrap();
        serde_json::from_str(&self.line).unwrap_or_else(|_| panic!("no message: {:?}", self.line))
    }

    fn request(&mut self, id: u32, method: &str, params: Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let answer = self.read();
        assert_eq!(answer["id"], json!(id), "{answer}");
        answer
    }

    /// Closes the client's side, and waits until the program ends by itself.
    fn close(self) {
        let DesktopClient { mut child, input, .. } = self;
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}

/// An installation with a person who has one account, and a key.
async fn installation() -> (Installation, String) {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let file = it.path("bank.csv");
    std::fs::write(&file, "Date,Description,Amount\n2026-03-04,CORNER CAFE,-7.20\n").unwrap();
    let args = ["import", file.to_str().unwrap(), "--kind", "checking"];
    it.run(&args).succeeded();
    let key = it.run(&["key", "create", "--name", "Desktop", "--json"]).json();
    (it, key["key"].as_str().unwrap().to_owned())
}

/// A conversation of the era with `initialize`, as desktop clients have it today.
fn converse(client: &mut DesktopClient) {
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "desktop", "version": "1" },
    });
    let welcome = client.request(1, "initialize", hello);
    assert_eq!(welcome["result"]["protocolVersion"], "2025-11-25", "{welcome}");
    // A notification is not answered: the next line is the answer to the next request.
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let tools = client.request(2, "tools/list", json!({}));
    let names: Vec<&str> = tools["result"]["tools"].as_array().unwrap().iter().map(name).collect();
    assert!(names.contains(&"search_transactions"), "{names:?}");
    let search = json!({ "name": "search_transactions", "arguments": { "q": "cafe" } });
    let found = client.request(3, "tools/call", search);
    let rows = &found["result"]["structuredContent"]["transactions"];
    assert_eq!(rows.as_array().map(Vec::len), Some(1), "{found}");
    // The amount digit for digit, which a parsed number would not show.
    assert!(client.line.contains(r#""amount":-7.20,"#), "{}", client.line);
    cancel_a_waiting_call(client);
    let unknown = client.request(9, "tools/destroy", json!({}));
    assert_eq!(unknown["error"]["code"], -32601);
}

fn name(tool: &Value) -> &str {
    tool["name"].as_str().unwrap()
}

/// A call that waits does not hold up the next one, and a cancelled one is not answered.
fn cancel_a_waiting_call(client: &mut DesktopClient) {
    let ask = json!({ "name": "propose_custom", "arguments": { "title": "Cancel the gym?" } });
    let proposed = client.request(4, "tools/call", ask);
    let id = &proposed["result"]["structuredContent"]["action"]["action_id"];
    assert!(id.is_string(), "{proposed}");
    let wait = json!({ "name": "get_action", "arguments": { "action_id": id, "wait": 30 } });
    client.send(&json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": wait }));
    assert!(client.request(6, "tools/list", json!({}))["result"].is_object());
    let cancelled = json!({ "requestId": 5 });
    let method = "notifications/cancelled";
    client.send(&json!({ "jsonrpc": "2.0", "method": method, "params": cancelled }));
    assert!(client.request(7, "tools/list", json!({}))["result"].is_object());
}

#[tokio::test]
async fn a_desktop_client_uses_the_data_folder_without_a_server() {
    let (it, key) = installation().await;
    let mut command = it.command(&["mcp"]);
    command.env(KEY, key);
    let mut client = DesktopClient::start(command);
    converse(&mut client);
    client.close();
}

#[tokio::test]
async fn a_desktop_client_uses_a_running_server() {
    let (it, key) = installation().await;
    let server = it.start(&["serve"]);
    let url = server.fact("web_url").to_owned();
    // Only the address and the key lead to the data.
    let elsewhere = Installation::new().await;
    let mut command = elsewhere.command(&["mcp", "--url", &url]);
    command.env(KEY, &key);
    let mut client = DesktopClient::start(command);
    converse(&mut client);
    client.close();
    let mut command = elsewhere.command(&["mcp", "--url", &url]);
    command.env(KEY, "ek_wrong");
    let mut client = DesktopClient::start(command);
    let refused = client.request(1, "tools/list", json!({}));
    assert!(refused["error"]["message"].is_string(), "{refused}");
    client.close();
    server.stop();
    let mut command = elsewhere.command(&["mcp", "--url", &url]);
    command.env(KEY, &key);
    let mut client = DesktopClient::start(command);
    let gone = client.request(1, "tools/list", json!({}));
    let sentence = gone["error"]["message"].as_str().unwrap();
    assert!(sentence.contains("gave no answer"), "{sentence}");
    client.close();
}

#[tokio::test]
async fn without_a_key_the_command_says_what_is_missing() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    assert!(it.run(&["mcp"]).failed().contains(KEY));
    let mut command = it.command(&["mcp"]);
    command.env(KEY, "ek_wrong");
    assert!(crate::program::outcome(&mut command).failed().contains(KEY));
}
