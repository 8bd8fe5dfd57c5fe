//! The OpenAPI document: complete, sound, and true of real answers.

use std::collections::BTreeSet;

use http::StatusCode;
use serde_json::{Value, json};
use testkit::World;
use testkit::draft::{brokerage, card, checking, position, statement, txn};
use web::api::Endpoint;

use crate::actions::Desk;
use crate::client::Client;
use crate::webhooks::Hook;

const POST_TRADE: &str = "post /paper-trading/accounts/{accountId}/trades";

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
    let mut ids = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let named = format!("{method} {path}");
            assert!(operation["summary"].as_str().is_some_and(|it| !it.is_empty()), "{named}");
            // Where scopes depend on more than the path, it is said in words.
            let scope = operation["x-required-scopes"][0].is_string();
            let said = operation["description"].as_str().unwrap();
            assert!(scope || said.contains(":read") || said.contains("scope"), "{named}");
            let id = operation["operationId"].as_str().unwrap();
            assert!(ids.insert(id.to_owned()), "{id} twice");
            assert!(id.bytes().all(|it| it.is_ascii_alphanumeric()), "{id} is no name everywhere");
            let answers: BTreeSet<&String> =
                operation["responses"].as_object().unwrap().keys().collect();
            for status in ["200", "400", "401", "403", "429", "500", "503"] {
                assert!(answers.contains(&status.to_owned()), "{named} {status}");
            }
            // Codes of trades stand where a trade can be proposed, and nowhere else.
            let trades = matches!(named.as_str(), "post /actions" | POST_TRADE);
            let refused = operation["responses"]["422"]["content"].to_string();
            assert_eq!(refused.contains("INSUFFICIENT_FUNDS"), trades, "{named}");
            let of_changes = ["409", "413", "415", "422"].map(str::to_owned);
            for status in of_changes {
                assert_eq!(answers.contains(&status), method != "get", "{named} {status}");
            }
            assert_eq!(answers.contains(&"304".to_owned()), method == "get", "{named}");
        }
    }
}

/// What of a value does not fit its schema, by a reading of JSON Schema just wide enough for ours.
fn misfits(document: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(reference.trim_start_matches('#')).unwrap();
        return misfits(document, target, value, place);
    }
    if let Some(choices) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
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
                    // An object without any says nothing about what it holds.
                    None if schema.get("properties").is_none() => {}
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
    service::insights::pipeline::run_all(&world.app).await.unwrap();
    let client = Client::of(&world, &person).await;
    let document = document();
    let everyday = person.account("Everyday").await.to_string();
    // The others have tests of their own.
    let of_them = |it: &&Endpoint| !["Paper trading", "Actions", "Webhooks"].contains(&it.tag);
    for endpoint in web::api::ENDPOINTS.iter().filter(of_them) {
        let path = endpoint.path.replace("{id}", &everyday);
        let answer = client.get(&format!("/v1{path}")).await.json();
        fits(&document, endpoint, &answer);
    }
    let refused = client.get("/v1/transactions?limit=0").await.json();
    let schema = json!({ "$ref": "#/components/schemas/Error" });
    assert_eq!(misfits(&document, &schema, &refused, ""), Vec::<String>::new());
}

/// That an answer of the endpoint is as documented.
fn fits(document: &Value, endpoint: &Endpoint, answer: &Value) {
    let method = endpoint.method.as_str().to_lowercase();
    let operation = &document["paths"][endpoint.path][&method];
    let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
    assert!(schema.is_object(), "{method} {}", endpoint.path);
    let wrong = misfits(document, schema, answer, "");
    assert_eq!(wrong, Vec::<String>::new(), "{method} {}", endpoint.path);
}

