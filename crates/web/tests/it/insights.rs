//! Computed insights over the API: every member, filter and error.

use base::{date_from_days, days_from_date};
use http::StatusCode;
use serde_json::{Value, json};
use service::insights;
use testkit::draft::{Account, Txn, card, checking, statement, txn};
use testkit::{Person, World, day};

use crate::client::Client;

/// A person who is paid every two weeks, with a subscription whose price rose, rent, and a card with benefits.
pub(crate) async fn household() -> (World, Person, Client) {
    let world = World::new().await;
    let person = world.person("robin@example.com").await;
    let client = Client::of(&world, &person).await;
    let mut gold = card("American Express Gold Card").balance("2026-03-10T08:00:00Z", 12_000);
    gold.institution_name = Some("American Express".to_owned());
    person.import(statement([everyday(), gold])).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    (world, person, client)
}

fn everyday() -> Account {
    let pay = (0..27).map(|it| {
        let on = date_from_days(days_from_date(day("2026-03-06")) - it * 14).to_string();
        txn(&on, 185_000, "ACME CORP PAYROLL PPD ID: 9111111101").id(&format!("pay {on}"))
    });
    let monthly = |minor: fn(i8) -> i64, of_month: i8, text: &'static str| -> Vec<Txn> {
        let months = (1..=12).map(|it| (2025, it)).chain((1..=3).map(|it| (2026, it)));
        let one = |(year, month): (i16, i8)| {
            let on = format!("{year}-{month:02}-{of_month:02}");
            txn(&on, minor(if year == 2026 { month + 12 } else { month }), text)
                .id(&format!("{text} {on}"))
        };
        months.map(one).collect()
    };
    checking("Everyday")
        .with_all(pay)
        .with_all(monthly(|month| if month < 12 { -1_549 } else { -1_799 }, 5, "NETFLIX.COM"))
        .with_all(monthly(|_| -120_000, 2, "OAK STREET APARTMENTS RENT"))
        .balance("2026-03-10T08:00:00Z", 900_000)
}

fn members(value: &Value) -> Vec<&str> {
    let mut members: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    members.sort_unstable();
    members
}

