//! Prompts with and without arguments, images, resources and input.

use std::collections::BTreeMap;

use mcp::{Context, Outcome};
use serde_json::{Value, json};

use crate::catalog::PNG;
use crate::inputs::elicit;

const NEEDS_INPUT: &str = "test_input_required_result_prompt";

pub(crate) fn list() -> Value {
    let prompt = |name: &str, arguments: &[&str]| {
        let argument =
            |it: &&str| json!({ "name": it, "description": "For tests.", "required": true });
        let arguments: Vec<Value> = arguments.iter().map(argument).collect();
        json!({ "name": name, "description": "For tests.", "arguments": arguments })
    };
    json!([
        prompt("test_simple_prompt", &[]),
        prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
        prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
        prompt("test_prompt_with_image", &[]),
        prompt(NEEDS_INPUT, &[]),
    ])
}

pub(crate) fn get(
    context: &Context<'_>,
    name: &str,
    arguments: &BTreeMap<String, String>,
) -> Outcome {
    let argument = |name: &str| arguments.get(name).cloned().unwrap_or_default();
    let text = |text: &str| json!({ "type": "text", "text": text });
    let content = match name {
        "test_simple_prompt" => text("A simple prompt."),
        "test_prompt_with_arguments" => {
            text(&format!("It has '{}' and '{}'.", argument("arg1"), argument("arg2")))
        }
        "test_prompt_with_embedded_resource" => {
            let uri = argument("resourceUri");
            let resource = json!({ "uri": uri, "mimeType": "text/plain", "text": "For tests." });
            json!({ "type": "resource", "resource": resource })
        }
        "test_prompt_with_image" => {
            json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
        }
        NEEDS_INPUT => match context.input() {
            Ok(input) if input.response("user_context").is_some() => text("With its context."),
            Ok(_) => {
                let request = elicit("Which context?", "context", "string");
                return Outcome::input_required(&json!({ "user_context": request }), None);
            }
            Err(outcome) => return outcome,
        },
        other => return Outcome::invalid(format!("Unknown prompt: {other}")),
    };
    let messages = json!([{ "role": "user", "content": content }]);
    let end = context.result_type();
    Outcome::Result(format!("{{\"messages\":{messages}{end}}}"))
}
