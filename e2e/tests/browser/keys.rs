//! From the page of keys to an answer of the API, and back out of the door.

use e2e::{Browser, Program};

/// Makes a key on the page, and takes it from the command that the page shows.
fn make_key(browser: &Browser, name: &str) -> String {
    browser.go("/settings/keys");
    browser.fill("Name", name);
    browser.press("Create key");
    browser.sees("curl");
    browser.keeps_nobody_out();
    let text = browser.text();
    let (_, rest) = text.split_once("Bearer ").unwrap();
    let key: String = rest.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect();
    assert!(key.starts_with("ek_"), "{text}");
    key
}

fn revoke_key(browser: &Browser, name: &str) {
    browser.go("/settings/keys");
    browser.press(&format!("Revoke {name}"));
    browser.press("Revoke key");
    browser.sees("Key revoked");
}

fn a_key_works_until_it_is_revoked(program: &Program, browser: &Browser) {
    browser.sign_in(program);
    let key = make_key(browser, "Laptop");
    let answer = program.get("/v1/accounts", &key);
    assert_eq!(answer.status, 200, "{}", answer.json());
    browser.go("/settings/keys");
    assert!(!browser.text().contains(&key), "a key is shown once");

    revoke_key(browser, "Laptop");
    assert_eq!(program.get("/v1/accounts", &key).status, 401);
    assert_eq!(program.get("/v1/accounts", program.fact("api_key")).status, 200);
    browser.is_clean();
}

#[test]
fn a_key_made_on_the_page_works_at_once_and_after_its_end_no_more() {
    let program = Program::demo();
    a_key_works_until_it_is_revoked(&program, &Browser::start(program.origin()));
}

#[test]
fn the_same_goes_without_a_script() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.without_script();
    a_key_works_until_it_is_revoked(&program, &browser);
}
