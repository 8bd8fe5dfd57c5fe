//! What generators of clients rely on: open sets of values, exact ids, payloads told apart, no object without a shape.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use wire::v1::Code;

use super::json_schema::violations;
use super::{document, references};
use crate::actions::TradingFixture;

/// The names of the schemas that some parts of the document reference, directly or through others.
fn reachable(document: &Value, parts: &[&Value]) -> BTreeSet<String> {
    let mut found = Vec::new();
    parts.iter().for_each(|it| references(it, &mut found));
    let mut names = BTreeSet::new();
    while let Some(reference) = found.pop() {
        let target = document.pointer(reference.trim_start_matches('#')).unwrap();
        if names.insert(reference) {
            references(target, &mut found);
        }
    }
    let schema = |it: &String| it.strip_prefix("#/components/schemas/").map(str::to_owned);
    names.iter().filter_map(schema).collect()
}

fn operations(document: &Value) -> Vec<&Value> {
    let paths = document["paths"].as_object().unwrap().values();
    paths.flat_map(|it| it.as_object().unwrap().values()).collect()
}

fn walk<'a>(value: &'a Value, visit: &mut impl FnMut(&'a Value)) {
    visit(value);
    match value {
        Value::Object(members) => members.values().for_each(|it| walk(it, visit)),
        Value::Array(items) => items.iter().for_each(|it| walk(it, visit)),
        _ => {}
    }
}

#[test]
fn values_of_responses_are_open_and_values_of_requests_are_closed() {
    let document = document();
    let operations = operations(&document);
    let responses: Vec<&Value> = operations.iter().map(|it| &it["responses"]).collect();
    let requests: Vec<&Value> = operations.iter().map(|it| &it["requestBody"]).collect();
    let schemas = &document["components"]["schemas"];
    let mut sets = 0;
    let mut answered: Vec<&Value> = responses.clone();
    answered.push(&document["webhooks"]);
    for name in reachable(&document, &answered) {
        walk(&schemas[&name], &mut |it| assert!(it["enum"].is_null(), "{name}: {it}"));
        sets += usize::from(schemas[&name]["x-extensible-enum"].is_array());
    }
    assert!(sets > 40, "{sets}");
    for name in reachable(&document, &requests) {
        let open = "x-extensible-enum";
        walk(&schemas[&name], &mut |it| assert!(it[open].is_null(), "{name}: {it}"));
    }
}

#[test]
fn every_error_code_is_in_one_place() {
    let schemas = &document()["components"]["schemas"];
    let codes: Vec<&str> = Code::ALL.iter().map(|it| it.as_str()).collect();
    assert_eq!(schemas["ErrorCode"]["x-extensible-enum"], json!(codes));
    let code = &schemas["ErrorDetail"]["properties"]["code"];
    assert_eq!(code["$ref"], "#/components/schemas/ErrorCode");
}

#[test]
fn every_parameter_that_is_an_id_has_its_exact_form() {
    let document = document();
    let mut ids = 0;
    for operation in operations(&document) {
        for parameter in operation["parameters"].as_array().unwrap() {
            let name = parameter["name"].as_str().unwrap_or_default();
            let is_id = name == "id" || name.ends_with("_id") || name.ends_with("Id");
            let schema = &parameter["schema"];
            let is_exact = schema["format"] == "uuid"
                || schema["pattern"]
                    .as_str()
                    .is_some_and(|it| it.ends_with("_[0-7][0-9a-hjkmnp-tv-z]{25}$"));
            assert!(!is_id || is_exact, "{parameter}");
            ids += usize::from(is_id);
        }
    }
    assert!(ids > 15, "{ids}");
}

#[test]
fn no_object_is_without_a_shape() {
    let document = document();
    let check = |it: &Value| {
        let is_object = it["type"] == "object" || it["type"] == json!(["object", "null"]);
        let has_shape = it["properties"].as_object().is_some_and(|it| !it.is_empty());
        let is_free = it["additionalProperties"] == true || it["additionalProperties"].is_object();
        assert!(!is_object || has_shape || is_free, "{it}");
    };
    walk(&document["components"]["schemas"], &mut |it| check(it));
}

