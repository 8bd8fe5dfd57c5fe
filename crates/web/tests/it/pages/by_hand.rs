//! Accounts and transactions that a person enters by hand.

use base::draft::Source;
use base::draft::Statement;
use http::StatusCode;
use service::ingest::manual;
use service::ledger::accounts;
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World};

use super::{HOSTILE, assert_escaped};
use crate::browser::{Browser, Page};

const WALLET: [(&str, &str); 4] =
    [("name", "Wallet"), ("kind", "depository"), ("currency", "USD"), ("balance", "$1,000.00")];

async fn robin(world: &World) -> (Person, Browser) {
    let robin = world.someone().await;
    let browser = Browser::of(world, &robin).await;
    (robin, browser)
}

/// Adds an account with a thousand dollars, and returns the path of its page.
async fn wallet(robin: &Person, browser: &mut Browser) -> String {
    browser.submit("/accounts/new", &WALLET).await.good();
    format!("/accounts/{}", robin.account("Wallet").await)
}

fn entry<'a>(on: &'a str, direction: &'a str, amount: &'a str) -> [(&'a str, &'a str); 5] {
    let category = "FOOD_AND_DRINK_COFFEE";
    [
        ("on", on),
        ("way", direction),
        ("amount", amount),
        ("description", "Beans"),
        ("category", category),
    ]
}

fn assert_refused(page: &Page, message: &str) {
    assert_eq!(page.status, StatusCode::BAD_REQUEST, "{}", page.text);
    assert!(page.text.contains(message), "{message}\n{}", page.text);
    assert!(page.text.contains("aria-invalid=\"true\""), "{}", page.text);
}

#[tokio::test]
async fn an_account_can_be_added_and_typed_values_are_kept_on_errors() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let page = browser.get("/accounts").await.good();
    assert!(page.contains("href=\"/accounts/new\""), "{page}");
    for (wrong, message) in [
        (("name", ""), "Enter a name for the account"),
        (("balance", "12,34"), "Enter an amount such as 1234.56"),
        (("balance", "99999999999999999"), "too large"),
    ] {
        let fields: Vec<(&str, &str)> =
            WALLET.iter().map(|it| if it.0 == wrong.0 { wrong } else { *it }).collect();
        let page = browser.post("/accounts/new", &fields).await;
        assert_refused(&page, message);
        let kept = if wrong.0 == "name" { "$1,000.00" } else { "Wallet" };
        assert!(page.text.contains(&format!("value=\"{kept}\"")), "{}", page.text);
    }
    // All errors are shown at once.
    let fields = [("name", ""), ("kind", "depository"), ("currency", "USD"), ("balance", "a lot")];
    let page = browser.post("/accounts/new", &fields).await;
    assert_refused(&page, "Enter a name for the account");
    assert_refused(&page, "Enter an amount such as 1234.56");
    let page = browser.submit("/accounts/new", &WALLET).await.good();
    assert!(page.contains("Account added") && page.contains("$1,000.00"), "{page}");
    assert!(page.contains("Add a transaction") && page.contains("Set balance"));
    let id = robin.account("Wallet").await;
    let kept = accounts::get(&world.app, &robin.caller, id).await.unwrap();
    assert_eq!(kept.balance_current_minor, Some(100_000));
    assert!(browser.get("/accounts").await.good().contains("Wallet"));
}

#[tokio::test]
async fn setting_the_balance_shows_the_old_and_the_new_one() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let account = wallet(&robin, &mut browser).await;
    let page = browser.submit(&format!("{account}/balance"), &[("balance", "950.25")]).await.good();
    assert!(page.contains("Balance changed from $1,000.00 to $950.25."), "{page}");
    for (typed, message) in [("", "Enter the balance"), ("lots", "Enter an amount such as")] {
        let page = browser.post(&format!("{account}/balance"), &[("balance", typed)]).await;
        assert_refused(&page, message);
        assert!(page.text.contains(&format!("value=\"{typed}\"")), "{}", page.text);
    }
    browser.submit("/view", &[("hide", "1"), ("next", "/")]).await.good();
    let page = browser.get(&account).await.good();
    assert!(!page.contains("950.25"), "{page}");
}