/// The names in a text, in alphabetical order.
fn sorted(names: &str) -> Vec<&str> {
    let mut names: Vec<&str> = names.split_whitespace().collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn a_stream_has_every_member_and_streams_can_be_filtered() {
    let (_world, person, client) = household().await;
    let all = client.get("/v1/recurring").await.data();
    assert_eq!(members(&all), ["as_of", "exchange_rates", "streams", "totals"]);
    assert_eq!(all["totals"]["monthly_inflow"].to_string(), "4022.1");
    assert_eq!(all["totals"]["monthly_outflow"].to_string(), "1217.99");
    assert_eq!(all["totals"]["monthly_net"].to_string(), "2804.11");
    let streams = all["streams"].as_array().unwrap();
    let netflix = streams.iter().find(|it| it["name"] == "Netflix").unwrap();
    let expected = "id name counterparty_name counterparty_logo_url account_id account_name currency
        cash_flow_direction stream_type category_label category_tier1 category_tier2 frequency status
        confidence average_amount last_amount min_amount max_amount amount_is_variable monthly_amount
        first_date last_date next_expected_date occurrence_count transaction_ids price_changes
        missed_dates updated_at";
    assert_eq!(members(netflix), sorted(expected));
    let account = person.account("Everyday").await.to_string();
    assert_eq!(netflix["account_id"], json!(account));
    assert_eq!(netflix["stream_type"], "subscription");
    assert_eq!((&netflix["status"], &netflix["confidence"]), (&json!("active"), &json!("mature")));
    assert_eq!(netflix["next_expected_date"], "2026-04-05");
    assert_eq!(netflix["occurrence_count"], 15);
    assert_eq!(
        netflix["price_changes"],
        json!([{ "date": "2025-12-05", "from_amount": 15.49, "to_amount": 17.99 }])
    );
    let count = async |query: &str| {
        let data = client.get(&format!("/v1/recurring?{query}")).await.data();
        data["streams"].as_array().unwrap().len()
    };
    assert_eq!(count("cash_flow_direction=inflow").await, 1);
    assert_eq!(count(&format!("account_id={account}&status=all")).await, 3);
    assert_eq!(count("status=ended").await, 0);
    let wrong = client.get("/v1/recurring?status=paused").await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn income_adds_up_in_exact_numbers() {
    let (_world, _person, client) = household().await;
    let income = client.get("/v1/income").await.data();
    let expected = "generated_at window monthly_income variability expenses debt emergency_fund
        excluded investments unallocated unclassified";
    assert_eq!(members(&income), sorted(expected));
    assert_eq!(
        income["window"],
        json!({ "start": "2025-03-01", "end": "2026-02-28", "months": 12 })
    );
    assert_eq!(income["monthly_income"].to_string(), "4022.1");
    for block in ["expenses", "debt", "emergency_fund", "investments"] {
        assert_eq!(members(&income[block]), ["amount", "breakdown", "percent"]);
    }
    let fund = &income["emergency_fund"]["breakdown"];
    assert_eq!(members(fund), ["balance", "deposits", "months_covered", "withdrawals"]);
    let invested = &income["investments"]["breakdown"];
    assert_eq!(members(invested), ["balance", "contributions", "withdrawals"]);
    let rent = &income["expenses"]["breakdown"]["rent_and_utilities"];
    assert_eq!(rent, &json!({ "amount": 1200.0, "percent": 29.8 }));
}

#[tokio::test]
async fn scores_are_whole_numbers_or_an_error_says_what_is_missing() {
    let (world, _person, client) = household().await;
    let scores = client.get("/v1/scores").await.data();
    let expected = sorted("observation_date recovery capacity baseline evenkeel");
    assert_eq!(members(&scores), expected);
    assert_eq!(scores["observation_date"], "2026-03-10");
    for name in ["recovery", "capacity", "baseline", "evenkeel"] {
        assert!((0..=100).contains(&scores[name].as_i64().unwrap()), "{scores}");
    }
    let kim = world.person("kim@example.com").await;
    let client = Client::of(&world, &kim).await;
    kim.import(statement([checking("Everyday").with(txn("2026-03-01", -900, "KROGER"))])).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    let refused = client.get("/v1/scores").await;
    assert_eq!(refused.status, StatusCode::NOT_FOUND);
    let error = refused.json()["error"].clone();
    assert_eq!(error["code"], "SCORES_NOT_READY");
    assert!(error["type"].as_str().unwrap().ends_with("/docs/errors/scores-not-ready"));
    let message = error["message"].as_str().unwrap();
    assert_eq!(message, "scores need at least 60 days of history; there are 9");
}

#[tokio::test]
async fn benefits_have_every_member_and_days_are_bounded() {
    let (_world, _person, client) = household().await;
    let summary = client.get("/v1/benefits/summary").await.data();
    assert_eq!(members(&summary), ["as_of", "cards", "currency", "totals"]);
    let expected = "card_count benefit_count annual_fees total_amount used_amount remaining_amount
        net_value expiring_count expiring_amount excluded";
    assert_eq!(members(&summary["totals"]), sorted(expected));
    let card = &summary["cards"][0];
    let expected =
        "account_id account_name institution_name mask annual_fee total_amount used_amount
        remaining_amount net_value benefits";
    assert_eq!(members(card), sorted(expected));
    let expected = "id account_id account_name institution_name name description category benefit_type
        frequency cycle_alignment cycle_start cycle_end currency total_amount used_amount
        remaining_amount expires_on days_until_expiry status activation_required activated observable
        updated_at";
    assert_eq!(members(&card["benefits"][0]), sorted(expected));
    let expiring = client.get("/v1/benefits/expiring?days=21").await.data();
    let expected = "benefits count excluded remaining_amount window";
    assert_eq!(members(&expiring), sorted(expected));
    assert_eq!(
        expiring["window"],
        json!({ "start": "2026-03-10", "end": "2026-03-31", "days": 21 })
    );
    assert_eq!(expiring["count"], json!(expiring["benefits"].as_array().unwrap().len()));
    for days in ["0", "366", "x"] {
        let wrong = client.get(&format!("/v1/benefits/expiring?days={days}")).await;
        assert_eq!(wrong.status, StatusCode::BAD_REQUEST, "{days}");
        assert_eq!(wrong.json()["error"]["param"], "days");
    }
}

#[tokio::test]
async fn the_summary_has_every_member() {
    let (_world, _person, client) = household().await;
    let summary = client.get("/v1/me/summary").await.data();
    let expected =
        "as_of currency net_worth total_assets total_liabilities net_worth_change breakdown
        accounts cash_flow excluded exchange_rates investments goals recurring scores pending_actions";
    assert_eq!(members(&summary), sorted(expected));
    assert_eq!(summary["net_worth"].to_string(), "8880.0");
    assert_eq!(members(&summary["net_worth_change"]), ["amount", "percent", "since"]);
    let expected = "open closed hidden needs_attention oldest_as_of";
    assert_eq!(members(&summary["accounts"]), sorted(expected));
    let expected = "window income excluded expenses unclassified net savings_rate_percent";
    assert_eq!(members(&summary["cash_flow"]), sorted(expected));
    let expected = "current_value day_change day_change_percent excluded total_gain_loss total_gain_loss_percent";
    assert_eq!(members(&summary["investments"]), sorted(expected));
    assert_eq!(
        members(&summary["goals"]),
        ["active", "current_value", "excluded", "target_amount"]
    );
    let expected = "excluded monthly_inflow monthly_outflow next_outflow";
    assert_eq!(members(&summary["recurring"]), sorted(expected));
    assert_eq!(summary["recurring"]["next_outflow"]["date"], "2026-04-02");
    assert_eq!(summary["scores"]["observation_date"], "2026-03-10");
}
