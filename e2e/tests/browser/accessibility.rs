//! Every page, on desktop and phone, in light and dark colors: accessible, light, and without errors in the log.

use std::collections::BTreeSet;

use e2e::axe::Axe;
use e2e::{Browser, Program, pages, scenes};
use serde_json::{Value, json};

/// The most bytes of a compressed page, without its style and scripts.
const BYTES_MAX: usize = 40 * 1_024;

/// The compressed size of a page, as this browser gets it.
fn compressed_bytes(program: &Program, browser: &Browser, path: &str) -> usize {
    let cookies = browser.session.get("/cookie").unwrap();
    let pair = |it: &Value| Some(format!("{}={}", it["name"].as_str()?, it["value"].as_str()?));
    let cookies: Vec<String> = cookies.as_array().unwrap().iter().filter_map(pair).collect();
    let headers = [("Accept-Encoding", "gzip"), ("Cookie", &cookies.join("; "))];
    let answer = program.send("GET", path, &headers, "");
    // Links of the documentation also lead to pages that ask to sign in first.
    assert!([200, 303].contains(&answer.status), "{path}: {}", answer.status);
    answer.body.len()
}

/// Walks from these pages and returns the path of each page; fails if one has a problem. axe-core looks at one page of each
/// template, our own checks at all.
#[track_caller]
fn walk_accessible(program: &Program, browser: &Browser, from: &[&str]) -> Vec<String> {
    let (mut found, axe, mut templates) = (Vec::new(), Axe::installed(), BTreeSet::new());
    let paths = pages::walk_with(browser, from, |path| {
        let bytes = compressed_bytes(program, browser, path);
        if bytes > BYTES_MAX {
            found.push(format!("{path}: {bytes} bytes, more than {BYTES_MAX}"));
        }
        let is_new = templates.insert(pages::template(path));
        found.extend(browser.problems_with(is_new.then_some(&axe)));
        found.extend(browser.logged_problems().into_iter().map(|it| format!("{path}: {it}")));
    });
    assert!(found.is_empty(), "{} problems\n{}", found.len(), found.join("\n"));
    paths
}

#[test]
fn public_pages_are_accessible() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    let paths = walk_accessible(&program, &browser, &pages::PUBLIC);
    assert!(paths.len() >= pages::PUBLIC.len(), "{paths:?}");
}

#[test]
fn pages_of_a_signed_in_person_are_accessible() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    let paths = walk_accessible(&program, &browser, &pages::SIGNED_IN);
    for path in pages::SIGNED_IN {
        assert!(paths.iter().any(|it| it == path), "{path} is not among {paths:?}");
    }
}

#[test]
fn pages_that_appear_after_an_action_are_accessible() {
    let (mut found, axe) = (Vec::new(), Axe::installed());
    scenes::each(|_, browser| found.extend(browser.problems_with(Some(&axe))));
    assert!(found.is_empty(), "{} problems\n{}", found.len(), found.join("\n"));
}

/// Headings, links and buttons of a page, by their text.
const CONTROLS: &str = r#"
return [...document.querySelectorAll("h1, a[href], button[type=submit], summary")]
    .filter(it => it.checkVisibility())
    .map(it => `${it.tagName} ${it.innerText}`);
"#;

#[test]
fn pages_have_the_same_controls_without_scripts() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    let mut with = Vec::new();
    let controls = || browser.script(CONTROLS, json!([]));
    let paths = pages::walk_with(&browser, &pages::SIGNED_IN, |_| with.push(controls()));
    browser.without_script();
    for (path, with) in paths.iter().zip(with) {
        browser.go(path);
        assert_eq!(controls(), with, "{path}");
    }
}

/// Visitors see the page alone, and a signed-in person within the app.
#[test]
fn the_not_found_page_is_accessible() {
    let (program, axe) = (Program::demo(), Axe::installed());
    let browser = Browser::start(program.origin());
    for is_signed_in in [false, true] {
        if is_signed_in {
            browser.sign_in(&program);
        }
        browser.go("/nowhere");
        browser.sees("Page not found");
        assert_eq!(browser.has_link("Transactions"), is_signed_in);
        assert_eq!(browser.problems_with(Some(&axe)), [""; 0]);
        browser.expect_refusal("/nowhere");
        browser.assert_clean();
    }
}
