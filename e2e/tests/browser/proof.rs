//! Sensitive changes in a session that was left open: the page that asks sends the same form again.

use e2e::{Browser, Program};

/// What ten minutes do to a session: nobody has a clock of the program that could be moved.
pub(crate) fn leave_open(program: &Program) {
    let database = rusqlite::Connection::open(program.data_dir().join("evenkeel.db")).unwrap();
    database.busy_timeout(e2e::PATIENCE).unwrap();
    assert!(database.execute("update sessions set proved_at = 0", []).unwrap() > 0);
}

fn ask_for_a_key(program: &Program, browser: &Browser, name: &str) {
    browser.go("/settings/keys");
    browser.fill("Name", name);
    leave_open(program);
    browser.press("Create key");
    browser.sees("Confirm it's you");
}

#[test]
fn the_password_is_proof_and_nothing_that_was_typed_is_lost() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    ask_for_a_key(&program, &browser, "Laptop & more");
    browser.fill("Password", program.fact("password"));
    browser.press("Confirm");
    browser.sees("Key \"Laptop & more\" created");
}

#[test]
fn it_is_so_without_a_script() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.without_script();
    browser.sign_in(&program);
    ask_for_a_key(&program, &browser, "Laptop");
    browser.fill("Password", program.fact("password"));
    browser.press("Confirm");
    browser.sees("Key \"Laptop\" created");
}

#[test]
fn a_passkey_is_proof_as_well() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.with_passkey_device();
    browser.sign_in(&program);
    browser.go("/settings/security");
    browser.fill("Passkey name", "This laptop");
    browser.press("Add passkey");
    browser.sees("This laptop");
    ask_for_a_key(&program, &browser, "Phone");
    browser.press("Use passkey");
    browser.sees("Key \"Phone\" created");
}
