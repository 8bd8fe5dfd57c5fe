//! The OpenAPI document: complete, sound, and true of real answers.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::World;
use testkit::draft::{brokerage, card, checking, position, statement, txn};

use crate::client::Client;

fn document() -> Value {
    serde_json::from_str(&web::openapi::document("http://evenkeel.test")).unwrap()
}

fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get("$ref") {
                found.push(reference.clone());
            }
            members.values().for_each(|it| references(it, found));
        }
        Value::Array(items) => items.iter().for_each(|it| references(it, found)),
        _ => {}
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_schema_is_described() {
    let document = document();
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 20);
    for reference in found {
        let pointer = reference.trim_start_matches('#');
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let named = format!("{method} {path}");
            assert!(operation["summary"].as_str().is_some_and(|it| !it.is_empty()), "{named}");
            assert!(!operation["x-required-scopes"][0].is_null(), "{named}");
            let answers: BTreeSet<&String> =
                operation["responses"].as_object().unwrap().keys().collect();
            for status in ["200", "304", "400", "401", "403", "429", "500", "503"] {
                assert!(answers.contains(&status.to_owned()), "{named} {status}");
            }
        }
    }
}

/// What of a value does not fit its schema, by a reading of JSON Schema just wide enough for ours.
fn misfits(document: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(reference.trim_start_matches('#')).unwrap();
        return misfits(document, target, value, place);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let fits = |it: &Value| misfits(document, it, value, place).is_empty();
        return if choices.iter().any(fits) {
            Vec::new()
        } else {
            vec![format!("{place}: no choice fits {value}")]
        };
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(only) => vec![only],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => return Vec::new(),
    };
    let actual = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() && types.contains(&"integer") => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    if !types.contains(&actual) {
        return vec![format!("{place}: {actual} is not {types:?}")];
    }
    match value {
        Value::Array(items) => items
            .iter()
            .flat_map(|it| misfits(document, &schema["items"], it, &format!("{place}[]")))
            .collect(),
        Value::Object(members) => {
            let known = schema["properties"].as_object().cloned().unwrap_or_default();
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let missing =
                required.iter().filter_map(Value::as_str).filter(|it| !members.contains_key(*it));
            let mut wrong: Vec<String> =
                missing.map(|it| format!("{place}.{it} is missing")).collect();
            for (name, member) in members {
                match known.get(name) {
                    Some(schema) => {
                        wrong.extend(misfits(document, schema, member, &format!("{place}.{name}")))
                    }
                    None if schema["additionalProperties"].is_object() => {
                        let any = &schema["additionalProperties"];
                        wrong.extend(misfits(document, any, member, &format!("{place}.{name}")))
                    }
                    None => wrong.push(format!("{place}.{name} is not documented")),
                }
            }
            wrong
        }
        _ => Vec::new(),
    }
}

#[test]
fn the_reading_of_schemas_notices_what_is_wrong() {
    let document = document();
    let schema = json!({ "$ref": "#/components/schemas/Meta" });
    let good = json!({ "request_id": "req_1", "timestamp": "2026-03-10T12:00:00.000Z" });
    assert!(misfits(&document, &schema, &good, "").is_empty());
    for bad in
        [json!({ "request_id": 1, "timestamp": "" }), json!({ "request_id": "" }), json!(null)]
    {
        assert!(!misfits(&document, &schema, &bad, "").is_empty(), "{bad}");
    }
}

#[tokio::test]
async fn real_answers_are_what_the_document_says() {
    let (world, person, _) = crate::insights::household().await;
    let broker = brokerage("Broker").balance("2026-03-10T12:00:00Z", 300_000).holding([
        position("AAPL", "10").priced("200", "198").cost(150_000),
        position("XYZ", "5.5"),
    ]);
    let rows = [
        txn("2026-03-01", -100, "A").category("TRAVEL_FLIGHTS"),
        txn("2026-03-02", 5, "B").pending(),
    ];
    let everyday = checking("Everyday").balance("2026-03-10T08:00:00Z", 1).with_all(rows);
    person.import(statement([everyday, card("Card"), broker])).await;
    service::insights::run_all(&world.app).await.unwrap();
    let client = Client::of(&world, &person).await;
    let document = document();
    let everyday = person.account("Everyday").await.to_string();
    for endpoint in web::api::ENDPOINTS {
        let path = endpoint.path.replace("{id}", &everyday);
        let answer = client.get(&format!("/v1{path}")).await.json();
        let operation = &document["paths"][endpoint.path]["get"];
        let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        assert!(schema.is_object(), "{path}");
        assert_eq!(misfits(&document, schema, &answer, ""), Vec::<String>::new(), "{path}");
    }
    let refused = client.get("/v1/transactions?limit=0").await.json();
    let schema = json!({ "$ref": "#/components/schemas/Error" });
    assert_eq!(misfits(&document, &schema, &refused, ""), Vec::<String>::new());
}

#[tokio::test]
async fn the_document_is_served_to_anyone() {
    let world = World::new().await;
    let served = Client::anonymous(&world).get("/v1/openapi.json").await;
    assert_eq!(served.json()["openapi"], "3.1.0");
    assert_eq!(served.json()["servers"][0]["url"], "http://evenkeel.test/v1");
}
