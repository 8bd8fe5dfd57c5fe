//! The spending page.

use http::StatusCode;
use service::insights;
use testkit::World;
use testkit::draft::{checking, statement, txn};

use super::HOSTILE;
use crate::browser::Browser;

/// Groceries, restaurants and a trip from January to March, with a refund, pay, and one row in a currency without a rate.
async fn robin(world: &World) -> Browser {
    let robin = world.person("robin@example.com").await;
    let spend = |on: &str, minor, name: &str, category: &str| {
        txn(on, minor, name).from(name).category(category).id(&format!("{name} {on}"))
    };
    let everyday = checking("Everyday").balance("2026-03-10T08:00:00Z", 523_456).with_all([
        spend("2026-01-05", -40_000, "Kroger", "FOOD_AND_DRINK_GROCERIES"),
        spend("2026-02-05", -20_000, "Kroger", "FOOD_AND_DRINK_GROCERIES"),
        spend("2026-02-27", 300_000, "Acme", "INCOME_WAGES"),
        spend("2026-03-02", -30_000, "Kroger", "FOOD_AND_DRINK_GROCERIES"),
        spend("2026-03-03", -12_000, HOSTILE, "FOOD_AND_DRINK_RESTAURANT"),
        spend("2026-03-04", -50_000, "Delta", "TRAVEL_FLIGHTS"),
        spend("2026-03-05", 10_000, "Delta", "TRAVEL_FLIGHTS"),
    ]);
    let zurich = checking("Zurich").in_currency("CHF").with_all([spend(
        "2026-03-06",
        -7_700,
        "Coop",
        "FOOD_AND_DRINK_GROCERIES",
    )]);
    robin.import(statement([everyday, zurich])).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    Browser::of(world, &robin).await
}

fn between<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let rest = page.split_once(from).unwrap_or_else(|| panic!("{from} is not in {page}")).1;
    rest.split_once(to).unwrap_or_else(|| panic!("{to} is not in {rest}")).0
}

#[tokio::test]
async fn spending_is_shown_by_category_and_compared() {
    let world = World::new().await;
    let mut browser = robin(&world).await;
    let page = browser.get("/spending").await.good();
    // 300 + 120 + 500 - 100; the first ten days of February had one purchase of 200.
    let headline = between(&page, "id=\"total\"", "</header>");
    assert!(headline.contains("$820.00") && headline.contains("$620.00"), "{headline}");
    assert!(headline.contains("more") && headline.contains("Sun 1 Feb"), "{headline}");
    let rows = between(&page, "id=\"groups\"", "</table>");
    assert!(rows.contains("/spending?category=TRAVEL") && rows.contains("$400.00"), "{rows}");
    assert!(
        rows.contains(
            "/transactions?category=FOOD_AND_DRINK&amp;from=2026-03-01&amp;to=2026-03-10"
        ),
        "{rows}"
    );
    assert!(between(&page, "no exchange rate", "</p>").contains("77.00"), "{page}");
    let flow = between(&page, "id=\"flow\"", "</section>");
    assert!(flow.contains("From savings") && flow.contains("Travel"), "{flow}");
    // An average month: 400 and 200 on food.
    let average = browser.get("/spending?compare=usual").await.good();
    assert!(between(&average, "id=\"total\"", "</header>").contains("$300.00"), "{average}");
}

#[tokio::test]
async fn a_category_opens_its_parts_and_merchants() {
    let world = World::new().await;
    let mut browser = robin(&world).await;
    let page = browser.get("/spending?category=FOOD_AND_DRINK&period=this_year").await.good();
    assert!(between(&page, "<h1>", "</h1>").contains("Food and drink"), "{page}");
    assert!(between(&page, "id=\"total\"", "</header>").contains("$1,020.00"), "{page}");
    let rows = between(&page, "id=\"groups\"", "</table>");
    assert!(rows.contains("category=FOOD_AND_DRINK_RESTAURANT"), "{rows}");
    assert!(page.contains("href=\"/spending?period=this_year\"") && !page.contains("id=\"flow\""));
    let merchants = browser.get("/spending?by=merchant").await.good();
    assert!(between(&merchants, "id=\"groups\"", "</table>").contains("q=Delta"), "{merchants}");
    assert!(!merchants.contains(HOSTILE), "{merchants}");
}

#[tokio::test]
async fn other_dates_are_checked() {
    let world = World::new().await;
    let mut browser = robin(&world).await;
    let page = browser.get("/spending?period=days&from=2026-01-01&to=2026-01-31").await.good();
    assert!(between(&page, "id=\"total\"", "</header>").contains("$400.00"), "{page}");
    let wrong = browser.get("/spending?period=days&from=2026-02-01&to=2026-01-31").await.good();
    assert!(
        wrong.contains("The start date is after the end date. This month is shown instead."),
        "{wrong}"
    );
}

#[tokio::test]
async fn a_person_without_transactions_is_told_what_the_page_will_show() {
    let world = World::new().await;
    let kim = world.person("kim@example.com").await;
    let mut browser = Browser::of(&world, &kim).await;
    let page = browser.get("/spending").await.good();
    assert!(page.contains("No transactions yet") && page.contains("href=\"/import\""), "{page}");
}

#[tokio::test]
async fn errors_keep_the_navigation_for_a_signed_in_person() {
    let world = World::new().await;
    let mut browser = robin(&world).await;
    for path in ["/nowhere", "/accounts/acc_0", "/oauth/authorize?client_id=none"] {
        let answer = browser.get(path).await;
        assert!(answer.status.is_client_error(), "{path} {}", answer.status);
        let page = answer.text;
        assert!(
            page.contains("aria-label=\"Pages\"") && page.contains("Go to overview"),
            "{path} {page}"
        );
    }
    let mut visitor = Browser::new(&world);
    let answer = visitor.get("/nowhere").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    let page = answer.text;
    assert!(!page.contains("aria-label=\"Pages\"") && page.contains("Page not found"), "{page}");
}

#[tokio::test]
async fn the_app_can_be_installed_and_stores_only_the_offline_page() {
    let world = World::new().await;
    let mut browser = Browser::new(&world);
    let manifest = browser.get("/manifest.webmanifest").await.good();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["display"], "standalone");
    for icon in manifest["icons"].as_array().unwrap() {
        let icon = browser.get(icon["src"].as_str().unwrap()).await;
        assert_eq!(icon.status, StatusCode::OK);
    }
    let worker = browser.get("/worker.js").await;
    assert!(worker.header("content-security-policy").contains("worker-src 'self'"));
    let worker = worker.good();
    let files = worker.split_once("FILES = ").unwrap().1.split_once(';').unwrap().0;
    let files: Vec<String> = serde_json::from_str(files).unwrap();
    assert_eq!(files.len(), 2);
    for file in &files {
        assert_eq!(browser.get(file).await.status, StatusCode::OK, "{file}");
    }
    assert!(browser.get("/offline").await.good().contains("You're offline"));
}
