//! The transaction list without filters, which is of this month.

use testkit::World;
use testkit::draft::{checking, statement, txn};

use crate::browser::Browser;

/// A browser of a person with a transaction in February and, if wanted, one in March, which is this month.
async fn browser_with(world: &World, has_this_month: bool) -> Browser {
    let robin = world.someone().await;
    let mut rows = vec![txn("2026-02-01", -10_000, "KROGER #1").id("before")];
    if has_this_month {
        rows.push(txn("2026-03-01", -2_500, "SAFEWAY #2").id("now"));
    }
    robin.import(statement([checking("Everyday").with_all(rows)])).await;
    Browser::of(world, &robin).await
}

#[tokio::test]
async fn without_filters_the_list_and_its_totals_are_of_this_month() {
    let world = World::new().await;
    let mut browser = browser_with(&world, true).await;
    let page = browser.get("/transactions").await.good();
    assert!(page.contains("SAFEWAY #2") && !page.contains("KROGER #1"), "{page}");
    let sums = page.split_once("This month").unwrap().1.split_once("</dl>").unwrap().0;
    assert!(sums.contains("-$25.00") && !sums.contains("-$125.00"), "{sums}");
    // What is downloaded and what "select all" means is what is shown.
    assert!(page.contains("/transactions.csv?from=2026-03-01"), "{page}");
    assert!(!page.contains("Save this filter"), "{page}");
    // The month before is one step away, and the one before that another.
    let february = "/transactions?from=2026-02-01&amp;to=2026-02-28";
    assert_eq!(page.matches(february).count(), 2, "{page}");
    let page = browser.get(&february.replace("&amp;", "&")).await.good();
    assert!(page.contains("KROGER #1") && !page.contains("SAFEWAY #2"), "{page}");
    assert!(page.contains("/transactions?from=2026-01-01&amp;to=2026-01-31"), "{page}");
    // Other filters are of all dates.
    let all = browser.get("/transactions?direction=out").await.good();
    assert!(all.contains("KROGER #1") && all.contains("-$125.00"), "{all}");
}

#[tokio::test]
async fn all_dates_are_shown_on_request_and_stay_when_the_order_changes() {
    let world = World::new().await;
    let mut browser = browser_with(&world, true).await;
    for path in ["/transactions?dates=all", "/transactions?dates=all&sort=largest"] {
        let page = browser.get(path).await.good();
        assert!(page.contains("SAFEWAY #2") && page.contains("KROGER #1"), "{page}");
        assert!(page.contains("name=\"dates\" value=\"all\""), "{page}");
    }
    // Removing the only date shows all dates.
    let page = browser.get("/transactions?from=2026-03-01").await.good();
    assert!(page.contains("href=\"/transactions?dates=all\""), "{page}");
}

#[tokio::test]
async fn a_month_without_transactions_shows_all_dates() {
    let world = World::new().await;
    let mut browser = browser_with(&world, false).await;
    let page = browser.get("/transactions").await.good();
    assert!(
        page.contains("KROGER #1") && page.contains("No transactions this month yet"),
        "{page}"
    );
    assert!(page.contains("/transactions.csv?dates=all"), "{page}");
}
