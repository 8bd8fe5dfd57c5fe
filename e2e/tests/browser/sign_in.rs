//! Signing in by password: with the mouse, with the keyboard alone, without scripts, and with a wrong password.

use e2e::{Browser, Program};
use serde_json::json;

const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";
/// Waits until the page has asked the server for the question of a passkey, and the browser had time to refuse it.
const ASKED: &str = "
const asked = () => performance.getEntriesByName(location.origin + '/passkeys/sign-in/start').length > 0;
return new Promise(done => {
    const look = () => asked() ? setTimeout(done, 300) : setTimeout(look, 50);
    look();
});
";

#[test]
fn signing_in_leads_to_the_requested_page_and_signing_out_closes_it() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.go("/settings/security");
    browser.arrive("/sign-in");
    browser.fill("Email", program.fact("email"));
    browser.fill("Password", program.fact("password"));
    browser.press("Sign in");
    browser.arrive("/settings/security");

    browser.press("Sign out");
    browser.arrive("/sign-in");
    browser.go("/settings/security");
    browser.arrive("/sign-in");
    browser.assert_clean();
}

#[test]
fn a_wrong_password_is_refused_with_a_reason() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.go("/sign-in");
    browser.fill("Email", program.fact("email"));
    browser.fill("Password", "not the password");
    browser.press("Sign in");
    browser.sees("The email or the password is wrong");
    browser.assert_accessible();
    assert_eq!(browser.path(), "/sign-in");
    browser.expect_refusal("/sign-in");
    browser.assert_clean();
}

/// This browser says that it can offer passkeys while the page opens, and then cannot.
#[test]
fn a_browser_that_cannot_offer_a_passkey_shows_no_error() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.go("/sign-in");
    browser.sees("Sign in with a passkey");
    browser.script(ASKED, json!([]));
    let errors = browser.script(
        "return [...document.querySelectorAll('[role=alert]')].filter(it => it.checkVisibility()).length",
        json!([]),
    );
    assert_eq!(errors, 0);
}

#[test]
fn signing_in_works_with_the_keyboard_alone() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.go("/sign-in");
    browser.focus_by_keyboard("Email");
    browser.keys(program.fact("email"));
    browser.keys(TAB);
    browser.keys(program.fact("password"));
    browser.keys(ENTER);
    browser.arrive("/");
    browser.assert_clean();
}

#[test]
fn signing_in_works_without_scripts() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.without_script();
    browser.sign_in(&program);
    browser.assert_clean();
}
