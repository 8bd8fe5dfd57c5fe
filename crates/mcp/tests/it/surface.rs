//! The protocol as a client sees it: lists, discovery, resources, prompts, and answers that fit their schemas.

use mcp::{Headers, Reply, Request};
use serde_json::{Value, json};

use crate::assistant::Assistant;

fn names(result: &Value, list: &str) -> Vec<String> {
    let items = result[list].as_array().unwrap();
    items.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn tools_are_listed_by_the_scopes_of_the_token() {
    let assistant = Assistant::new().await;
    let list = async |words: &str| {
        let caller = assistant.with_scopes(words).await;
        let Reply::Response { body, .. } = assistant.send(&caller, "tools/list", json!({})).await
        else {
            panic!("no list")
        };
        let response: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(response["result"]["cacheScope"], "private");
        names(&response["result"], "tools")
    };
    assert_eq!(list("accounts:read").await, ["list_accounts", "get_balance_history"]);
    assert_eq!(
        list("actions:write accounts:read").await,
        [
            "list_accounts",
            "get_balance_history",
            "get_action",
            "propose_transfer",
            "propose_custom"
        ]
    );
    let all = names(&assistant.result("tools/list", json!({})).await, "tools");
    assert_eq!(
        (all.len(), all[0].as_str(), all[3].as_str()),
        (18, "get_overview", "search_transactions")
    );
}

#[tokio::test]
async fn without_proposals_no_tool_proposes() {
    let mut assistant = Assistant::new().await;
    assistant.settings.read_only = true;
    let all = names(&assistant.result("tools/list", json!({})).await, "tools");
    assert_eq!(all.len(), 14);
    let call = json!({ "name": "propose_custom", "arguments": { "title": "Really?" } });
    assert_eq!(
        assistant.error("tools/call", call).await,
        "-32602 Unknown tool: propose_custom; this installation takes no proposals from assistants"
    );
}

#[tokio::test]
async fn every_reading_tool_answers_with_what_its_schema_says() {
    let assistant = Assistant::new().await;
    let account = assistant.person.account("Everyday").await.to_string();
    let listed = assistant.result("tools/list", json!({})).await;
    for tool in listed["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let arguments = match name {
            "get_balance_history" => json!({ "account_id": account }),
            // Too little data for scores; the sentence says what is missing.
            "get_scores" => {
                let said = assistant.refusal(name, json!({})).await;
                assert!(!said.is_empty());
                continue;
            }
            _ if name.starts_with("propose_") || name == "get_action" => continue,
            _ => json!({}),
        };
        let answer = assistant.call(name, arguments).await;
        let declared = tool["outputSchema"]["properties"].as_object().unwrap();
        for (member, value) in answer.as_object().unwrap() {
            let kind = &declared.get(member).unwrap_or_else(|| panic!("{name}: {member}"))["type"];
            let is = match value {
                Value::Null => "null",
                Value::Bool(_) => "boolean",
                Value::Number(_) => "number",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            };
            let fits = kind == is || kind.as_array().is_some_and(|it| it.contains(&json!(is)));
            assert!(fits, "{name}: {member} is {is} and not {kind}");
        }
    }
}

#[tokio::test]
async fn the_server_is_discovered_and_lists_can_be_cached() {
    let assistant = Assistant::new().await;
    let found = assistant.result("server/discover", json!({})).await;
    assert_eq!(found["supportedVersions"][0], "2026-07-28");
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "evenkeel");
    assert_eq!((&found["resultType"], &found["ttlMs"]), (&json!("complete"), &json!(300_000)));
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        let list = assistant.result(method, json!({})).await;
        assert_eq!((&list["resultType"], &list["ttlMs"]), (&json!("complete"), &json!(300_000)));
    }
    assert_eq!(assistant.error("ping", json!({})).await, "-32601 Method not found: ping");
    assert_eq!(
        assistant.error("initialize", json!({})).await,
        "-32601 Method not found: initialize"
    );
}