#[test]
fn a_payload_is_told_apart_by_the_type_of_the_action() {
    let document = document();
    let action = &document["components"]["schemas"]["NewAction"];
    assert_eq!(action["discriminator"]["propertyName"], "action_type");
    let mapping = action["discriminator"]["mapping"].as_object().unwrap();
    let types: Vec<&String> = mapping.keys().collect();
    let choices: Vec<&Value> = action["oneOf"].as_array().unwrap().iter().collect();
    assert_eq!(types.len(), 10);
    assert_eq!(types.len(), choices.len());
    for (word, reference) in mapping {
        let choice = document.pointer(reference.as_str().unwrap().trim_start_matches('#')).unwrap();
        assert_eq!(choice["properties"]["action_type"]["enum"], json!([word]));
        assert!(choice["properties"]["payload"]["$ref"].is_string(), "{word}");
    }
    // The payload of one type does not fit another.
    let with = |word: &str| json!({ "action_type": word, "payload": { "title": "A question" } });
    assert!(violations(&document, action, &with("custom"), "").is_empty());
    assert!(!violations(&document, action, &with("rule.create"), "").is_empty());
}

/// Bodies of trades, and whether they are right: exactly one of quantity and notional is given. Null counts as absent.
const TRADES: [(&str, bool); 6] = [
    (r#"{"symbol": "AAPL", "side": "buy", "quantity": 1}"#, true),
    (r#"{"symbol": "AAPL", "side": "buy", "notional": 50}"#, true),
    (r#"{"symbol": "AAPL", "side": "buy", "notional": 50, "quantity": null}"#, true),
    (r#"{"symbol": "AAPL", "side": "buy", "quantity": 1, "notional": 50}"#, false),
    (r#"{"symbol": "AAPL", "side": "buy"}"#, false),
    (r#"{"symbol": "AAPL", "side": "buy", "quantity": null, "notional": null}"#, false),
];

/// Payloads of rules, and whether they are right: either words or like, and a category, a counterparty or both.
const RULES: [(&str, bool); 6] = [
    (r#"{"words": "CORNER CAFE", "category": "Coffee shops"}"#, true),
    (r#"{"like": "CORNER CAFE", "counterparty_name": "Corner Cafe", "words": null}"#, true),
    (r#"{"words": "A", "category": "Coffee shops", "counterparty_name": "Corner Cafe"}"#, true),
    (r#"{"words": "A", "like": "B", "category": "Coffee shops"}"#, false),
    (r#"{"category": "Coffee shops"}"#, false),
    (r#"{"words": "CORNER CAFE"}"#, false),
];

#[tokio::test]
async fn the_document_and_the_server_agree_on_members_that_exclude_each_other() {
    let document = document();
    let fixture = TradingFixture::new().await;
    let trades = format!("/paper-trading/accounts/{}/trades", fixture.account);
    let bodies = TRADES
        .map(|(body, is_right)| (trades.as_str(), "NewPaperTrade", body.to_owned(), is_right));
    let rule = |(body, is_right): (&str, bool)| {
        let body = format!(r#"{{"action_type": "rule.create", "payload": {body}}}"#);
        ("/actions", "NewAction", body, is_right)
    };
    for (path, schema, body, is_right) in bodies.into_iter().chain(RULES.map(rule)) {
        let schema = json!({ "$ref": format!("#/components/schemas/{schema}") });
        let value: Value = serde_json::from_str(&body).unwrap();
        let wrong = violations(&document, &schema, &value, "");
        assert_eq!(wrong.is_empty(), is_right, "{body}: {wrong:?}");
        let answer =
            fixture.client.send(http::Method::POST, &format!("/v1{path}"), body.clone()).await;
        let expected = if is_right { http::StatusCode::OK } else { http::StatusCode::BAD_REQUEST };
        assert_eq!(answer.status, expected, "{body}: {:?}", answer.json());
    }
}
