//! Request bodies in the OpenAPI document, generated from the declarations that parse them.

use serde_json::{Map, Value, json};

use crate::api::{Body, ENDPOINTS, Holds, Member, Variant};

/// All request bodies by name, as JSON Schema.
pub(super) fn schemas() -> impl Iterator<Item = (String, Value)> {
    let bodies = ENDPOINTS.iter().filter_map(|it| it.body);
    bodies.map(|it| (it.name.to_owned(), object(it.members)))
}

pub(super) fn request(body: &Body) -> Value {
    let required = body.members.iter().any(|it| it.required);
    let schema = json!({ "$ref": format!("#/components/schemas/{}", body.name) });
    json!({
        "required": required,
        "content": { "application/json": { "schema": schema, "examples": examples(body) } },
    })
}

fn examples(body: &Body) -> Value {
    let example = |(index, (summary, text)): (usize, &(&str, &str))| {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        (format!("example{}", index + 1), json!({ "summary": summary, "value": value }))
    };
    Value::Object(body.examples.iter().enumerate().map(example).collect::<Map<_, _>>())
}

pub(super) fn idempotency_key() -> Value {
    json!({
        "name": "Idempotency-Key",
        "in": "header",
        "required": false,
        "description": "A unique value of 1 to 255 visible ASCII characters, such as a UUID. Repeated requests \
            with the same value have one effect, and get the first response again for 24 hours.",
        "schema": { "type": "string", "minLength": 1, "maxLength": 255 },
        "example": "0d7f4f0e-6f5c-4a53-9d0b-8f1f6c1f2a11",
    })
}

fn object(members: &[Member]) -> Value {
    let properties = members.iter().map(|it| (it.name.to_owned(), member(it)));
    let required: Vec<&str> = members.iter().filter(|it| it.required).map(|it| it.name).collect();
    let mut schema = json!({
        "type": "object",
        "properties": Value::Object(properties.collect::<Map<_, _>>()),
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn member(member: &Member) -> Value {
    let mut schema = held(member.holds);
    schema["description"] = json!(member.description);
    schema
}

fn held(holds: Holds) -> Value {
    let id = |prefix: &str| json!({ "type": "string", "pattern": format!("^{prefix}[0-9a-hjkmnp-tv-z]{{26}}$") });
    match holds {
        Holds::Text { longest } => {
            json!({ "type": "string", "minLength": 1, "maxLength": longest })
        }
        Holds::TextOrNull { longest } => {
            json!({ "type": ["string", "null"], "maxLength": longest })
        }
        Holds::Url { longest } => json!({
            "type": "string", "format": "uri", "pattern": "^https://", "maxLength": longest,
        }),
        Holds::Bool => json!({ "type": "boolean" }),
        Holds::Number { .. } => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Holds::DecimalText => json!({ "type": "string", "pattern": "^[0-9]+(\\.[0-9]{1,2})?$" }),
        Holds::Whole => json!({ "type": "integer", "minimum": 1 }),
        Holds::Date => json!({ "type": "string", "format": "date" }),
        Holds::OneOf(words) => json!({ "type": "string", "enum": words }),
        Holds::SomeOf(words) => {
            json!({ "type": "array", "items": { "type": "string", "enum": words } })
        }
        Holds::Category => json!({ "type": "string", "examples": ["FOOD_AND_DRINK_COFFEE"] }),
        Holds::Id(prefix) => id(prefix),
        Holds::Uuid => json!({ "type": "string", "format": "uuid" }),
        Holds::Ids(prefix) => {
            json!({ "type": "array", "items": id(prefix), "minItems": 1, "maxItems": 100 })
        }
        Holds::Json => json!({ "type": "object", "additionalProperties": true }),
        Holds::ByWord(variants) => {
            json!({ "anyOf": variants.iter().map(variant).collect::<Vec<_>>() })
        }
    }
}

/// Uses `anyOf` instead of `oneOf`, because payloads of different types can look alike.
fn variant(variant: &Variant) -> Value {
    let mut schema = object(variant.members);
    schema["title"] = json!(variant.word);
    schema["description"] = json!(variant.about);
    schema
}
