//! The spending page with and without scripts: every figure opens transactions that add up to it.

use e2e::{Browser, Program};
use serde_json::{Value, json};

/// The name and the amount of the first row of the breakdown that leads to a list.
const FIRST_GROUP: &str = "
const row = [...document.querySelectorAll('table.spent tbody tr')].find(it => it.querySelector('td.figure a'));
return [row.querySelector('th a').innerText, row.querySelector('td.figure a').innerText];
";

/// The amounts of the breakdown that lead to lists.
const ACCOUNTS: &str =
    "return [...document.querySelectorAll('table.spent td.figure a')].map(it => it.innerText)";

/// The amount of a tile above the list of transactions.
const TILE: &str = "
const tile = [...document.querySelectorAll('.tiles .tile')].find(it => it.querySelector('dt').innerText === arguments[0]);
return tile.querySelector('dd').innerText;
";

/// The amounts of both sides of the cash flow.
const FLOW: &str = "
return [...document.querySelectorAll('.sankey section')].map(side =>
    [...side.querySelectorAll('li')].map(it => it.innerText.match(/-?[$][0-9.,]+/)[0]));
";

/// An amount of the page in cents.
fn cents(amount: &str) -> i64 {
    amount.replace(['$', ',', '.'], "").parse().unwrap_or_else(|_| panic!("{amount} is no amount"))
}

/// Follows the amount of the first group, and compares it with the sum of the transactions that it opens.
#[track_caller]
fn open_first_group(browser: &Browser) -> String {
    let group = browser.script(FIRST_GROUP, json!([]));
    let (name, amount) = (group[0].as_str().unwrap(), group[1].as_str().unwrap());
    browser.follow(amount);
    browser.arrive("/transactions");
    let net = browser.script(TILE, json!(["Net"]));
    assert_eq!(cents(net.as_str().unwrap()), -cents(amount), "{name} at {}", browser.path());
    name.to_owned()
}

fn spending(browser: &Browser) {
    browser.go("/spending");
    browser.follow("Last month");
    browser.follow("Average");
    browser.sees("than an average month");
    browser.follow("Year before");
    browser.sees(" than ");
    // A category, the detailed ones in it, and their transactions.
    let category = browser.script(FIRST_GROUP, json!([]))[0].as_str().unwrap().to_owned();
    open_first_group(browser);
    browser.back();
    browser.follow(&category);
    browser.sees("All spending");
    open_first_group(browser);
    browser.back();
    browser.follow("All spending");
    // A merchant has a filter of its own, which the list names.
    browser.follow("Merchant");
    let merchant = open_first_group(browser);
    browser.sees(&format!("Merchant: {merchant}"));
    browser.back();
    // The list of an account leaves out income, so that it adds up to what was spent from it.
    browser.follow("Account");
    let accounts = browser.script(ACCOUNTS, json!([]));
    let accounts = accounts.as_array().unwrap();
    assert!(accounts.len() > 1, "{accounts:?}");
    let page = browser.path();
    for amount in accounts.iter().filter_map(Value::as_str) {
        browser.go(&page);
        browser.follow(amount);
        browser.sees("Counted as spending");
        let net = browser.script(TILE, json!(["Net"]));
        assert_eq!(cents(net.as_str().unwrap()), -cents(amount), "{}", browser.path());
    }
    flow(browser);
}

/// Both sides of the cash flow have the same sum.
fn flow(browser: &Browser) {
    browser.go("/spending?period=last_month");
    let found = browser.script(FLOW, json!([]));
    let sum = |side: &Value| -> i64 {
        let amounts = side.as_array().unwrap();
        assert!(amounts.len() > 1, "{found}");
        amounts.iter().map(|it| cents(it.as_str().unwrap())).sum()
    };
    assert!(sum(&found[0]) > 0, "{found}");
    assert_eq!(sum(&found[0]), sum(&found[1]), "{found}");
}

#[test]
fn figures_of_spending_open_their_transactions_with_and_without_scripts() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    spending(&browser);
    browser.assert_clean();
    browser.without_script();
    spending(&browser);
}
