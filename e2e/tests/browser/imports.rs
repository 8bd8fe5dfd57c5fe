//! Bank files: dropped, previewed, imported, and recognized as already imported the second time.

use e2e::bank::{self, Month};
use e2e::scenes::setup_code;
use e2e::{Browser, Program, until};

/// The name of the account in the statement.
const ACCOUNT: &str = "Checking ...1234";

fn set_up_account(program: &Program) -> Browser {
    let browser = Browser::start(program.origin());
    browser.go("/");
    browser.arrive("/setup");
    browser.set_up(&setup_code(program));
    browser.arrive("/");
    browser
}

/// Reloads the page until background work is done and it shows the texts.
#[track_caller]
fn wait_for_texts(browser: &Browser, path: &str, texts: &[&str]) {
    until(&format!("{path} shows {texts:?}, not\n{}", browser.text()), || {
        browser.go(path);
        let page = browser.text();
        texts.iter().all(|it| page.contains(it)).then_some(())
    });
}

#[test]
fn dropped_files_are_previewed_imported_and_shown_on_the_overview() {
    let program = Program::serve();
    let browser = set_up_account(&program);
    browser.follow("Import bank files");
    browser.arrive("/import");
    let now = Month::of(&browser);
    let files = [bank::ofx(now), bank::checking(now), bank::card(now)];

    browser.drop_files(&files);
    browser.sees("3 files ready to review");
    browser.assert_accessible();
    browser.go("/import");
    browser.follow("statement.ofx");
    browser.sees("40 new");
    browser.sees("NETFLIX.COM");
    browser.sees("$6,302.72");
    browser.press("Import 40 new transactions");
    browser.sees("40 new transactions imported");
    let next = browser.path();
    browser.assert_accessible();
    browser.go(&next);

    // The CSV of the same account does not name it, and the preview updates with the chosen account.
    browser.follow("Next: Chase1234_Activity.csv");
    browser.sees("Recognized as Chase checking and savings");
    browser.sees("doesn't name its account");
    browser.choose("Account for Chase", ACCOUNT);
    browser.sees("Nothing new in this file");
    browser.sees("15 transactions are already imported");
    browser.press("Import anyway");
    browser.sees("All transactions were already imported.");

    browser.follow("Next: Chase9876_Activity.csv");
    browser.choose("Account for Chase 9876", "New account");
    browser.press("Import 16 new transactions");
    browser.sees("16 new transactions imported");

    wait_for_texts(
        &browser,
        "/transactions?dates=all",
        &["Netflix", "Groceries", ACCOUNT, "Chase 9876"],
    );
    wait_for_texts(&browser, "/recurring", &["Netflix", "Spotify"]);
    wait_for_texts(&browser, "/accounts", &[ACCOUNT, "$6,302.72"]);
    wait_for_texts(&browser, "/", &["Net worth", "$6,302"]);
    browser.assert_clean();

    browser.go("/import");
    browser.drop_files(&files);
    browser.sees("3 files ready to review");
    assert_eq!(browser.text().matches("Nothing new").count(), 3, "{}", browser.text());
    for name in ["statement.ofx", "Chase1234_Activity.csv", "Chase9876_Activity.csv"] {
        browser.go("/import");
        browser.follow(name);
        browser.sees("Nothing new in this file");
        browser.press("Discard file");
        browser.sees("File discarded.");
    }
    browser.assert_clean();
}

#[test]
fn column_choices_update_the_preview() {
    let program = Program::serve();
    let browser = set_up_account(&program);
    browser.go("/import");
    browser.drop_files(&[bank::ambiguous_table()]);
    browser.sees("What date is 05/06?");
    browser.click(&browser.field("5 June 2026 (day first)"));
    browser.sees("Fri 5 Jun");
    browser.click(&browser.field("Money out: a purchase or payment"));
    until("no question is left", || (!browser.text().contains("about this file")).then_some(()));
    browser.choose("Description", "Note: a · b · c");
    browser.sees("Fri 5 Jun\tb\tNew\t-$80.00");
    browser.choose("Amount", "Not in this file");
    browser.sees("Choose the column with the amount");
    browser.assert_accessible();
    browser.assert_clean();
}

#[test]
fn a_file_can_be_imported_and_undone_without_scripts() {
    let program = Program::serve();
    let browser = set_up_account(&program);
    let now = Month::of(&browser);
    let (name, text) = bank::ofx(now);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    browser.without_script();
    browser.go("/import");
    browser.attach("Files", &[&path]);
    browser.press("Review files");
    browser.sees("40 new");
    browser.fill("Name", "Everyday");
    browser.press("Update preview");
    browser.press("Import 40 new transactions");
    browser.sees("40 new transactions imported");
    browser.press("Undo the import of statement.ofx");
    browser.press("Undo import");
    browser.sees("40 transactions removed");
    browser.go("/accounts");
    browser.sees("No accounts yet");
    browser.assert_clean();
}
