//! Connections to SimpleFIN, over TLS, against a server that has all the oddities of the real ones.

mod authorization;
mod disconnect;
mod failures;
mod history;
mod relinking;
mod secrets;
mod sync;

use base::ConnectionId;
use service::ingest::connections::{
    self, AddAccount, Choice, Connection, OfferedAccount, Selection, SyncResult,
};
use service::ledger::accounts::{self, Account, Status};
use service::ledger::transactions::Filter;
use testkit::simplefin::{self, SimpleFin, Transaction};
use testkit::{Person, World, at};

use crate::listed::{self, Listed};

/// Seconds since 1970 at noon of a day.
fn noon(text: &str) -> i64 {
    at(&format!("{text}T12:00:00Z")).as_second()
}

const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;

/// A person whose banks answer over one server.
pub(crate) struct Home {
    pub(crate) world: World,
    server: SimpleFin,
    robin: Person,
}

impl Home {
    /// Two logins and three accounts, nothing connected yet.
    async fn new() -> Home {
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
        Home { world, server, robin }
    }

    /// The same with everything taken and synced once.
    pub(crate) async fn synced() -> (Home, ConnectionId) {
        let home = Home::new().await;
        let id = home.claim().await;
        home.take_all(id).await;
        home.sync(id).await;
        (home, id)
    }

    async fn claim(&self) -> ConnectionId {
        let token = self.server.setup_token();
        connections::create(&self.world.app, &self.robin.caller, &token, None).await.unwrap()
    }

    async fn offered(&self, id: ConnectionId) -> Vec<OfferedAccount> {
        connections::list_offers(&self.world.app, &self.robin.caller, id).await.unwrap()
    }

    /// Takes what is open, as it is suggested.
    async fn take_all(&self, id: ConnectionId) {
        let offered = self.offered(id).await;
        let open = offered.iter().filter(|it| it.status == connections::OfferStatus::Undecided);
        self.choose(id, open.map(taken).collect()).await.unwrap();
    }

    async fn choose(&self, id: ConnectionId, choices: Vec<Choice>) -> service::Result<()> {
        connections::choose(&self.world.app, &self.robin.caller, id, choices).await
    }

    async fn sync(&self, id: ConnectionId) -> SyncResult {
        self.try_sync(id).await.unwrap()
    }

    async fn try_sync(&self, id: ConnectionId) -> service::Result<SyncResult> {
        connections::sync(&self.world.app, &self.robin.caller, id).await
    }

    /// Background steps until there is nothing due; says how many requests they made.
    pub(crate) async fn steps(&self) -> usize {
        let mut asked = 0;
        loop {
            match connections::sync_once(&self.world.app).await.unwrap() {
                0 => return asked,
                more => asked += more,
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

    /// Descriptions in the order of the list, with a question mark after those that are pending.
    async fn told(&self) -> Vec<String> {
        let mark = |it: &Listed| if it.pending { "?" } else { "" };
        self.rows().await.iter().map(|it| format!("{}{}", it.description, mark(it))).collect()
    }

    /// How often the server was asked for accounts.
    pub(crate) fn asked(&self) -> usize {
        self.server
            .requests()
            .iter()
            .filter(|it| it.path.starts_with("/simplefin/accounts"))
            .count()
    }
}

fn taken(offered: &OfferedAccount) -> Choice {
    let take = AddAccount {
        kind: offered.kind,
        subtype: offered.subtype.clone(),
        name: None,
        owed: offered.owed,
    };
    Choice { external_id: offered.external_id.clone(), selection: Selection::Add(take) }
}