#[tokio::test]
async fn a_transaction_is_added_changed_and_deleted() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let account = wallet(&robin, &mut browser).await;
    let today = world.app.clock.today_in(base::TimeZone::utc()).to_string();
    let add = format!("{account}/transactions");
    let page = browser.submit(&add, &entry(&today, "out", "4.50")).await.good();
    assert!(page.contains("Transaction added") && page.contains("$995.50"), "{page}");
    assert!(page.contains("-$4.50") && page.contains("Coffee"), "{page}");
    let one = page.split_once("href=\"/transactions/txn_").unwrap().1.split('"').next().unwrap();
    let one = format!("/transactions/txn_{one}");
    let page = browser.get(&one).await.good();
    assert!(
        page.contains("You added this transaction") && page.contains("Your description"),
        "{page}"
    );
    let page = browser.get(&format!("{one}/edit")).await.good();
    assert!(page.contains("value=\"4.50\"") && page.contains("value=\"Beans\""), "{page}");
    let page = browser.submit(&format!("{one}/edit"), &entry(&today, "in", "5")).await.good();
    assert!(page.contains("Transaction saved") && page.contains("+$5.00"), "{page}");
    // The form has no category, and the first one stays.
    assert!(page.contains("Coffee"), "{page}");
    assert!(browser.get(&account).await.good().contains("$1,005.00"));
    let page = browser.submit(&format!("{one}/delete"), &[]).await.good();
    assert!(page.contains("“Beans” deleted.") && page.contains("$1,000.00"), "{page}");
    assert_eq!(browser.get(&one).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn errors_are_shown_at_their_fields_and_nothing_is_saved() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let account = wallet(&robin, &mut browser).await;
    for (fields, message) in [
        (entry("", "out", "4.50"), "Enter a date."),
        (entry("2026-02-30", "out", "4.50"), "Enter a date such as 2026-03-10"),
        (entry("2026-03-01", "out", "-4.50"), "without a sign"),
        (entry("2026-03-01", "out", "0"), "other than zero"),
        (entry("2026-03-01", "out", "4,50"), "Enter an amount such as"),
        (entry("2026-03-01", "sideways", "4.50"), "Choose money in or money out"),
        (
            [
                ("on", "2026-03-01"),
                ("way", "in"),
                ("amount", "1"),
                ("description", ""),
                ("category", ""),
            ],
            "Enter a description",
        ),
    ] {
        let page = browser.post(&format!("{account}/transactions"), &fields).await;
        assert_refused(&page, message);
        assert!(page.text.contains(&format!("value=\"{}\"", fields[2].1)), "{}", page.text);
        // The other form of the page is not filled with these values.
        assert!(page.text.contains("value=\"1000.00\""), "{}", page.text);
    }
    // All errors are shown at once.
    let empty = ["on", "amount", "description"].map(|it| (it, ""));
    let page = browser.post(&format!("{account}/transactions"), &empty).await;
    for message in ["Enter a date.", "Enter an amount", "Enter a description"] {
        assert_refused(&page, message);
    }
    assert!(browser.get(&account).await.good().contains("No transactions yet."));
}

#[tokio::test]
async fn synced_accounts_and_those_of_others_cannot_be_edited() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let synced = Statement {
        source: Source::Simplefin,
        ..statement([checking("Everyday").with(txn("2026-03-01", -450, "A").id("t1"))])
    };
    robin.import(synced).await;
    let account = format!("/accounts/{}", robin.account("Everyday").await);
    let page = browser.get(&account).await.good();
    assert!(!page.contains("Add a transaction"), "{page}");
    let page = browser.post(&format!("{account}/balance"), &[("balance", "1")]).await;
    assert!(page.text.contains("is synced with its bank"), "{}", page.text);
    let one = browser.get(&account).await.good();
    let one = one.split_once("href=\"/transactions/txn_").unwrap().1.split('"').next().unwrap();
    for verb in ["edit", "delete"] {
        let page = browser.post(&format!("/transactions/txn_{one}/{verb}"), &[]).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{verb}");
    }
    let kim = world.someone().await;
    let mut other = Browser::of(&world, &kim).await;
    for verb in ["balance", "transactions"] {
        let page = other.post(&format!("{account}/{verb}"), &entry("2026-03-01", "in", "1")).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{verb}");
    }
}

#[tokio::test]
async fn typed_text_is_escaped_everywhere() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let fields = [("name", HOSTILE), ("kind", "other"), ("currency", "EUR"), ("balance", HOSTILE)];
    assert_escaped(&browser.post("/accounts/new", &fields).await.text);
    let account = wallet(&robin, &mut browser).await;
    let mut typed = entry("2026-03-01", "out", HOSTILE);
    typed[3].1 = HOSTILE;
    assert_escaped(&browser.post(&format!("{account}/transactions"), &typed).await.text);
    let id = robin.account("Wallet").await;
    let written = manual::ManualTransaction {
        on: testkit::day("2026-03-01"),
        amount_minor: -1,
        description: HOSTILE.to_owned(),
        category: None,
    };
    let one = manual::create_transaction(&world.app, &robin.caller, id, written).await.unwrap();
    assert_escaped(&browser.get(&format!("/transactions/{one}/edit")).await.good());
}
