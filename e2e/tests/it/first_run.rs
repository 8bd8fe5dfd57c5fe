//! A fresh installation: the code from the log makes the first person, and nobody else.

use e2e::{Browser, Program};
use serde_json::Value;

const PASSWORD: &str = "a long walk along the quay";

/// As the server printed it, such as `k7wq-3m2x-9d4h`.
fn setup_code(program: &Program) -> String {
    e2e::until("the setup code is in the log", || {
        let log = program.log();
        let line = log.lines().find(|it| it.contains("nobody has an account yet"))?;
        let line: Value = serde_json::from_str(line).ok()?;
        line["code"].as_str().map(str::to_owned)
    })
}

fn fill(browser: &Browser, code: &str) {
    browser.fill("Setup code", code);
    browser.fill("Email", "kim@example.com");
    browser.fill("Password", PASSWORD);
    browser.fill("Your name", "Kim");
    browser.press("Create your account");
}

#[test]
fn the_code_in_the_log_makes_the_first_person_who_then_has_an_empty_house() {
    let program = Program::serve();
    let browser = Browser::start(program.origin());
    browser.go("/");
    browser.arrive("/setup");
    fill(&browser, "aaaa-aaaa-aaaa");
    browser.sees("not the setup code");
    browser.keeps_nobody_out();
    browser.expect_refusal("/setup");

    fill(&browser, &setup_code(&program));
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
