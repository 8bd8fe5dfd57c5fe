//! Tests of MCP over HTTP: methods, headers, limits and streams.

use std::time::Duration;

use axum::body::Body;
use http::{Method, StatusCode};
use serde_json::json;
use service::actions;
use service::platform::limits::Policy;
use testkit::{World, new_key};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use web::McpMode;

use super::{VERSION, assistant, call_tool, list_tools, message, modern, refused, tool_names};
use crate::client::Client;

#[tokio::test]
async fn only_post_is_answered() {
    let world = World::new().await;
    let person = world.someone().await;
    let client = Client::of(&world, &person).await;
    for method in [Method::GET, Method::DELETE, Method::PUT] {
        let answer = client.send(method.clone(), "/mcp", Body::empty()).await;
        assert_eq!(
            (answer.status, answer.header("allow")),
            (StatusCode::METHOD_NOT_ALLOWED, "POST, OPTIONS")
        );
    }
    let listed = client.header("origin", "https://app.example");
    let options = listed.send(Method::OPTIONS, "/mcp", Body::empty()).await;
    assert_eq!(options.status, StatusCode::NO_CONTENT);
    assert_eq!(options.header("access-control-allow-origin"), "https://app.example");
}

#[tokio::test]
async fn requests_of_other_pages_and_hosts_are_refused() {
    let world = World::new().await;
    let person = world.someone().await;
    let client = assistant(&world, &person.key(new_key()).await.secret);
    let evil = client.header("origin", "https://evil.example");
    assert_eq!(
        refused(&list_tools(&evil).await),
        "403 -32000 pages of this origin may not connect; the operator can list it in cors.origins"
    );
    let rebound = client.header("host", "evil.example");
    assert_eq!(
        refused(&list_tools(&rebound).await),
        "403 -32000 the header Host names another host; connect to the address of this installation"
    );
    for (name, value) in
        [("origin", "http://evenkeel.test"), ("host", "evenkeel.test"), ("host", "127.0.0.1:4680")]
    {
        assert_eq!(list_tools(&client.header(name, value)).await.status, StatusCode::OK, "{value}");
    }
}

#[tokio::test]
async fn headers_and_versions_are_checked() {
    let world = World::new().await;
    let person = world.someone().await;
    let plain = Client::of(&world, &person).await.header("content-type", "application/json");
    let list = message("tools/list", json!({}));
    let send =
        async |client: &Client| refused(&client.send(Method::POST, "/mcp", list.clone()).await);
    assert_eq!(
        send(&plain).await,
        "400 -32020 Header mismatch: the header MCP-Protocol-Version is missing"
    );
    let versioned = plain.header("mcp-protocol-version", "2026-07-28");
    assert_eq!(
        send(&versioned).await,
        "400 -32020 Header mismatch: the header Mcp-Method is missing"
    );
    assert_eq!(
        send(&versioned.header("mcp-method", "tools/call")).await,
        "400 -32020 Header mismatch: Mcp-Method is 'tools/call' in the header and 'tools/list' in the body"
    );
    let old = plain.header("mcp-protocol-version", "1999-01-01");
    let body = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/list" }).to_string();
    let answer = old.send(Method::POST, "/mcp", body).await;
    assert_eq!(refused(&answer), "400 -32022 Unsupported protocol version");
    let data = &answer.json()["error"]["data"];
    assert_eq!(
        (&data["requested"], &data["supported"][0]),
        (&json!("1999-01-01"), &json!("2026-07-28"))
    );
    let unknown = versioned.header("mcp-method", "tools/destroy");
    let answer = unknown.send(Method::POST, "/mcp", message("tools/destroy", json!({}))).await;
    assert_eq!(refused(&answer), "404 -32601 Method not found: tools/destroy");
}

#[tokio::test]
async fn bodies_that_are_too_large_or_no_single_message_are_refused() {
    let world = World::new().await;
    let person = world.someone().await;
    let key = person.key(new_key()).await.secret;
    let client = assistant(&world, &key);
    let send = async |body: Vec<u8>| refused(&client.send(Method::POST, "/mcp", body).await);
    assert_eq!(send(vec![b' '; 10 << 20]).await, "413 -32600 the body must be at most 1 MiB");
    assert_eq!(
        send(format!("[{}]", message("tools/list", json!({}))).into_bytes()).await,
        "400 -32600 batches are not supported; send one message in each request"
    );
    assert_eq!(
        send(b"{".to_vec()).await.split(':').next(),
        Some("400 -32700 the body must be one JSON-RPC message")
    );
    let text = Client::with_token(&world, &key).header("content-type", "text/plain");
    assert_eq!(
        refused(&text.send(Method::POST, "/mcp", "{}").await),
        "415 -32600 the body must be sent as Content-Type: application/json"
    );
    let noted = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" }).to_string();
    let answer = client.send(Method::POST, "/mcp", noted).await;
    assert_eq!((answer.status, answer.bytes.len()), (StatusCode::ACCEPTED, 0));
}

#[tokio::test]
async fn requests_are_counted_with_those_of_the_api() {
    let world = World::with_policy(Policy { requests: 2, window_seconds: 60 }).await;
    let person = world.someone().await;
    let client = assistant(&world, &person.key(new_key()).await.secret);
    assert_eq!(client.get("/v1/me").await.status, StatusCode::OK);
    let answer = list_tools(&client).await;
    assert_eq!(answer.header("ratelimit"), "\"default\";r=0;t=60");
    assert!(answer.header("x-request-id").starts_with("req_"));
    let answer = list_tools(&client).await;
    assert_eq!(refused(&answer), "429 -32000 too many requests; try again in 60 seconds");
    assert_eq!(answer.header("retry-after"), "60");
}

