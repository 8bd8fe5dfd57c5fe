//! Tools of the modern era that need input: the client repeats the call with the answers and the state.

use mcp::{Context, Outcome};
use serde_json::{Value, json};

use crate::requests::form;
use crate::tools::result;

/// A form with one field.
pub(crate) fn elicit(message: &str, field: &str, kind: &str) -> Value {
    let params = form(&json!(message), &json!({ field: { "type": kind } }), &json!([field]));
    json!({ "method": "elicitation/create", "params": params })
}

fn sample(question: &str) -> Value {
    let content = json!({ "type": "text", "text": question });
    let messages = json!([{ "role": "user", "content": content }]);
    json!({ "method": "sampling/createMessage", "params": { "messages": messages, "maxTokens": 100 } })
}

fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

pub(crate) fn call(context: &Context<'_>, name: &str) -> Outcome {
    let requests = match name {
        "test_streaming_elicitation" | "test_input_required_result_elicitation" => {
            json!({ "user_name": elicit("What is your name?", "name", "string") })
        }
        "test_input_required_result_sampling" => {
            json!({ "capital_question": sample("What is the capital of France?") })
        }
        "test_input_required_result_list_roots" => json!({ "client_roots": roots() }),
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => {
            json!({ "confirm": elicit("Is this right?", "ok", "boolean") })
        }
        "test_input_required_result_multiple_inputs" => json!({
            "user_name": elicit("What is your name?", "name", "string"),
            "greeting": sample("Write a greeting."),
            "client_roots": roots(),
        }),
        "test_input_required_result_capabilities" => {
            match (context.client.sampling, context.client.forms) {
                (true, false) => json!({ "greeting": sample("Write a greeting.") }),
                (_, true) => json!({ "user_name": elicit("What is your name?", "name", "string") }),
                (false, false) => json!({}),
            }
        }
        "test_input_required_result_multi_round" => return rounds(context, name),
        other => return Outcome::invalid(format!("Unknown tool: {other}")),
    };
    ask_or_finish(context, name, &requests)
}

/// Asks for everything, until every answer and the state are there.
fn ask_or_finish(context: &Context<'_>, name: &str, requests: &Value) -> Outcome {
    let input = match context.input() {
        Ok(input) => input,
        Err(outcome) => return outcome,
    };
    let has_state = name.contains("state") || name.contains("multiple");
    let opened = input.state.as_deref().map(|it| context.open_state(name, it));
    if let Some(Err(refused)) = opened {
        return refused;
    }
    let names = requests.as_object().into_iter().flat_map(|it| it.keys());
    let is_answered = names.clone().all(|it| input.response(it).is_some());
    if is_answered && (!has_state || opened.is_some()) {
        let answers: Vec<String> =
            names.filter_map(|it| input.response(it)).map(Value::to_string).collect();
        let words = format!("state-ok {}", answers.join(" "));
        return result(context, &json!([{ "type": "text", "text": words }]), false);
    }
    let state = has_state.then(|| context.seal_state(name, b"asked").unwrap());
    Outcome::input_required(requests, state.as_deref())
}

/// Asks twice, and knows by its state how far it is.
fn rounds(context: &Context<'_>, name: &str) -> Outcome {
    let input = match context.input() {
        Ok(input) => input,
        Err(outcome) => return outcome,
    };
    let round = match input.state.as_deref().map(|it| context.open_state(name, it)) {
        Some(Err(refused)) => return refused,
        Some(Ok(round)) => round,
        None => b"0".to_vec(),
    };
    let (next, requests) = match round.as_slice() {
        b"1" if input.response("step1").is_some() => {
            (b"2", json!({ "step2": elicit("What is your favorite color?", "color", "string") }))
        }
        b"2" if input.response("step2").is_some() => {
            return result(context, &json!([{ "type": "text", "text": "Done." }]), false);
        }
        _ => (b"1", json!({ "step1": elicit("What is your name?", "name", "string") })),
    };
    let state = context.seal_state(name, next).unwrap();
    Outcome::input_required(&requests, Some(&state))
}
