//! Banks through Enable Banking: consent, syncs within what banks allow, reminders, renewal and disconnecting, tested
//! against a simulated server over TLS.

mod consent;
mod laws;
mod syncing;

use std::sync::Arc;

use base::ConnectionId;
use base::draft::Source;
use service::ingest::connections::{
    self, AddAccount, Choice, Connection, LinkAddresses, LinkState, LinkTarget, OfferStatus,
    Selection, StartedLink, SyncResult,
};
use service::ledger::transactions::Filter;
use service::{App, Caller, Credential};
use testkit::enable_banking::{BankAccount, EnableBanking, entry};
use testkit::{Person, World};

use crate::listed::{self, Listed};

const GIRO: &str = "hash-giro";
const IBAN: &str = "DE89370400440532013000";

struct BankFixture {
    world: World,
    app: App,
    server: EnableBanking,
    robin: Person,
}

impl BankFixture {
    async fn new() -> BankFixture {
        let world = World::new().await;
        let server = EnableBanking::start(world.clock.clone()).await;
        let app = world.with_bank_providers(vec![server.settings()]);
        let robin = world.person("robin@example.com").await;
        let keys = server.keys().to_secret();
        connections::save_keys(&app, &robin.caller, Source::EnableBanking, &keys).await.unwrap();
        server.account(BankAccount::new(GIRO, "Girokonto", IBAN, "120.50"));
        BankFixture { world, app, server, robin }
    }

    /// A bank whose account was added and synced once.
    async fn synced() -> (BankFixture, ConnectionId) {
        let fixture = BankFixture::new().await;
        fixture.server.update(GIRO, |it| {
            it.transactions.push(entry("b1", "2026-03-01", "33.20", "DBIT", "MARKT"));
        });
        let id = fixture.connect().await;
        fixture.add_all(id).await;
        connections::sync_once(&fixture.app).await.unwrap();
        (fixture, id)
    }

    async fn start(&self, target: LinkTarget) -> StartedLink {
        let return_url = Some(EnableBanking::RETURN_URL.to_owned());
        let addresses = LinkAddresses { return_url, webhook_url: None };
        connections::start_link(&self.app, &self.robin.caller, target, addresses).await.unwrap()
    }

    async fn come_back(&self, link: &StartedLink, query: &str) -> LinkState {
        let (app, caller) = (&self.app, &self.robin.caller);
        connections::check_link(app, caller, &link.id, Some(query)).await.unwrap()
    }

    /// Consents on the page of this link.
    async fn consent(&self, target: LinkTarget) -> ConnectionId {
        let link = self.start(target).await;
        let query = self.server.consent();
        match self.come_back(&link, &query).await {
            LinkState::Done { connection } => connection,
            other => panic!("{other:?}"),
        }
    }

    async fn connect(&self) -> ConnectionId {
        self.consent(LinkTarget::NewAt(Source::EnableBanking, "DE Nordbank".to_owned())).await
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

    /// The person in a browser.
    fn present(&self) -> Caller {
        let mut caller = self.robin.caller.clone();
        caller.credential = Credential::Session {
            id: self.world.app.ids.make(),
            address: Some(Arc::from("192.0.2.7")),
        };
        caller
    }

    async fn sync_now(&self, id: ConnectionId) -> service::Result<SyncResult> {
        connections::sync(&self.app, &self.present(), id).await
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
