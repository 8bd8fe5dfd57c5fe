//! A stranger's tasks: everything is found by visible labels alone, beginning on the overview.

use e2e::bank::{self, Month};
use e2e::scenes::setup_code;
use e2e::{Browser, Program, until};

use crate::assistants::{self, Assistant};

/// The name of the newest transaction in a category, as the list shows it: above its description and its other cells.
#[track_caller]
fn newest_in(browser: &Browser, category: &str) -> String {
    let text = browser.text();
    let lines: Vec<&str> = text.lines().collect();
    let cells = format!("\t{category}\t");
    let row = lines.iter().position(|it| it.starts_with(&cells));
    let before = &lines[..row.unwrap_or_else(|| panic!("no {category}:\n{text}"))];
    let name = before.iter().rev().take_while(|it| !it.trim().is_empty()).last();
    (*name.unwrap()).to_owned()
}

/// Splits a grocery receipt: most of it was food, and a part was a present.
fn split_a_grocery_receipt(browser: &Browser) {
    browser.follow("Transactions");
    browser.press("Filters");
    browser.choose("Category", "Groceries");
    browser.choose("Status", "Posted");
    browser.press("Apply filters");
    browser.sees("Clear all");
    browser.follow(&newest_in(browser, "Groceries"));
    browser.follow("Split over categories");
    browser.choose("Category of part 2", "Gifts");
    browser.fill("Amount of part 2", "1.50");
    browser.press("Save split");
    browser.sees("Split saved.");
    browser.sees("-$1.50");
    browser.follow("Back to transactions");
    browser.sees("Split: Groceries, Gifts");
}

fn has_amounts(line: &str) -> bool {
    line.split('\t').filter(|it| it.contains('$')).count() == 3
}

/// Finds what was spent on restaurants last quarter, compared with the year before.
fn compare_restaurants(browser: &Browser) {
    browser.follow("Spending");
    browser.follow("Last quarter");
    browser.follow("Year before");
    browser.follow("Food and drink");
    browser.sees("Restaurants");
    // The amounts are below the name and its number of transactions: spent, before, and the change.
    let text = browser.text();
    let lines: Vec<&str> = text.lines().collect();
    let is_row = |it: &&[&str]| it[0] == "Restaurants" && it[1..].iter().any(|it| has_amounts(it));
    assert!(lines.windows(4).any(|it| is_row(&it)), "no figures of restaurants:\n{text}");
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

/// The address that the page shows for assistants, as a person would copy it.
fn shown_address(browser: &Browser) -> String {
    let text = browser.text();
    let (_, rest) = text.split_once("Address").unwrap_or_else(|| panic!("no address:\n{text}"));
    let address = rest.split_whitespace().find(|it| it.starts_with("http"));
    address.unwrap().to_owned()
}

/// Connects an assistant as the page says: it gets the address, opens a page, and the person allows it. Then its access
/// is ended.
fn connect_an_assistant(browser: &Browser) {
    browser.follow("Assistants");
    browser.press("Claude");
    browser.sees("Paste the address as the URL, select Add, then Connect.");
    browser.sees("Sign in on the page that opens, choose what it may see, and select Allow.");
    browser.sees("No clients are connected.");
    browser.assert_clean();

    let mut assistant = Assistant::start(assistants::python(&shown_address(browser)));
    browser.go(&assistant.expect("AUTHORIZE"));
    browser.sees("Python assistant");
    browser.press("Allow");
    // It can read now, and its page on this machine has taken the person back.
    assert!(assistant.expect("TOOLS").contains("search_transactions"));
    assert!(assistant.expect("ASKED").starts_with("net_worth "));
    let elsewhere = browser.logged_problems();
    let is_own = |it: &String| it.contains("another origin: http://127.0.0.1:");
    assert!(elsewhere.iter().all(is_own), "{elsewhere:?}");

    browser.go("/");
    browser.follow("Assistants");
    browser.sees("Python assistant");
    browser.press("Revoke access for Python assistant");
    browser.press("Revoke access");
    browser.sees("Access revoked.");
    browser.follow("Assistants");
    browser.sees("No clients are connected.");
}

#[test]
fn a_stranger_finds_the_way_by_visible_labels() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    split_a_grocery_receipt(&browser);
    compare_restaurants(&browser);
    dismiss_a_false_subscription(&browser);
    connect_an_assistant(&browser);
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
