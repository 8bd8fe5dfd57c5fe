//! The complete responses of the endpoints that read data. The clock and the ids are fixed, so nothing is masked.

use base::draft::{AssetClass, SecurityKind};
use base::{Currency, Fixed9, Money};
use serde_json::{Value, json};
use service::ledger::accounts;
use service::ledger::goals::{self, Kind, NewGoal, Status};
use testkit::draft::{Position, brokerage, card, checking, position, rate, statement, txn};
use testkit::{Person, World, day};

use crate::client::Client;

async fn household() -> (World, Person, Client) {
    let world = World::new().await;
    let person = world.person("robin@example.com").await;
    let client = Client::of(&world, &person).await;
    (world, person, client)
}

/// A position with a price, but without a previous close.
fn priced_only(mut position: Position, price: &str) -> Position {
    position.security.price = Some(Fixed9::parse(price).unwrap());
    position
}

fn cash(amount: &str) -> Position {
    let mut cash = priced_only(position("USD", amount), "1");
    cash.security.kind = SecurityKind::Cash;
    cash.security.asset_class = AssetClass::Cash;
    cash
}

fn in_euro(mut position: Position) -> Position {
    position.security.currency = Currency::EUR;
    position
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn me_returns_the_person_that_the_token_belongs_to() {
    let (_world, person, client) = household().await;
    let before = client.get("/v1/me").await.data();
    assert_eq!(before["connected_at"], Value::Null);
    person.import(statement([checking("Everyday")])).await;
    let profile = client.get("/v1/me").await.data();
    assert_eq!(
        profile,
        json!({
            "id": person.user.id.to_string(),
            "email": "robin@example.com",
            "connected_at": "2026-03-10T12:00:00.000Z",
            "preferred_name": null,
            "image": null,
            "timezone": "UTC",
            "created_at": "2026-03-10T12:00:00.000Z",
        })
    );
}

#[tokio::test]
async fn accounts_are_filtered_by_status_and_visibility_and_sorted_by_type_and_name() {
    let (world, person, client) = household().await;
    person
        .import(statement([
            card("Zebra Card").balance("2026-03-10T08:00:00Z", 12_345),
            checking("Beta"),
            checking("Alpha"),
            checking("Old").closed_on("2025-12-31"),
            checking("Secret"),
        ]))
        .await;
    let secret = person.account("Secret").await;
    accounts::set_hidden(&world.app, &person.caller, secret, true).await.unwrap();
    let list = |query: &'static str| {
        let client = &client;
        async move { client.get(&format!("/v1/accounts{query}")).await.data()["accounts"].clone() }
    };
    assert_eq!(names(&list("").await), ["Alpha", "Beta", "Zebra Card"]);
    assert_eq!(names(&list("?status=closed").await), ["Old"]);
    assert_eq!(names(&list("?status=all").await), ["Alpha", "Beta", "Old", "Zebra Card"]);
    assert_eq!(
        names(&list("?status=all&include_hidden=true").await),
        ["Alpha", "Beta", "Old", "Secret", "Zebra Card"]
    );
    let shown = list("").await;
    let zebra = &shown[2];
    assert_eq!(zebra["balance_current"].to_string(), "123.45");
    assert_eq!(zebra["balance_available"], Value::Null, "unknown is null, never zero");
    assert_eq!(zebra["as_of"], "2026-03-10T08:00:00.000Z");
    assert_eq!(
        (zebra["type"].as_str(), zebra["status"].as_str(), zebra["external_source"].as_str()),
        (Some("credit"), Some("open"), Some("file"))
    );
}

