//! Paging through a list by its cursors.

use http::StatusCode;
use serde_json::Value;
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World};

use crate::client::Client;

async fn household() -> (World, Person, Client) {
    let world = World::new().await;
    let person = world.person("robin@example.com").await;
    let rows = (0..25).map(|it| {
        txn(&format!("2026-02-{:02}", 1 + it % 20), -100 - it, "KROGER").id(&format!("t{it}"))
    });
    person.import(statement([checking("Everyday").with_all(rows)])).await;
    let client = Client::of(&world, &person).await;
    (world, person, client)
}

fn next(answer: &Value) -> String {
    answer["pagination"]["next_cursor"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn paging_returns_every_row_once_in_order_and_ends() {
    let (_world, _, client) = household().await;
    let mut seen = Vec::new();
    let mut path = "/v1/transactions?limit=10".to_owned();
    loop {
        let page = client.get(&path).await.json();
        let rows = page["data"].as_array().unwrap();
        let pagination = &page["pagination"];
        assert_eq!(pagination["count"], rows.len());
        assert_eq!(pagination["limit"], 10);
        assert_eq!(pagination["total_count"], 25);
        seen.extend(rows.iter().map(|it| {
            (it["date_posted"].as_str().unwrap().to_owned(), it["id"].as_str().unwrap().to_owned())
        }));
        if pagination["has_more"] == false {
            assert_eq!(pagination["next_cursor"], Value::Null);
            break;
        }
        path = format!("/v1/transactions?limit=10&cursor={}", next(&page));
    }
    assert_eq!(seen.len(), 25);
    assert!(seen.is_sorted_by(|a, b| a > b), "rows must be newest first and unique");
}

#[tokio::test]
async fn a_cursor_is_refused_if_forged_expired_of_another_person_or_with_other_filters() {
    let (world, _, client) = household().await;
    let cursor = next(&client.get("/v1/transactions?limit=5").await.json());
    let with = |query: &str| format!("/v1/transactions?{query}&cursor={cursor}");
    assert_eq!(client.get(&with("limit=100")).await.status, StatusCode::OK, "limit may change");

    let expected = "400 VALIDATION_ERROR cursor: invalid or expired cursor: start again without it, and keep the \
                    filters the same between pages";
    assert_eq!(client.get(&with("limit=5&pending=false")).await.refusal(), expected);
    assert_eq!(client.get(&with("start_date=2026-02-01")).await.refusal(), expected);
    let mut forged = cursor.clone().into_bytes();
    forged[40] = if forged[40] == b'A' { b'B' } else { b'A' };
    let forged = String::from_utf8(forged).unwrap();
    for bad in [forged.as_str(), &cursor[..cursor.len() - 1], "x", &"A".repeat(500)] {
        let refusal = client.get(&format!("/v1/transactions?cursor={bad}")).await.refusal();
        assert_eq!(refusal, expected, "{bad}");
    }
    let sam = world.person("sam@example.com").await;
    let other = Client::of(&world, &sam).await;
    assert_eq!(other.get(&with("limit=5")).await.refusal(), expected);

    world.advance_seconds(24 * 3600 - 1);
    assert_eq!(client.get(&with("limit=5")).await.status, StatusCode::OK);
    world.advance_seconds(1);
    assert_eq!(client.get(&with("limit=5")).await.refusal(), expected);
}

#[tokio::test]
async fn a_cursor_gives_a_narrower_key_no_more_access() {
    let (world, person, client) = household().await;
    let cursor = next(&client.get("/v1/transactions?limit=5").await.json());
    let accounts = Some(Vec::new());
    let key = person.key(service::access::keys::NewKey { accounts, ..testkit::new_key() }).await;
    let narrowed = Client::with_token(&world, &key.secret);
    let page = narrowed.get(&format!("/v1/transactions?limit=5&cursor={cursor}")).await;
    assert_eq!(page.data(), serde_json::json!([]), "a cursor grants no access");
}
