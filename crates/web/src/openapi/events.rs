//! The `webhooks` section: the payload of every event type, from the examples of the types in `wire`.

use std::collections::BTreeMap;

use base::{Date, Timestamp};
use serde_json::{Map, Value, json};
use wire::json::{Day, Moment};
use wire::v1::{API_VERSION, EventType, example};

/// An operation for each event type, as a receiver sees it.
pub(super) fn webhooks() -> BTreeMap<&'static str, Value> {
    let at: Timestamp = "2026-04-10T08:30:00Z".parse().unwrap_or(Timestamp::UNIX_EPOCH);
    let operation = |event: &EventType| {
        let data = example(event.name, Moment(at), Day(Date::constant(2026, 4, 10)));
        let data = data.map_or(json!({}), |it| json!(it));
        let operation = json!({ "post": {
            "operationId": operation_id(event.name),
            "tags": ["Webhooks"],
            "summary": event.description,
            "description": "Sent to every endpoint that subscribes to it. Verify the signature, answer 2xx within \
                15 seconds, and deduplicate by `id`.",
            "security": [],
            "parameters": signature_headers(),
            "requestBody": { "required": true, "content": { "application/json": {
                "schema": payload(event.name, &data),
                "example": {
                    "id": "evt_01kny3v1m8f2x9q4t7r5c6b8de",
                    "type": event.name,
                    "created_at": "2026-04-10T08:30:00.000Z",
                    "api_version": API_VERSION,
                    "data": data,
                },
            } } },
            "responses": { "2XX": { "description": "The event was received." } },
        } });
        (event.name, operation)
    };
    EventType::ALL.iter().map(operation).collect()
}

/// `transaction.created` becomes `onTransactionCreated`.
fn operation_id(name: &str) -> String {
    let words = name.split(['.', '_']);
    words.fold("on".to_owned(), |id, word| id + &word[..1].to_ascii_uppercase() + &word[1..])
}

fn signature_headers() -> Vec<Value> {
    let header = |name: &str, description: &str| {
        json!({
            "name": name, "in": "header", "required": true, "description": description,
            "schema": { "type": "string" },
        })
    };
    vec![
        header("webhook-id", "The event's id, the same over retries."),
        header("webhook-timestamp", "Seconds since 1970 when this attempt was made."),
        header(
            "webhook-signature",
            "`v1,` and a base64 HMAC-SHA256; two during a rotation, separated by a space.",
        ),
    ]
}

fn payload(name: &str, data: &Value) -> Value {
    json!({
        "type": "object",
        "required": ["id", "type", "created_at", "api_version", "data"],
        "properties": {
            "id": { "type": "string", "pattern": "^evt_[0-9a-hjkmnp-tv-z]{26}$" },
            "type": { "type": "string", "const": name },
            "created_at": { "type": "string", "format": "date-time" },
            "api_version": { "type": "string" },
            "data": schema_of(name, data),
        },
    })
}

/// The schema of an example: every event of a type has the same members. Sent tests add `test`.
fn schema_of(name: &str, data: &Value) -> Value {
    let Value::Object(members) = data else {
        return json!({ "type": "object", "additionalProperties": true });
    };
    let properties: Map<String, Value> = members
        .iter()
        .map(|(member, value)| (member.clone(), member_schema(member, value)))
        .collect();
    let required: Vec<&String> = members.keys().collect();
    let mut schema =
        json!({ "type": "object", "properties": properties, "additionalProperties": true });
    if name != "webhook.test" {
        schema["required"] = json!(required);
    }
    schema
}

fn member_schema(name: &str, value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let item = items.first().map_or(json!({}), |it| member_schema(name, it));
            json!({ "type": "array", "items": item, "maxItems": 100 })
        }
        Value::Number(_) => json!({ "type": "integer" }),
        Value::Bool(_) => json!({ "type": "boolean" }),
        _ if name == "institution_name" => json!({ "type": ["string", "null"] }),
        _ if name.ends_with("_at") || name == "as_of" => {
            json!({ "type": "string", "format": "date-time" })
        }
        _ if name.ends_with("_on") || name.ends_with("_date") => {
            json!({ "type": "string", "format": "date" })
        }
        _ => json!({ "type": "string" }),
    }
}
