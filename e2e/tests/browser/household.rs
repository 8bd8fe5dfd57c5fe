//! Accounts, recurring payments, exchange rates, investments, goals and search, with and without scripts.

use e2e::{Browser, Program, until, viewport};
use serde_json::json;

fn open_settings(browser: &Browser, account: &str) {
    browser.go("/accounts");
    browser.follow(account);
    browser.press("Account settings");
}

/// Changes the terms and the type of a loan.
fn change_loan(browser: &Browser) {
    open_settings(browser, "Auto Loan");
    browser.sees("When will it be paid off?");
    browser.fill("Monthly payment (USD)", "10");
    browser.press("Save terms");
    browser.sees("does not pay off this balance");
    open_settings(browser, "Auto Loan");
    browser.fill("Monthly payment (USD)", "lots");
    browser.press("Save terms");
    browser.sees("Enter an amount such as 1234.56.");
    browser.fill("Monthly payment (USD)", "2,000");
    browser.fill("Interest rate", "6.5");
    browser.fill("Payment due day of the month", "12");
    browser.press("Save terms");
    browser.sees("Terms saved.");
    browser.sees("Payments left");
    browser.sees("$2,000.00 a month and interest of 6.5% a year");
    open_settings(browser, "Auto Loan");
    browser.choose("Account type", "Student loan");
    browser.press("Save type");
    browser.sees("Type saved.");
    open_settings(browser, "Auto Loan");
    let chosen = "return document.querySelector('#f-type').selectedOptions[0].text";
    assert_eq!(browser.script(chosen, json!([])), "Student loan");
    browser.choose("Account type", "Car loan");
    browser.press("Save type");
    browser.sees("Type saved.");
}

/// Sets the amount of a recurring payment, merges it with another one, and separates them again.
fn manage_recurring(browser: &Browser) {
    let open = |name: &str| {
        browser.go("/recurring");
        browser.follow(name);
        browser.sees("Name, type and amount");
    };
    open("Netflix");
    browser.fill("Amount of the next payments (USD)", "31.50");
    browser.fill("Name", "Films");
    browser.choose("Type", "Bill");
    browser.press("Save changes");
    browser.sees("Changes saved.");
    browser.sees("Amount you set");
    browser.go("/recurring");
    browser.sees("-$31.50");
    open("Films");
    browser.press("Merge payments");
    browser.sees("Choose the payment to merge with.");
    browser.choose("Merge into", "Adobe (Freedom Unlimited)");
    browser.press("Merge payments");
    browser.sees("Payments merged.");
    browser.sees("Merged into this payment:");
    browser.go("/recurring");
    assert!(!browser.has_link("Films"), "{}", browser.text());
    open("Adobe");
    browser.press("Separate");
    browser.sees("Payments separated.");
    open("Films");
    browser.press("Dismiss payment");
    browser.sees("Payment dismissed.");
    browser.press("Restore payment");
    browser.sees("Payment restored.");
}

/// Subscribes to the calendar, and revokes its address.
fn subscribe(program: &Program, browser: &Browser) {
    browser.go("/recurring?view=calendar");
    browser.click(&browser.field("Show amounts in the calendar"));
    browser.press("Create address");
    browser.sees("Calendar address created");
    let text = browser.text();
    let (_, secret) = text.split_once("/calendar/").expect("the address is shown");
    let path = format!("/calendar/{}", secret.split_whitespace().next().unwrap());
    let feed = program.send("GET", &path, &[], "");
    let body = String::from_utf8(feed.body).unwrap();
    assert_eq!(feed.status, 200, "{body}");
    assert!(body.starts_with("BEGIN:VCALENDAR\r\n") && body.contains("$31.50"), "{body}");
    browser.follow("I've copied it");
    browser.sees("It can't be shown again.");
    browser.press("Revoke address");
    browser.sees("Calendar address revoked.");
    assert_eq!(program.send("GET", &path, &[], "").status, 404);
}

