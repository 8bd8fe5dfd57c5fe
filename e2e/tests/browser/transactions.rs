//! Everything a person can do with transactions, with and without scripts.

use std::fs;
use std::path::Path;

use e2e::scenes::RECEIPT;
use e2e::{Browser, Program, until};
use serde_json::json;
use tempfile::TempDir;

/// A monthly payment of the demo, so that there are two years of it on every day that the tests run.
const MERCHANT: &str = "Netflix";
const SEARCH: &str = "/transactions?q=netflix&status=posted";

fn open_first(browser: &Browser, list: &str, name: &str) {
    browser.go(list);
    browser.follow(name);
    browser.sees("Bank description");
}

/// The number of transactions in the list.
fn row_count(browser: &Browser) -> u64 {
    let count = "return document.querySelectorAll('table.ledger td.what').length";
    browser.script(count, json!([])).as_u64().unwrap()
}

/// Changes many transactions at once, and undoes it beside the message and in the list of edits.
fn edit_many(browser: &Browser) {
    browser.go(SEARCH);
    let count = row_count(browser);
    assert!(count > 3, "{count} transactions");
    browser.click(&browser.field("Select all on this page"));
    browser.choose("Set category", "Gifts");
    browser.press("Apply to selected");
    browser.sees(&format!("{count} transactions set to Gifts."));
    assert_eq!(browser.text().matches("\tGifts\t").count() as u64, count, "{}", browser.text());
    browser.press("Undo");
    browser.sees(&format!("Undone. {count} transactions restored."));
    assert_eq!(browser.text().matches("\tGifts\t").count(), 0, "{}", browser.text());

    browser.click(&browser.field(&format!("Select {MERCHANT}")));
    browser.press("More changes");
    browser.fill("Add tags", "family");
    browser.choose("Visibility", "Hide");
    browser.press("Apply to selected");
    browser.sees("1 transaction changed.");
    assert_eq!(row_count(browser), count - 1);
    browser.follow("Recent edits");
    browser.press("Undo");
    browser.sees("Undone. 1 transaction restored.");
    browser.go(SEARCH);
    assert_eq!(row_count(browser), count);
    assert!(!browser.text().contains("#family"), "{}", browser.text());
}

fn hide_and_mark(browser: &Browser) {
    open_first(browser, SEARCH, MERCHANT);
    browser.press("Hide this transaction");
    browser.sees("You hid this transaction from lists and totals.");
    browser.press("Show this transaction");
    browser.sees("Shown in lists and totals again.");
    browser.press("Mark as transfer");
    browser.sees("You marked this as a transfer.");
    browser.press("Not a transfer");
    browser.sees("Your mark is removed.");
}

fn link_refund(browser: &Browser) {
    open_first(
        browser,
        "/transactions?direction=in&transfers=hide&status=posted&q=pay",
        "DoorDash",
    );
    browser.follow("Link to the purchase it refunds");
    browser.sees("Link a refund to its purchase");
    browser.fill("Search purchases", "netflix");
    browser.press("Search");
    browser.press(&format!("Link to {MERCHANT}"));
    browser.sees("Linked. The refund counts in the category of its purchase.");
    browser.sees("Refund of");
    browser.press("Remove link");
    browser.sees("Link removed.");
}

fn save_filter_and_sort(browser: &Browser) {
    browser.go("/transactions?q=netflix");
    browser.press("Save this filter");
    browser.fill("Name of this filter", "Films");
    browser.press("Save filter");
    browser.sees("Filter “Films” saved.");
    browser.go("/transactions");
    browser.follow("Films");
    browser.sees("NETFLIX.COM");
    assert!(browser.path().contains("q=netflix"), "{}", browser.path());
    browser.follow("Manage filters");
    browser.press("Delete Films");
    browser.sees("Filter deleted.");

    browser.go("/transactions?dates=all");
    browser.press("Filters");
    browser.choose("Order", "Largest first");
    browser.press("Apply filters");
    until("the list is sorted", || browser.path().contains("sort=largest").then_some(()));
    let first = amounts(browser);
    assert!(first.len() == 50 && first.is_sorted_by(|a, b| a >= b), "{first:?}");
    browser.follow("Smaller");
    until("the next page is open", || browser.path().contains("cursor=").then_some(()));
    let next = amounts(browser);
    assert!(next.is_sorted_by(|a, b| a >= b) && first[49] >= next[0], "{first:?} {next:?}");
}

/// The sizes of the amounts in the list, in cents.
fn amounts(browser: &Browser) -> Vec<u64> {
    let read = "return [...document.querySelectorAll('table.ledger tr:not(.day) td.figure')]
        .map(it => Number(it.textContent.replace(/[^0-9]/g, '')))";
    let read = browser.script(read, json!([]));
    read.as_array().unwrap().iter().filter_map(serde_json::Value::as_u64).collect()
}

