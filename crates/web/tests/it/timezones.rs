//! Time zones: each person's dates, on every endpoint with a default date and on pages.

use http::StatusCode;
use serde_json::Value;
use service::insights;
use testkit::draft::{Account, checking, statement, txn};
use testkit::{Person, World};

use crate::browser::Browser;
use crate::client::Client;

/// Seconds from the start of a world to 10:30 UTC on 1 April 2026.
const TO_APRIL_SECONDS: u64 = 22 * 86_400 - 5_400;

/// Twenty months of pay and rent, and one purchase on each of the days around the beginning of April.
fn household() -> Account {
    let mut account = checking("Everyday").balance("2026-03-10T08:00:00Z", 900_000);
    for back in 0..20 {
        let index = 2026 * 12 + 2 - back;
        let (year, month) = (index / 12, index % 12 + 1);
        let on = |day: i64| format!("{year}-{month:02}-{day:02}");
        let pay = txn(&on(3), 400_000, "ACME CORP PAYROLL PPD ID: 9111111101");
        let rent = txn(&on(2), -120_000, "OAK STREET APARTMENTS RENT");
        account = account.with(pay.id(&on(3))).with(rent.id(&on(2)));
    }
    let purchase = |on: &str, minor| txn(on, minor, "KROGER #339").id(on);
    account
        .with(purchase("2026-03-31", -1_000))
        .with(purchase("2026-04-01", -2_000))
        .with(purchase("2026-04-02", -4_000))
}

/// A person with data in a time zone, on 1 April 2026 at 10:30 UTC.
async fn person_in(world: &World, email: &str, timezone: &str) -> (Person, Client) {
    let person = world.person_in(email, timezone).await;
    person.import(statement([household()])).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    let client = Client::of(world, &person).await;
    (person, client)
}

async fn get(client: &Client, path: &str, pointer: &str) -> String {
    let data = client.get(path).await.data();
    let found = data.pointer(pointer).unwrap_or_else(|| panic!("{path} {pointer}: {data}"));
    match found {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[tokio::test]
async fn two_people_have_different_dates_at_the_same_moment_on_every_endpoint() {
    let world = World::new().await;
    world.advance_seconds(TO_APRIL_SECONDS);
    let (east, ahead) = person_in(&world, "east@example.com", "Pacific/Kiritimati").await;
    let (west, behind) = person_in(&world, "west@example.com", "Pacific/Pago_Pago").await;
    let balances = |id: String| format!("/v1/accounts/{id}/balances");
    let of_east = balances(east.account("Everyday").await.to_string());
    let of_west = balances(west.account("Everyday").await.to_string());
    for (path, pointer, in_east, in_west) in [
        ("/v1/me", "/timezone", "Pacific/Kiritimati", "Pacific/Pago_Pago"),
        ("balances", "/start_date", "2026-03-04", "2026-03-02"),
        ("balances", "/end_date", "2026-04-02", "2026-03-31"),
        ("/v1/net-worth", "/end_date", "2026-04-02", "2026-03-31"),
        ("/v1/net-worth", "/start_date", "2025-04-02", "2025-03-31"),
        ("/v1/spending", "/start_date", "2026-04-01", "2026-03-01"),
        ("/v1/spending", "/end_date", "2026-04-02", "2026-03-31"),
        // The rent of March, and the purchases of this month until today.
        ("/v1/spending", "/totals/spending", "60.0", "1210.0"),
        ("/v1/me/summary", "/cash_flow/window/end", "2026-04-02", "2026-03-31"),
        ("/v1/me/summary", "/net_worth_change/since", "2026-03-03", "2026-03-01"),
        ("/v1/me/summary", "/scores/observation_date", "2026-04-02", "2026-03-31"),
        ("/v1/scores", "/observation_date", "2026-04-02", "2026-03-31"),
        ("/v1/benefits/expiring", "/window/start", "2026-04-02", "2026-03-31"),
        ("/v1/income", "/window/end", "2026-03-31", "2026-02-28"),
    ] {
        let (path_east, path_west) =
            if path == "balances" { (of_east.as_str(), of_west.as_str()) } else { (path, path) };
        assert_eq!(get(&ahead, path_east, pointer).await, in_east, "{path} {pointer} in the east");
        assert_eq!(get(&behind, path_west, pointer).await, in_west, "{path} {pointer} in the west");
    }
}

#[tokio::test]
async fn a_key_follows_a_new_time_zone_at_once() {
    let world = World::new().await;
    world.advance_seconds(TO_APRIL_SECONDS);
    let (person, client) = person_in(&world, "robin@example.com", "Pacific/Kiritimati").await;
    let mut browser = Browser::of(&world, &person).await;
    assert_eq!(get(&client, "/v1/spending", "/end_date").await, "2026-04-02");
    let form =
        |timezone| [("preferred_name", ""), ("base_currency", "USD"), ("timezone", timezone)];
    let saved = browser.submit("/settings", &form("Pacific/Pago_Pago")).await.good();
    assert!(saved.contains("value=\"Pacific/Pago_Pago\" selected"), "{saved}");
    assert_eq!(get(&client, "/v1/spending", "/end_date").await, "2026-03-31");
    // An observation of 2 April exists already, but that date has not begun here.
    insights::pipeline::run_all(&world.app).await.unwrap();
    assert_eq!(get(&client, "/v1/scores", "/observation_date").await, "2026-03-31");
    assert_eq!(get(&client, "/v1/income", "/window/end").await, "2026-02-28");
    // A form without the field keeps the time zone, and an unknown one is refused.
    let kept = browser.submit("/settings", &form("")[..2]).await.good();
    assert!(kept.contains("value=\"Pacific/Pago_Pago\" selected"));
    let refused = browser.post("/settings", &form("Mars/Olympus_Mons")).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    let advice = "the time zone must be an IANA time zone such as America/New_York or UTC";
    assert!(refused.text.to_lowercase().contains(&advice.to_lowercase()), "{}", refused.text);
    assert_eq!(get(&client, "/v1/me", "/timezone").await, "Pacific/Pago_Pago");
}

#[tokio::test]
async fn pages_show_times_in_the_time_zone_of_the_person() {
    let world = World::new().await;
    let person = world.person_in("robin@example.com", "Asia/Tokyo").await;
    let mut browser = Browser::of(&world, &person).await;
    let trail = browser.get("/settings/audit").await.good();
    // The world begins at noon UTC.
    assert!(trail.contains("21:00 JST") && !trail.contains("12:00 UTC"), "{trail}");
    world.advance_seconds(4 * 3_600);
    let overview = browser.get("/recurring?view=calendar").await.good();
    assert!(overview.contains("March 2026"), "{overview}");
}
