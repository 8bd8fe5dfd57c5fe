//! The first run, with and without scripts: only the printed setup code creates the first account.

use e2e::scenes::{PASSWORD, setup_code};
use e2e::{Browser, Program};
use serde_json::json;

#[test]
fn the_setup_code_from_the_log_creates_the_first_account() {
    let program = Program::serve();
    let browser = Browser::start(program.origin());
    set_up(&program, &browser);
}

#[test]
fn the_first_account_is_created_without_scripts() {
    let program = Program::serve();
    let browser = Browser::start(program.origin());
    browser.without_script();
    set_up(&program, &browser);
}

/// Enters a wrong and then the right setup code, and signs in with the new account.
fn set_up(program: &Program, browser: &Browser) {
    browser.go("/");
    browser.arrive("/setup");
    browser.set_up("aaaa-aaaa-aaaa");
    browser.sees("not the setup code");
    browser.assert_accessible();
    browser.expect_refusal("/setup");

    browser.set_up(&setup_code(program));
    browser.arrive("/");
    browser.assert_accessible();
    browser.assert_clean();

    // Afterward, setup is closed, and the password signs in.
    browser.forget_cookies();
    browser.go("/setup");
    browser.arrive("/sign-in");
    browser.fill("Email", "kim@example.com");
    browser.fill("Password", PASSWORD);
    browser.press("Sign in");
    browser.arrive("/");
    browser.assert_clean();
}

/// The time zone that is chosen in the form of the page.
fn chosen_timezone(browser: &Browser) -> String {
    let chosen = browser.script("return document.querySelector('#f-timezone').value", json!([]));
    chosen.as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_new_account_has_the_time_zone_of_the_browser() {
    let program = Program::serve();
    let browser = Browser::start(program.origin());
    browser.set_timezone("Pacific/Auckland");
    browser.go("/setup");
    assert_eq!(chosen_timezone(&browser), "Pacific/Auckland");
    // What the person chooses instead survives a mistake in another field.
    browser.choose("Time zone", "America/Denver");
    browser.set_up("aaaa-aaaa-aaaa");
    browser.sees("not the setup code");
    browser.expect_refusal("/setup");
    assert_eq!(chosen_timezone(&browser), "America/Denver");

    // A browser can report an older name, which the list does not have.
    browser.set_timezone("Asia/Calcutta");
    browser.go("/setup");
    assert_eq!(chosen_timezone(&browser), "Asia/Calcutta");
    browser.set_up(&setup_code(&program));
    browser.arrive("/");
    browser.go("/settings");
    assert_eq!(chosen_timezone(&browser), "Asia/Calcutta");
    browser.assert_clean();

    browser.choose("Time zone", "Europe/Berlin");
    browser.press("Save profile");
    browser.go("/settings");
    assert_eq!(chosen_timezone(&browser), "Europe/Berlin");
    browser.assert_clean();
}
