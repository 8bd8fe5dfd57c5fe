//! The traces of a browser run tell nothing about the person.

use std::collections::BTreeSet;

use e2e::program::collector;
use e2e::{Browser, Program, until};
use testkit::collector::personal_texts;

/// A word that only a search has.
const SEARCHED: &str = "unmistakable";

#[test]
fn the_traces_of_all_programs_of_a_browser_run_have_nothing_personal() {
    let demo = Program::demo();
    let browser = Browser::start(demo.origin());
    browser.sign_in(&demo);
    for page in ["/", "/accounts", "/transactions", "/spending", "/income", "/goals", "/settings"] {
        browser.go(page);
    }
    browser.go(&format!("/transactions?q={SEARCHED}"));
    browser.go(&format!("/search?q={SEARCHED}"));
    let mut texts = BTreeSet::from([SEARCHED.to_owned(), demo.fact("password").to_owned()]);
    for path in ["/v1/me", "/v1/accounts", "/v1/transactions?limit=100", "/v1/goals"] {
        personal_texts(&demo.get(path, demo.fact("api_key")).json()["data"], &mut texts);
    }
    assert!(texts.len() > 100, "{texts:?}");
    until("the collector has the search of this run", || {
        let route = BTreeSet::from(["GET /search".to_owned()]);
        (collector().leaked(&route) == route).then_some(())
    });
    // The collector also has the traces of tests that ran before or beside this one.
    assert_eq!(collector().leaked(&texts), BTreeSet::new());
}