#[tokio::test]
async fn a_transaction_has_every_member_with_consistent_values() {
    let (_world, person, client) = household().await;
    let account = checking("Everyday").with(
        txn("2026-03-02", -4_210, "AplPay KROGER #339 \"A\" <b>&amp;\u{1}")
            .id("t1")
            .authorized_on("2026-03-01")
            .from("Kroger")
            .category("FOOD_AND_DRINK_GROCERIES"),
    );
    person.import(statement([account.with(txn("2026-03-01", 250_000, "PAYROLL").pending())])).await;
    let page = client.get("/v1/transactions").await;
    let data = page.data();
    let everyday = person.account("Everyday").await.to_string();
    let groceries = &data[0];
    assert_eq!(
        groceries,
        &json!({
            "id": groceries["id"],
            "account_id": everyday,
            "account_name": "Everyday",
            "amount": groceries["amount"],
            "amount_absolute": groceries["amount_absolute"],
            "currency": "USD",
            "cash_flow_direction": "outflow",
            "date_posted": "2026-03-02",
            "date_authorized": "2026-03-01",
            "pending": false,
            "category_label": "Groceries",
            "category_tier1": "FOOD_AND_DRINK",
            "category_tier2": "FOOD_AND_DRINK_GROCERIES",
            "counterparty_name": "Kroger",
            "counterparty_logo_url": null,
            "original_description": "AplPay KROGER #339 \"A\" <b>&amp;\u{1}",
            "is_internal_transfer": false,
            "note": null,
            "tags": [],
            "splits": [],
            "updated_at": "2026-03-10T12:00:00.000Z",
        })
    );
    let text = String::from_utf8(page.bytes).unwrap();
    assert!(text.contains("\"amount\":-42.10,\"amount_absolute\":42.10,"), "exact: {text}");
    let pay = &data[1];
    assert_eq!((&pay["pending"], &pay["cash_flow_direction"]), (&json!(true), &json!("inflow")));
    assert_eq!(
        pay["category_tier1"], "INCOME",
        "categorized by its text, because the source gives no category"
    );
}

