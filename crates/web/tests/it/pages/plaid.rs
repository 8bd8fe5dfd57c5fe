//! Banks through Plaid in the browser: keys, the round trip to Plaid's page, repair, webhooks and disconnecting.

use http::{Method, StatusCode};
use serde_json::Value;
use service::ingest::connections;
use testkit::World;
use testkit::plaid::{Plaid, WebhookSigner, account, transaction};

use super::{HOSTILE, assert_escaped};
use crate::browser::Browser;

/// The page for a person with accounts in Canada.
const ADD: &str = "/connections/add?region=canada";
const CHECKING: &str = "checkingxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

struct PlaidPages {
    world: World,
    server: Plaid,
    browser: Browser,
}

fn accounts() -> Vec<Value> {
    vec![account(CHECKING, HOSTILE, "0000", "depository/checking", "110.4")]
}

impl PlaidPages {
    /// A person without keys, and an operator without keys.
    async fn new() -> PlaidPages {
        let mut world = World::new().await;
        let server = Plaid::start(world.clock.clone()).await;
        let settings = connections::ProviderSettings { keys: None, ..server.settings() };
        world.app = world.with_bank_providers(vec![settings]);
        let robin = world.person("robin@example.com").await;
        let browser = Browser::of(&world, &robin).await;
        PlaidPages { world, server, browser }
    }

    async fn save_keys(&mut self) {
        let fields = [
            ("client_id", Plaid::CLIENT_ID),
            ("secret", Plaid::SECRET),
            ("environment", "sandbox"),
            ("region", "canada"),
        ];
        let saved = self.browser.post("/connections/plaid/keys", &fields).await;
        assert_eq!(saved.location(), ADD);
    }

    /// Connects a bank, and returns the page of the connection and the item.
    async fn connect(&mut self) -> (String, String) {
        let link = self.browser.post("/connections/plaid/link", &[]).await.location().to_owned();
        let item = self.server.sign_in("ins_1", "First Platypus Bank", accounts());
        let back = self.browser.get("/connections/plaid/back").await;
        assert_eq!(back.location(), link);
        (self.browser.get(&link).await.location().to_owned(), item)
    }
}

#[tokio::test]
async fn a_bank_is_connected_with_the_persons_own_keys_and_synced() {
    let mut pages = PlaidPages::new().await;
    let shown = pages.browser.get(ADD).await.good();
    assert!(shown.contains("dashboard.plaid.com/signup"), "{shown}");
    assert!(shown.contains("Save keys") && !shown.contains("Connect a bank with Plaid"));
    let wrong = [("client_id", "x"), ("secret", "y"), ("environment", "production")];
    let refused = pages.browser.post("/connections/plaid/keys", &wrong).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.text.contains("page Keys of Plaid"), "{}", refused.text);
    pages.save_keys().await;
    let shown = pages.browser.get(ADD).await.good();
    assert!(shown.contains("0 of 10 bank logins"), "{shown}");
    assert!(shown.contains("Connect a bank with Plaid") && !shown.contains(Plaid::SECRET));
    let link = pages.browser.post("/connections/plaid/link", &[]).await.location().to_owned();
    let waiting = pages.browser.get(&link).await;
    assert!(waiting.text.contains("Continue to your bank"), "{}", waiting.text);
    assert!(waiting.text.contains(&format!("href=\"{}/hosted/", pages.server.url())));
    let (page, item) = pages.connect().await;
    pages.server.add(&item, transaction("t1", CHECKING, "2026-03-01", "4.5", HOSTILE));
    let shown = pages.browser.get(&page).await.good();
    assert_escaped(&shown);
    assert!(shown.contains("First Platypus Bank") && shown.contains("Save choices"), "{shown}");
    let fields = [("id0", CHECKING), ("goes0", "new"), ("kind0", "depository")];
    pages.browser.post(&format!("{page}/accounts"), &fields).await.location();
    let shown = pages.browser.get(&page).await.good();
    assert!(shown.contains("data-commit") && shown.contains("being added"), "{shown}");
    pages.browser.post(&format!("{page}/sync"), &[]).await.location();
    let shown = pages.browser.get(&page).await.good();
    assert_escaped(&shown);
    assert!(shown.contains("1 new transaction"), "{shown}");
    assert!(!shown.contains("First update"), "{shown}");
    let shown = pages.browser.get(ADD).await.good();
    assert!(shown.contains("1 of 10 bank logins"), "{shown}");
    assert!(shown.contains("Already connected: ") && shown.contains(&page), "{shown}");
}