#[tokio::test]
async fn proposals_and_paper_accounts_are_what_the_document_says() {
    let desk = Desk::new().await;
    desk.trade(r#"{"symbol": "AAPL", "side": "buy", "quantity": 3}"#).await;
    let waiting = desk.propose(r#"{"symbol": "AAPL", "side": "sell", "quantity": 1}"#).await;
    let document = document();
    let mut seen = 0;
    let of_them = |it: &&Endpoint| ["Paper trading", "Actions"].contains(&it.tag);
    for endpoint in web::api::ENDPOINTS.iter().filter(of_them) {
        let text = |name: &str| waiting[name].as_str().unwrap();
        let path = endpoint.path.replace("{accountId}", &desk.account);
        let path = path.replace("{id}", text("action_id")).replace("{threadId}", text("thread_id"));
        let examples = endpoint.body.map_or(&[("", "")][..], |it| it.examples);
        for (_, example) in examples {
            let example = desk.fill(example).await;
            let method = endpoint.method.as_str().parse().unwrap();
            let answer = desk.client.send(method, &format!("/v1{path}"), example.clone()).await;
            assert_eq!(answer.status, StatusCode::OK, "{path} {example}: {:?}", answer.json());
            fits(&document, endpoint, &answer.json());
            seen += 1;
        }
    }
    assert_eq!(seen, 16);
}

#[tokio::test]
async fn webhooks_are_what_the_document_says() {
    let hook = Hook::new().await;
    let document = document();
    let mut seen = 0;
    for endpoint in web::api::ENDPOINTS.iter().filter(|it| it.tag == "Webhooks") {
        let made = hook.endpoint().await;
        hook.happens(&seen.to_string()).await;
        let id = made["id"].as_str().unwrap();
        let path = endpoint.path.replace("{endpoint_id}", id);
        let examples = endpoint.body.map_or(&[("", "")][..], |it| it.examples);
        for (_, example) in examples {
            let example = example.replace("https://example.com/hooks", &hook.receiver.url);
            let method = endpoint.method.as_str().parse().unwrap();
            let answer = hook.send(method, &path, &example).await;
            assert_eq!(answer.status, StatusCode::OK, "{path} {example}: {:?}", answer.json());
            fits(&document, endpoint, &answer.json());
            seen += 1;
        }
        hook.send(http::Method::DELETE, &format!("/webhooks/endpoints/{id}"), "").await;
    }
    assert_eq!(seen, 13);
}

#[test]
fn the_limit_of_endpoints_is_documented_where_it_is_met() {
    let document = document();
    let mut places = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            if operation["responses"].to_string().contains("ENDPOINT_LIMIT_REACHED") {
                places.push(format!("{method} {path}"));
            }
        }
    }
    assert_eq!(places, ["post /webhooks/endpoints", "put /webhooks/endpoints/{endpoint_id}"]);
}

#[test]
fn the_examples_of_bodies_are_what_the_document_says() {
    let document = document();
    let mut checked = 0;
    for endpoint in web::api::ENDPOINTS {
        let method = endpoint.method.as_str().to_lowercase();
        let request = &document["paths"][endpoint.path][&method]["requestBody"];
        let Some(content) = request["content"]["application/json"].as_object() else { continue };
        assert_eq!(
            content["examples"].as_object().unwrap().len(),
            endpoint.body.unwrap().examples.len()
        );
        for example in content["examples"].as_object().unwrap().values() {
            let (schema, value) = (&content["schema"], &example["value"]);
            assert!(value.is_object(), "{example}");
            assert_eq!(misfits(&document, schema, value, ""), Vec::<String>::new(), "{value}");
            let mut wrong = value.clone();
            wrong["unheard_of"] = json!(1);
            assert!(!misfits(&document, schema, &wrong, "").is_empty(), "nothing else is taken");
            checked += 1;
        }
    }
    assert_eq!(checked, 15);
}

#[tokio::test]
async fn the_document_is_served_to_anyone() {
    let world = World::new().await;
    let served = Client::anonymous(&world).get("/v1/openapi.json").await;
    assert_eq!(served.json()["openapi"], "3.1.0");
    assert_eq!(served.json()["servers"][0]["url"], "http://evenkeel.test/v1");
}
