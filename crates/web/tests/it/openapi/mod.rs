//! The OpenAPI document: complete, valid, and consistent with real responses.

mod json_schema;
mod types;

use std::collections::BTreeSet;

use http::StatusCode;
use serde_json::{Value, json};
use service::ledger::{attachments, goals};
use testkit::World;
use testkit::draft::{brokerage, card, checking, position, statement, txn};
use web::api::Endpoint;

use crate::actions::TradingFixture;
use crate::client::Client;
use crate::webhooks::WebhooksFixture;
use json_schema::violations;

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
fn every_reference_resolves_and_every_operation_is_described() {
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
            // Where scopes depend on more than the path, the description explains them.
            let scope = operation["x-required-scopes"][0].is_string();
            let description = operation["description"].as_str().unwrap();
            assert!(
                scope || description.contains(":read") || description.contains("scope"),
                "{named}"
            );
            let id = operation["operationId"].as_str().unwrap();
            assert!(ids.insert(id.to_owned()), "{id} is used twice");
            assert!(
                id.bytes().all(|it| it.is_ascii_alphanumeric()),
                "{id} is not an identifier in every language"
            );
            let answers: BTreeSet<&String> =
                operation["responses"].as_object().unwrap().keys().collect();
            for status in ["200", "400", "401", "403", "429", "500", "503"] {
                assert!(answers.contains(&status.to_owned()), "{named} {status}");
            }
            // Error codes of trades are documented only where a trade can be proposed.
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

#[tokio::test]
async fn real_responses_match_the_document() {
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
    let goal = goals::NewGoal {
        name: "Trip".to_owned(),
        kind: goals::Kind::Savings,
        status: goals::Status::Active,
        target: base::Money::new(100_000, base::Currency::USD),
        saved_minor: 2_500,
        target_on: None,
        accounts: Vec::new(),
    };
    goals::create(&world.app, &person.caller, goal).await.unwrap();
    service::insights::pipeline::run_all(&world.app).await.unwrap();
    let client = Client::of(&world, &person).await;
    let document = document();
    let first = async |list: &str, member: &str| {
        let data = client.get(&format!("/v1/{list}")).await.data();
        let row = if member.is_empty() { &data[0] } else { &data[member][0] };
        row["id"].as_str().unwrap().to_owned()
    };
    let ids = [
        ("/accounts", person.account("Everyday").await.to_string()),
        ("/transactions", first("transactions", "").await),
        ("/goals", first("goals", "goals").await),
        ("/recurring", first("recurring", "streams").await),
    ];
    let id = base::TransactionId::parse(&ids[1].1).unwrap();
    let receipt = ("receipt.pdf", "%PDF-1.7".into());
    let file = attachments::add(&world.app, &person.caller, id, receipt).await.unwrap();
    // The other endpoints have their own tests.
    let is_covered = |it: &&Endpoint| !["Paper trading", "Actions", "Webhooks"].contains(&it.tag);
    for endpoint in web::api::ENDPOINTS.iter().filter(is_covered) {
        let id = ids.iter().find(|(list, _)| endpoint.path.starts_with(list));
        let path = endpoint.path.replace("{id}", id.map_or("", |(_, id)| id));
        let path = path.replace("{attachmentId}", &file.to_string());
        let answer = client.get(&format!("/v1{path}")).await.json();
        assert_documented(&document, endpoint, &answer);
    }
    let refused = client.get("/v1/transactions?limit=0").await.json();
    let schema = json!({ "$ref": "#/components/schemas/ApiError" });
    assert_eq!(violations(&document, &schema, &refused, ""), Vec::<String>::new());
}

/// Checks that a response of the endpoint matches the document.
fn assert_documented(document: &Value, endpoint: &Endpoint, answer: &Value) {
    let method = endpoint.method.as_str().to_lowercase();
    let operation = &document["paths"][endpoint.path][&method];
    let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
    assert!(schema.is_object(), "{method} {}", endpoint.path);
    let wrong = violations(document, schema, answer, "");
    assert_eq!(wrong, Vec::<String>::new(), "{method} {}", endpoint.path);
}

#[tokio::test]
async fn responses_about_proposals_and_paper_accounts_match_the_document() {
    let fixture = TradingFixture::new().await;
    fixture.trade(r#"{"symbol": "AAPL", "side": "buy", "quantity": 3}"#).await;
    let waiting = fixture.propose(r#"{"symbol": "AAPL", "side": "sell", "quantity": 1}"#).await;
    let document = document();
    let mut seen = 0;
    let is_covered = |it: &&Endpoint| ["Paper trading", "Actions"].contains(&it.tag);
    for endpoint in web::api::ENDPOINTS.iter().filter(is_covered) {
        let text = |name: &str| waiting[name].as_str().unwrap();
        let path = endpoint.path.replace("{accountId}", &fixture.account);
        let path = path.replace("{id}", text("action_id")).replace("{threadId}", text("thread_id"));
        let examples = endpoint.body.map_or(&[("", "")][..], |it| it.examples);
        for (_, example) in examples {
            let example = fixture.fill_example(example).await;
            let method = endpoint.method.as_str().parse().unwrap();
            let answer = fixture.client.send(method, &format!("/v1{path}"), example.clone()).await;
            assert_eq!(answer.status, StatusCode::OK, "{path} {example}: {:?}", answer.json());
            assert_documented(&document, endpoint, &answer.json());
            seen += 1;
        }
    }
    assert_eq!(seen, 19);
}

#[tokio::test]
async fn responses_about_webhooks_match_the_document() {
    let fixture = WebhooksFixture::new().await;
    let document = document();
    let mut seen = 0;
    for endpoint in web::api::ENDPOINTS.iter().filter(|it| it.tag == "Webhooks") {
        let made = fixture.create_endpoint().await;
        fixture.import_and_deliver(&seen.to_string()).await;
        let id = made["id"].as_str().unwrap();
        let events = fixture.send(http::Method::GET, "/webhooks/events", "").await.data();
        let event = events["events"][0]["id"].as_str().unwrap();
        let path = endpoint.path.replace("{endpoint_id}", id).replace("{event_id}", event);
        let examples = endpoint.body.map_or(&[("", "")][..], |it| it.examples);
        for (_, example) in examples {
            let example = example.replace("https://example.com/hooks", &fixture.receiver.url);
            let example = example.replace("ep_01kny3v1m8f2x9q4t7r5c6b8de", id);
            let method = endpoint.method.as_str().parse().unwrap();
            let answer = fixture.send(method, &path, &example).await;
            assert_eq!(answer.status, StatusCode::OK, "{path} {example}: {:?}", answer.json());
            assert_documented(&document, endpoint, &answer.json());
            seen += 1;
        }
        fixture.send(http::Method::DELETE, &format!("/webhooks/endpoints/{id}"), "").await;
    }
    assert_eq!(seen, 14);
}

#[test]
fn the_endpoint_limit_is_documented_where_it_applies() {
    let document = document();
    let mut operations = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            if operation["responses"].to_string().contains("ENDPOINT_LIMIT_REACHED") {
                operations.push(format!("{method} {path}"));
            }
        }
    }
    assert_eq!(operations, ["post /webhooks/endpoints", "put /webhooks/endpoints/{endpoint_id}"]);
}

#[test]
fn the_proposal_limit_is_documented_where_it_applies() {
    let document = document();
    let mut operations = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            if operation["responses"]["429"].to_string().contains("PROPOSAL_LIMIT_REACHED") {
                operations.push(format!("{method} {path}"));
            }
        }
    }
    operations.sort_unstable();
    assert_eq!(operations, ["post /actions", "post /paper-trading/accounts", POST_TRADE]);
}

#[test]
fn members_of_a_trade_are_never_null() {
    let trade = &document()["components"]["schemas"]["PaperTrade"];
    for (name, schema) in trade["properties"].as_object().unwrap() {
        assert!(!schema.to_string().contains("null"), "{name}: {schema}");
    }
    assert_eq!(
        trade["required"].as_array().unwrap().len(),
        trade["properties"].as_object().unwrap().len()
    );
}

#[test]
fn examples_of_request_bodies_match_their_schemas() {
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
            assert_eq!(violations(&document, schema, value, ""), Vec::<String>::new(), "{value}");
            let mut wrong = value.clone();
            wrong["unheard_of"] = json!(1);
            assert!(
                !violations(&document, schema, &wrong, "").is_empty(),
                "an unknown member is refused"
            );
            checked += 1;
        }
    }
    assert_eq!(checked, 18);
}

#[tokio::test]
async fn the_document_is_served_without_a_token() {
    let world = World::new().await;
    let served = Client::anonymous(&world).get("/v1/openapi.json").await;
    assert_eq!(served.json()["openapi"], "3.1.0");
    assert_eq!(served.json()["servers"][0]["url"], "http://evenkeel.test/v1");
}
