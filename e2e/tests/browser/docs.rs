//! The documentation: its search finds pages, endpoints and error codes.

use e2e::input::key;
use e2e::{Browser, Program};
use serde_json::json;

const SEARCH: &str = "Search the documentation";

/// Searches by typing and pressing Enter.
fn search(browser: &Browser, words: &str) {
    browser.fill(SEARCH, words);
    browser.keys(key::ENTER);
    browser.arrive("/docs/search");
    browser.sees(&format!("“{words}”"));
}

fn find_everything(browser: &Browser) {
    browser.go("/docs");
    search(browser, "spending merchant");
    browser.sees("GET /v1/spending");
    let title = "Spending by category, merchant, account or month";
    browser.follow(title);
    browser.arrive("/docs/api/spending");
    // The address leads to the endpoint itself, not to the top of its page.
    let shown = browser.script("return document.querySelector(':target')?.innerText", json!([]));
    assert_eq!(shown, title, "{}", browser.path());

    search(browser, "IDEMPOTENCY");
    browser.sees("Error code");
    search(browser, "webhooks");
    browser.sees("Guide");
    search(browser, "nothing-is-named-like-this");
    browser.sees("Nothing in the documentation contains");
    assert!(!browser.text().contains("results for"), "{}", browser.text());
}

#[test]
fn the_documentation_is_searched_with_and_without_scripts() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    find_everything(&browser);
    browser.assert_clean();
    browser.without_script();
    find_everything(&browser);
}