#[tokio::test]
async fn balances_have_one_row_per_day_with_its_source() {
    let (_world, person, client) = household().await;
    // The worked example of the balance method: 1,000.00 on the 10th, a report of 845.00 on the 8th.
    let account = checking("Everyday")
        .balance("2026-03-10T12:00:00Z", 100_000)
        .past_balance("2026-03-08", 84_500)
        .with(txn("2026-03-10", 20_000, "PAY"))
        .with(txn("2026-03-09", -5_000, "SHOES"))
        .with(txn("2026-03-07", -3_000, "BOOK"));
    person.import(statement([account])).await;
    let id = person.account("Everyday").await;
    let answer = client.get(&format!("/v1/accounts/{id}/balances?start_date=2026-03-01")).await;
    let data = answer.data();
    let rows: Vec<String> = data["balances"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            let unexplained = &it["unexplained_change"];
            let (date, balance) = (it["date"].as_str().unwrap(), &it["balance_current"]);
            format!("{date} {balance} {} {unexplained}", it["source"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        rows,
        [
            "2026-03-06 875.00 inferred null",
            "2026-03-07 845.00 inferred null",
            "2026-03-08 845.00 reported null",
            "2026-03-09 800.00 inferred 5.00",
            "2026-03-10 1000.00 reported null",
        ]
        .map(|it| it.replace(".00", ".0"))
    );
    assert_eq!(
        (&data["start_date"], &data["end_date"]),
        (&json!("2026-03-01"), &json!("2026-03-10"))
    );
    let bounds = |query: &'static str| {
        let client = &client;
        async move { client.get(&format!("/v1/accounts/{id}/balances?{query}")).await.refusal() }
    };
    assert_eq!(
        bounds("start_date=2026-03-02&end_date=2026-03-01").await,
        "400 VALIDATION_ERROR start_date: start_date must not be after end_date"
    );
    assert_eq!(
        bounds("start_date=2021-03-05&end_date=2026-03-10").await,
        "400 VALIDATION_ERROR start_date: start_date must be at most 1830 days before end_date"
    );
}

#[tokio::test]
async fn investments_are_grouped_and_sorted_and_totals_exclude_unknown_values() {
    let (_world, person, client) = household().await;
    let account = brokerage("Broker").balance("2026-03-10T12:00:00Z", 217_000).holding([
        position("AAPL", "10").priced("200", "198").cost(150_000),
        priced_only(position("XYZ", "5"), "10"),
        cash("120"),
    ]);
    person.import(statement([account])).await;
    let data = client.get("/v1/investments").await.data();
    let total = &data["account_total"];
    assert_eq!(total["current_value"].to_string(), "2170.0");
    assert_eq!(total["day_change"].to_string(), "20.0");
    assert_eq!(total["total_gain_loss"].to_string(), "500.0");
    assert_eq!(total["cost_basis_total"].to_string(), "1620.0");
    assert_eq!(total["total_gain_loss_percent"].to_string(), "30.86");
    let equity = &data["groups"][0];
    assert_eq!(equity["asset_class"], "equity");
    let xyz = &equity["holdings"][1];
    assert_eq!((&xyz["symbol"], &xyz["total_gain_loss"]), (&json!("XYZ"), &Value::Null));
    let order = |data: &Value| {
        let holdings = data["groups"][0]["holdings"].as_array().unwrap().clone();
        holdings.iter().map(|it| it["symbol"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for query in ["sort_by=total_gain_loss&order=asc", "sort_by=total_gain_loss&order=desc"] {
        let data = client.get(&format!("/v1/investments?{query}")).await.data();
        assert_eq!(
            order(&data),
            ["AAPL", "XYZ"],
            "unknown values come last in both orders: {query}"
        );
    }
    let data = client.get("/v1/investments?sort_by=symbol&order=desc").await.data();
    assert_eq!(order(&data), ["XYZ", "AAPL"]);
    let cash = client.get("/v1/investments?asset_class=cash").await.data();
    assert_eq!(cash["groups"].as_array().unwrap().len(), 1);
    assert_eq!(&cash["account_total"], total, "a filter narrows groups, never the total");
    let refusal = client.get("/v1/investments?sort_by=luck").await.refusal();
    assert!(refusal.starts_with("400 VALIDATION_ERROR sort_by: sort_by must be one of symbol, "));
}

#[tokio::test]
async fn totals_are_in_the_base_currency_and_exclude_values_without_a_rate() {
    let (_world, person, client) = household().await;
    let broker = brokerage("Depot").in_currency("EUR");
    let broker = broker.holding([in_euro(position("SAP", "10").priced("100", "100").cost(80_000))]);
    let mut first = statement([broker]);
    person.import(first.clone()).await;
    let total = client.get("/v1/investments").await.data()["account_total"].clone();
    assert_eq!((&total["currency"], &total["current_value"]), (&json!("USD"), &Value::Null));
    first.rates = vec![rate("EUR", "USD", "2026-03-09", "1.1")];
    person.import(first).await;
    let total = client.get("/v1/investments").await.data()["account_total"].clone();
    assert_eq!(total["current_value"].to_string(), "1100.0");
    assert_eq!(total["total_gain_loss"].to_string(), "220.0");
}

#[tokio::test]
async fn goals_are_sorted_by_status_and_date_and_include_linked_accounts() {
    let (world, person, client) = household().await;
    let savings = checking("Savings").balance("2026-03-10T08:00:00Z", 450_000);
    person.import(statement([savings])).await;
    let linked = person.account("Savings").await;
    let goal =
        |name: &str, status, target_on: Option<&str>, accounts: Vec<base::AccountId>| NewGoal {
            name: name.to_owned(),
            kind: Kind::Savings,
            status,
            target: Money::new(1_200_000, Currency::USD),
            saved_minor: 1_000,
            target_on: target_on.map(day),
            accounts,
        };
    for new in [
        goal("Undated", Status::Active, None, vec![]),
        goal("Done", Status::Completed, Some("2025-01-01"), vec![]),
        goal("Boat", Status::Active, Some("2027-12-01"), vec![linked]),
        goal("Waiting", Status::Paused, None, vec![]),
        goal("Dropped", Status::Cancelled, None, vec![]),
    ] {
        goals::create(&world.app, &person.caller, new).await.unwrap();
    }
    let all = client.get("/v1/goals").await.data()["goals"].clone();
    assert_eq!(names(&all), ["Boat", "Undated", "Waiting", "Done", "Dropped"]);
    assert_eq!(all[0]["current_value"].to_string(), "4510.0");
    assert_eq!(all[1]["target_date"], Value::Null);
    for status in ["active", "paused", "completed", "cancelled"] {
        let some = client.get(&format!("/v1/goals?status={status}")).await.data();
        assert!(some["goals"].as_array().unwrap().iter().all(|it| it["status"] == status));
    }
}
