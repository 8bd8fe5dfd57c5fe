//! Open questions about a file: each has an example, and nothing is imported before they are answered.

use http::StatusCode;
use testkit::World;
use testkit::draft::{checking, statement, txn};

use super::{change_fields, import, robin, upload};

/// A table that shows neither the order of its dates nor the meaning of its signs.
const AMBIGUOUS: &str = "Date,Amount,Description\n03/04/2026,12.50,CORNER CAFE\n05/06/2026,80.00,CITY POWER\n\
    02/01/2026,3.00,KIOSK\n";

#[tokio::test]
async fn open_questions_have_an_example_and_block_the_import_until_answered() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "open.csv", AMBIGUOUS).await;
    let page = browser.get(&at).await.good();
    for text in [
        "What date is 05/06?",
        "5 June 2026 (day first)",
        "6 May 2026 (month first)",
        "Is $80.00 for “CITY POWER” money out or money in?",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let refused = import(&mut browser, &at, &[]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.text.contains("Answer the questions below first"), "{}", refused.text);
    let refused = import(&mut browser, &at, &[("dates", "day_first")]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(
        !refused.text.contains("What date is") && refused.text.contains("money out or money in")
    );
    let page = change_fields(&mut browser, &at, &[("charges", "positive")]).await;
    assert!(!page.contains("about this file"), "{page}");
    assert!(page.contains("-$12.50") && page.contains("Fri 3 Apr"), "{page}");
    assert_eq!(import(&mut browser, &at, &[]).await.location(), at);
    // The answers apply to the next file of the same kind.
    let next = AMBIGUOUS.replace("/2026", "/2025");
    let at = upload(&mut browser, "again.csv", &next).await;
    let page = browser.get(&at).await.good();
    assert!(!page.contains("about this file") && page.contains("Thu 3 Apr 2025"), "{page}");
}

#[tokio::test]
async fn a_file_that_names_no_account_asks_for_it_once() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let everyday = checking("Everyday").with(txn("2026-02-13", -1_250, "CORNER CAFE").id("a"));
    robin.import(statement([everyday])).await;
    let at = upload(&mut browser, "bank.csv", super::TABLE).await;
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
    let page = change_fields(&mut browser, &at, &[("goes_0", &id)]).await;
    assert!(page.contains("2 new, 0 updated, 1 already imported"), "{page}");
    assert_eq!(import(&mut browser, &at, &[]).await.location(), at);
    let at = upload(&mut browser, "bank.csv", super::TABLE).await;
    assert!(browser.get(&at).await.good().contains("Nothing new in this file"));
}