/// Attaches a file, downloads it, and deletes it. A web page is refused, whatever its name says.
fn attach_file(browser: &Browser, folder: &TempDir) {
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        path
    };
    let downloads = folder.path().join("downloads");
    let to = json!({"behavior": "allow", "downloadPath": downloads});
    browser.session.command("Browser.setDownloadBehavior", to);
    open_first(browser, SEARCH, MERCHANT);
    let page = file("page.pdf", b"<!doctype html><script>alert(1)</script>");
    browser.attach("Picture or PDF", &[&page]);
    browser.press("Attach file");
    browser.sees("“page.pdf” was not attached.");
    browser.attach("Picture or PDF", &[&file("receipt.pdf", RECEIPT)]);
    browser.press("Attach file");
    browser.sees("File attached.");
    browser.follow("receipt.pdf");
    let arrived = downloads.join("receipt.pdf");
    let content = until("the file has arrived", || read_file(&arrived));
    assert_eq!(content, RECEIPT);
    fs::remove_file(arrived).unwrap();
    browser.press("Delete receipt.pdf");
    browser.sees("File deleted.");
}

fn read_file(path: &Path) -> Option<Vec<u8>> {
    fs::read(path).ok().filter(|it| !it.is_empty())
}

fn annotate_and_split(browser: &Browser) {
    open_first(browser, SEARCH, MERCHANT);
    browser.fill("Note", "Shared with Ash");
    browser.fill("Tags", "summer-trip two words!");
    browser.press("Save note and tags");
    browser.sees("A tag has 1 to 30 letters, digits or hyphens");
    browser.fill("Tags", "summer-trip");
    browser.press("Save note and tags");
    browser.sees("Saved.");
    browser.follow("#summer-trip");
    browser.sees("Shared with Ash");
    assert_eq!(row_count(browser), 1);

    browser.follow(MERCHANT);
    browser.follow("Split over categories");
    browser.choose("Category of part 1", "Groceries");
    browser.fill("Amount of part 1", "5.00");
    browser.choose("Category of part 2", "Gifts");
    browser.fill("Amount of part 2", "1.00");
    browser.press("Save split");
    browser.sees("leave one amount empty to give it the rest");
    browser.fill("Amount of part 2", "");
    browser.press("Save split");
    browser.sees("Split saved.");
    browser.sees("-$5.00");
    browser.go("/transactions?tag=summer-trip");
    browser.sees("Split: Groceries, Gifts");
    browser.follow(MERCHANT);
    browser.press("Remove split");
    browser.sees("Split removed.");
}

/// Makes a rule from a transaction, looks at what it would change, saves it, and deletes it.
fn make_rule(browser: &Browser) {
    open_first(browser, SEARCH, MERCHANT);
    browser.follow("Make a rule");
    browser.fill("Rename to", "Evening films");
    browser.fill("Amount from", "nothing");
    browser.press("Preview changes");
    browser.sees("Enter an amount such as 1234.56.");
    browser.fill("Amount from", "1");
    browser.press("Preview changes");
    browser.sees("renamed to Evening films");
    browser.go(SEARCH);
    assert!(!browser.text().contains("Evening films"), "a preview changes nothing");
    open_first(browser, SEARCH, MERCHANT);
    browser.follow("Make a rule");
    browser.fill("Rename to", "Evening films");
    browser.press("Save rule");
    browser.sees("Rule saved.");
    browser.sees("renamed to Evening films");
    let shows = |name: &str| {
        until(&format!("the list shows {name}"), || {
            browser.go(SEARCH);
            browser.has_link(name).then_some(())
        });
    };
    shows("Evening films");
    browser.go("/settings/rules");
    browser.press(&format!("Delete rule for {MERCHANT}"));
    browser.sees("Rule deleted.");
    shows(MERCHANT);
}

fn do_everything(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    edit_many(browser);
    hide_and_mark(browser);
    link_refund(browser);
    save_filter_and_sort(browser);
    attach_file(browser, &folder);
    annotate_and_split(browser);
    make_rule(browser);
}

#[test]
fn transactions_can_be_changed_in_every_way() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    do_everything(&browser);
    browser.go(SEARCH);
    browser.click(&browser.field("Select all on this page"));
    browser.sees(&format!("{} selected.", row_count(&browser)));
}

#[test]
fn transactions_can_be_changed_in_every_way_without_scripts() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.without_script();
    browser.sign_in(&program);
    do_everything(&browser);
}
