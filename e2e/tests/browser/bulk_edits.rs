//! Changing all transactions that match a search, also those on further pages, and undoing it.

use std::collections::BTreeMap;

use e2e::{Browser, Program};
use serde_json::{Value, json};

/// A merchant of the demo with more transactions than fit on a page.
const SEARCH: &str = "/transactions?q=sweetgreen&status=posted";

/// The categories of all transactions that match, by id, as the API has them.
fn categories(program: &Program) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/v1/transactions?q=sweetgreen&pending=false&limit=100{cursor}");
        let answer = program.get(&path, program.fact("api_key")).json();
        let rows = answer["data"].as_array().unwrap();
        let entry =
            |it: &Value| (it["id"].as_str().unwrap().to_owned(), it["category_label"].clone());
        found.extend(rows.iter().map(entry));
        match answer["pagination"]["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return found,
        }
    }
}

fn change_all_and_undo(program: &Program, browser: &Browser, has_scripts: bool) {
    let before = categories(program);
    let count = before.len();
    assert!(count > 50 && before.values().all(|it| it != "Gifts"), "{before:?}");
    browser.go(SEARCH);
    browser.click(&browser.field("Select all on this page"));
    browser.click(&browser.field(&format!("Select all {count} that match")));
    if has_scripts {
        browser.sees(&format!("{count} selected."));
    }
    browser.choose("Set category", "Gifts");
    browser.press("Apply to selected");
    browser.sees(&format!("{count} transactions set to Gifts."));
    let changed = categories(program);
    assert_eq!(changed.len(), count);
    assert!(changed.values().all(|it| it == "Gifts"), "{changed:?}");
    browser.press("Undo");
    browser.sees(&format!("Undone. {count} transactions restored."));
    assert_eq!(categories(program), before);
}

#[test]
fn all_matching_transactions_are_changed_and_restored() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    change_all_and_undo(&program, &browser, true);

    // Taking a row out of the selection leaves the rest of the page, and nothing of other pages.
    browser.go(SEARCH);
    browser.click(&browser.field("Select all on this page"));
    let all = format!("Select all {} that match", categories(&program).len());
    browser.click(&browser.field(&all));
    // The bar stays at the bottom and would cover the row where the driver scrolls it to.
    let to_row = "document.querySelector('table.ledger td.tick').scrollIntoView({block: 'center'})";
    browser.script(to_row, json!([]));
    browser.click(&browser.field("Select Sweetgreen"));
    browser.sees("49 selected.");
    browser.choose("Set category", "Gifts");
    browser.press("Apply to selected");
    browser.sees("49 transactions set to Gifts.");
    let gifts = categories(&program).into_values().filter(|it| it == "Gifts").count();
    assert_eq!(gifts, 49);
    browser.press("Undo");
    browser.sees("Undone. 49 transactions restored.");
    browser.assert_clean();

    browser.without_script();
    change_all_and_undo(&program, &browser, false);
}
