//! A stranger's tasks: everything is found by visible labels alone, beginning on the overview.

use e2e::bank::{self, Month};
use e2e::scenes::setup_code;
use e2e::{Browser, Program, until};
use serde_json::json;

fn text_of(browser: &Browser, selector: &str) -> String {
    let text = "return document.querySelector(arguments[0])?.innerText ?? ''";
    browser.script(text, json!([selector])).as_str().unwrap_or_default().trim().to_owned()
}

/// Splits a grocery receipt: most of it was food, and a part was a present.
fn split_a_grocery_receipt(browser: &Browser) {
    browser.follow("Transactions");
    browser.press("Filters");
    browser.choose("Category", "Groceries");
    browser.choose("Status", "Posted");
    browser.press("Apply filters");
    browser.sees("Clear all");
    let merchant = text_of(browser, "table.ledger td.what a");
    browser.follow(&merchant);
    browser.follow("Split over categories");
    browser.choose("Category of part 2", "Gifts");
    browser.fill("Amount of part 2", "1.50");
    browser.press("Save split");
    browser.sees("Split saved.");
    browser.sees("-$1.50");
    browser.follow("Back to transactions");
    browser.sees("Split: Groceries, Gifts");
}

/// Finds what was spent on restaurants last quarter, compared with the year before.
fn compare_restaurants(browser: &Browser) {
    browser.follow("Spending");
    browser.follow("Last quarter");
    browser.follow("Year before");
    browser.follow("Food and drink");
    browser.sees("Restaurants");
    let row = "return [...document.querySelectorAll('tr')].map(it => it.innerText)
        .find(it => it.includes('Restaurants') && it.includes('$')) ?? ''";
    let row = browser.script(row, json!([])).as_str().unwrap_or_default().to_owned();
    assert!(row.matches('$').count() >= 3, "spent, before and change: {row:?}");
    browser.sees(" than ");
}

/// Dismisses a payment that only looks like a subscription, and it is gone from the list and the bills.
fn dismiss_a_false_subscription(browser: &Browser) {
    browser.follow("Recurring");
    browser.follow("Costco");
    browser.sees("Not a recurring payment?");
    browser.press("Dismiss payment");
    browser.sees("Payment dismissed.");
    browser.follow("Show active payments");
    until("the list is shown", || (browser.path() == "/recurring").then_some(()));
    assert!(!browser.has_link("Costco"), "{}", browser.text());
}

/// Finds out how to connect an assistant, and where to end its access.
fn connect_an_assistant(browser: &Browser, program: &Program) {
    browser.follow("Assistants");
    browser.sees(&format!("{}/mcp", program.origin()));
    browser.press("Claude");
    browser.sees("Paste the address as the URL, select Add, then Connect.");
    browser.sees("Connected clients");
}

#[test]
fn a_stranger_finds_the_way_by_visible_labels() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    split_a_grocery_receipt(&browser);
    compare_restaurants(&browser);
    dismiss_a_false_subscription(&browser);
    connect_an_assistant(&browser, &program);
    browser.assert_clean();
}

/// Makes all imports a day old, because a test cannot move the program's clock.
fn age_imports(program: &Program) {
    let database = rusqlite::Connection::open(program.data_dir().join("evenkeel.db")).unwrap();
    database.busy_timeout(e2e::TIMEOUT).unwrap();
    let aged = "update imports set imported_at = imported_at - 86400000000";
    assert!(database.execute(aged, []).unwrap() > 0);
}

#[test]
fn a_stranger_undoes_the_import_of_yesterday() {
    let program = Program::serve();
    let browser = Browser::start(program.origin());
    browser.go("/");
    browser.arrive("/setup");
    browser.set_up(&setup_code(&program));
    browser.arrive("/");
    browser.follow("Import");
    browser.drop_files(&[bank::ofx(Month::of(&browser))]);
    browser.press("Import 40 new transactions");
    browser.sees("40 new transactions imported");
    age_imports(&program);

    browser.follow("Overview");
    browser.arrive("/");
    browser.follow("Import");
    browser.sees("yesterday");
    browser.press("Undo the import of statement.ofx");
    browser.press("Undo import");
    browser.sees("40 transactions removed");
    browser.follow("Transactions");
    browser.sees("No transactions yet");
    browser.assert_clean();
}
