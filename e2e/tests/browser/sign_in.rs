//! Signing in by password: with the mouse, with the keyboard alone, without scripts, and with a wrong password.

use e2e::{Browser, Program};

const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";

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
