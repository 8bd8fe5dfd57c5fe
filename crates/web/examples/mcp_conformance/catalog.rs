//! The tools and resources that the suite expects, as clients see them.

use mcp::Era;
use serde_json::{Value, json};

/// An image of one pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNQaHAAAAGkAOGt06eBAAAAAElFTkSuQmCC";
/// A sound of one sample.
pub(crate) const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

/// Tools of both eras, without arguments.
const PLAIN: [&str; 7] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_progress",
];
const MODERN: [&str; 11] = [
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_logging_tool",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];
const LEGACY: [&str; 3] = [
    "test_tool_with_logging",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
];

pub(crate) fn tools(era: Era) -> Value {
    let own: &[&str] = if era == Era::Modern { &MODERN } else { &LEGACY };
    let mut tools: Vec<Value> = PLAIN.iter().chain(own).map(|it| tool(it, &json!({}))).collect();
    if era == Era::Legacy {
        tools.push(tool("test_sampling", &json!({ "prompt": { "type": "string" } })));
        tools.push(tool("test_elicitation", &json!({ "message": { "type": "string" } })));
    }
    let schema = json_schema_2020_12();
    let name = "json_schema_2020_12_tool";
    tools.push(json!({ "name": name, "description": "For tests.", "inputSchema": schema }));
    Value::from(tools)
}

fn tool(name: &str, properties: &Value) -> Value {
    let schema = json!({ "type": "object", "properties": properties });
    json!({ "name": name, "description": "For tests.", "inputSchema": schema })
}

/// A schema with keywords that a server must not lose.
fn json_schema_2020_12() -> Value {
    let text = json!({ "type": "string" });
    let address = json!({
        "$anchor": "addressDef", "type": "object", "properties": { "street": text, "city": text },
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": address },
        "properties": {
            "name": text,
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": text,
            "email": text,
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}

pub(crate) fn resources() -> Value {
    let resource = |name: &str, kind: &str| json!({ "uri": format!("test://{name}"), "name": name, "mimeType": kind });
    json!([
        resource("static-text", "text/plain"),
        resource("static-binary", "image/png"),
        resource("watched-resource", "text/plain"),
    ])
}

pub(crate) fn templates() -> Value {
    let uri = "test://template/{id}/data";
    json!([{ "uriTemplate": uri, "name": "template", "mimeType": "application/json" }])
}

/// The content of a resource.
pub(crate) fn read(uri: &str) -> Option<Value> {
    let text = |kind: &str, text: String| json!({ "uri": uri, "mimeType": kind, "text": text });
    match uri.strip_prefix("test://")? {
        "static-text" => Some(text("text/plain", "A static text.".to_owned())),
        "static-binary" => Some(json!({ "uri": uri, "mimeType": "image/png", "blob": PNG })),
        "watched-resource" => Some(text("text/plain", "A watched text.".to_owned())),
        other => {
            let id = other.strip_prefix("template/")?.strip_suffix("/data")?;
            Some(text("application/json", json!({ "id": id, "data": "For tests." }).to_string()))
        }
    }
}
