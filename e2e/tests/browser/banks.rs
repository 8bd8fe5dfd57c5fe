//! Banks in the browser, from the first page to disconnecting, on the pages of simulated providers.

use base::Clock;
use e2e::scenes::setup_code;
use e2e::{Browser, Program, until};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::TlsProxy;
use testkit::enable_banking::{BankAccount, EnableBanking, entry};
use testkit::plaid::{Plaid, account, holding, security, transaction};
use tokio::runtime::Runtime;

const CHECKING: &str = "checkingxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
const CARD: &str = "cardxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
const BROKERAGE: &str = "brokeragexxxxxxxxxxxxxxxxxxxxxxxxxxxx";
const BROKEN: (&str, &str) = ("ITEM_ERROR", "ITEM_LOGIN_REQUIRED");

/// The simulated providers run here, and the program trusts their certificates.
struct Surroundings {
    runtime: Runtime,
    folder: TempDir,
}

impl Surroundings {
    fn new() -> Surroundings {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), testkit::receiver::authority()).unwrap();
        Surroundings { runtime: Runtime::new().unwrap(), folder }
    }

    fn plaid(&self) -> Plaid {
        self.runtime.block_on(Plaid::start(Clock::System))
    }

    fn settings<'a>(&self, provider: (&'a str, &'a str)) -> [(&'a str, String); 3] {
        let authority = self.folder.path().join("ca.pem").display().to_string();
        [
            ("EVENKEEL_CONNECTIONS__ALLOW_NETWORKS", "127.0.0.0/8,::1/128".to_owned()),
            ("EVENKEEL_CONNECTIONS__CA_FILE", authority),
            (provider.0, provider.1.to_owned()),
        ]
    }
}

