//! Amounts in other currencies: totals name what they leave out, and the exchange rates that they use.

use base::{Currency, Money};
use serde_json::{Value, json};
use service::access::profiles::{self, Profile};
use service::insights;
use service::ledger::goals::{self, Kind, NewGoal, Status};
use service::ledger::reference_rates;
use testkit::draft::{brokerage, card, checking, statement, txn};
use testkit::{Person, World};

use crate::browser::Browser;
use crate::client::Client;

/// One euro is worth 1.10 dollars and 0.88 francs.
const RATES: &str = "Date,USD,CHF,\n2026-03-09,1.10,0.88,\n";

/// Makes the francs of Switzerland the currency of all totals.
async fn counts_in_francs(world: &World, person: &Person) {
    let base_currency = Currency::parse("CHF").unwrap();
    let timezone = person.caller.timezone;
    let profile = Profile { preferred_name: None, base_currency, timezone };
    profiles::update(&world.app, &person.caller, profile).await.unwrap();
    insights::pipeline::run_all(&world.app).await.unwrap();
}

async fn import_rates(world: &World) {
    reference_rates::import(&world.app, RATES.as_bytes()).await.unwrap();
    insights::pipeline::run_all(&world.app).await.unwrap();
}

#[tokio::test]
async fn benefits_name_the_currencies_of_cards_without_a_rate() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let mut gold = card("American Express Gold Card");
    gold.institution_name = Some("American Express".to_owned());
    robin.import(statement([gold])).await;
    counts_in_francs(&world, &robin).await;
    let client = Client::of(&world, &robin).await;
    let mut browser = Browser::of(&world, &robin).await;
    let summary = client.get("/v1/benefits/summary").await.data();
    let left = summary["cards"][0]["remaining_amount"].clone();
    assert!(left.as_f64().unwrap() > 0.0, "{summary}");
    let excluded = json!([{ "currency": "USD", "amount": left, "account_count": 1 }]);
    assert_eq!(summary["totals"]["excluded"], excluded);
    let expiring = client.get("/v1/benefits/expiring?days=365").await.data();
    assert_eq!(expiring["excluded"][0]["currency"], "USD", "{expiring}");
    let sentence = "Amounts in USD are not included, because there is no exchange rate.";
    let page = browser.get("/benefits").await.good();
    assert!(page.contains(sentence), "{page}");
    import_rates(&world).await;
    let summary = client.get("/v1/benefits/summary").await.data();
    assert_eq!(summary["totals"]["excluded"], json!([]));
    assert!(!browser.get("/benefits").await.good().contains(sentence));
}

#[tokio::test]
async fn summary_investments_and_recurring_have_the_rates_of_their_totals() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let months = ["2025-11-03", "2025-12-03", "2026-01-03", "2026-02-03", "2026-03-03"];
    let rent = months.map(|on| txn(on, -90_000, "MIETE WOHNUNG").id(on));
    let konto = checking("Konto").in_currency("CHF").balance("2026-03-10T08:00:00Z", 88_000);
    let depot = brokerage("Depot").in_currency("CHF").balance("2026-03-10T08:00:00Z", 8_800);
    robin.import(statement([konto.with_all(rent), depot])).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    let client = Client::of(&world, &robin).await;
    let paths = ["/v1/me/summary", "/v1/investments", "/v1/recurring"];
    for path in paths {
        let data = client.get(path).await.data();
        assert_eq!(data["exchange_rates"], json!([]), "{path}: no rate is known");
    }
    import_rates(&world).await;
    let expected = json!([{ "currency": "CHF", "rate": 1.25, "date": "2026-03-09" }]);
    for path in paths {
        let data = client.get(path).await.data();
        assert_eq!(data["exchange_rates"], expected, "{path}");
    }
    let mut browser = Browser::of(&world, &robin).await;
    for path in ["/spending", "/income"] {
        let page = browser.get(path).await.good();
        let sentence = "Converted at the rate of each day. The newest: 1 CHF = 1.25 USD";
        assert!(page.contains(sentence), "{path}: {page}");
    }
}

#[tokio::test]
async fn a_net_worth_goal_names_the_missing_rate() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let home = checking("Home").balance("2026-03-10T08:00:00Z", 200_000);
    robin.import(statement([home])).await;
    let goal = NewGoal {
        name: "Independent".to_owned(),
        kind: Kind::NetWorth,
        status: Status::Active,
        target: Money::new(10_000_000, Currency::parse("CHF").unwrap()),
        saved_minor: 0,
        target_on: None,
        accounts: Vec::new(),
    };
    goals::create(&world.app, &robin.caller, goal).await.unwrap();
    let mut browser = Browser::of(&world, &robin).await;
    let page = browser.get("/goals").await.good();
    let unknown = "The progress is not known, because there is no exchange rate for CHF.";
    assert!(page.contains(unknown), "{page}");
    import_rates(&world).await;
    assert!(!browser.get("/goals").await.good().contains("exchange rate"));
    // A balance that the net worth leaves out.
    let oslo = checking("Oslo").in_currency("NOK").balance("2026-03-10T08:00:00Z", 500);
    robin.import(statement([oslo])).await;
    let page = browser.get("/goals").await.good();
    let left_out = "Amounts in NOK are not included, because there is no exchange rate.";
    assert!(page.contains(left_out), "{page}");
}

#[tokio::test]
async fn the_value_over_time_names_closed_accounts_without_a_rate() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let depot = |name: &str, minor| {
        brokerage(name).past_balance("2026-03-01", minor).balance("2026-03-10T08:00:00Z", minor)
    };
    robin
        .import(statement([depot("Shares", 500_000), depot("Oslo", 7_000).in_currency("NOK")]))
        .await;
    let oslo = robin.account("Oslo").await;
    let mut browser = Browser::of(&world, &robin).await;
    let closing = [("closed_on", "2026-03-09")];
    browser.submit(&format!("/accounts/{oslo}/close"), &closing).await.good();
    let page = browser.get("/investments").await.good();
    let card = page.split_once("id=\"performance\"").unwrap().1;
    let card = card.split_once("</section>").unwrap().0;
    let left_out = "Amounts in NOK are not included, because there is no exchange rate.";
    assert!(card.contains(left_out), "{page}");
    let unknown: Value = Client::of(&world, &robin).await.get("/v1/investments").await.data();
    assert_eq!(unknown["account_total"]["excluded"], json!([]), "the account is closed");
}