/// Exchange rates that the operator imports are named beside the totals they are used in.
fn import_rates(program: &Program, browser: &Browser) {
    browser.go("/accounts/new");
    browser.fill("Name", "Tokyo");
    browser.choose("Currency", "JPY: Japanese yen");
    browser.fill("Current balance", "100000");
    browser.press("Add account");
    browser.sees("Account added.");
    browser.go("/accounts");
    browser.sees("Not included, because there is no exchange rate: ¥100,000");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rates.csv");
    let yesterday = "return new Date(Date.now() - 864e5).toISOString().slice(0, 10)";
    let yesterday = browser.script(yesterday, json!([]));
    let yesterday = yesterday.as_str().unwrap();
    std::fs::write(&file, format!("Date,USD,JPY\n{yesterday},1.25,160\n")).unwrap();
    let mut command = program.other_command("rates");
    let imported = command.arg("import").arg(&file).output().unwrap();
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    for page in ["/", "/accounts"] {
        until(&format!("{page} shows the rate, not\n{}", browser.text()), || {
            browser.go(page);
            browser.text().contains("1 JPY = 0.0078125 USD").then_some(())
        });
    }
}

fn read_investments(browser: &Browser) {
    browser.go("/investments");
    for text in ["How did they do?", "Your return", "Allocation", "Dividends and interest"] {
        browser.sees(text);
    }
    browser.follow("3M");
    until("the range is remembered", || browser.path().contains("range=").then_some(()));
    browser.follow("Value");
    browser.sees("↑");
    browser.go("/accounts");
    browser.follow("ROTH IRA");
    browser.sees("Holdings");
}

fn manage_goals(browser: &Browser) {
    browser.go("/goals");
    browser.follow("Six months in hand");
    browser.sees("At the pace of the last six months");
    browser.sees("Show as table");
    browser.go("/goals");
    browser.follow("Create goal");
    browser.fill("Name", "A boat");
    browser.fill("Amount (USD)", "12,00");
    browser.press("Save goal");
    browser.sees("Enter an amount such as 1234.56.");
    browser.fill("Amount (USD)", "12,000");
    browser.fill("Saved elsewhere", "3000");
    browser.press("Save goal");
    browser.sees("Goal created.");
    browser.follow("A boat");
    browser.sees("$3,000.00 of $12,000.00");
    browser.press("Delete goal");
    browser.click(&browser.submit_button("Delete goal"));
    browser.sees("Goal deleted.");
    assert!(!browser.has_link("A boat"), "{}", browser.text());
}

/// Every page of search has links to pages, actions, categories and transactions.
fn search(browser: &Browser) {
    browser.go("/search?q=netflix");
    browser.sees("Transactions");
    browser.fill("Search everything", "goal");
    browser.press("Search");
    browser.follow("Create goal");
    browser.arrive("/goals/new");
}

fn do_everything(program: &Program, browser: &Browser) {
    change_loan(browser);
    manage_recurring(browser);
    subscribe(program, browser);
    import_rates(program, browser);
    read_investments(browser);
    manage_goals(browser);
    search(browser);
}

#[test]
fn accounts_recurring_payments_investments_and_goals_can_be_managed() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    do_everything(&program, &browser);
}

#[test]
fn accounts_recurring_payments_investments_and_goals_can_be_managed_without_scripts() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.without_script();
    browser.sign_in(&program);
    do_everything(&program, &browser);
}

#[test]
fn the_keyboard_opens_search_help_and_pages() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    browser.keys("?");
    browser.sees("Keyboard shortcuts");
    browser.press("Close");
    browser.keys("gt");
    browser.arrive("/transactions");
    browser.keys("/");
    browser.keys("create goal");
    let first = "return document.querySelector('#palette [data-results] a')?.innerText ?? ''";
    until("the action is found", || {
        (browser.script(first, json!([])) == "Create goal").then_some(())
    });
    browser.keys("\u{e007}");
    browser.arrive("/goals/new");
    // In a field, letters are text.
    browser.fill("Name", "gt/?");
    browser.arrive("/goals/new");
    browser.assert_clean();
}

#[test]
fn the_theme_switch_offers_the_theme_that_is_not_shown() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    let themes = || {
        let names = ["Use dark theme", "Use light theme", "Use system theme"];
        names.into_iter().filter(|it| browser.has_button(it)).collect::<Vec<_>>()
    };
    assert_eq!(themes(), ["Use dark theme"]);
    browser.set_viewport(viewport::DESKTOP_DARK);
    assert_eq!(themes(), ["Use light theme"]);
    browser.press("Use light theme");
    until("the light theme is on", || (themes() == ["Use system theme"]).then_some(()));
    let is_light = "return getComputedStyle(document.documentElement).colorScheme";
    assert_eq!(browser.script(is_light, json!([])), "light");
    browser.press("Use system theme");
    until("the system's theme is on", || (themes() == ["Use light theme"]).then_some(()));
}
