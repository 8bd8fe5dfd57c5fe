//! Coming in by password: with the mouse, with the keyboard alone, without scripts, and not at all.

use e2e::{Browser, Program};

const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";

#[test]
fn a_password_opens_the_page_that_was_asked_for_and_signing_out_closes_it() {
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
    browser.is_clean();
}

#[test]
fn a_wrong_password_stays_outside_and_is_told_why() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.go("/sign-in");
    browser.fill("Email", program.fact("email"));
    browser.fill("Password", "not the password");
    browser.press("Sign in");
    browser.sees("The email or the password is wrong");
    browser.keeps_nobody_out();
    assert_eq!(browser.path(), "/sign-in");
    browser.expect_refusal("/sign-in");
    browser.is_clean();
}

#[test]
fn the_keyboard_alone_is_enough() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.go("/sign-in");
    browser.focus_by_keyboard("Email");
    browser.keys(program.fact("email"));
    browser.keys(TAB);
    browser.keys(program.fact("password"));
    browser.keys(ENTER);
    browser.arrive("/");
    browser.is_clean();
}

#[test]
fn no_script_is_needed() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.without_script();
    browser.sign_in(&program);
    browser.is_clean();
}
