//! The connection pages: connecting, choosing accounts, syncing, reconnecting and disconnecting.

use http::StatusCode;
use testkit::simplefin::{Account, SimpleFin, Transaction};
use testkit::{World, at};

use super::{HOSTILE, assert_escaped};
use crate::browser::Browser;

struct ConnectionsFixture {
    world: World,
    server: SimpleFin,
    browser: Browser,
}

impl ConnectionsFixture {
    async fn new() -> ConnectionsFixture {
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
        ConnectionsFixture { world, server, browser }
    }

    /// Connects, and returns the path of the connection's page.
    async fn connect(&mut self) -> String {
        let token = self.server.setup_token();
        let fields = [("token", token.as_str()), ("name", "My banks")];
        self.browser.post("/connections", &fields).await.location().to_owned()
    }

    /// Adds the first account and not the second.
    async fn choose_accounts(&mut self, page: &str) -> String {
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
async fn a_connection_is_created_its_accounts_chosen_and_synced() {
    let mut fixture = ConnectionsFixture::new().await;
    let page = fixture.connect().await;
    let shown = fixture.browser.get(&page).await.good();
    assert_escaped(&shown);
    for text in
        ["My banks", "Everyday Checking", "First Bank", "Don't add", "Updates today", " of 20</dd>"]
    {
        assert!(shown.contains(text), "{text}");
    }
    assert_eq!(fixture.choose_accounts(&page).await, page);
    fixture.browser.post(&format!("{page}/sync"), &[]).await.location();
    let shown = fixture.browser.get(&page).await.good();
    assert_escaped(&shown);
    assert!(shown.contains("1 new transaction"), "{shown}");
    assert!(shown.contains("Undo"), "a sync can be undone");
    let list = fixture.browser.get("/connections").await.good();
    assert!(list.contains("My banks") && list.contains("Connected"));
    let accounts = fixture.browser.get("/accounts").await.good();
    assert!(accounts.contains("Everyday Checking"));
}

#[tokio::test]
async fn a_revoked_connection_is_reported_and_repaired_by_a_new_token() {
    let mut fixture = ConnectionsFixture::new().await;
    let page = fixture.connect().await;
    fixture.choose_accounts(&page).await;
    fixture.server.revoke();
    let answer = fixture.browser.post(&format!("{page}/sync"), &[]).await;
    let shown = match answer.status {
        StatusCode::SEE_OTHER => fixture.browser.get(&page).await.good(),
        _ => answer.text,
    };
    assert!(shown.contains("token"), "{shown}");
    let token = fixture.server.setup_token();
    let again = fixture.browser.post(&format!("{page}/access"), &[("token", token.as_str())]).await;
    assert_eq!(again.location(), page);
    fixture.browser.post(&format!("{page}/sync"), &[]).await.location();
    fixture.browser.post(&format!("{page}/disconnect"), &[]).await.location();
    let list = fixture.browser.get("/connections").await.good();
    assert!(list.contains("Disconnected"), "{list}");
    assert!(fixture.browser.get("/accounts").await.good().contains("Everyday Checking"));
}

#[tokio::test]
async fn invalid_tokens_and_connections_of_others_are_refused() {
    let mut fixture = ConnectionsFixture::new().await;
    let answer =
        fixture.browser.post("/connections", &[("token", "not a token"), ("name", "Mine")]).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.text.contains("value=\"Mine\""), "what was typed is kept");
    let page = fixture.connect().await;
    let kim = fixture.world.person("kim@example.com").await;
    let mut other = Browser::of(&fixture.world, &kim).await;
    assert_eq!(other.get(&page).await.status, StatusCode::NOT_FOUND);
    for action in ["sync", "disconnect", "access", "accounts"] {
        let answer = other.post(&format!("{page}/{action}"), &[("token", "x")]).await;
        assert!(!answer.status.is_success() && answer.status != StatusCode::SEE_OTHER, "{action}");
    }
    assert_eq!(
        fixture.browser.get("/connections/con_nonsense").await.status,
        StatusCode::NOT_FOUND
    );
}
