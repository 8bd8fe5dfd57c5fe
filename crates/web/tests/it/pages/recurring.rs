//! The pages of recurring payments: the list, the calendar, and one stream.

use http::StatusCode;
use service::insights;
use service::insights::recurring::{self, Filter};
use testkit::draft::{Txn, checking, rate, statement, txn};
use testkit::{Person, World};

use super::{HOSTILE, assert_escaped};
use crate::browser::Browser;

fn monthly(minor: i64, description: &str) -> Vec<Txn> {
    let months = ["2025-09", "2025-10", "2025-11", "2025-12", "2026-01", "2026-02"];
    months.iter().map(|it| txn(&format!("{it}-21"), minor, description)).collect()
}

async fn household(world: &World) -> Person {
    let robin = world.someone().await;
    let everyday = checking("Everyday")
        .with_all(monthly(-1_549, "NETFLIX.COM 866-579-7172"))
        .with_all(monthly(250_000, "ACME CORP PAYROLL PPD ID: 9111111101"));
    robin.import(statement([everyday])).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    robin
}

#[tokio::test]
async fn the_list_shows_next_dates_and_totals_and_hides_ended_payments() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let page = browser.get("/recurring").await.good();
    for part in ["Netflix", "Every month", "-$15.49", "+$2,500.00", "$2,484.51", "Sat 21 Mar"] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    world.advance_seconds(90 * 86_400);
    insights::pipeline::queue_new_day_once(&world.app).await.unwrap();
    insights::pipeline::run_all(&world.app).await.unwrap();
    // The session has expired by then.
    let mut browser = Browser::of(&world, &robin).await;
    let page = browser.get("/recurring").await.good();
    assert!(page.contains("Show 2 ended payments") && !page.contains("Netflix"), "{page}");
    let page = browser.get("/recurring?show=ended").await.good();
    assert!(page.contains("Netflix"), "{page}");
}

#[tokio::test]
async fn the_overview_shows_bills_that_are_due_and_late() {
    let world = World::new().await;
    let robin = household(&world).await;
    let bills = async || {
        let mut browser = Browser::of(&world, &robin).await;
        let page = browser.get("/").await.good();
        let start = page.find("Upcoming bills").unwrap();
        page[start..].split("</section>").next().unwrap().to_owned()
    };
    let due = bills().await;
    assert!(due.contains("Netflix") && due.contains("$15.49") && !due.contains("Late"), "{due}");
    world.advance_seconds(13 * 86_400);
    insights::pipeline::run_all(&world.app).await.unwrap();
    let late = bills().await;
    assert!(late.contains("Netflix") && late.contains("Late"), "{late}");
}

#[tokio::test]
async fn the_calendar_is_a_table_with_links_to_the_next_and_previous_month() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let page = browser.get("/recurring?view=calendar").await.good();
    assert!(page.contains("March 2026") && page.contains("class=\"expected\""), "{page}");
    assert_eq!(page.matches("<time").count(), 31);
    assert_eq!(page.matches("<td").count() % 7, 0);
    for to in ["2026-02", "2026-04"] {
        assert!(page.contains(&format!("view=calendar&amp;month={to}")), "{page}");
    }
    let page = browser.get("/recurring?view=calendar&month=2026-02").await.good();
    assert!(page.contains("class=\"paid\"") && !page.contains("class=\"expected\""), "{page}");
    for wrong in ["2026-13", "never", "0000-01", "9999-12", "2026-1"] {
        let page = browser.get(&format!("/recurring?view=calendar&month={wrong}")).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{wrong}");
        assert!(page.text.contains("That month isn't valid") && page.text.contains("March 2026"));
    }
}

#[tokio::test]
async fn totals_of_the_calendar_are_in_ones_own_currency_if_there_is_a_rate() {
    let world = World::new().await;
    let robin = world.someone().await;
    let abroad = |name: &str, code: &str, minor: i64| {
        let rows = monthly(minor, "SPOTIFY AB STOCKHOLM");
        let rows =
            rows.into_iter().enumerate().map(|(index, it)| it.id(&format!("{code} {index}")));
        checking(name).in_currency(code).with_all(rows)
    };
    let mut all = statement([
        checking("Everyday").with_all(monthly(-1_549, "NETFLIX.COM 866-579-7172")),
        abroad("Konto", "EUR", -1_000),
        abroad("Zurich", "CHF", -700),
    ]);
    all.rates = vec![rate("EUR", "USD", "2026-03-01", "1.25")];
    robin.import(all).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    let page = Browser::of(&world, &robin).await.get("/recurring?view=calendar").await.good();
    let tiles = page.split("<dl class=\"tiles sums\">").nth(1).unwrap();
    let upcoming = tiles.split("Upcoming payments</dt>").nth(1).unwrap();
    let upcoming = upcoming.split("</div>").next().unwrap();
    // 15.49 and 12.50 are converted; francs have no rate.
    assert!(upcoming.contains("-$27.99") && upcoming.contains("7.00"), "{upcoming}");
    assert!(!upcoming.contains('€'), "{upcoming}");
    assert!(page.contains("Converted at 1 EUR = 1.25 USD (Sun 1 Mar)."), "{page}");
}

