//! API keys: created on the page, used with the API, and revoked.

use e2e::{Browser, Program, viewport};

/// Creates a key on the page, and reads it from the command that the page shows.
fn create_key(browser: &Browser, name: &str) -> String {
    browser.go("/settings/keys");
    browser.fill("Name", name);
    browser.press("Create key");
    browser.sees("curl");
    browser.assert_accessible();
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

fn check_key_until_revoked(program: &Program, browser: &Browser) {
    browser.sign_in(program);
    let key = create_key(browser, "Laptop");
    let answer = program.get("/v1/accounts", &key);
    assert_eq!(answer.status, 200, "{}", answer.json());
    browser.go("/settings/keys");
    assert!(!browser.text().contains(&key), "the key is shown again");

    revoke_key(browser, "Laptop");
    assert_eq!(program.get("/v1/accounts", &key).status, 401);
    assert_eq!(program.get("/v1/accounts", program.fact("api_key")).status, 200);
    browser.assert_clean();
}

#[test]
fn a_key_works_until_it_is_revoked() {
    let program = Program::demo();
    check_key_until_revoked(&program, &Browser::start(program.origin()));
}

#[test]
fn a_key_can_be_created_and_revoked_without_scripts() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.without_script();
    check_key_until_revoked(&program, &browser);
    // On a phone, the settings pages are in a menu, which needs no script either.
    browser.set_viewport(viewport::PHONE);
    browser.go("/settings/keys");
    assert!(!browser.has_link("Audit trail"));
    browser.press("Settings: API keys");
    browser.follow("Audit trail");
    browser.arrive("/settings/audit");
    browser.set_viewport(viewport::DESKTOP);
    browser.follow("Profile");
    browser.arrive("/settings");
}
