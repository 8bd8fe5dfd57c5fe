//! The checklist of a new person: every step is done by following it, and the overview shows it.

use e2e::bank::{self, Month};
use e2e::scenes::setup_code;
use e2e::{Browser, Program};

/// Opens the overview, which must show so many of the four steps as done.
#[track_caller]
fn sees_done(browser: &Browser, count: usize, done: &[&str]) {
    browser.go("/");
    browser.sees(&format!("{count} of 4 done"));
    // The mark for screen readers is on a line of its own.
    let text = browser.text().replace("\n(done)", " (done)");
    assert_eq!(text.matches("(done)").count(), count, "{text}");
    for title in done {
        assert!(text.contains(&format!("{title} (done)")), "{title}: {text}");
    }
}

#[test]
fn the_checklist_of_a_new_person_follows_what_they_do() {
    let program = Program::serve();
    let browser = Browser::start(program.origin());
    browser.with_passkey_device();
    browser.go("/setup");
    browser.set_up(&setup_code(&program));
    browser.arrive("/");
    sees_done(&browser, 0, &[]);

    // Looking at a page is not doing it.
    browser.follow("import a file");
    browser.arrive("/import");
    sees_done(&browser, 0, &[]);
    browser.follow("import a file");
    browser.drop_files(&[bank::ofx(Month::of(&browser))]);
    browser.press("Import 40 new transactions");
    browser.sees("40 new transactions imported");
    sees_done(&browser, 1, &["Add your accounts"]);

    browser.follow("Add a passkey");
    browser.fill("Passkey name", "This phone");
    browser.press("Add passkey");
    browser.sees("This phone");
    sees_done(&browser, 2, &["Add your accounts", "Sign in without a password"]);

    browser.follow("API key");
    browser.fill("Name", "Laptop");
    browser.press("Create key");
    browser.sees("Key \"Laptop\" created");
    sees_done(&browser, 3, &["Connect an assistant or a program"]);

    browser.follow("transaction");
    browser.arrive("/transactions");
    browser.go("/transactions?q=netflix");
    browser.follow("Netflix");
    browser.choose("Category", "Gifts");
    browser.press("Save changes");
    browser.sees("Saved");
    browser.go("/");
    browser.sees("Net worth");
    assert!(!browser.text().contains("Get started"), "all is done: {}", browser.text());
    browser.assert_clean();
}
