//! Merging recurring payments, setting their amount, and the calendar feed.

use http::StatusCode;
use service::insights;
use service::insights::recurring::{self, Filter};
use testkit::draft::{Txn, card, checking, statement, txn};
use testkit::{Person, World};

use crate::browser::Browser;

const ALL: Filter = Filter { status: None, account_id: None, direction: None };

fn monthly(months: &[&str], minor: i64, description: &str) -> Vec<Txn> {
    months.iter().map(|it| txn(&format!("{it}-21"), minor, description)).collect()
}

async fn household(world: &World) -> Person {
    let robin = world.someone().await;
    let old = monthly(&["2025-06", "2025-07", "2025-08", "2025-09"], -1_549, "NETFLIX.COM");
    let new = monthly(&["2025-12", "2026-01", "2026-02"], -1_799, "NETFLIX.COM");
    let rent = monthly(&["2025-11", "2025-12", "2026-01", "2026-02"], -90_000, "Oak, Smith; RENT");
    let accounts =
        [card("Old card").with_all(old), checking("Everyday").with_all(new).with_all(rent)];
    robin.import(statement(accounts)).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    robin
}

async fn path(world: &World, robin: &Person, account: &str, name: &str) -> String {
    let listed = recurring::list(&world.app, &robin.caller, ALL).await.unwrap();
    let found = listed.streams.iter().find(|(it, on)| it.name.contains(name) && on == account);
    format!("/recurring/{}", found.unwrap().0.id)
}

#[tokio::test]
async fn two_payments_are_merged_and_separated_by_buttons() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let old = path(&world, &robin, "Old card", "Netflix").await;
    let new = path(&world, &robin, "Everyday", "Netflix").await;
    let into = new.rsplit('/').next().unwrap();
    let page = browser.get(&old).await.good();
    assert!(page.contains("The same payment twice?") && page.contains("Merge payments"), "{page}");
    let page = browser.post(&format!("{old}/merge"), &[("into", "")]).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST, "{}", page.text);
    assert!(page.text.contains("Choose the payment to merge with"), "{}", page.text);
    let page = browser.submit(&format!("{old}/merge"), &[("into", into)]).await.good();
    assert!(page.contains("Payments merged.") && page.contains("7 payments"), "{page}");
    assert!(page.contains("$15.49") && page.contains("Merged into this payment"), "{page}");
    let page = browser.get("/recurring").await.good();
    assert!(page.contains("Up") && page.contains("$30.00 more a year"), "{page}");
    let page = browser.get(&old).await.good();
    assert!(page.contains("You merged this payment into another"), "{page}");
    let page = browser.submit(&format!("{old}/separate"), &[]).await.good();
    assert!(page.contains("Payments separated.") && page.contains("4 payments"), "{page}");
}

#[tokio::test]
async fn the_amount_of_a_payment_is_set_and_wrong_ones_are_refused() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let rent = path(&world, &robin, "Everyday", "Oak").await;
    let form = |amount: &'static str| [("name", ""), ("stream_type", ""), ("amount", amount)];
    let page = browser.submit(&rent, &form("950")).await.good();
    assert!(page.contains("Changes saved.") && page.contains("-$950.00"), "{page}");
    assert!(page.contains("value=\"950.00\"") && page.contains("Amount you set"), "{page}");
    assert!(browser.get("/recurring").await.good().contains("-$950.00"));
    for (typed, message) in
        [("12,34", "Enter an amount such as 1234.56"), ("-5", "Amount must be more than zero")]
    {
        let page = browser.post(&rent, &form(typed)).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{}", page.text);
        assert!(page.text.contains(message), "{message}\n{}", page.text);
        assert!(page.text.contains(&format!("value=\"{typed}\"")), "{}", page.text);
    }
    browser.submit("/view", &[("hide", "1"), ("next", "/")]).await.good();
    let page = browser.get(&rent).await.good();
    assert!(!page.contains("950"), "hidden amounts are hidden in fields too\n{page}");
}

#[tokio::test]
async fn the_calendar_feed_is_created_read_replaced_and_revoked() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let page = browser.get("/recurring?view=calendar").await.good();
    assert!(page.contains("Create address") && !page.contains("Revoke address"), "{page}");
    let page = browser.post("/recurring/feed", &[]).await.good();
    let address = |page: &str| {
        let rest = page.split_once("/calendar/").unwrap().1;
        format!("/calendar/{}", rest.split('<').next().unwrap())
    };
    let first = address(&page);
    assert!(first.starts_with("/calendar/ekc_") && first.ends_with(".ics"), "{first}");
    // It needs no session.
    let mut stranger = Browser::new(&world);
    let file = stranger.get(&first).await;
    assert_eq!(file.status, StatusCode::OK, "{}", file.text);
    assert_eq!(file.headers["content-type"], "text/calendar; charset=utf-8");
    assert_eq!(file.headers["cache-control"], "private, no-store");
    assert!(file.text.starts_with("BEGIN:VCALENDAR\r\n"), "{}", file.text);
    assert!(file.text.contains("DTSTART;VALUE=DATE:20260321\r\n"), "{}", file.text);
    let unfolded = file.text.replace("\r\n ", "");
    assert!(unfolded.contains("SUMMARY:Netflix\r\n"), "{unfolded}");
    assert!(!unfolded.contains("$17.99"), "amounts only if asked for\n{unfolded}");
    let again = stranger.get(&first).await.text;
    assert_eq!(again, file.text, "the same events have the same ids");
    let uids: Vec<&str> = unfolded.lines().filter(|it| it.starts_with("UID:")).collect();
    let unique: std::collections::BTreeSet<&&str> = uids.iter().collect();
    assert!(uids.len() > 20 && unique.len() == uids.len(), "{uids:?}");
    let page = browser.get("/recurring?view=calendar").await.good();
    assert!(page.contains("Replace address") && !page.contains("ekc_"), "{page}");
    let second = address(&browser.post("/recurring/feed", &[("detail", "amounts")]).await.good());
    assert_eq!(stranger.get(&first).await.status, StatusCode::NOT_FOUND);
    let file = stranger.get(&second).await.text.replace("\r\n ", "");
    assert!(file.contains("SUMMARY:Netflix: -$17.99\r\n"), "{file}");
    let page = browser.submit("/recurring/feed/revoke", &[]).await.good();
    assert!(
        page.contains("Calendar address revoked.") && page.contains("Create address"),
        "{page}"
    );
    for gone in [second.as_str(), "/calendar/ekc_x.ics", "/calendar/x"] {
        assert_eq!(stranger.get(gone).await.status, StatusCode::NOT_FOUND, "{gone}");
    }
}
