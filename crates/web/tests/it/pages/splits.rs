//! Transactions that are split over categories: the form without scripts, and a split whose amount changed.

use http::StatusCode;
use service::insights;
use testkit::World;
use testkit::draft::{checking, statement, txn};

use super::transactions::{household, id_of};
use super::{HOSTILE, assert_escaped};
use crate::browser::Browser;

#[tokio::test]
async fn a_receipt_is_split_over_categories_without_scripts() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let path = format!("/transactions/{}", id_of(&world, &robin, "KROGER").await);
    let page = browser.get(&path).await.good();
    assert!(page.contains("Split over categories"), "{page}");
    let form = format!("{path}/split");
    let page = browser.get(&form).await.good();
    assert!(page.contains("of part 3") && page.contains("-$42.10"), "{page}");
    let (food, gifts) = ("FOOD_AND_DRINK_GROCERIES", "GENERAL_MERCHANDISE_GIFTS_AND_NOVELTIES");
    let row = |category, amount, note| [("category", category), ("amount", amount), ("note", note)];
    let send = |rows: &[[(&'static str, &'static str); 3]], button: &'static str| {
        let mut fields = rows.concat();
        fields.push(("do", button));
        fields
    };
    let more = send(&[row(food, "30", ""), row(gifts, "", HOSTILE)], "more");
    let page = browser.post(&form, &more).await.good();
    assert_escaped(&page);
    assert!(page.contains("of part 5") && page.contains("value=\"30\""), "{page}");
    for (rows, message) in [
        (&[row(food, "30", ""), row(gifts, "2.10", "")][..], "$10.00 is missing"),
        (&[row(food, "", ""), row(gifts, "", "")], "Only one part can have an empty amount"),
        (&[row(food, "30", ""), row("", "12.10", "")], "Choose a category for each part"),
        (&[row(food, "30", ""), row(gifts, "a lot", "")], "Enter an amount such as"),
        (&[row(food, "42.10", ""), row("", "", "")], "2 to 20 parts"),
        (&[row(food, "50", ""), row(gifts, "", "")], "must not be zero"),
    ] {
        let page = browser.post(&form, &send(rows, "save")).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{message}");
        assert!(page.text.contains(message), "{message}: {}", page.text);
    }
    let good = send(&[row(food, "30", ""), row(gifts, "", "For Kim"), row("", "", "")], "save");
    let page = browser.submit(&form, &good).await.good();
    for part in ["Split saved.", "For Kim", "-$30.00", "-$12.10", "Edit split"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let page = browser.get("/transactions?category=GENERAL_MERCHANDISE").await.good();
    assert!(page.contains("Split: Groceries, Gifts") && page.contains("-$12.10"), "{page}");
    let csv = browser.get("/transactions.csv?q=kroger").await.good();
    assert!(csv.contains("\"Groceries -30.00; Gifts -12.10\""), "{csv}");
    let page = browser.submit(&format!("{path}/unsplit"), &[]).await.good();
    assert!(page.contains("Split removed.") && !page.contains("Edit split"), "{page}");
    let kim = household(&world).await;
    let mut other = Browser::of(&world, &kim).await;
    assert_eq!(other.get(&form).await.status, StatusCode::NOT_FOUND);
    assert_eq!(other.post(&form, &good).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_outdated_split_is_named_on_its_page_and_the_overview() {
    let world = World::new().await;
    let robin = world.someone().await;
    let cafe = |minor| txn("2026-03-04", minor, "CORNER CAFE").id("cafe");
    robin.import(statement([checking("Everyday").with(cafe(-900).pending())])).await;
    let mut browser = Browser::of(&world, &robin).await;
    let path = format!("/transactions/{}", id_of(&world, &robin, "CORNER CAFE").await);
    let coffee = [
        ("category", "FOOD_AND_DRINK_COFFEE"),
        ("amount", "4"),
        ("note", ""),
        ("category", "FOOD_AND_DRINK_GROCERIES"),
        ("amount", ""),
        ("note", ""),
    ];
    browser.submit(&format!("{path}/split"), &coffee).await.good();
    assert!(!browser.get("/").await.good().contains("split transaction"));
    // The pending purchase posts with a tip.
    robin.import(statement([checking("Everyday").with(cafe(-1_100))])).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    let page = browser.get(&path).await.good();
    assert!(page.contains("The parts no longer add up"), "{page}");
    assert!(page.contains("-$9.00") && page.contains("-$11.00"), "{page}");
    let page = browser.get("/").await.good();
    assert!(page.contains("1 split transaction"), "{page}");
}