#[tokio::test]
async fn a_broken_login_has_a_button_that_repairs_it() {
    let mut pages = PlaidPages::new().await;
    pages.save_keys().await;
    let (page, item) = pages.connect().await;
    let fields = [("id0", CHECKING), ("goes0", "new"), ("kind0", "depository")];
    pages.browser.post(&format!("{page}/accounts"), &fields).await.location();
    pages.server.set_error(&item, Some(("ITEM_ERROR", "ITEM_LOGIN_REQUIRED")));
    let failed = pages.browser.post(&format!("{page}/sync"), &[]).await;
    assert!(failed.text.contains("Repair</button>"), "{}", failed.text);
    let repair = format!("{page}/repair");
    let link = pages.browser.post(&repair, &[("remedy", "repair")]).await.location().to_owned();
    pages.server.sign_in_again();
    assert_eq!(pages.browser.get(&link).await.location(), page);
    let shown = pages.browser.get(&page).await.good();
    assert!(!shown.contains("needs you to sign in"), "{shown}");
    let odd = pages.browser.post(&repair, &[("remedy", "explode")]).await;
    assert_eq!(odd.status, StatusCode::NOT_FOUND);
    pages.browser.post(&format!("{page}/disconnect"), &[]).await.location();
    let shown = pages.browser.get(&page).await.good();
    assert!(shown.contains("has not confirmed the end of this access"), "{shown}");
    assert!(shown.contains("Connect again"), "{shown}");
    connections::revoke_once(&pages.world.app).await.unwrap();
    assert!(pages.server.is_removed(&item));
}

#[tokio::test]
async fn a_second_connection_to_a_bank_is_a_question() {
    let mut pages = PlaidPages::new().await;
    pages.save_keys().await;
    pages.connect().await;
    let link = pages.browser.post("/connections/plaid/link", &[]).await.location().to_owned();
    let item = pages.server.sign_in("ins_1", "First Platypus Bank", accounts());
    let asked = pages.browser.get(&link).await.good();
    assert_escaped(&asked);
    assert!(asked.contains("This bank is connected already"), "{asked}");
    let discarded = pages.browser.post(&format!("{link}/discard"), &[]).await;
    assert_eq!(discarded.location(), "/connections");
    assert!(pages.server.is_removed(&item));
    let shown = pages.browser.get(ADD).await.good();
    assert!(shown.contains("2 of 10 bank logins"), "a discarded one counts, too: {shown}");
    let kim = pages.world.person("kim@example.com").await;
    let mut other = Browser::of(&pages.world, &kim).await;
    assert_eq!(other.get(&link).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn webhooks_are_accepted_only_if_plaid_signed_them() {
    let mut pages = PlaidPages::new().await;
    pages.save_keys().await;
    let (_, item) = pages.connect().await;
    let body = WebhookSigner::body("ITEM", "ERROR", &item);
    let body = String::from_utf8(body).unwrap();
    let answer = pages.browser.send(Method::POST, "/connections/plaid/webhook", body).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "without a signature");
}

#[tokio::test]
async fn each_region_has_its_ways_with_steps_and_costs() {
    let mut pages = PlaidPages::new().await;
    let shown = pages.browser.get("/connections").await.good();
    assert!(shown.contains("href=\"/connections/add\""), "{shown}");
    let shown = pages.browser.get("/connections/add").await.good();
    // The ways for the person's own currency.
    assert!(shown.contains("Where are your accounts?") && shown.contains("15 USD a year"));
    assert!(shown.contains(r#"aria-current="page">United States"#), "{shown}");
    for (region, has_plaid, price) in [
        ("us", true, "15 USD a year"),
        ("canada", true, "15 USD a year"),
        ("europe", false, "Depends on the server"),
        ("elsewhere", false, "Depends on the server"),
    ] {
        let shown = pages.browser.get(&format!("/connections/add?region={region}")).await.good();
        assert_eq!(shown.contains("Plaid connects to most banks"), has_plaid, "{region}");
        assert!(shown.contains(price) && shown.contains("Import bank files"), "{region}");
    }
}

#[tokio::test]
async fn the_page_of_a_connection_follows_the_history_while_plaid_fetches_it() {
    let mut pages = PlaidPages::new().await;
    pages.save_keys().await;
    let (page, item) = pages.connect().await;
    pages.server.set_status(&item, "INITIAL_UPDATE_COMPLETE");
    pages.server.add(&item, transaction("t1", CHECKING, "2026-03-01", "4.5", "COFFEE"));
    let fields = [("id0", CHECKING), ("goes0", "new"), ("kind0", "depository")];
    pages.browser.post(&format!("{page}/accounts"), &fields).await.location();
    connections::sync_once(&pages.world.app).await.unwrap();
    let shown = pages.browser.get(&page).await.good();
    assert!(shown.contains("1 transaction so far"), "{shown}");
    assert!(
        shown.contains("data-commit") && shown.contains("still fetching the history"),
        "{shown}"
    );
    pages.server.set_status(&item, "HISTORICAL_UPDATE_COMPLETE");
    pages.world.advance_seconds(11);
    connections::sync_once(&pages.world.app).await.unwrap();
    let shown = pages.browser.get(&page).await.good();
    assert!(!shown.contains("First update"), "{shown}");
}