fn borrowed<'a>(settings: &'a [(&'a str, String)]) -> Vec<(&'a str, &'a str)> {
    settings.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

/// A new person, on the page that adds a bank of a region.
fn new_person(program: &Program, origin: &str, region: &str) -> Browser {
    let browser = Browser::start(origin);
    browser.go("/");
    browser.arrive("/setup");
    browser.set_up(&setup_code(program));
    browser.arrive("/");
    browser.go("/connections");
    browser.follow("Add a bank");
    browser.arrive("/connections/add");
    browser.follow(region);
    browser
}

/// Reloads a page until it shows the texts, because background work follows a sync.
#[track_caller]
fn wait_for_texts(browser: &Browser, path: &str, texts: &[&str]) {
    let mut shown = String::new();
    let what = format!("{path} shows {texts:?}");
    until(&what, || {
        browser.go(path);
        shown = browser.text();
        texts.iter().all(|it| shown.contains(it)).then_some(())
    });
}

/// Fails if our pages sent a request to a server that is not the program or this provider.
#[track_caller]
fn assert_clean(browser: &Browser, provider: &str) {
    let mut found = browser.logged_problems();
    found.retain(|it| !it.contains(provider));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[track_caller]
fn disconnect(browser: &Browser, page: &str) {
    browser.go(page);
    browser.press("Disconnect");
    browser.press("Disconnect source");
    browser.sees("Disconnected. Its accounts and transactions are kept.");
}

fn row(id: &str, days_ago: i64, amount: &str, name: &str) -> Value {
    transaction(id, CHECKING, &date(days_ago), amount, name)
}

/// A date by the real clock, which the program uses, too.
fn date(days_ago: i64) -> String {
    let today = Clock::System.now().as_second().div_euclid(86_400);
    base::date_from_days(today - days_ago).to_string()
}

fn prepare_bank(plaid: &Plaid) {
    let accounts = vec![
        account(CHECKING, "Everyday Checking", "0000", "depository/checking", "110.4"),
        account(CARD, "Sapphire", "3333", "credit/credit card", "410"),
        account(BROKERAGE, "Brokerage", "5555", "investment/brokerage", "2050.25"),
    ];
    plaid.prepare_bank("ins_1", "First Platypus Bank", accounts);
}

fn enter_plaid_keys(browser: &Browser) {
    browser.fill("Client id", Plaid::CLIENT_ID);
    browser.fill("Secret", Plaid::SECRET);
    browser.choose("Environment", "Sandbox, with test data");
    browser.press("Save keys");
    browser.sees("Keys saved. You can connect a bank now.");
}

/// Gives the item two purchases, a holding and nothing else.
fn fill_item(plaid: &Plaid, item: &str) {
    plaid.add(item, row("t1", 3, "33.2", "QZX 881 4417"));
    let mut categorized = row("t2", 2, "61.75", "VXT 20 9930");
    categorized["personal_finance_category"] = json!({
        "primary": "FOOD_AND_DRINK", "detailed": "FOOD_AND_DRINK_GROCERIES",
        "confidence_level": "VERY_HIGH", "version": "v2",
    });
    plaid.add(item, categorized);
    let fund = security("s1", "PLTF", "Platypus Total Fund", "etf");
    let held = holding(BROKERAGE, "s1", "10", "205.025", "2050.25");
    plaid.set_investments(item, vec![fund], vec![held], vec![]);
}

#[test]
fn a_new_person_connects_a_bank_with_plaid_repairs_it_and_disconnects() {
    let surroundings = Surroundings::new();
    let plaid = surroundings.plaid();
    let settings = surroundings.settings(("EVENKEEL_PLAID__URL", plaid.url()));
    let program = Program::serve_with(&borrowed(&settings));
    let browser = new_person(&program, program.origin(), "United States");
    browser.assert_accessible();
    browser.go("/connections/add?region=us");
    enter_plaid_keys(&browser);

    // Without https, Plaid cannot send the browser back, so its page opens beside ours.
    prepare_bank(&plaid);
    browser.press("Connect a bank with Plaid");
    browser.follow("Continue to your bank");
    browser.enter_new_tab();
    browser.press("Sign in to First Platypus Bank");
    browser.sees("You are done");
    browser.close_tab();
    browser.sees("Connected. Now choose which accounts to add.");
    let page = browser.path();
    let item = plaid.last_item();
    fill_item(&plaid, &item);
    browser.sees("Everyday Checking (0000)");
    browser.assert_accessible();
    browser.go(&page);

    browser.choose("Add to: Sapphire (3333)", "Don't add");
    browser.press("Save choices");
    browser.sees("Your accounts are being added.");
    // The page follows the first sync by itself.
    browser.sees("2 new");
    browser.sees("2 accounts");
    wait_for_texts(
        &browser,
        "/transactions?dates=all",
        &["QZX 881 4417", "VXT 20 9930", "Groceries"],
    );
    wait_for_texts(&browser, "/investments", &["Platypus Total Fund"]);
    wait_for_texts(&browser, "/accounts", &["Everyday Checking", "Brokerage", "$110.40"]);

    plaid.set_error(&item, Some(BROKEN));
    browser.go(&page);
    browser.press("Sync now");
    browser.sees("needs you to sign in again");
    browser.sees("Needs attention");
    browser.expect_refusal(&format!("{page}/sync"));
    browser.assert_accessible();
    wait_for_texts(&browser, "/", &["sign in again"]);
    plaid.add(&item, row("t3", 1, "4.5", "KRW 7 1204"));
    browser.go(&page);
    browser.press("Repair");
    browser.follow("Continue to your bank");
    browser.enter_new_tab();
    browser.press("Sign in again");
    browser.sees("You are done");
    browser.close_tab();
    browser.sees("Signed in. The connection is updated now.");
    wait_for_texts(&browser, &page, &["1 new", "Connected"]);
    assert!(!browser.text().contains("needs you to sign in"), "{}", browser.text());
    wait_for_texts(&browser, "/transactions?dates=all", &["KRW 7 1204"]);

    disconnect(&browser, &page);
    until("Plaid has ended the access", || plaid.is_removed(&item).then_some(()));
    wait_for_texts(&browser, &page, &["Disconnected", "Connect again"]);
    wait_for_texts(&browser, "/transactions?dates=all", &["QZX 881 4417"]);
    assert_clean(&browser, plaid.url());
}

#[test]
fn a_bank_can_be_connected_with_plaid_without_scripts() {
    let surroundings = Surroundings::new();
    let plaid = surroundings.plaid();
    let settings = surroundings.settings(("EVENKEEL_PLAID__URL", plaid.url()));
    let program = Program::serve_with(&borrowed(&settings));
    let browser = new_person(&program, program.origin(), "Canada");
    browser.without_script();
    enter_plaid_keys(&browser);
    prepare_bank(&plaid);
    browser.press("Connect a bank with Plaid");
    browser.sees("It opens in a new tab");
    let waiting = browser.path();
    browser.follow("Continue to your bank");
    browser.enter_new_tab();
    browser.press("Leave");
    browser.sees("You are done");
    browser.close_tab();
    browser.go(&waiting);
    browser.sees("Plaid's page was closed before the end");
    browser.go("/connections/add?region=canada");
    browser.press("Connect a bank with Plaid");
    browser.sees("It opens in a new tab");
    let waiting = browser.path();
    browser.follow("Continue to your bank");
    browser.enter_new_tab();
    browser.press("Sign in to First Platypus Bank");
    browser.sees("You are done");
    browser.close_tab();
    browser.go(&waiting);
    browser.sees("Now choose which accounts to add");
    let page = browser.path();
    fill_item(&plaid, &plaid.last_item());
    browser.press("Save choices");
    wait_for_texts(&browser, &page, &["2 new", "3 accounts"]);
    assert_clean(&browser, plaid.url());
}

#[test]
fn a_new_person_connects_a_european_bank_renews_the_consent_and_disconnects() {
    let surroundings = Surroundings::new();
    let start = async { (EnableBanking::start(Clock::System).await, TlsProxy::start().await) };
    let (bank, proxy) = surroundings.runtime.block_on(start);
    bank.set_return_url(&format!("{}/connections/enable-banking/back", proxy.url));
    bank.account(BankAccount::new("hash1", "Girokonto", "DE89370400440532013000", "120.50"));
    let purchase = |id: &str, days_ago: i64, text: &str| {
        let bought = entry(id, &date(days_ago), "33.20", "DBIT", text);
        bank.update("hash1", |it| it.transactions.push(bought));
    };
    purchase("b1", 400, "Buchladen Krone");
    purchase("b2", 3, "Markt am Hafen");
    let settings = surroundings.settings(("EVENKEEL_ENABLE_BANKING__URL", bank.url()));
    let (program, port) = Program::serve_behind(&proxy.url, &borrowed(&settings));
    proxy.pass_on_to(port);
    let browser = new_person(&program, &proxy.url, "Europe");
    browser.assert_accessible();
    browser.go("/connections/add?region=europe");
    let keys = bank.keys();
    browser.fill("Application id", &keys.application_id);
    browser.fill("Private key", &keys.private_key);
    browser.press("Save application");
    browser.sees("Application saved. Now choose your bank.");
    browser.choose("Country of your bank", "Germany");
    browser.press("Choose your bank");
    browser.sees("Alpenbank");
    browser.fill("Search", "nord");
    browser.press("Search");
    until("only one bank is listed", || (!browser.text().contains("Alpenbank")).then_some(()));
    browser.assert_accessible();
    browser.press("Connect");
    consent(&browser);
    browser.sees("Connected. Now choose which accounts to add.");
    browser.sees("Consent ends");
    browser.sees("Many banks share full history only for a few minutes after you connect.");
    let page = browser.path();
    browser.press("Save choices");
    // The page follows the first sync by itself.
    browser.sees("2 new");
    wait_for_texts(&browser, "/transactions?dates=all", &["Buchladen Krone", "Markt am Hafen"]);
    wait_for_texts(&browser, "/accounts", &["Girokonto", "€120.50"]);

    bank.end_consents();
    purchase("b3", 1, "Brot und Salz");
    browser.go(&page);
    browser.press("Sync now");
    browser.sees("consent at this bank has ended");
    browser.expect_refusal(&format!("{page}/sync"));
    browser.assert_accessible();
    browser.go(&page);
    browser.press("Repair");
    consent(&browser);
    browser.sees("Signed in. The connection is updated now.");
    wait_for_texts(&browser, &page, &["1 new", "Connected"]);
    wait_for_texts(&browser, "/transactions?dates=all", &["Brot und Salz"]);

    disconnect(&browser, &page);
    until("the consent is revoked", || (bank.session_count() == 0).then_some(()));
    wait_for_texts(&browser, "/transactions?dates=all", &["Buchladen Krone"]);
    assert_clean(&browser, bank.url());
}

/// Consents on the bank's page, which sends the browser back.
#[track_caller]
fn consent(browser: &Browser) {
    browser.follow("Continue to your bank");
    browser.press("Share my accounts");
}
