//! A stranger's tasks: everything is found by visible labels alone, beginning on the overview.

use e2e::bank::{self, Month};
use e2e::scenes::setup_code;
use e2e::viewport::{self, Viewport};
use e2e::{Browser, Program, until};
use serde_json::json;

use crate::assistants::{self, Assistant};

/// The text of the first visible row that has these words, and of the link in it.
const ROW: &str = "
const row = [...document.querySelectorAll('tbody tr')].find(it => it.innerText.includes(arguments[0]));
return row && [row.innerText, row.querySelector('a')?.innerText];
";

#[track_caller]
fn row(browser: &Browser, words: &str) -> [String; 2] {
    let found = browser.script(ROW, json!([words]));
    let text = |index: usize| found[index].as_str().unwrap_or_default().to_owned();
    assert!(found.is_array(), "no {words}:\n{}", browser.text());
    [text(0), text(1)]
}

/// Follows a link of the navigation. On a phone most of them are behind “More”.
fn go_to(browser: &Browser, page: &str) {
    if !browser.has_link(page) {
        browser.press("More");
    }
    browser.follow(page);
}

/// Splits a grocery receipt: most of it was food, and a part was a present.
fn split_a_grocery_receipt(browser: &Browser) {
    go_to(browser, "Transactions");
    browser.press("Filters");
    browser.choose("Category", "Groceries");
    browser.choose("Status", "Posted");
    browser.press("Apply filters");
    browser.sees("Clear all");
    let [_, newest] = row(browser, "Groceries");
    browser.follow(&newest);
    browser.follow("Split over categories");
    browser.choose("Category of part 2", "Gifts");
    browser.fill("Amount of part 2", "1.50");
    browser.press("Save split");
    browser.sees("Split saved.");
    browser.sees("-$1.50");
    browser.follow("Back to transactions");
    browser.sees("Split: Groceries, Gifts");
}

/// The amounts in a text, in cents.
fn amounts(text: &str) -> Vec<i64> {
    let words = text.split_whitespace().filter(|it| it.contains('$'));
    words.map(|it| it.replace(['$', ',', '.', '+'], "").parse().unwrap()).collect()
}

/// The restaurants of last quarter and of the year before in the API, in cents.
fn restaurants_in_api(program: &Program, browser: &Browser) -> [i64; 2] {
    let quarter = browser.script(LAST_QUARTER, json!([]));
    let path = format!(
        "/v1/spending?start_date={}&end_date={}&group_by=category&category_tier1=FOOD_AND_DRINK&compare=previous_year",
        quarter[0].as_str().unwrap(),
        quarter[1].as_str().unwrap()
    );
    let found = program.get(&path, program.fact("api_key")).json();
    let groups = found["data"]["groups"].as_array().unwrap_or_else(|| panic!("{found}"));
    let group = groups.iter().find(|it| it["key"] == "FOOD_AND_DRINK_RESTAURANT").unwrap();
    ["amount", "previous_amount"].map(|it| cents(&group[it].to_string()))
}

/// A JSON number such as 640.1 in cents.
fn cents(number: &str) -> i64 {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    format!("{whole}{decimals:0<2}").parse().unwrap()
}

/// The first and the last day of the quarter before this one.
const LAST_QUARTER: &str = "
const now = new Date();
const first = now.getUTCMonth() - now.getUTCMonth() % 3 - 3;
return [Date.UTC(now.getUTCFullYear(), first, 1), Date.UTC(now.getUTCFullYear(), first + 3, 0)]
    .map(it => new Date(it).toISOString().slice(0, 10));
";

/// Finds what was spent on restaurants last quarter, compared with the year before. The API says the same.
fn compare_restaurants(program: &Program, browser: &Browser) {
    go_to(browser, "Spending");
    browser.follow("Last quarter");
    browser.follow("Year before");
    browser.follow("Food and drink");
    browser.sees("Restaurants");
    let [text, _] = row(browser, "Restaurants");
    let [spent, before] = restaurants_in_api(program, browser);
    assert!(spent > 0 && before > 0, "{spent} {before}");
    assert_eq!(amounts(&text), [spent, before, spent - before], "{text}");
    browser.sees(" than ");
}

/// Dismisses a payment that only looks like a subscription, and it is gone from the list and the bills.
fn dismiss_a_false_subscription(browser: &Browser) {
    go_to(browser, "Recurring");
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
    go_to(browser, "Assistants");
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
    go_to(browser, "Assistants");
    browser.sees("Python assistant");
    browser.press("Revoke access for Python assistant");
    browser.press("Revoke access");
    browser.sees("Access revoked.");
    go_to(browser, "Assistants");
    browser.sees("No clients are connected.");
}

fn find_the_way(viewport: Viewport) {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.set_viewport(viewport);
    browser.sign_in(&program);
    split_a_grocery_receipt(&browser);
    compare_restaurants(&program, &browser);
    dismiss_a_false_subscription(&browser);
    connect_an_assistant(&browser);
    browser.assert_clean();
}

#[test]
fn a_stranger_finds_the_way_by_visible_labels() {
    find_the_way(viewport::DESKTOP);
}

#[test]
fn a_stranger_finds_the_way_on_a_phone() {
    find_the_way(viewport::PHONE);
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
