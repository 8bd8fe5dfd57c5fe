//! Request bodies in the OpenAPI document, generated from the declarations that parse them.

use serde_json::{Map, Value, json};

use super::{Schemas, events::type_name, ids};
use crate::api::{Body, ENDPOINTS, Holds, Member, Rule, Variant};

/// Text without control characters.
const ONE_LINE: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";

/// All request bodies by name, as JSON Schema.
pub(super) fn schemas() -> Schemas {
    let mut schemas = Schemas::new();
    for body in ENDPOINTS.iter().filter_map(|it| it.body) {
        let variants = body.members.iter().find_map(|it| match it.holds {
            Holds::ByWord { word, variants } => Some((it.name, word, variants)),
            _ => None,
        });
        match variants {
            Some((payload, word, variants)) => {
                add_discriminated(&mut schemas, &body, payload, word, variants);
            }
            None => add_object(&mut schemas, body.name, body.members, body.rules),
        }
    }
    schemas
}

pub(super) fn request(body: &Body) -> Value {
    let required = body.members.iter().any(|it| it.required);
    json!({
        "required": required,
        "content": { "application/json": { "schema": to(body.name), "examples": examples(body) } },
    })
}

fn to(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
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
        "schema": { "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$" },
        "example": "0d7f4f0e-6f5c-4a53-9d0b-8f1f6c1f2a11",
    })
}

/// Adds a body whose `payload` depends on the value of `word`: an object for each value, told apart by it.
fn add_discriminated(
    schemas: &mut Schemas,
    body: &Body,
    payload: &str,
    word: &str,
    variants: &[Variant],
) {
    let (mut choices, mut mapping) = (Vec::new(), Map::new());
    for variant in variants {
        let name = type_name(variant.word);
        let (whole, part) = (format!("{name}Proposal"), format!("{name}Payload"));
        add_object(schemas, &part, variant.members, variant.rules);
        let mut schema = object(body.members, body.rules);
        schema["description"] = json!(variant.about);
        schema["properties"][word]["enum"] = json!([variant.word]);
        schema["properties"][payload] = to(&part);
        schemas.insert(whole.clone(), schema);
        mapping.insert(variant.word.to_owned(), to(&whole)["$ref"].clone());
        choices.push(to(&whole));
    }
    let discriminator = json!({ "propertyName": word, "mapping": mapping });
    let schema = json!({ "oneOf": choices, "discriminator": discriminator });
    schemas.insert(body.name.to_owned(), schema);
}

/// Adds an object. Where exactly one of some members must be given, there is an object for each of them, because
/// generators ignore members beside `oneOf`.
fn add_object(schemas: &mut Schemas, name: &str, members: &[Member], rules: &[Rule]) {
    let exclusive = rules.iter().find_map(|it| match it {
        Rule::ExactlyOne(names) => Some(*names),
        Rule::AtLeastOne(_) => None,
    });
    let Some(exclusive) = exclusive else {
        schemas.insert(name.to_owned(), object(members, rules));
        return;
    };
    let mut choices = Vec::new();
    for chosen in exclusive {
        let choose = |it: &Member| Member { required: it.required || it.name == *chosen, ..*it };
        let members: Vec<Member> = members.iter().map(choose).collect();
        let mut schema = object(&members, rules);
        for other in exclusive.iter().filter(|it| *it != chosen) {
            let description = format!("Not together with `{chosen}`.");
            schema["properties"][*other] = json!({ "type": "null", "description": description });
        }
        // Repeats `required`: Redocly compares simple schemas only, and would take these for overlapping ones.
        schema["minProperties"] = json!(members.iter().filter(|it| it.required).count());
        let variant = format!("{name}By{}", type_name(chosen));
        choices.push(to(&variant));
        schemas.insert(variant, schema);
    }
    schemas.insert(name.to_owned(), json!({ "oneOf": choices }));
}

fn object(members: &[Member], rules: &[Rule]) -> Value {
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
    for rule in rules {
        if let Rule::AtLeastOne([first, second]) = rule {
            // Generators ignore a condition; an `anyOf` would give the type no members.
            let given = |name: &str| json!({ "required": [name], "properties": { name: { "not": { "type": "null" } } } });
            schema["if"] = json!({ "not": given(first) });
            schema["then"] = given(second);
        }
    }
    schema
}

fn member(member: &Member) -> Value {
    let mut schema = held(member.holds);
    schema["description"] = json!(member.description);
    if !member.required {
        allow_null(&mut schema);
    }
    schema
}

/// Null is the same as leaving an optional member out.
fn allow_null(schema: &mut Value) {
    if let Some(kind) = schema["type"].as_str() {
        schema["type"] = json!([kind, "null"]);
    }
    if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        words.push(Value::Null);
    }
}

fn held(holds: Holds) -> Value {
    let id = |prefix: &str| json!({ "type": "string", "pattern": ids::pattern(prefix) });
    match holds {
        Holds::Text { longest } => {
            json!({ "type": "string", "minLength": 1, "maxLength": longest })
        }
        Holds::TextOrNull { longest } => {
            json!({ "type": ["string", "null"], "maxLength": longest, "pattern": ONE_LINE })
        }
        Holds::Url { longest } => json!({
            "type": "string", "format": "uri", "pattern": "^https://", "maxLength": longest,
        }),
        Holds::Bool => json!({ "type": "boolean" }),
        Holds::False => json!({ "type": "boolean", "enum": [false] }),
        Holds::Number { .. } => {
            json!({ "type": "number", "format": "decimal", "exclusiveMinimum": 0 })
        }
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
        Holds::Texts { longest } => {
            json!({ "type": "array", "items": { "type": "string", "maxLength": longest } })
        }
        Holds::Objects { members, least, most } => json!({
            "type": "array", "items": object(members, &[]), "minItems": least, "maxItems": most,
        }),
        Holds::Amount => json!({ "type": "number", "format": "decimal" }),
        Holds::Json => json!({ "type": "object", "additionalProperties": true }),
        // Replaced by a reference to the payload of each value.
        Holds::ByWord { .. } => json!({ "type": "object" }),
    }
}
