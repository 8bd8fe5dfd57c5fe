//! Connections on pages: made, chosen from, synced, mended and ended.

use http::StatusCode;
use testkit::simplefin::{Account, SimpleFin, Transaction};
use testkit::{World, at};

use super::{HOSTILE, is_harmless};
use crate::browser::Browser;

struct Home {
    world: World,
    server: SimpleFin,
    browser: Browser,
}

impl Home {
    async fn new() -> Home {
        let world = World::new().await;
        let server = SimpleFin::start(world.clock.clone()).await;
        let noon = at("2026-03-09T12:00:00Z").as_second();
        server.connection("CON-1", "First Bank");
        let mut checking = Account::new("CON-1", "ACT-1", "Everyday Checking", "100.23", noon);
        checking.transactions = vec![Transaction::posted("T1", noon, "-33.20", HOSTILE)];
        server.account(checking);
        server.account(Account::new("CON-1", "ACT-2", HOSTILE, "-420.00", noon));
        let robin = world.person("robin@example.com").await;
        let browser = Browser::of(&world, &robin).await;
        Home { world, server, browser }
    }

    /// Connects, and says where the connection's page is.
    async fn connected(&mut self) -> String {
        let token = self.server.setup_token();
        let fields = [("token", token.as_str()), ("name", "My banks")];
        self.browser.post("/connections", &fields).await.location().to_owned()
    }

    /// Takes the first account and leaves the second.
    async fn choose(&mut self, page: &str) -> String {
        let fields = [
            ("id0", "ACT-1"),
            ("goes0", "new"),
            ("kind0", "depository"),
            ("id1", "ACT-2"),
            ("goes1", "none"),
        ];
        let at = format!("{page}/accounts");
        self.browser.post(&at, &fields).await.location().to_owned()
    }
}

#[tokio::test]
async fn a_connection_is_made_chosen_from_and_synced_on_pages() {
    let mut home = Home::new().await;
    let page = home.connected().await;
    let shown = home.browser.get(&page).await.good();
    is_harmless(&shown);
    for text in
        ["My banks", "Everyday Checking", "First Bank", "Don't add", "Updates today", " of 20</dd>"]
    {
        assert!(shown.contains(text), "{text}");
    }
    assert_eq!(home.choose(&page).await, page);
    home.browser.post(&format!("{page}/sync"), &[]).await.location();
    let shown = home.browser.get(&page).await.good();
    is_harmless(&shown);
    assert!(shown.contains("1 new transaction"), "{shown}");
    assert!(shown.contains("Undo"), "what it brought can be taken back");
    let list = home.browser.get("/connections").await.good();
    assert!(list.contains("My banks") && list.contains("Connected"));
    let accounts = home.browser.get("/accounts").await.good();
    assert!(accounts.contains("Everyday Checking"));
}

#[tokio::test]
async fn what_is_wrong_is_said_with_what_to_do_and_mended_by_a_new_token() {
    let mut home = Home::new().await;
    let page = home.connected().await;
    home.choose(&page).await;
    home.server.revoke();
    let answer = home.browser.post(&format!("{page}/sync"), &[]).await;
    let told = match answer.status {
        StatusCode::SEE_OTHER => home.browser.get(&page).await.good(),
        _ => answer.text,
    };
    assert!(told.contains("token"), "{told}");
    let token = home.server.setup_token();
    let again = home.browser.post(&format!("{page}/access"), &[("token", token.as_str())]).await;
    assert_eq!(again.location(), page);
    home.browser.post(&format!("{page}/sync"), &[]).await.location();
    home.browser.post(&format!("{page}/disconnect"), &[]).await.location();
    let list = home.browser.get("/connections").await.good();
    assert!(list.contains("Disconnected"), "{list}");
    assert!(home.browser.get("/accounts").await.good().contains("Everyday Checking"));
}

#[tokio::test]
async fn tokens_that_are_none_and_ids_of_others_are_refused_in_words() {
    let mut home = Home::new().await;
    let answer =
        home.browser.post("/connections", &[("token", "not a token"), ("name", "Mine")]).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.text.contains("value=\"Mine\""), "what was typed is kept");
    let page = home.connected().await;
    let kim = home.world.person("kim@example.com").await;
    let mut other = Browser::of(&home.world, &kim).await;
    assert_eq!(other.get(&page).await.status, StatusCode::NOT_FOUND);
    for act in ["sync", "disconnect", "access", "accounts"] {
        let answer = other.post(&format!("{page}/{act}"), &[("token", "x")]).await;
        assert!(!answer.status.is_success() && answer.status != StatusCode::SEE_OTHER, "{act}");
    }
    assert_eq!(home.browser.get("/connections/con_nonsense").await.status, StatusCode::NOT_FOUND);
}
