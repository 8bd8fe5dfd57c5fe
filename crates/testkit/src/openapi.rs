//! Checks requests and answers against the component schemas of an OpenAPI 3.0 document, in JSON.
//!
//! It is stricter than the document: a field that the document does not name is a violation, although most documents
//! allow any.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Map, Value};

/// The file with Plaid's document, converted to JSON. It is not part of this project.
pub const PLAID_DOCUMENT: &str = "EVENKEEL_TEST_PLAID_OPENAPI";

static PLAID: LazyLock<Option<Document>> = LazyLock::new(|| {
    let path = std::env::var_os(PLAID_DOCUMENT)?;
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{PLAID_DOCUMENT}: {}: {error}", path.display()));
    let parsed = serde_json::from_str(&text);
    Some(Document(parsed.unwrap_or_else(|error| panic!("{PLAID_DOCUMENT} is not JSON: {error}"))))
});

/// The end of a message about a field that the document does not name.
const UNKNOWN: &str = " is unknown";

pub struct Document(Value);

impl Document {
    pub fn new(document: Value) -> Document {
        Document(document)
    }

    /// Plaid's document, if the environment names one.
    pub fn of_plaid() -> Option<&'static Document> {
        PLAID.as_ref()
    }

    /// How the body of a POST differs from the document.
    pub fn check_request(&self, path: &str, body: &Value) -> Vec<String> {
        let schema = &self.operation(path)["requestBody"]["content"]["application/json"]["schema"];
        self.check(schema, body, &format!("request {path}"))
    }

    /// How the answer to a POST differs from the document.
    pub fn check_answer(&self, path: &str, status: u16, body: &Value) -> Vec<String> {
        let responses = &self.operation(path)["responses"];
        let named = &responses[&status.to_string()];
        let response = if named.is_null() { &responses["default"] } else { named };
        let schema = &response["content"]["application/json"]["schema"];
        self.check(schema, body, &format!("answer {path}"))
    }

    fn operation(&self, path: &str) -> &Value {
        &self.0["paths"][path]["post"]
    }

    fn check(&self, schema: &Value, body: &Value, place: &str) -> Vec<String> {
        if schema.is_null() {
            return vec![format!("{place}: the document has no schema for it")];
        }
        let mut found = Vec::new();
        self.visit(schema, body, place, &mut found);
        found
    }

    /// The schema itself, or the one that it refers to.
    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let Some(reference) = schema["$ref"].as_str() else { return schema };
        let pointer = reference.trim_start_matches('#');
        let found = self.0.pointer(pointer);
        self.resolve(found.unwrap_or_else(|| panic!("the document has no {reference}")))
    }

    fn visit(&self, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
        let referring = schema;
        let schema = self.resolve(schema);
        let is_nullable = |it: &Value| it["nullable"] == true;
        if value.is_null() && (is_nullable(referring) || is_nullable(schema)) {
            return;
        }
        self.visit_parts(array(&schema["allOf"]), value, place, found);
        for name in ["oneOf", "anyOf"] {
            let parts = array(&schema[name]);
            let fits = |part: &Value| {
                let mut problems = Vec::new();
                self.visit(part, value, place, &mut problems);
                problems.is_empty()
            };
            if !parts.is_empty() && !parts.iter().any(fits) {
                found.push(format!("{place}: fits none of {name}"));
            }
        }
        let allowed = array(&schema["enum"]);
        if !allowed.is_empty() && !allowed.contains(value) {
            found.push(format!("{place}: {value} is not in the list of values"));
        }
        match schema["type"].as_str() {
            Some("object") => self.visit_object(schema, value, place, found),
            Some("array") => self.visit_array(schema, value, place, found),
            Some("string") => check_text(schema, value, place, found),
            Some(kind @ ("number" | "integer")) => check_number(kind, schema, value, place, found),
            Some("boolean") if !value.is_boolean() => {
                found.push(format!("{place}: {value} is not true or false"));
            }
            // A schema without a type may still describe an object.
            None if value.is_object() => self.visit_object(schema, value, place, found),
            _ => {}
        }
    }

    /// Visits schemas that hold together. A field that one of them does not name may be named by another.
    fn visit_parts(&self, parts: &[Value], value: &Value, place: &str, found: &mut Vec<String>) {
        let problems_of = |part: &Value| {
            let mut problems = Vec::new();
            self.visit(part, value, place, &mut problems);
            problems
        };
        let all: Vec<Vec<String>> = parts.iter().map(problems_of).collect();
        for (own, problems) in all.iter().enumerate() {
            let is_real = |problem: &&String| {
                let inner = problem.strip_prefix(place).unwrap_or_default();
                let inner = inner.strip_prefix('.').filter(|_| problem.ends_with(UNKNOWN));
                let Some(inner) = inner else {
                    // `known_fields` has the fields of all parts.
                    return !problem.ends_with(UNKNOWN);
                };
                let field = inner.split(['.', '[', ':']).next().unwrap_or_default();
                let names = |part| self.known_fields(part).is_some_and(|it| it.contains(field));
                let mut others = parts.iter().zip(&all).enumerate();
                others.all(|(at, (part, theirs))| {
                    at == own || !names(part) || theirs.contains(problem)
                })
            };
            found.extend(problems.iter().filter(is_real).cloned());
        }
    }

    fn visit_object(&self, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
        let Some(object) = value.as_object() else {
            found.push(format!("{place}: {value} is not an object"));
            return;
        };
        let missing = array(&schema["required"]).iter().filter_map(Value::as_str);
        let missing = missing.filter(|name| !object.contains_key(*name));
        found.extend(missing.map(|name| format!("{place}: {name} is missing")));
        if let Some(known) = self.known_fields(schema) {
            let unknown = object.keys().filter(|name| !known.contains(name.as_str()));
            found.extend(unknown.map(|name| format!("{place}: {name}{UNKNOWN}")));
        }
        let empty = Map::new();
        for (name, part) in schema["properties"].as_object().unwrap_or(&empty) {
            if let Some(inner) = object.get(name) {
                self.visit(part, inner, &format!("{place}.{name}"), found);
            }
        }
    }

    /// The fields that a schema and its parts name. None if they do not say which fields an object has.
    fn known_fields<'a>(&'a self, schema: &'a Value) -> Option<BTreeSet<&'a str>> {
        let schema = self.resolve(schema);
        let own = schema["properties"].as_object();
        let own = own.map(|it| it.keys().map(String::as_str).collect::<BTreeSet<_>>());
        let parts = array(&schema["allOf"]).iter().filter_map(|it| self.known_fields(it));
        own.into_iter().chain(parts).reduce(|mut all, more| {
            all.extend(more);
            all
        })
    }

    fn visit_array(&self, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
        let Some(items) = value.as_array() else {
            found.push(format!("{place}: {value} is not an array"));
            return;
        };
        let limits = (schema["minItems"].as_u64(), schema["maxItems"].as_u64());
        check_length(items.len(), limits, place, found);
        for (index, item) in items.iter().enumerate() {
            self.visit(&schema["items"], item, &format!("{place}[{index}]"), found);
        }
    }
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn check_length(
    length: usize,
    (least, most): (Option<u64>, Option<u64>),
    place: &str,
    found: &mut Vec<String>,
) {
    let length = length as u64;
    if least.is_some_and(|it| length < it) || most.is_some_and(|it| length > it) {
        found.push(format!("{place}: the length {length} is not allowed"));
    }
}

