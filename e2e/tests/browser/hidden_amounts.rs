//! Hidden amounts: with the switch on, no page shows an amount of the person, and it stays on from page to page.

use e2e::{Browser, Program, pages};
use serde_json::{Value, json};

/// Finds text that looks like money, in the page, in form fields, and in texts that are read aloud or shown on hover,
/// and names its element. Exchange rates, limits, the price of a service and the cash that a new paper account starts with say
/// nothing about the person.
const AMOUNTS: &str = r##"
const codes = "(USD|EUR|GBP|JPY|CHF|CAD)";
const money = new RegExp(`[$€£¥]\\s?\\d|\\d[\\d,.]*\\s?${codes}\\b|\\b${codes}\\s?\\d`);
const general = /^Converted at (the rate of each day\. The newest: )?1 |^In US dollars, up to \$1 billion\.$|^15 USD a year$/;
const describe = it => {
    const names = [];
    for (; it && it !== document.body && names.length < 4; it = it.parentElement) {
        const classes = [...it.classList].map(name => "." + name).join("");
        names.unshift(it.tagName.toLowerCase() + (it.id ? "#" + it.id : "") + classes);
    }
    return names.join(" > ");
};
const found = [];
const look = (it, text) => {
    const plain = (text ?? "").replace(/\s+/g, " ").trim();
    if (money.test(plain) && !general.test(plain)) found.push(`${describe(it)}: ${plain}`);
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) look(walker.currentNode.parentElement, walker.currentNode.data);
for (const name of ["aria-label", "title", "alt", "placeholder"]) {
    document.querySelectorAll(`[${name}]`).forEach(it => look(it, it.getAttribute(name)));
}
look(document.head, document.title);
for (const it of document.querySelectorAll("main input:not([type=hidden]), main textarea")) {
    const isGeneral = it.name === "starting_cash_balance";
    if (/^-?[\d,]+\.\d\d$/.test(it.value) && !isGeneral) found.push(`${describe(it)}: ${it.value}`);
    if (it.placeholder) look(it, it.placeholder);
}
return found;
"##;

const PROPOSALS: &str =
    "return [...document.querySelectorAll('main a[href^=\"/approvals/\"]')].map(it => it.pathname)";

fn amounts(browser: &Browser) -> Vec<String> {
    let found = browser.script(AMOUNTS, json!([]));
    found.as_array().unwrap().iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The amounts on the open page, with its path.
fn leaks(browser: &Browser) -> Vec<String> {
    let path = browser.path();
    amounts(browser).into_iter().map(|it| format!("{path}: {it}")).collect()
}

#[test]
fn hidden_amounts_are_on_no_page() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    let before = amounts(&browser);
    assert!(before.len() > 20, "the overview shows amounts: {before:?}");
    browser.press("Hide amounts");
    browser.sees("Show amounts");
    let mut found = Vec::new();
    let paths = pages::walk_with(&browser, &pages::SIGNED_IN, |_| found.extend(leaks(&browser)));
    assert!(paths.len() > 40, "{paths:?}");
    browser.go("/approvals");
    let proposals = browser.script(PROPOSALS, json!([]));
    let proposals = proposals.as_array().unwrap().iter().filter_map(Value::as_str);
    for path in proposals {
        browser.go(path);
        found.extend(leaks(&browser));
    }
    assert!(found.is_empty(), "{} amounts\n{}", found.len(), found.join("\n"));

    // A switch of this browser, which every page has.
    browser.go("/goals");
    browser.press("Show amounts");
    browser.sees("Hide amounts");
    browser.arrive("/goals");
    browser.go("/");
    assert_eq!(amounts(&browser), before);
    browser.assert_clean();
}