#[tokio::test]
async fn a_client_of_the_legacy_era_initializes_and_calls() {
    let assistant = Assistant::new().await;
    let send = async |body: Value| {
        let body = body.to_string();
        let request = Request {
            body: body.as_bytes(),
            headers: Some(Headers::default()),
            session: None,
            stream: None,
            before_waiting: &|_| {},
        };
        mcp::handle(&assistant.world.app, &assistant.settings, &assistant.caller, request).await
    };
    let json_of = |reply: Reply| match reply {
        Reply::Response { status: 200, body, session: None } => {
            serde_json::from_slice::<Value>(&body).unwrap()
        }
        other => panic!("{other:?}"),
    };
    for (asked, answered) in [("2025-06-18", "2025-06-18"), ("2099-01-01", "2025-11-25")] {
        let params = json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": {} });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let response = json_of(send(body).await);
        assert_eq!(response["result"]["protocolVersion"], answered);
        assert!(response["result"]["instructions"].as_str().unwrap().len() < 600);
    }
    let noted = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(send(noted).await, Reply::Accepted);
    let ping = json_of(send(json!({ "jsonrpc": "2.0", "id": "x", "method": "ping" })).await);
    assert_eq!(ping, json!({ "jsonrpc": "2.0", "id": "x", "result": {} }));
    let params = json!({ "name": "list_accounts" });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let response = json_of(send(call).await);
    assert_eq!(response["result"]["structuredContent"]["accounts"].as_array().unwrap().len(), 4);
    assert!(response["result"]["resultType"].is_null());
    let unknown =
        json_of(send(json!({ "jsonrpc": "2.0", "id": 1, "method": "logging/setLevel" })).await);
    assert_eq!(unknown["error"]["code"], -32601);
}

#[tokio::test]
async fn resources_are_the_records_of_the_api() {
    let assistant = Assistant::new().await;
    let listed = assistant.result("resources/list", json!({})).await;
    let uri = listed["resources"][0]["uri"].clone();
    let read = assistant.result("resources/read", json!({ "uri": uri })).await;
    let accounts: Value =
        serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(accounts["accounts"].as_array().unwrap().len(), 4);
    assert_eq!((&read["ttlMs"], &read["cacheScope"]), (&json!(0), &json!("private")));
    let found = assistant.call("search_transactions", json!({ "q": "cafe" })).await;
    let id = found["transactions"][0]["id"].as_str().unwrap();
    let uri = format!("evenkeel://transactions/{id}");
    let read = assistant.result("resources/read", json!({ "uri": uri })).await;
    let text = read["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("\"amount\":-7.20,") && text.contains("CORNER CAFE 12"), "{text}");
    for uri in ["evenkeel://accounts/", "evenkeel://transactions/txn_1", "file:///etc/passwd"] {
        let error = assistant.error("resources/read", json!({ "uri": uri })).await;
        assert_eq!(error, format!("-32602 Resource not found: {uri}"));
    }
}

#[tokio::test]
async fn prompts_are_listed_and_filled() {
    let assistant = Assistant::new().await;
    let listed = assistant.result("prompts/list", json!({})).await;
    assert_eq!(
        names(&listed, "prompts"),
        ["monthly_review", "subscription_audit", "explain_score"]
    );
    let arguments = json!({ "name": "explain_score", "arguments": { "score": "recovery" } });
    let prompt = assistant.result("prompts/get", arguments).await;
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.starts_with("Explain my recovery score"));
    for (prompt, typed, expected) in
        [("explain_score", "re", json!(["recovery"])), ("other", "", json!([]))]
    {
        let reference = json!({ "type": "ref/prompt", "name": prompt });
        let argument = json!({ "name": "score", "value": typed });
        let params = json!({ "ref": reference, "argument": argument });
        let completed = assistant.result("completion/complete", params).await;
        assert_eq!(completed["completion"], json!({ "values": expected, "hasMore": false }));
    }
    let error = assistant.error("prompts/get", json!({ "name": "other" })).await;
    assert!(error.starts_with("-32602 Unknown prompt: other; there are monthly_review"), "{error}");
}