#[tokio::test]
async fn a_stream_shows_a_chart_and_its_payments_and_only_to_its_owner() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let all = Filter { status: None, account_id: None, direction: None };
    let listed = recurring::list(&world.app, &robin.caller, all).await.unwrap();
    let netflix = listed.streams.iter().find(|(it, _)| it.name.contains("Netflix")).unwrap();
    let path = format!("/recurring/{}", netflix.0.id);
    let page = browser.get(&path).await.good();
    assert!(page.contains("Amounts by month") && page.contains("6 payments"), "{page}");
    let kim = household(&world).await;
    let mut other = Browser::of(&world, &kim).await;
    assert_eq!(other.get(&path).await.status, StatusCode::NOT_FOUND);
    assert_eq!(browser.get("/recurring/nonsense").await.status, StatusCode::NOT_FOUND);
}

async fn netflix(world: &World, robin: &Person) -> String {
    let all = Filter { status: None, account_id: None, direction: None };
    let listed = recurring::list(&world.app, &robin.caller, all).await.unwrap();
    let found = listed.streams.iter().find(|(it, _)| it.name.contains("Netflix")).unwrap();
    format!("/recurring/{}", found.0.id)
}

#[tokio::test]
async fn a_false_subscription_is_dismissed_and_restored_by_buttons() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let path = netflix(&world, &robin).await;
    let page = browser.get(&path).await.good();
    assert!(page.contains("Dismiss payment") && !page.contains("Restore payment"), "{page}");
    let page = browser.submit(&format!("{path}/dismiss"), &[]).await.good();
    assert!(page.contains("Payment dismissed.") && page.contains("Restore payment"), "{page}");
    let page = browser.get("/recurring").await.good();
    assert!(page.contains("Show 1 dismissed payment") && !page.contains("Netflix"), "{page}");
    assert!(!browser.get("/recurring?view=calendar").await.good().contains("Netflix"));
    let page = browser.get(&path).await.good();
    assert!(page.contains("You dismissed this payment") && page.contains("Dismissed"), "{page}");
    let page = browser.submit(&format!("{path}/restore"), &[]).await.good();
    assert!(page.contains("Payment restored.") && page.contains("Dismiss payment"), "{page}");
    assert!(browser.get("/recurring").await.good().contains("Netflix"));
    let kim = household(&world).await;
    let mut other = Browser::of(&world, &kim).await;
    for form in ["", "/dismiss", "/restore"] {
        let sent = other.post(&format!("{path}{form}"), &[("name", "Mine")]).await;
        assert_eq!(sent.status, StatusCode::NOT_FOUND, "{form}");
    }
}

#[tokio::test]
async fn a_stream_is_renamed_and_marked_by_a_form_that_keeps_what_was_typed() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let path = netflix(&world, &robin).await;
    let fields = [("name", "Family TV"), ("stream_type", "bill")];
    let page = browser.submit(&path, &fields).await.good();
    assert!(page.contains("<h1>Family TV</h1>") && page.contains("Changes saved."), "{page}");
    assert!(page.contains("value=\"bill\" selected"), "{page}");
    let long = "x".repeat(81);
    let refused = browser.post(&path, &[("name", &long), ("stream_type", "bill")]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.text.contains("1 to 80 characters") && refused.text.contains(&long));
    let unknown = browser.post(&path, &[("name", "TV"), ("stream_type", "loan")]).await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    let page = browser.submit(&path, &[("name", ""), ("stream_type", "")]).await.good();
    assert!(page.contains("Netflix") && !page.contains("Family TV"), "{page}");
}

#[tokio::test]
async fn names_of_streams_are_escaped_and_an_empty_page_says_so() {
    let world = World::new().await;
    let robin = world.someone().await;
    let mut browser = Browser::of(&world, &robin).await;
    let page = browser.get("/recurring").await.good();
    assert!(page.contains("No recurring payments yet"), "{page}");
    let months = monthly(-1_549, "NETFLIX.COM 866-579-7172");
    let hostile = months.into_iter().map(|it| it.from(HOSTILE));
    robin.import(statement([checking(HOSTILE).with_all(hostile)])).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    for path in ["/recurring", "/recurring?view=calendar", "/income"] {
        assert_escaped(&browser.get(path).await.good());
    }
    let page = browser.get("/recurring").await.good();
    assert!(page.contains("&lt;script&gt;"), "{page}");
}
