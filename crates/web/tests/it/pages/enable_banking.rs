//! Banks through Enable Banking in the browser: the application, the list of banks, consent and its end.

use base::draft::Source;
use http::StatusCode;
use service::ingest::connections::{self, LinkAddresses, LinkTarget};
use testkit::enable_banking::{BankAccount, EnableBanking, entry};
use testkit::{Person, World};

use super::{HOSTILE, assert_escaped};
use crate::browser::Browser;

const ADD: &str = "/connections/add?region=europe";

struct EuropePages {
    world: World,
    server: EnableBanking,
    robin: Person,
    browser: Browser,
}

impl EuropePages {
    async fn new() -> EuropePages {
        let mut world = World::new().await;
        let server = EnableBanking::start(world.clock.clone()).await;
        world.app = world.with_bank_providers(vec![server.settings()]);
        let robin = world.person("robin@example.com").await;
        let browser = Browser::of(&world, &robin).await;
        server.account(BankAccount::new("hash1", HOSTILE, "DE89370400440532013000", "120.50"));
        server.update("hash1", |it| {
            it.transactions.push(entry("b1", "2026-03-01", "33.20", "DBIT", HOSTILE));
        });
        EuropePages { world, server, robin, browser }
    }

    async fn save_application(&mut self) {
        let keys = self.server.keys();
        let fields = [
            ("application_id", keys.application_id.as_str()),
            ("private_key", keys.private_key.as_str()),
        ];
        let saved = self.browser.post("/connections/enable-banking/keys", &fields).await;
        assert_eq!(saved.location(), ADD);
    }

    /// Starts a consent as an installation with https does, and returns the page of the link.
    async fn start(&self, target: LinkTarget) -> String {
        let return_url = Some(EnableBanking::RETURN_URL.to_owned());
        let addresses = LinkAddresses { return_url, webhook_url: None };
        let (app, caller) = (&self.world.app, &self.robin.caller);
        let link = connections::start_link(app, caller, target, addresses).await.unwrap();
        format!("/connections/links/{}", link.id)
    }

    fn back(query: &str) -> String {
        format!("/connections/enable-banking/back?{query}")
    }
}

#[tokio::test]
async fn a_bank_is_found_connected_and_synced() {
    let mut pages = EuropePages::new().await;
    let shown = pages.browser.get(ADD).await.good();
    assert!(shown.contains("Save application") && !shown.contains("Choose your bank"), "{shown}");
    assert!(shown.contains("/connections/enable-banking/back"), "{shown}");
    let wrong = [("application_id", "x"), ("private_key", "y")];
    let refused = pages.browser.post("/connections/enable-banking/keys", &wrong).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.text.contains("whole private key file"), "{}", refused.text);
    pages.save_application().await;
    let shown = pages.browser.get(ADD).await.good();
    assert!(shown.contains("Choose your bank") && !shown.contains("BEGIN PRIVATE KEY"), "{shown}");
    let banks = "/connections/enable-banking/banks?country=DE";
    let shown = pages.browser.get(banks).await.good();
    assert!(shown.contains("Nordbank") && shown.contains("Alpenbank"), "{shown}");
    assert!(!shown.contains("logo.example"), "nothing is loaded from others");
    let shown = pages.browser.get(&format!("{banks}&search=nORD")).await.good();
    assert!(shown.contains("Nordbank") && !shown.contains("Alpenbank"), "{shown}");
    let shown = pages.browser.get(&format!("{banks}&search=%3Cb%3E")).await.good();
    assert!(shown.contains("No bank of this name") && !shown.contains("<b>"), "{shown}");
    // This installation has no https, so that no bank could send the browser back.
    let fields = [("bank", "DE Nordbank")];
    let refused = pages.browser.post("/connections/enable-banking/link", &fields).await;
    assert!(refused.text.contains("Set public_url"), "{}", refused.text);
    let target = LinkTarget::NewAt(Source::EnableBanking, "DE Nordbank".to_owned());
    let link = pages.start(target).await;
    let waiting = pages.browser.get(&link).await.good();
    assert!(waiting.contains("Continue to your bank"), "{waiting}");
    let query = pages.server.consent();
    assert_eq!(pages.browser.get(&EuropePages::back(&query)).await.location(), link);
    let page = pages.browser.get(&link).await.location().to_owned();
    let shown = pages.browser.get(&page).await.good();
    assert_escaped(&shown);
    assert!(shown.contains("Nordbank") && shown.contains("Consent ends"), "{shown}");
    let fields = [("id0", "hash1"), ("goes0", "new"), ("kind0", "depository")];
    pages.browser.post(&format!("{page}/accounts"), &fields).await.location();
    pages.browser.post(&format!("{page}/sync"), &[]).await.location();
    let shown = pages.browser.get(&page).await.good();
    assert_escaped(&shown);
    assert!(shown.contains("1 new transaction"), "{shown}");
}

#[tokio::test]
async fn another_persons_way_back_is_not_found() {
    let mut pages = EuropePages::new().await;
    pages.save_application().await;
    let target = LinkTarget::NewAt(Source::EnableBanking, "DE Nordbank".to_owned());
    let link = pages.start(target).await;
    let back = EuropePages::back(&pages.server.consent());
    let kim = pages.world.person("kim@example.com").await;
    let mut other = Browser::of(&pages.world, &kim).await;
    assert_eq!(other.get(&back).await.status, StatusCode::NOT_FOUND);
    assert_eq!(
        pages.browser.get("/connections/enable-banking/back").await.location(),
        "/connections"
    );
    assert_eq!(pages.browser.get(&back).await.location(), link);
}

#[tokio::test]
async fn an_account_that_the_person_has_already_is_offered_to_be_continued() {
    let mut pages = EuropePages::new().await;
    pages.save_application().await;
    let connect = async |pages: &mut EuropePages| {
        let target = LinkTarget::NewAt(Source::EnableBanking, "DE Nordbank".to_owned());
        let link = pages.start(target).await;
        let back = EuropePages::back(&pages.server.consent());
        pages.browser.get(&back).await.location();
        pages.browser.get(&link).await.location().to_owned()
    };
    let page = connect(&mut pages).await;
    let shown = pages.browser.get(&page).await.good();
    assert!(!shown.contains("You may have this account already"), "{shown}");
    let fields = [("id0", "hash1"), ("goes0", "new"), ("kind0", "depository")];
    pages.browser.post(&format!("{page}/accounts"), &fields).await.location();
    connections::sync_once(&pages.world.app).await.unwrap();
    // The same account comes through a second connection.
    let second = connect(&mut pages).await;
    let shown = pages.browser.get(&second).await.good();
    assert!(shown.contains("You may have this account already"), "{shown}");
    assert_escaped(&shown);
}
