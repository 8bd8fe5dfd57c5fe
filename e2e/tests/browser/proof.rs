//! Sensitive changes in an old session: the confirmation page submits the same form again.

use e2e::{Browser, Program};

/// Makes the proof of all sessions old, as after ten minutes, because a test cannot move the program's clock.
pub(crate) fn age_session(program: &Program) {
    let database = rusqlite::Connection::open(program.data_dir().join("evenkeel.db")).unwrap();
    database.busy_timeout(e2e::TIMEOUT).unwrap();
    assert!(database.execute("update sessions set proved_at = 0", []).unwrap() > 0);
}

fn submit_key_form(program: &Program, browser: &Browser, name: &str) {
    browser.go("/settings/keys");
    browser.fill("Name", name);
    age_session(program);
    browser.press("Create key");
    browser.sees("Confirm it's you");
}

#[test]
fn a_password_confirms_and_the_form_is_kept() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    submit_key_form(&program, &browser, "Laptop & more");
    browser.fill("Password", program.fact("password"));
    browser.press("Confirm");
    browser.sees("Key \"Laptop & more\" created");
}

#[test]
fn a_password_confirms_without_scripts() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.without_script();
    browser.sign_in(&program);
    submit_key_form(&program, &browser, "Laptop");
    browser.fill("Password", program.fact("password"));
    browser.press("Confirm");
    browser.sees("Key \"Laptop\" created");
}

#[test]
fn a_passkey_confirms() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.with_passkey_device();
    browser.sign_in(&program);
    browser.go("/settings/security");
    browser.fill("Passkey name", "This laptop");
    browser.press("Add passkey");
    browser.sees("This laptop");
    submit_key_form(&program, &browser, "Phone");
    browser.press("Use passkey");
    browser.sees("Key \"Phone\" created");
}
