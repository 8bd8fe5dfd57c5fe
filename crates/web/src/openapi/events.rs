//! The `webhooks` section: the payload of every event type, from the examples of the types in `wire`.

use std::collections::BTreeMap;

use base::{Date, Timestamp};
use serde_json::{Map, Value, json};
use wire::json::{Day, Moment};
use wire::v1::{API_VERSION, EventType, example};

use super::{Schemas, ids};

/// An operation for each event type, as a receiver sees it.
pub(super) fn webhooks() -> BTreeMap<&'static str, Value> {
    let operation = |event: &EventType| {
        let schema =
            json!({ "$ref": format!("#/components/schemas/{}Event", type_name(event.name)) });
        let operation = json!({ "post": {
            "operationId": format!("on{}", type_name(event.name)),
            "tags": ["Webhooks"],
            "summary": event.description,
            "description": "Sent to every endpoint that subscribes to it. Verify the signature, answer 2xx within \
                15 seconds, and deduplicate by `id`.",
            "security": [],
            "parameters": signature_headers(),
            "requestBody": { "required": true, "content": { "application/json": {
                "schema": schema,
                "example": {
                    "id": "evt_01kny3v1m8f2x9q4t7r5c6b8de",
                    "type": event.name,
                    "created_at": "2026-04-10T08:30:00.000Z",
                    "api_version": API_VERSION,
                    "data": example_data(event.name),
                },
            } } },
            "responses": { "2XX": { "description": "The event was received." } },
        } });
        (event.name, operation)
    };
    EventType::ALL.iter().map(operation).collect()
}

/// The schemas of events: each event type and its `data`, and the `data` of any type.
pub(super) fn schemas() -> Schemas {
    let mut schemas = Schemas::new();
    let mut all = Vec::new();
    for event in EventType::ALL {
        let (name, data) = (type_name(event.name), example_data(event.name));
        let to_data = json!({ "$ref": format!("#/components/schemas/{name}Data") });
        schemas.insert(format!("{name}Event"), envelope(event, &to_data));
        schemas.insert(format!("{name}Data"), data_schema(event, &data));
        all.push(to_data);
    }
    let any = json!({ "description": "The data of an event, by its type.", "anyOf": all });
    schemas.insert("EventData".to_owned(), any);
    schemas
}

/// Describes the `data` of the event log, which `wire` has as JSON text, by the schemas of events.
pub(super) fn refer_to_data(schemas: &mut Schemas) {
    let Some(log) = schemas.get_mut("LoggedEvent") else { return };
    let data = &mut log["properties"]["data"];
    let choices = json!([{ "$ref": "#/components/schemas/EventData" }, { "type": "null" }]);
    *data = json!({ "description": data["description"], "oneOf": choices });
}

/// `transaction.created` becomes `TransactionCreated`.
pub(super) fn type_name(name: &str) -> String {
    let words = name.split(['.', '_']);
    words.map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect()
}

fn example_data(name: &str) -> Value {
    let at: Timestamp = "2026-04-10T08:30:00Z".parse().unwrap_or(Timestamp::UNIX_EPOCH);
    let data = example(name, Moment(at), Day(Date::constant(2026, 4, 10)));
    data.map_or(json!({ "test": true }), |it| json!(it))
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

fn envelope(event: &EventType, data: &Value) -> Value {
    json!({
        "type": "object",
        "description": event.description,
        "required": ["id", "type", "created_at", "api_version", "data"],
        "properties": {
            "id": { "type": "string", "pattern": ids::pattern("evt_") },
            "type": { "type": "string", "const": event.name },
            "created_at": { "$ref": "#/components/schemas/DateTime" },
            "api_version": { "type": "string" },
            "data": data,
        },
    })
}

/// The schema of an example: every event of a type has the same members. Sent tests add `test`.
fn data_schema(event: &EventType, data: &Value) -> Value {
    let members = data.as_object().into_iter().flatten();
    let mut properties: Map<String, Value> = members
        .map(|(member, value)| (member.clone(), member_schema(event.name, member, value)))
        .collect();
    let required: Vec<String> = properties.keys().cloned().collect();
    let test =
        json!({ "type": "boolean", "description": "`true` in a test event; otherwise absent." });
    properties.insert("test".to_owned(), test);
    let mut schema = json!({ "type": "object", "properties": properties });
    if event.name != "webhook.test" {
        schema["required"] = json!(required);
    }
    schema
}

fn member_schema(event: &str, name: &str, value: &Value) -> Value {
    let set = match (event, name) {
        (_, "type") => Some("AccountType"),
        (_, "action_kind") => Some("ActionKind"),
        (_, "reason") => Some("DisabledReason"),
        ("goal.updated", "status") => Some("GoalStatus"),
        (_, "status") => Some("ActionStatus"),
        _ => None,
    };
    if let Some(set) = set {
        return json!({ "$ref": format!("#/components/schemas/{set}") });
    }
    match value {
        Value::Array(items) => {
            let item = items.first().map_or(json!({}), |it| member_schema(event, name, it));
            json!({ "type": "array", "items": item, "maxItems": 100 })
        }
        Value::Number(_) => json!({ "type": "integer" }),
        Value::Bool(_) => json!({ "type": "boolean" }),
        _ if name == "institution_name" => json!({ "type": ["string", "null"] }),
        _ if name.ends_with("_at") || name == "as_of" => {
            json!({ "$ref": "#/components/schemas/DateTime" })
        }
        _ if name.ends_with("_on") || name.ends_with("_date") => {
            json!({ "$ref": "#/components/schemas/CalendarDate" })
        }
        _ => {
            let mut schema = json!({ "type": "string" });
            if let Some((keyword, form)) = ids::form(name, value.as_str().unwrap_or_default()) {
                schema[keyword] = form;
            }
            schema
        }
    }
}
