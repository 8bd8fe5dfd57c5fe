//! Every page, on a desk and on a phone, by day and by night: usable by everyone, and quiet.

use e2e::{Browser, Program, pages, scenes};
use serde_json::{Value, json};

#[track_caller]
fn hold(browser: &Browser, paths: &[String]) {
    // The walk through them opened every page once already; what it met is met again.
    browser.troubles();
    let mut found = Vec::new();
    for path in paths {
        browser.go(path);
        found.extend(browser.complaints());
        found.extend(browser.troubles().into_iter().map(|it| format!("{path}: {it}")));
    }
    assert!(found.is_empty(), "{} complaints\n{}", found.len(), found.join("\n"));
}

#[test]
fn pages_that_everyone_can_open_keep_nobody_out() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    let paths = pages::walk(&browser, &pages::OPEN);
    assert!(paths.len() >= pages::OPEN.len(), "{paths:?}");
    hold(&browser, &paths);
}

#[test]
fn pages_of_a_person_keep_nobody_out() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    let paths = pages::walk(&browser, &pages::OWN);
    for path in pages::OWN {
        assert!(paths.iter().any(|it| it == path), "{path} is not among {paths:?}");
    }
    hold(&browser, &paths);
}

#[test]
fn pages_that_one_has_to_do_something_for_keep_nobody_out() {
    let mut found = Vec::new();
    scenes::each(|_, browser| found.extend(browser.complaints()));
    assert!(found.is_empty(), "{} complaints\n{}", found.len(), found.join("\n"));
}

/// What can be opened or sent on a page, by what is written on it.
const OFFERS: &str = r#"
return [...document.querySelectorAll("h1, a[href], button[type=submit], summary")]
    .filter(it => it.checkVisibility())
    .map(it => `${it.tagName} ${it.innerText}`);
"#;

#[test]
fn pages_of_a_person_offer_the_same_without_a_script() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    let paths = pages::walk(&browser, &pages::OWN);
    let offers = |path: &String| {
        browser.go(path);
        browser.script(OFFERS, json!([]))
    };
    let with: Vec<Value> = paths.iter().map(offers).collect();
    browser.without_script();
    for (path, with) in paths.iter().zip(with) {
        assert_eq!(offers(path), with, "{path}");
    }
}

#[test]
fn an_address_that_leads_nowhere_is_as_usable_as_any_other() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.go("/nowhere");
    browser.sees("Page not found");
    browser.keeps_nobody_out();
    browser.expect_refusal("/nowhere");
    browser.is_clean();
}
