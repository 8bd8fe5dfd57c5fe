//! The income page, which has the same figures as the API.

use service::insights;
use testkit::World;
use testkit::draft::{Txn, checking, statement, txn};

use crate::browser::Browser;

fn monthly(minor: i64, description: &str) -> Vec<Txn> {
    let months = ["2025-10", "2025-11", "2025-12", "2026-01", "2026-02"];
    months.iter().map(|it| txn(&format!("{it}-01"), minor, description)).collect()
}

#[tokio::test]
async fn the_page_shows_income_its_uses_and_the_months_it_covers() {
    let world = World::new().await;
    let robin = world.someone().await;
    let mut browser = Browser::of(&world, &robin).await;
    let page = browser.get("/income").await.good();
    assert!(page.contains("No income yet"), "{page}");
    let everyday = checking("Everyday")
        .with_all(monthly(250_000, "ACME CORP PAYROLL PPD ID: 9111111101"))
        .with_all(monthly(-100_000, "OAK STREET APARTMENTS RENT"))
        .with(txn("2026-02-11", 4_500, "VENMO CASHOUT PPD ID: 5264681992"));
    robin.import(statement([everyday])).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    let page = browser.get("/income").await.good();
    for part in [
        "$2,500.00",
        "Average of 5 months",
        "October 2025 to February 2026",
        "Expenses",
        "Debt",
        "Emergency fund",
        "Investments",
        "40.0%",
        "Left over",
        "$1,500.00",
        "How this is calculated",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    // Money that is not counted is named as everywhere else, and not by the bank's text.
    assert!(page.contains("Venmo") && !page.contains("VENMO"), "{page}");
    browser.submit("/view", &[("hide", "1"), ("next", "/income")]).await.good();
    let page = browser.get("/income").await.good();
    assert!(!page.contains("2,500") && page.contains("$•••"), "{page}");
}
