//! Connections to SimpleFIN over TLS, tested against a server with all the oddities of real ones.

mod authorization;
mod disconnect;
mod failures;
mod history;
mod metrics;
mod relinking;
mod secrets;
mod sync;

use base::ConnectionId;
use service::Caller;
use service::ingest::connections::{
    self, AddAccount, Choice, Connection, OfferedAccount, Selection, SyncResult,
};
use service::ledger::accounts::{self, Account, Status};
use service::ledger::transactions::Filter;
use testkit::simplefin::{self, Fault, SimpleFin, Transaction};
use testkit::{Person, World, at};

use crate::listed::{self, Listed};

/// Seconds since 1970 at noon of a day.
fn noon(text: &str) -> i64 {
    at(&format!("{text}T12:00:00Z")).as_second()
}

const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;

/// A person, and a SimpleFIN server for the person's banks.
pub(crate) struct ConnectionsFixture {
    pub(crate) world: World,
    server: SimpleFin,
    robin: Person,
}

impl ConnectionsFixture {
    /// Two institutions with three accounts, not connected yet.
    async fn new() -> ConnectionsFixture {
        let world = World::new().await;
        let server = SimpleFin::start(world.clock.clone()).await;
        server.connection("CON-1", "First Bank");
        server.connection("CON-2", "Second Bank");
        let balance_at = noon("2026-03-10");
        let account = |login: &str, id: &str, name: &str, balance: &str| {
            simplefin::Account::new(login, id, name, balance, balance_at)
        };
        let mut checking = account("CON-1", "ACT-checking", "Everyday Checking", "100.23");
        checking.transactions = vec![
            Transaction::posted("T1", noon("2026-02-01"), "-33.20", "GROCER 12"),
            Transaction::posted("T2", noon("2026-03-01"), "2500.00", "PAYROLL"),
            Transaction::pending("T3", noon("2026-03-09"), "-4.50", "COFFEE"),
        ];
        server.account(checking);
        server.account(account("CON-1", "ACT-card", "Visa (1234)", "-420.00"));
        server.account(account("CON-2", "ACT-loan", "Car Loan", "9000.00"));
        let robin = world.person("robin@example.com").await;
        ConnectionsFixture { world, server, robin }
    }

    /// Connects, adds all accounts and syncs once.
    pub(crate) async fn synced() -> (ConnectionsFixture, ConnectionId) {
        let fixture = ConnectionsFixture::new().await;
        let id = fixture.claim().await;
        fixture.add_all(id).await;
        fixture.sync(id).await;
        (fixture, id)
    }

    async fn claim(&self) -> ConnectionId {
        let token = self.server.setup_token();
        connections::create(&self.world.app, &self.robin.caller, &token, None).await.unwrap()
    }

    async fn offered(&self, id: ConnectionId) -> Vec<OfferedAccount> {
        connections::list_offers(&self.world.app, &self.robin.caller, id).await.unwrap()
    }

    /// Adds every undecided account as suggested.
    async fn add_all(&self, id: ConnectionId) {
        let offered = self.offered(id).await;
        let open = offered.iter().filter(|it| it.status == connections::OfferStatus::Undecided);
        self.choose(id, open.map(add_choice).collect()).await.unwrap();
    }

    async fn choose(&self, id: ConnectionId, choices: Vec<Choice>) -> service::Result<()> {
        connections::choose(&self.world.app, &self.robin.caller, id, choices).await
    }

    pub(crate) async fn sync(&self, id: ConnectionId) -> SyncResult {
        self.try_sync(id).await.unwrap()
    }

    pub(crate) async fn try_sync(&self, id: ConnectionId) -> service::Result<SyncResult> {
        connections::sync(&self.world.app, &self.robin.caller, id).await
    }

    /// Runs background syncs until none is due, and returns how many requests they made.
    pub(crate) async fn run_due_syncs(&self) -> usize {
        let mut requests = 0;
        loop {
            match connections::sync_once(&self.world.app).await.unwrap() {
                0 => return requests,
                more => requests += more,
            }
        }
    }

    async fn connection(&self, id: ConnectionId) -> Connection {
        connections::get(&self.world.app, &self.robin.caller, id).await.unwrap()
    }

    async fn accounts(&self) -> Vec<Account> {
        let filter = accounts::Filter { status: Status::All, include_hidden: true };
        accounts::list(&self.world.app, &self.robin.caller, filter).await.unwrap()
    }

    async fn account(&self, name: &str) -> Account {
        let all = self.accounts().await;
        all.into_iter().find(|it| it.name == name).unwrap()
    }

    /// Name and state of every account.
    async fn states(&self) -> Vec<(String, String)> {
        let all = self.accounts().await;
        all.into_iter().map(|it| (it.name, it.connection_status.as_str().to_owned())).collect()
    }

    async fn rows(&self) -> Vec<Listed> {
        listed::all(&self.world.app, &self.robin.caller, &Filter::default()).await
    }

    /// Descriptions in the order of the list, with a question mark after pending ones.
    async fn descriptions(&self) -> Vec<String> {
        let mark = |it: &Listed| if it.pending { "?" } else { "" };
        self.rows().await.iter().map(|it| format!("{}{}", it.description, mark(it))).collect()
    }

    /// The number of requests for accounts that the server received.
    pub(crate) fn caller(&self) -> Caller {
        self.robin.caller.clone()
    }

    pub(crate) fn fail_next(&self, fault: Fault) {
        self.server.fail_next(fault);
    }

    pub(crate) fn request_count(&self) -> usize {
        self.server
            .requests()
            .iter()
            .filter(|it| it.path.starts_with("/simplefin/accounts"))
            .count()
    }
}

fn add_choice(offered: &OfferedAccount) -> Choice {
    let add = AddAccount {
        kind: offered.kind,
        subtype: offered.subtype.clone(),
        name: None,
        owed: offered.owed,
    };
    Choice { external_id: offered.external_id.clone(), selection: Selection::Add(add) }
}
