//! The first run: only the setup code from the log creates the first account.

use e2e::scenes::{PASSWORD, setup_code};
use e2e::{Browser, Program};

#[test]
fn the_setup_code_from_the_log_creates_the_first_account() {
    let program = Program::serve();
    let browser = Browser::start(program.origin());
    browser.go("/");
    browser.arrive("/setup");
    browser.set_up("aaaa-aaaa-aaaa");
    browser.sees("not the setup code");
    browser.assert_accessible();
    browser.expect_refusal("/setup");

    browser.set_up(&setup_code(&program));
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
