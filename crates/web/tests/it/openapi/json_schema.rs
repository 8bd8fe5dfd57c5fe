//! A validator for the part of JSON Schema that the document uses. It is stricter than the standard in two ways: a member
//! that is not documented is a violation, and so is an unknown value of an open set.

use serde_json::{Map, Value, json};

/// The violations of a schema by a value.
pub(super) fn violations(
    document: &Value,
    schema: &Value,
    value: &Value,
    path: &str,
) -> Vec<String> {
    let is_valid = |it: &Value| violations(document, it, value, path).is_empty();
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(reference.trim_start_matches('#')).unwrap();
        return violations(document, target, value, path);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let fitting = choices.iter().filter(|it| is_valid(it)).count();
        return unless(fitting == 1, || format!("{path}: {fitting} choices fit {value}"));
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let fits = choices.iter().any(is_valid);
        return unless(fits, || format!("{path}: no choice fits {value}"));
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(only) => vec![only],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => return Vec::new(),
    };
    let actual = type_of(value, &types);
    if !types.contains(&actual) {
        return vec![format!("{path}: {actual} is not {types:?}")];
    }
    match value {
        Value::Array(items) => items
            .iter()
            .flat_map(|it| violations(document, &schema["items"], it, &format!("{path}[]")))
            .collect(),
        Value::Object(members) => object(document, schema, members, path),
        Value::String(text) => {
            unless(is_text(schema, text), || format!("{path}: {text} is not {schema}"))
        }
        _ => Vec::new(),
    }
}

fn unless(is_right: bool, message: impl FnOnce() -> String) -> Vec<String> {
    if is_right { Vec::new() } else { vec![message()] }
}

fn type_of(value: &Value, types: &[&str]) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() && types.contains(&"integer") => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn object(
    document: &Value,
    schema: &Value,
    members: &Map<String, Value>,
    path: &str,
) -> Vec<String> {
    let known = schema["properties"].as_object().cloned().unwrap_or_default();
    let mut wrong = missing(schema, members, path);
    if let Some(condition) = schema["if"]["not"].as_object() {
        let is_given = missing(&json!(condition), members, path).is_empty();
        if !is_given {
            wrong.extend(missing(&schema["then"], members, path));
        }
    }
    for (name, member) in members {
        let inner = format!("{path}.{name}");
        match known.get(name) {
            Some(schema) => wrong.extend(violations(document, schema, member, &inner)),
            None if schema["additionalProperties"].is_object() => {
                let any = &schema["additionalProperties"];
                wrong.extend(violations(document, any, member, &inner));
            }
            None if schema["additionalProperties"] == true => {}
            None => wrong.push(format!("{inner} is not documented")),
        }
    }
    wrong
}

fn missing(schema: &Value, members: &Map<String, Value>, path: &str) -> Vec<String> {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let missing = required.filter(|it| !members.contains_key(*it));
    missing.map(|it| format!("{path}.{it} is missing")).collect()
}

fn is_text(schema: &Value, text: &str) -> bool {
    let is_among = |words: &Value| words.as_array().is_none_or(|it| it.contains(&json!(text)));
    let is_const = schema["const"].is_null() || schema["const"] == text;
    let is_uuid = schema["format"] != "uuid" || base::ActionId::parse(text).is_ok();
    let is_form = schema["pattern"].as_str().is_none_or(|it| matches(it, text));
    is_const
        && is_uuid
        && is_form
        && is_among(&schema["enum"])
        && is_among(&schema["x-extensible-enum"])
}

/// Whether a text has the form of an id; other patterns are not checked here.
fn matches(pattern: &str, text: &str) -> bool {
    let Some(prefix) = pattern.strip_suffix("[0-7][0-9a-hjkmnp-tv-z]{25}$") else { return true };
    let prefix = prefix.trim_start_matches('^');
    let prefixes: Vec<String> = match prefix.strip_prefix('(').and_then(|it| it.split_once(')')) {
        Some((kinds, rest)) => kinds.split('|').map(|it| format!("{it}{rest}")).collect(),
        None => vec![prefix.to_owned()],
    };
    let rest = prefixes.iter().find_map(|it| text.strip_prefix(it.as_str()));
    rest.is_some_and(|it| base::AccountId::parse(&format!("acc_{it}")).is_ok())
}

#[test]
fn schema_violations_are_found() {
    let document = super::document();
    let check = |schema: &Value, value: &Value| violations(&document, schema, value, "").len();
    let schema = json!({ "$ref": "#/components/schemas/Meta" });
    let id = "req_01kny3v1m8f2x9q4t7r5c6b8de";
    assert_eq!(check(&schema, &json!({ "request_id": id, "timestamp": "" })), 0);
    for bad in [
        json!({ "request_id": 1, "timestamp": "" }),
        json!({ "request_id": "req_1", "timestamp": "" }),
        json!({ "request_id": "txn_01kny3v1m8f2x9q4t7r5c6b8de", "timestamp": "" }),
        json!({ "request_id": id, "timestamp": "", "more": 1 }),
        json!({ "request_id": id }),
        json!(null),
    ] {
        assert_ne!(check(&schema, &bad), 0, "{bad}");
    }
    let set = json!({ "type": ["string", "null"], "x-extensible-enum": ["a", "b"] });
    assert_eq!([json!("a"), json!(null), json!("c")].map(|it| check(&set, &it)), [0, 0, 1]);
}