fn check_text(schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    let Some(text) = value.as_str() else {
        found.push(format!("{place}: {value} is not a text"));
        return;
    };
    let limits = (schema["minLength"].as_u64(), schema["maxLength"].as_u64());
    check_length(text.chars().count(), limits, place, found);
    let is_good = match schema["format"].as_str() {
        Some("date") => text.parse::<base::Date>().is_ok(),
        Some("date-time") => text.parse::<base::Timestamp>().is_ok(),
        _ => true,
    };
    if !is_good {
        found.push(format!("{place}: {value} has not the format {}", schema["format"]));
    }
}

fn check_number(kind: &str, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    let is_integer = value.is_i64() || value.is_u64();
    if !value.is_number() || kind == "integer" && !is_integer {
        found.push(format!("{place}: {value} is not a {kind}"));
        return;
    }
    let Some(number) = value.as_i64() else { return };
    let is_below = schema["minimum"].as_i64().is_some_and(|it| number < it);
    let is_above = schema["maximum"].as_i64().is_some_and(|it| number > it);
    if is_below || is_above {
        found.push(format!("{place}: {number} is out of range"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A document of our own, with each kind of rule.
    fn document() -> Document {
        let reference = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
        let content =
            |schema: Value| json!({ "content": { "application/json": { "schema": schema } } });
        Document::new(json!({
            "paths": { "/pay": { "post": {
                "requestBody": content(reference("Payment")),
                "responses": { "200": content(reference("Receipt")), "default": content(reference("Error")) },
            } } },
            "components": { "schemas": {
                "Payment": {
                    "type": "object", "required": ["amount"],
                    "properties": {
                        "amount": { "type": "number" },
                        "note": { "type": "string", "maxLength": 5, "nullable": true },
                        "count": { "type": "integer", "minimum": 1, "maximum": 3 },
                        "way": { "type": "string", "enum": ["cash", "card"] },
                    },
                },
                "Receipt": {
                    "type": "object", "required": ["on", "rows"],
                    "properties": {
                        "on": { "type": "string", "format": "date" },
                        "rows": { "type": "array", "items": reference("Payment"), "maxItems": 2 },
                        "last": { "nullable": true, "allOf": [reference("Payment"), reference("Error")] },
                        "is_final": { "type": "boolean" },
                    },
                },
                "Error": { "type": "object", "required": ["code"], "properties": { "code": { "type": "string" } } },
            } },
        }))
    }

    #[test]
    fn what_fits_has_no_violations() {
        let document = document();
        let payment = json!({ "amount": 1.5, "note": null, "count": 3, "way": "card" });
        assert_eq!(document.check_request("/pay", &payment), [""; 0]);
        let receipt =
            json!({ "on": "2026-03-01", "rows": [payment], "last": null, "is_final": true });
        assert_eq!(document.check_answer("/pay", 200, &receipt), [""; 0]);
        assert_eq!(document.check_answer("/pay", 400, &json!({ "code": "X" })), [""; 0]);
    }

    #[test]
    fn every_kind_of_violation_is_found() {
        let document = document();
        for (request, words) in [
            (json!({}), "amount is missing"),
            (json!({ "amount": "1" }), "\"1\" is not a number"),
            (json!({ "amount": null }), "null is not a number"),
            (json!({ "amount": 1, "amuont": 1 }), "amuont is unknown"),
            (json!({ "amount": 1, "note": "too long" }), "length 8"),
            (json!({ "amount": 1, "count": 1.5 }), "1.5 is not a integer"),
            (json!({ "amount": 1, "count": 4 }), "4 is out of range"),
            (json!({ "amount": 1, "way": "gold" }), "not in the list"),
            (json!([]), "is not an object"),
        ] {
            let found = document.check_request("/pay", &request);
            assert!(found.len() == 1 && found[0].contains(words), "{request}: {found:?}");
        }
        let payment = json!({ "amount": 1 });
        for (answer, words) in [
            (json!({ "on": "1 March", "rows": [] }), "format"),
            (json!({ "on": "2026-03-01", "rows": [{}] }), "rows[0]: amount is missing"),
            (json!({ "on": "2026-03-01", "rows": [payment, payment, payment] }), "length 3"),
            (
                json!({ "on": "2026-03-01", "rows": [], "last": { "code": "X" } }),
                "last: amount is missing",
            ),
            (
                json!({ "on": "2026-03-01", "rows": [], "last": { "amount": 1, "code": "X", "a": 1 } }),
                "last: a is",
            ),
            (json!({ "on": "2026-03-01", "rows": [], "is_final": 1 }), "not true or false"),
            (json!({ "on": "2026-03-01", "rows": {} }), "is not an array"),
        ] {
            let found = document.check_answer("/pay", 200, &answer);
            assert!(found.len() == 1 && found[0].contains(words), "{answer}: {found:?}");
        }
        assert!(document.check_answer("/pay", 500, &json!({}))[0].contains("code is missing"));
        assert!(document.check_request("/other", &json!({}))[0].contains("no schema"));
    }
}
