//! Requests of the server to a client of the legacy era. The call waits for the answer, which comes in another request. This
//! server is one process, so it can keep who waits in memory; the product never waits for such an answer.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use mcp::Context;
use serde_json::{Value, json};
use tokio::sync::oneshot;

const WAIT_MAX: Duration = Duration::from_secs(10);

type Waiting = HashMap<String, oneshot::Sender<Option<String>>>;
static WAITING: LazyLock<Mutex<Waiting>> = LazyLock::new(Mutex::default);
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Hands an answer to the call that waits for it.
pub(crate) fn take_answer(id: &str, result: Option<&str>) {
    let waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    if let Some(waiting) = waiting {
        let _ = waiting.send(result.map(str::to_owned));
    }
}

/// Sends the request of a tool and returns the answer as text.
pub(crate) async fn ask(
    context: &Context<'_>,
    tool: &str,
    arguments: &Value,
) -> Result<String, &'static str> {
    let is_sampling = tool == "test_sampling";
    let is_able = if is_sampling { context.client.sampling } else { context.client.forms };
    if !is_able || !context.can_send() {
        return Err("The client cannot be asked.");
    }
    let (method, params) = match tool {
        "test_sampling" => {
            let content = json!({ "type": "text", "text": arguments["prompt"] });
            let messages = json!([{ "role": "user", "content": content }]);
            ("sampling/createMessage", json!({ "messages": messages, "maxTokens": 100 }))
        }
        "test_elicitation" => {
            let properties = json!({ "response": { "type": "string" } });
            ("elicitation/create", form(&arguments["message"], &properties, &json!(["response"])))
        }
        "test_elicitation_sep1034_defaults" => {
            ("elicitation/create", form(&json!("Check these."), &defaults(), &json!([])))
        }
        _ => ("elicitation/create", form(&json!("Choose."), &choices(), &json!([]))),
    };
    let id = json!(format!("ask-{}", COUNT.fetch_add(1, Ordering::Relaxed)));
    let (sender, answer) = oneshot::channel();
    WAITING.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_string(), sender);
    context.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    match tokio::time::timeout(WAIT_MAX, answer).await {
        Ok(Ok(Some(answer))) => Ok(answer),
        Ok(_) => Err("The client refused."),
        Err(_) => Err("The client did not answer."),
    }
}

pub(crate) fn form(message: &Value, properties: &Value, required: &Value) -> Value {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    json!({ "message": message, "requestedSchema": schema })
}

fn defaults() -> Value {
    let states = json!(["active", "inactive", "pending"]);
    json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": states, "default": "active" },
        "verified": { "type": "boolean", "default": true },
    })
}

fn choices() -> Value {
    let plain = json!(["option1", "option2", "option3"]);
    let titled: Vec<Value> = [("value1", "First"), ("value2", "Second"), ("value3", "Third")]
        .iter()
        .map(|(value, title)| json!({ "const": value, "title": title }))
        .collect();
    let (old, names) = (json!(["opt1", "opt2", "opt3"]), json!(["One", "Two", "Three"]));
    json!({
        "untitledSingle": { "type": "string", "enum": plain },
        "titledSingle": { "type": "string", "oneOf": titled },
        "legacyEnum": { "type": "string", "enum": old, "enumNames": names },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled } },
    })
}
