//! What a file leaves open is asked with an example, and nothing is imported before it is answered.

use http::StatusCode;
use testkit::World;
use testkit::draft::{checking, statement, txn};

use super::{dropped, import, robin, say};

/// Neither the order of the dates nor the meaning of the signs shows in it.
const OPEN: &str = "Date,Amount,Description\n03/04/2026,12.50,CORNER CAFE\n05/06/2026,80.00,CITY POWER\n\
    02/01/2026,3.00,KIOSK\n";

#[tokio::test]
async fn doubts_are_asked_with_an_example_and_block_the_import_until_they_are_answered() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let at = dropped(&mut browser, "open.csv", OPEN).await;
    let page = browser.get(&at).await.good();
    for said in [
        "What date is 05/06?",
        "5 June 2026 (day first)",
        "6 May 2026 (month first)",
        "Is $80.00 for “CITY POWER” money out or money in?",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let refused = import(&mut browser, &at, &[]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.text.contains("Answer the questions below first"), "{}", refused.text);
    let refused = import(&mut browser, &at, &[("dates", "day_first")]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(
        !refused.text.contains("What date is") && refused.text.contains("money out or money in")
    );
    let page = say(&mut browser, &at, &[("charges", "positive")]).await;
    assert!(!page.contains("about this file"), "{page}");
    assert!(page.contains("-$12.50") && page.contains("Fri 3 Apr"), "{page}");
    assert_eq!(import(&mut browser, &at, &[]).await.location(), at);
    // What was said goes for the next file of that kind.
    let next = OPEN.replace("/2026", "/2025");
    let at = dropped(&mut browser, "again.csv", &next).await;
    let page = browser.get(&at).await.good();
    assert!(!page.contains("about this file") && page.contains("Thu 3 Apr 2025"), "{page}");
}

#[tokio::test]
async fn a_file_that_names_no_account_asks_for_it_once() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let everyday = checking("Everyday").with(txn("2026-02-13", -1_250, "CORNER CAFE").id("a"));
    robin.import(statement([everyday])).await;
    let at = dropped(&mut browser, "bank.csv", super::TABLE).await;
    let page = browser.get(&at).await.good();
    assert!(page.contains("The file doesn't name its account"), "{page}");
    let refused = import(&mut browser, &at, &[]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.text.contains("Choose an account for this file"), "{}", refused.text);
    let refused = import(&mut browser, &at, &[("goes_0", "none")]).await;
    assert!(
        refused.text.contains("Choose where to import at least one account"),
        "{}",
        refused.text
    );
    let id = robin.account("Everyday").await.to_string();
    let page = say(&mut browser, &at, &[("goes_0", &id)]).await;
    assert!(page.contains("2 new, 0 updated, 1 already imported"), "{page}");
    assert_eq!(import(&mut browser, &at, &[]).await.location(), at);
    let at = dropped(&mut browser, "bank.csv", super::TABLE).await;
    assert!(browser.get(&at).await.good().contains("Nothing new in this file"));
}
