//! Single resources: each is the same object as in its list.

use base::Currency;
use base::Money;
use serde_json::{Value, json};
use service::access::keys::NewKey;
use service::ledger::accounts;
use service::ledger::goals::{self, Kind, NewGoal, Status};
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World, new_key};

use crate::client::Client;

const LISTS: [(&str, &str, &str); 4] = [
    ("transactions", "", "txn_01kny3v1m8f2x9q4t7r5c6b8de"),
    ("accounts", "accounts", "acc_01kny3v1m8f2x9q4t7r5c6b8de"),
    ("goals", "goals", "goal_01kny3v1m8f2x9q4t7r5c6b8de"),
    ("recurring", "streams", "rec_01kny3v1m8f2x9q4t7r5c6b8de"),
];

/// A person with a subscription, so that each list has something.
async fn household(world: &World, email: &str) -> Person {
    let person = world.person(email).await;
    let months = ["2025-11-05", "2025-12-05", "2026-01-05", "2026-02-05", "2026-03-05"];
    let rows = months.map(|day| txn(day, -1_599, "NETFLIX.COM"));
    person.import(statement([checking("Everyday").with_all(rows), checking("Other")])).await;
    let goal = NewGoal {
        name: "Trip".to_owned(),
        kind: Kind::Savings,
        status: Status::Active,
        target: Money::new(100_000, Currency::USD),
        saved_minor: 2_500,
        target_on: None,
        accounts: vec![person.account("Everyday").await],
    };
    goals::create(&world.app, &person.caller, goal).await.unwrap();
    service::insights::pipeline::run_all(&world.app).await.unwrap();
    person
}

async fn items(client: &Client, list: &str, member: &str) -> Vec<Value> {
    let data = client.get(&format!("/v1/{list}")).await.data();
    let rows = if member.is_empty() { data } else { data[member].clone() };
    rows.as_array().unwrap().clone()
}

#[tokio::test]
async fn each_item_of_a_list_is_the_same_object_by_its_id() {
    let world = World::new().await;
    let robin = household(&world, "robin@example.com").await;
    let sam = household(&world, "sam@example.com").await;
    let (client, stranger) = (Client::of(&world, &robin).await, Client::of(&world, &sam).await);
    for (list, member, nobodys) in LISTS {
        let all = items(&client, list, member).await;
        assert!(!all.is_empty(), "{list}");
        for item in all {
            let path = format!("/v1/{list}/{}", item["id"].as_str().unwrap());
            let mut alone = client.get(&path).await.data();
            // A transaction alone also has its links; these have none.
            for (link, none) in [("refund_of", Value::Null), ("refunds", json!([]))] {
                let found = alone.as_object_mut().unwrap().remove(link);
                assert_eq!(found, (list == "transactions").then_some(none), "{path} {link}");
            }
            assert_eq!(alone, item, "{path}");
            let refused = stranger.get(&path).await.refusal();
            let unknown = client.get(&format!("/v1/{list}/{nobodys}")).await.refusal();
            assert_eq!(refused, unknown);
            assert!(unknown.starts_with("404 NOT_FOUND: there is no such "), "{unknown}");
        }
        let odd = client.get(&format!("/v1/{list}/1")).await.refusal();
        assert!(odd.starts_with("404 NOT_FOUND: there is no such "), "{odd}");
    }
}

#[tokio::test]
async fn a_hidden_account_and_its_rows_are_found_by_id_only() {
    let world = World::new().await;
    let robin = household(&world, "robin@example.com").await;
    let client = Client::of(&world, &robin).await;
    let transaction = items(&client, "transactions", "").await[0].clone();
    let stream = items(&client, "recurring", "streams").await[0].clone();
    let account = robin.account("Everyday").await;
    accounts::set_hidden(&world.app, &robin.caller, account, true).await.unwrap();
    assert_eq!(client.get("/v1/transactions").await.data(), json!([]));
    let id = transaction["id"].as_str().unwrap();
    assert_eq!(client.get(&format!("/v1/transactions/{id}")).await.data()["id"], id);
    let id = stream["id"].as_str().unwrap();
    assert_eq!(client.get(&format!("/v1/recurring/{id}")).await.data()["id"], id);
    assert_eq!(client.get(&format!("/v1/accounts/{account}")).await.data()["hidden"], true);
}

#[tokio::test]
async fn a_limited_key_finds_only_what_belongs_to_its_accounts() {
    let world = World::new().await;
    let robin = household(&world, "robin@example.com").await;
    let whole = Client::of(&world, &robin).await;
    let other = robin.account("Other").await;
    let key = robin.key(NewKey { accounts: Some(vec![other]), ..new_key() }).await;
    let limited = Client::with_token(&world, &key.secret);
    for (list, member, _) in LISTS {
        for item in items(&whole, list, member).await {
            let path = format!("/v1/{list}/{}", item["id"].as_str().unwrap());
            let is_own = item["id"] == other.to_string();
            let expected = if is_own { 200 } else { 404 };
            assert_eq!(limited.get(&path).await.status.as_u16(), expected, "{path}");
        }
    }
}
