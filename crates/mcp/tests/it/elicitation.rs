//! URL elicitation: clients that declare it are asked to open the page of a proposal, and nobody else.

use std::sync::Mutex;

use mcp::{Headers, MODERN_VERSION, Reply, Request};
use serde_json::{Value, json};
use service::actions::{self, SeenProposal};

use crate::assistant::{Assistant, PUBLIC_URL};

/// The response of a call, the messages before it, and the session that a new client gets.
struct Heard {
    response: Value,
    before: Vec<Value>,
    session: Option<String>,
}

async fn send(assistant: &Assistant, body: Value, session: Option<&str>) -> Heard {
    let params = &body["params"];
    let is_modern = params["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string();
    let headers = Headers {
        protocol_version: is_modern.then_some(MODERN_VERSION),
        method: body["method"].as_str(),
        name: params["name"].as_str(),
    };
    let text = body.to_string();
    let before = Mutex::new(Vec::new());
    let stream = |message: Vec<u8>| {
        before.lock().unwrap().push(serde_json::from_slice::<Value>(&message).unwrap());
    };
    let request = Request {
        body: text.as_bytes(),
        headers: Some(headers),
        session,
        stream: Some(&stream),
        before_waiting: &|_| {},
    };
    let (app, caller) = (&assistant.world.app, &assistant.caller);
    let reply = mcp::handle(app, &assistant.settings, caller, request).await;
    let Reply::Response { body, session, .. } = reply else { panic!("{reply:?}") };
    let response = serde_json::from_slice(&body).unwrap();
    Heard { response, before: before.into_inner().unwrap(), session }
}

/// A proposal of a client of the modern era with these capabilities.
fn proposal(capabilities: &Value, title: &str, more: &Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    let mut params =
        json!({ "name": "propose_custom", "arguments": { "title": title }, "_meta": meta });
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
}

async fn pending(assistant: &Assistant) -> Vec<Value> {
    let listed = assistant.call("list_actions", json!({ "status": "pending_approval" })).await;
    listed["actions"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_client_of_the_modern_era_opens_the_page_and_repeats_the_call() {
    let assistant = Assistant::new().await;
    let urls = json!({ "elicitation": { "url": {} } });
    let asked = send(&assistant, proposal(&urls, "Really?", &json!({})), None).await;
    let result = &asked.response["result"];
    assert_eq!(result["resultType"], "input_required");
    let request = &result["inputRequests"]["approval"];
    assert_eq!(request["method"], "elicitation/create");
    assert_eq!(request["params"]["mode"], "url");
    let url = request["params"]["url"].as_str().unwrap();
    assert!(url.starts_with(&format!("{PUBLIC_URL}/approvals/")), "{url}");
    assert!(asked.before.is_empty(), "this era has no requests before the response");

    let state = &result["requestState"];
    let answer = |action: &str| {
        let responses = json!({ "approval": { "action": action } });
        json!({ "inputResponses": responses, "requestState": state })
    };
    let declined = send(&assistant, proposal(&urls, "Really?", &answer("decline")), None).await;
    let declined = &declined.response["result"];
    assert_eq!(declined["resultType"], "complete");
    assert_eq!(declined["structuredContent"]["action"]["status"], "pending_approval");
    assert_eq!(declined["structuredContent"]["approval_url"], url);
    assert_eq!(pending(&assistant).await.len(), 1, "a repeated call makes no second proposal");

    let (app, session) = (&assistant.world.app, assistant.person.session().await);
    let id = declined["structuredContent"]["action"]["action_id"].as_str().unwrap();
    let id = base::ActionId::parse(id).unwrap();
    let seen = actions::get(app, &session, id).await.unwrap().computed_digest();
    let seen = SeenProposal { digest: seen, price: None };
    actions::approve(app, &session, id, seen, None).await.unwrap();
    let accepted = send(&assistant, proposal(&urls, "Really?", &answer("accept")), None).await;
    let action = &accepted.response["result"]["structuredContent"]["action"];
    assert_ne!(action["status"], "pending_approval", "{action}");
}

#[tokio::test]
async fn a_state_is_good_for_its_own_call_only() {
    let assistant = Assistant::new().await;
    let urls = json!({ "elicitation": { "url": {} } });
    let asked = send(&assistant, proposal(&urls, "Really?", &json!({})), None).await;
    let state = asked.response["result"]["requestState"].as_str().unwrap().to_owned();
    let refused = async |title: &str, state: &str| {
        let again = proposal(&urls, title, &json!({ "requestState": state }));
        send(&assistant, again, None).await.response["error"].clone()
    };
    let message =
        "requestState is invalid or expired, or belongs to another request; call again without it";
    let expected = json!({ "code": -32602, "message": message });
    assert_eq!(refused("Really?", &format!("{state}x")).await, expected);
    assert_eq!(refused("Something else?", &state).await, expected);
    assistant.world.advance_seconds(25 * 3_600);
    assert_eq!(refused("Really?", &state).await, expected);
    let wrong = proposal(&urls, "Really?", &json!({ "requestState": 5 }));
    let error = send(&assistant, wrong, None).await.response["error"].clone();
    assert_eq!(error["message"], "inputResponses must be an object, and requestState a text");
}

#[tokio::test]
async fn other_clients_of_the_modern_era_are_asked_for_nothing() {
    let assistant = Assistant::new().await;
    for capabilities in
        [json!({}), json!({ "elicitation": {} }), json!({ "elicitation": { "form": {} } })]
    {
        let heard = send(&assistant, proposal(&capabilities, "Really?", &json!({})), None).await;
        assert_eq!(heard.response["result"]["resultType"], "complete", "{capabilities}");
        assert!(heard.before.is_empty(), "{capabilities}");
    }
}

#[tokio::test]
async fn a_client_of_the_legacy_era_is_asked_before_the_response() {
    let assistant = Assistant::new().await;
    let begin = async |capabilities: Value| {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        send(&assistant, body, None).await.session
    };
    let call = |title: &str| {
        let params = json!({ "name": "propose_custom", "arguments": { "title": title } });
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
    };
    for capabilities in [json!({}), json!({ "elicitation": {}, "sampling": {} })] {
        assert_eq!(begin(capabilities).await, None, "a client without pages needs no session");
    }
    let session = begin(json!({ "elicitation": { "url": {} } })).await.unwrap();
    let heard = send(&assistant, call("One?"), Some(&session)).await;
    let [request] = heard.before.as_slice() else { panic!("{:?}", heard.before) };
    let answer = &heard.response["result"]["structuredContent"];
    assert_eq!(answer["action"]["status"], "pending_approval");
    assert_eq!(request["method"], "elicitation/create");
    assert_eq!(request["params"]["mode"], "url");
    assert_eq!(request["params"]["url"], answer["approval_url"]);
    assert_eq!(request["params"]["elicitationId"], request["id"]);
    let reading = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "list_goals" } });
    assert!(send(&assistant, reading, Some(&session)).await.before.is_empty());
    // Somebody else's session, or one that was made up, is none.
    for session in [None, Some("made-up")] {
        assert!(send(&assistant, call("Two?"), session).await.before.is_empty());
    }
    let stranger = assistant.world.person("stranger@example.com").await;
    let mut theirs = Assistant { person: stranger, ..assistant };
    theirs.caller = theirs.person.key(testkit::new_key()).await.caller;
    assert!(send(&theirs, call("Three?"), Some(&session)).await.before.is_empty());
}

#[tokio::test]
async fn a_waiting_call_reports_its_progress_to_clients_that_want_it() {
    let assistant = Assistant::new().await;
    let proposed = assistant.call("propose_custom", json!({ "title": "Really?" })).await;
    let id = proposed["action"]["action_id"].clone();
    // A paused clock jumps ahead while a server answers, so that every limit is exceeded. Progress needs no database.
    if assistant.world.database.url().is_some() {
        return;
    }
    tokio::time::pause();
    for (meta, reports) in [(json!({}), 0), (json!({ "progressToken": "p" }), 2)] {
        let arguments = json!({ "action_id": id, "wait": 12 });
        let params = json!({ "name": "get_action", "arguments": arguments, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params });
        let heard = send(&assistant, body, None).await;
        assert_eq!(heard.before.len(), reports, "{:?}", heard.before);
        for (report, waited) in heard.before.iter().zip([5, 10]) {
            assert_eq!(report["method"], "notifications/progress");
            let message = "Waiting for the person to decide";
            assert_eq!(
                report["params"],
                json!({ "progressToken": "p", "progress": waited, "total": 12, "message": message })
            );
        }
    }
}
