//! A fresh installation: the code from the log makes the first person, and nobody else.

use e2e::scenes::{PASSWORD, setup_code};
use e2e::{Browser, Program};

#[test]
fn the_code_in_the_log_makes_the_first_person_who_then_has_an_empty_house() {
    let program = Program::serve();
    let browser = Browser::start(program.origin());
    browser.go("/");
    browser.arrive("/setup");
    browser.set_up("aaaa-aaaa-aaaa");
    browser.sees("not the setup code");
    browser.keeps_nobody_out();
    browser.expect_refusal("/setup");

    browser.set_up(&setup_code(&program));
    browser.arrive("/");
    browser.keeps_nobody_out();
    browser.is_clean();

    // The door is closed behind them, and opens again by the password.
    browser.forget_cookies();
    browser.go("/setup");
    browser.arrive("/sign-in");
    browser.fill("Email", "kim@example.com");
    browser.fill("Password", PASSWORD);
    browser.press("Sign in");
    browser.arrive("/");
    browser.is_clean();
}