#[tokio::test]
async fn the_operator_can_switch_it_off_or_take_no_proposals() {
    let world = World::new().await;
    let person = world.someone().await;
    let secret = person.key(new_key()).await.secret;
    let with = |mode: McpMode| {
        let client = Client::with_settings(world.app.clone(), |it| it.mcp = mode);
        modern(client.header("authorization", &format!("Bearer {secret}")))
    };
    let off = with(McpMode::Off);
    assert_eq!(
        refused(&list_tools(&off).await),
        "404 -32000 the operator of this installation has switched MCP off"
    );
    let metadata = "/.well-known/oauth-protected-resource/mcp";
    assert_eq!(off.get(metadata).await.status, StatusCode::NOT_FOUND);
    let reading = tool_names(&list_tools(&with(McpMode::ReadOnly)).await);
    assert!(!reading.iter().any(|it| it.starts_with("propose_")), "{reading:?}");
    assert_eq!(tool_names(&list_tools(&with(McpMode::On)).await).len(), reading.len() + 4);
}

#[tokio::test]
async fn a_tool_answers_over_http() {
    let world = World::new().await;
    let person = world.someone().await;
    let client = assistant(&world, &person.key(new_key()).await.secret);
    let answer = call_tool(&client, "list_accounts", json!({})).await;
    assert_eq!(answer.header("content-type"), "application/json");
    let body = answer.json();
    assert_eq!(body["result"]["structuredContent"], json!({ "accounts": [], "next_cursor": null }));
    assert_eq!(body["result"]["resultType"], "complete");
}

/// A client of the legacy era that declares URL elicitation, over HTTP.
#[tokio::test]
async fn a_message_before_the_response_makes_the_answer_a_stream() {
    let world = World::new().await;
    let person = world.someone().await;
    let client = Client::of(&world, &person).await.header("content-type", "application/json");
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": { "elicitation": { "url": {} } } });
    let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let answer = client.send(Method::POST, "/mcp", body.to_string()).await;
    let client = client.header("mcp-session-id", answer.header("mcp-session-id"));
    let params = json!({ "name": "propose_custom", "arguments": { "title": "Really?" } });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let both = client.header("accept", "application/json, text/event-stream");
    let answer = both.send(Method::POST, "/mcp", body.to_string()).await;
    assert_eq!(answer.header("content-type"), "text/event-stream");
    assert_eq!(answer.header("x-accel-buffering"), "no");
    let text = String::from_utf8(answer.bytes).unwrap();
    let events: Vec<serde_json::Value> = text
        .split("\n\n")
        .filter(|it| !it.is_empty())
        .map(|it| serde_json::from_str(it.strip_prefix("event: message\ndata: ").unwrap()).unwrap())
        .collect();
    let [request, response] = events.as_slice() else { panic!("{text}") };
    assert_eq!(request["method"], "elicitation/create");
    let proposed = &response["result"]["structuredContent"];
    assert_eq!(request["params"]["url"], proposed["approval_url"]);
    let answered =
        json!({ "jsonrpc": "2.0", "id": request["id"], "result": { "action": "accept" } });
    let answer = client.send(Method::POST, "/mcp", answered.to_string()).await;
    assert_eq!((answer.status, answer.bytes.len()), (StatusCode::ACCEPTED, 0));
    // A client that takes no streams gets the response alone.
    let answer = client.send(Method::POST, "/mcp", body.to_string()).await;
    assert_eq!(answer.header("content-type"), "application/json");
}

/// The client closes its connection while a call waits for a decision, over a real socket.
#[tokio::test]
async fn a_call_ends_when_the_client_closes_its_connection() {
    let world = World::new().await;
    let person = world.someone().await;
    let key = person.key(new_key()).await.secret;
    let client = assistant(&world, &key);
    let proposed = call_tool(&client, "propose_custom", json!({ "title": "Really?" })).await.json();
    let id = &proposed["result"]["structuredContent"]["action"]["action_id"];
    let params = json!({ "name": "get_action", "arguments": { "action_id": id, "wait": 30 } });
    let body = message("tools/call", params);
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nMcp-Protocol-Version: {VERSION}\r\nMcp-Method: tools/call\r\n\
         Mcp-Name: get_action\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stopped = std::future::pending::<()>();
    tokio::spawn(web::serve(listener, client.router(), web::ServerLimits::default(), stopped));
    let waits = async |count: usize| {
        let waiting = async {
            while actions::waiting_count(&world.app) != count {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), waiting).await.is_ok()
    };
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    assert!(waits(1).await, "the call must wait");
    drop(stream);
    assert!(waits(0).await, "the call must end before its 30 seconds");
}

/// Clients get a token after a 401 and then go on with the connection that they have.
#[tokio::test]
async fn a_connection_is_kept_after_a_401_if_the_body_came_after_the_head() {
    let world = World::new().await;
    let client = assistant(&world, "ek_unknown");
    let body = message("ping", json!({}));
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stopped = std::future::pending::<()>();
    tokio::spawn(web::serve(listener, client.router(), web::ServerLimits::default(), stopped));
    let mut stream = TcpStream::connect(address).await.unwrap();
    for _ in 0..2 {
        stream.write_all(head.as_bytes()).await.unwrap();
        let early = tokio::time::timeout(Duration::from_millis(100), stream.readable()).await;
        assert!(early.is_err(), "the answer must come after the body");
        stream.write_all(body.as_bytes()).await.unwrap();
        let mut answer = vec![0; 8_192];
        let count = stream.read(&mut answer).await.unwrap();
        let answer = String::from_utf8_lossy(&answer[..count]).into_owned();
        assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    }
}
