//! Calls of the tools.

use std::time::Duration;

use mcp::{Context, Outcome, ToolCall};
use serde_json::{Value, json};

use crate::catalog::{PNG, WAV};
use crate::{inputs, requests};

/// The pause between two messages of a tool.
const PAUSE: Duration = Duration::from_millis(20);

pub(crate) async fn call(context: &Context<'_>, call: ToolCall<'_>) -> Outcome {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let image = json!({ "type": "image", "data": PNG, "mimeType": "image/png" });
    let content = match call.name {
        "test_simple_text" => json!([text("A simple text.")]),
        "test_image_content" => json!([image]),
        "test_audio_content" => json!([{ "type": "audio", "data": WAV, "mimeType": "audio/wav" }]),
        "test_embedded_resource" => json!([embedded("text/plain", "An embedded text.")]),
        "test_multiple_content_types" => {
            json!([text("Three kinds:"), image, embedded("application/json", "{\"test\":1.50}")])
        }
        "test_error_handling" => return result(context, &json!([text("It fails.")]), true),
        "test_tool_with_progress" => {
            for done in [0, 50, 100] {
                context.report_progress(done, 100, "Working");
                tokio::time::sleep(PAUSE).await;
            }
            json!([text("Done.")])
        }
        "test_tool_with_logging" => {
            for words in ["It begins.", "It goes on.", "It ends."] {
                let params = json!({ "level": "info", "data": words });
                let method = "notifications/message";
                context.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
                tokio::time::sleep(PAUSE).await;
            }
            json!([text("Done.")])
        }
        "test_logging_tool" => json!([text("Without a level, nothing is logged.")]),
        "test_missing_capability" => match context.client.sampling {
            true => json!([text("The client lets its model answer.")]),
            false => return Outcome::missing_capability(&json!({ "sampling": {} })),
        },
        "test_sampling"
        | "test_elicitation"
        | "test_elicitation_sep1034_defaults"
        | "test_elicitation_sep1330_enums" => {
            let arguments = call.arguments.and_then(|it| serde_json::from_str(it).ok());
            let arguments: Value = arguments.unwrap_or_default();
            match requests::ask(context, call.name, &arguments).await {
                Ok(answer) => json!([text(&answer)]),
                Err(why) => return result(context, &json!([text(why)]), true),
            }
        }
        other => return inputs::call(context, other),
    };
    result(context, &content, false)
}

fn embedded(kind: &str, text: &str) -> Value {
    let resource = json!({ "uri": "test://embedded-resource", "mimeType": kind, "text": text });
    json!({ "type": "resource", "resource": resource })
}

/// The result of a tool.
pub(crate) fn result(context: &Context<'_>, content: &Value, is_error: bool) -> Outcome {
    let end = context.result_type();
    Outcome::Result(format!("{{\"content\":{content},\"isError\":{is_error}{end}}}"))
}
