//! Code in pages: inline code in sentences, blocks to copy, and colored JSON.

use maud::{Markup, html};
use serde_json::Value;

/// A sentence in which backticks mark code.
pub(super) fn prose(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// A code block with a copy button.
pub(super) fn block(caption: &str, body: &Markup) -> Markup {
    figure(caption, body, None)
}

pub(super) fn text(caption: &str, text: &str) -> Markup {
    figure(caption, &html! { (text) }, None)
}

/// A code block with an id, for a script that updates it.
pub(super) fn current(caption: &str, text: &str, id: &str) -> Markup {
    figure(caption, &html! { (text) }, Some(id))
}

fn figure(caption: &str, body: &Markup, id: Option<&str>) -> Markup {
    html! {
        figure.code {
            figcaption {
                span { (caption) }
                button.copy type="button" hidden { "Copy" }
            }
            // It scrolls, so it must be reachable by keyboard.
            pre tabindex="0" role="group" aria-label=(caption) { code id=[id] { (body) } }
        }
    }
}

/// The header row of a table.
pub(super) fn columns(names: [&str; 3]) -> Markup {
    html! { thead { tr { @for name in names { th scope="col" { (name) } } } } }
}

/// A `curl` command that reads the key from the environment, so that it stays out of the shell's history.
pub(super) fn curl(url: &str) -> String {
    format!("curl '{url}' \\\n  -H \"Authorization: Bearer $EVENKEEL_KEY\"")
}

/// A `curl` command for a POST, with its body quoted for the shell.
pub(super) fn curl_post(url: &str, body: Option<&str>) -> String {
    let key = "-H \"Authorization: Bearer $EVENKEEL_KEY\"";
    match body {
        Some(body) => format!(
            "curl '{url}' \\\n  {key} \\\n  -H 'Content-Type: application/json' \\\n  -d '{}'",
            body.replace('\'', "'\\''")
        ),
        None => format!("curl -X POST '{url}' \\\n  {key}"),
    }
}

/// Indented JSON with colored strings and numbers.
pub(super) fn json(value: &Value) -> Markup {
    html! { (json_at(value, 0)) }
}

fn json_at(value: &Value, depth: usize) -> Markup {
    let inner = "  ".repeat(depth + 1);
    let outer = "  ".repeat(depth);
    html! {
        @match value {
            Value::Object(members) if !members.is_empty() => {
                "{\n"
                @for (index, (name, member)) in members.iter().enumerate() {
                    (inner) "\"" (name) "\": " (json_at(member, depth + 1))
                    @if index + 1 < members.len() { "," }
                    "\n"
                }
                (outer) "}"
            }
            Value::Array(items) if !items.is_empty() => {
                "[\n"
                @for (index, item) in items.iter().enumerate() {
                    (inner) (json_at(item, depth + 1))
                    @if index + 1 < items.len() { "," }
                    "\n"
                }
                (outer) "]"
            }
            Value::String(_) => { span.s { (value.to_string()) } }
            Value::Object(_) | Value::Array(_) => { (value.to_string()) }
            Value::Number(_) | Value::Bool(_) | Value::Null => { span.n { (value.to_string()) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_without_its_colors_is_the_same_json() {
        let value = serde_json::json!({
            "text": "a \"quoted\" <b>", "list": [1, -2.5, true, null, {}, []], "deep": { "er": {} },
        });
        let mut shown = json(&value).into_string();
        for tag in ["<span class=\"s\">", "<span class=\"n\">", "</span>"] {
            shown = shown.replace(tag, "");
        }
        let unescaped = shown.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">");
        assert_eq!(unescaped, serde_json::to_string_pretty(&value).unwrap());
    }

    #[test]
    fn backticks_become_code_and_nothing_else_is_markup() {
        let shown = prose("Read `param` <now>").into_string();
        assert_eq!(shown, "Read <code>param</code> &lt;now&gt;");
    }
}
