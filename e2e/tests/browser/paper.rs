//! Paper trading by forms: an account is opened and an order placed, each after an approval, with and without scripts.

use e2e::{Browser, Program, until};

/// Approves the open proposal, and waits until it is done.
#[track_caller]
fn approve(browser: &Browser, button: &str) {
    until("the proposal is open", || browser.path().starts_with("/approvals/").then_some(()));
    let proposal = browser.path();
    browser.press(button);
    until("it is done", || {
        let is_done = browser.text().contains("It's done.");
        if !is_done {
            browser.go(&proposal);
        }
        is_done.then_some(())
    });
}

fn trade(browser: &Browser, name: &str) {
    browser.go("/paper");
    browser.press("Name and starting cash");
    browser.fill("Name", name);
    browser.fill("Starting cash", "a lot");
    browser.press("Review");
    browser.sees("nter an amount such as 500.00");
    browser.fill("Starting cash", "5,000");
    browser.press("Review");
    approve(browser, "Approve");
    browser.go("/paper");
    browser.follow(name);
    browser.sees("$5,000.00");
    browser.choose("Side", "Buy");
    browser.fill("Symbol", "AAPL");
    browser.press("Review");
    browser.sees("nter either shares or an amount in dollars");
    browser.fill("Shares", "2");
    browser.press("Review");
    approve(browser, "Buy 2 AAPL");
    browser.go("/paper");
    browser.follow(name);
    browser.sees("AAPL");
}

#[test]
fn an_account_is_opened_and_shares_are_bought_by_forms() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    trade(&browser, "Sailing");
    browser.without_script();
    trade(&browser, "Rowing");
}
