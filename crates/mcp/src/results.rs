//! The results of tools.

use wire::json::write_str;

use crate::surface::{Context, Outcome};
use crate::text::write_document_str;

/// The result of a tool: the answer as structured content, and as text for clients that know no other.
pub(crate) fn tool_result(context: &Context<'_>, structured: &str) -> Outcome {
    let mut json = b"{\"content\":[{\"type\":\"text\",\"text\":".to_vec();
    json.reserve(structured.len() * 5 / 2 + 128);
    write_document_str(&mut json, structured);
    json.extend_from_slice(b"}],\"structuredContent\":");
    json.extend_from_slice(structured.as_bytes());
    json.extend_from_slice(b",\"isError\":false");
    json.extend_from_slice(context.result_type().as_bytes());
    json.push(b'}');
    Outcome::Result(into_text(json))
}

/// An error of a tool, as a sentence that the model can act on.
pub(crate) fn tool_error(context: &Context<'_>, sentence: &str) -> Outcome {
    let mut json = b"{\"content\":[{\"type\":\"text\",\"text\":".to_vec();
    write_str(&mut json, sentence);
    json.extend_from_slice(b"}],\"isError\":true");
    json.extend_from_slice(context.result_type().as_bytes());
    json.push(b'}');
    Outcome::Result(into_text(json))
}

/// The text of JSON, without copying it.
pub(crate) fn into_text(json: Vec<u8>) -> String {
    String::from_utf8(json)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
