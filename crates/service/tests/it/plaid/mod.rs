//! Banks through Plaid: the round trip through the browser, syncs with a cursor, repair, webhooks and disconnecting,
//! tested against a simulated Plaid over TLS.

mod document;
mod ending;
mod hanging;
mod laws;
mod linking;
mod rekey;
mod syncing;

use base::ConnectionId;
use base::draft::Source;
use serde_json::Value;
use service::App;
use service::ingest::connections::{
    self, AddAccount, Choice, Connection, LinkAddresses, LinkState, LinkTarget, OfferStatus,
    Selection, StartedLink, SyncResult,
};
use service::ledger::transactions::Filter;
use testkit::plaid::{Plaid, account, transaction};
use testkit::{Person, World};

use crate::listed::{self, Listed};

const CHECKING: &str = "checkingxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
const CARD: &str = "cardxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
const BROKERAGE: &str = "brokeragexxxxxxxxxxxxxxxxxxxxxxxxxxxx";

/// A person, and a Plaid whose keys the operator has set.
struct PlaidFixture {
    world: World,
    app: App,
    server: Plaid,
    robin: Person,
}

impl PlaidFixture {
    async fn new() -> PlaidFixture {
        let world = World::new().await;
        let server = Plaid::start(world.clock.clone()).await;
        let app = world.with_bank_providers(vec![server.settings()]);
        let robin = world.person("robin@example.com").await;
        PlaidFixture { world, app, server, robin }
    }

    /// A connected bank, with all accounts chosen and synced once.
    async fn synced() -> (PlaidFixture, ConnectionId, String) {
        let fixture = PlaidFixture::new().await;
        let (id, item) = fixture.connect("ins_1").await;
        fixture.server.add(&item, row("t1", "2026-03-01", "33.20", "GROCER 12"));
        let mut pending = row("p1", "2026-03-09", "4.5", "COFFEE");
        pending["pending"] = true.into();
        fixture.server.add(&item, pending);
        fixture.add_all(id).await;
        fixture.sync(id).await;
        (fixture, id, item)
    }

    async fn start(&self, target: LinkTarget) -> StartedLink {
        let started =
            connections::start_link(&self.app, &self.robin.caller, target, addresses()).await;
        started.unwrap()
    }

    async fn check(&self, link: &StartedLink) -> LinkState {
        connections::check_link(&self.app, &self.robin.caller, &link.id, None).await.unwrap()
    }

    /// Connects a bank, and returns the connection and the item.
    async fn connect(&self, institution: &str) -> (ConnectionId, String) {
        let link = self.start(LinkTarget::New(Source::Plaid)).await;
        let item = self.server.sign_in(institution, "First Platypus Bank", accounts());
        match self.check(&link).await {
            LinkState::Done { connection } => (connection, item),
            other => panic!("{other:?}"),
        }
    }

    async fn add_all(&self, id: ConnectionId) {
        let (app, caller) = (&self.app, &self.robin.caller);
        let offered = connections::list_offers(app, caller, id).await.unwrap();
        let open = offered.iter().filter(|it| it.status == OfferStatus::Undecided);
        let choices = open.map(|it| Choice {
            external_id: it.external_id.clone(),
            selection: Selection::Add(AddAccount {
                kind: it.kind,
                subtype: it.subtype.clone(),
                name: None,
                owed: it.owed,
            }),
        });
        connections::choose(app, caller, id, choices.collect()).await.unwrap();
    }

    async fn sync(&self, id: ConnectionId) -> SyncResult {
        self.try_sync(id).await.unwrap()
    }

    async fn try_sync(&self, id: ConnectionId) -> service::Result<SyncResult> {
        connections::sync(&self.app, &self.robin.caller, id).await
    }

    async fn connection(&self, id: ConnectionId) -> Connection {
        connections::get(&self.app, &self.robin.caller, id).await.unwrap()
    }

    async fn rows(&self) -> Vec<Listed> {
        listed::all(&self.app, &self.robin.caller, &Filter::default()).await
    }

    /// Descriptions in the order of the list, with a question mark after pending ones.
    async fn descriptions(&self) -> Vec<String> {
        let mark = |it: &Listed| if it.pending { "?" } else { "" };
        self.rows().await.iter().map(|it| format!("{}{}", it.description, mark(it))).collect()
    }
}

fn addresses() -> LinkAddresses {
    LinkAddresses {
        return_url: Some("https://home.example/connections/plaid/back".to_owned()),
        webhook_url: None,
    }
}

fn accounts() -> Vec<Value> {
    vec![
        account(CHECKING, "Everyday Checking", "0000", "depository/checking", "110.4"),
        account(CARD, "Sapphire", "3333", "credit/credit card", "410"),
        account(BROKERAGE, "Brokerage", "5555", "investment/brokerage", "2050.25"),
    ]
}

/// A posted transaction of the checking account.
fn row(id: &str, date: &str, amount: &str, name: &str) -> Value {
    transaction(id, CHECKING, date, amount, name)
}
