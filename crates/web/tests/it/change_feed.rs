//! The change feed over the API.

use std::collections::BTreeMap;

use http::{Method, StatusCode};
use serde_json::{Value, json};
use service::ledger::accounts;
use testkit::World;
use testkit::draft::{checking, statement, txn};

use crate::client::Client;

#[tokio::test]
async fn the_change_feed_ends_with_a_cursor_to_go_on_from() {
    let world = World::new().await;
    let person = world.person("robin@example.com").await;
    let rows = (0..40).map(|it| txn("2026-03-01", -100 - it, &format!("KROGER #{it}")));
    person.import(statement([checking("Everyday").with_all(rows)])).await;
    let client = Client::of(&world, &person).await;
    let mut cursor = String::new();
    let mut rows = Vec::new();
    let mut pages = 0;
    loop {
        let answer = client.get(&format!("/v1/transactions/changes?limit=15{cursor}")).await;
        let (data, pagination) = (answer.data(), answer.json()["pagination"].clone());
        rows.extend(data["added"].as_array().unwrap().clone());
        assert_eq!((&data["updated"], &data["removed"]), (&json!([]), &json!([])));
        assert_eq!((pagination["limit"].as_i64(), pagination.get("total_count")), (Some(15), None));
        cursor = format!("&cursor={}", pagination["next_cursor"].as_str().unwrap());
        pages += 1;
        if pagination["has_more"] == false {
            break;
        }
    }
    let by_id = |rows: &[Value]| -> BTreeMap<String, Value> {
        rows.iter().map(|it| (it["id"].to_string(), it.clone())).collect()
    };
    let listed = client.get("/v1/transactions?limit=100").await.data();
    assert_eq!((pages, rows.len()), (3, 40));
    assert_eq!(by_id(&rows), by_id(listed.as_array().unwrap()));

    let id = person.account("Everyday").await;
    accounts::set_hidden(&world.app, &person.caller, id, true).await.unwrap();
    let path = format!("/v1/transactions/changes?limit=100{cursor}");
    let answer = client.get(&path).await;
    let removed = answer.data()["removed"].as_array().unwrap().clone();
    assert_eq!((removed.len(), answer.json()["pagination"]["count"].as_i64()), (40, Some(40)));
    assert_eq!(removed[0]["removed_at"].as_str().map(str::len), Some(24));
    let again = client.header("if-none-match", answer.header("etag")).get(&path).await;
    assert_eq!(again.status, StatusCode::NOT_MODIFIED);
    let refused = client.get("/v1/transactions/changes?cursor=abc").await.refusal();
    assert!(refused.starts_with("400 VALIDATION_ERROR cursor: "), "{refused}");
    let options = client.send(Method::OPTIONS, "/v1/transactions/changes", "").await;
    assert_eq!(options.header("allow"), "GET, HEAD, OPTIONS");
}
