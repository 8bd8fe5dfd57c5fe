//! A world: everything the product needs, with nothing left to chance.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use base::draft::Statement;
use base::{AccountId, Clock, Currency, Entropy, KeyId};
use db::{Db, Value};
use service::access::keys::{self, NewKey};
use service::access::sessions::{self, Method, Visit};
use service::access::users::{self, NewUser, User};
use service::ingest::imports::{self, Summary};
use service::ledger::accounts::{self, Status};
use service::platform::installation;
use service::platform::limits::Policy;
use service::trading::quotes::{Trading, WhenClosed};
use service::{App, Caller, Scopes, Setup};

use crate::{Database, Market, receiver};

pub struct World {
    pub app: App,
    pub clock: Clock,
    pub market: Market,
    key: installation::Key,
    // Last, so that it outlives what uses it.
    pub database: Database,
}

impl World {
    pub async fn new() -> World {
        World::with_policy(Policy::default()).await
    }

    pub async fn with_policy(rate_limit: Policy) -> World {
        let database = Database::migrated().await;
        let (clock, entropy) = (Clock::frozen_at("2026-03-10T12:00:00Z"), Entropy::seeded(1));
        let (db, key) = (database.open().await, installation::Key::generate(&entropy));
        let (own_clock, installation_key) = (clock.clone(), key.clone());
        let market = Market::new(clock.clone());
        let setup = Setup {
            db,
            clock: own_clock,
            entropy,
            installation_key,
            rate_limit,
            trading: trading(&market, WhenClosed::Queue),
            approvals_life_seconds: 86_400,
            webhook_client: Some(http_client()),
            bank_client: Some(http_client()),
            disk: None,
            imports: Default::default(),
        };
        World { app: App::new(setup), clock, market, key, database }
    }

    /// Another process on the same database, with the same clock on its wall.
    pub async fn neighbour(&self) -> App {
        self.neighbour_at(self.clock.clone()).await
    }

    /// Another process on the same database, with a clock of its own.
    pub async fn neighbour_at(&self, clock: Clock) -> App {
        let db = self.database.open().await;
        App::new(Setup { db, clock, ..self.setup() })
    }

    /// Another process over a connection of the test's choice.
    pub fn neighbour_on(&self, db: Db) -> App {
        App::new(Setup { db, ..self.setup() })
    }

    /// The same process with another limit on requests, and nothing remembered of those before.
    pub fn with_limit(&self, rate_limit: Policy) -> App {
        App::new(Setup { rate_limit, ..self.setup() })
    }

    /// Processes of one world have the same key, and draw from the same entropy, so that no two make the same id.
    fn setup(&self) -> Setup {
        Setup {
            db: self.app.db.clone(),
            clock: self.clock.clone(),
            entropy: self.app.entropy.clone(),
            installation_key: self.key.clone(),
            rate_limit: self.app.limits.policy(),
            trading: self.app.trading.clone(),
            approvals_life_seconds: 86_400,
            webhook_client: Some(http_client()),
            bank_client: Some(http_client()),
            disk: None,
            imports: Default::default(),
        }
    }

    /// The same process, where trades are filled at once also while the market is closed.
    pub fn filling_at_once(&self) -> App {
        let trading = trading(&self.market, WhenClosed::LastPrice);
        App::new(Setup { trading, ..self.setup() })
    }

    /// The same process with other bounds on files to import.
    pub fn with_imports(&self, imports: service::ingest::imports::files::Limits) -> App {
        App::new(Setup { imports, ..self.setup() })
    }

    /// The same process on a machine that can ask nobody.
    pub fn without_banks(&self) -> App {
        App::new(Setup { bank_client: None, ..self.setup() })
    }

    pub async fn person(&self, email: &str) -> Person {
        let user = users::create(&self.app, new_user(email)).await.unwrap();
        Person { caller: Caller::owner(user.id), app: self.app.clone(), user }
    }

    /// Somebody new, whose name does not matter.
    pub async fn someone(&self) -> Person {
        let name = hex(&self.app.entropy.bytes::<8>());
        self.person(&format!("{name}@example.com")).await
    }

    pub fn advance_seconds(&self, seconds: u64) {
        self.clock.advance(std::time::Duration::from_secs(seconds));
    }

    /// Everything that is stored: for each table its rows in text, in an order of their own.
    pub async fn stored(&self) -> BTreeMap<String, Vec<String>> {
        let tables = self.app.db.tables().await.unwrap();
        let rows: Arc<Mutex<Vec<Vec<String>>>> = Arc::new(Mutex::new(vec![vec![]; tables.len()]));
        let (seen, named) = (rows.clone(), tables.clone());
        let dump = self.app.db.dump(tables.clone(), move |table, row| {
            let mut text = String::new();
            for (index, column) in named[table].columns.iter().enumerate() {
                match row.value(index)? {
                    Value::Null => {}
                    Value::Int(number) => text += &format!("{}={number} ", column.name),
                    Value::Text(word) => text += &format!("{}={word} ", column.name),
                    Value::Bytes(bytes) => text += &format!("{}={} ", column.name, hex(bytes)),
                }
            }
            seen.lock().unwrap()[table].push(text);
            Ok(())
        });
        dump.await.unwrap();
        let mut rows = std::mem::take(&mut *rows.lock().unwrap());
        rows.iter_mut().for_each(|it| it.sort());
        tables.into_iter().map(|it| it.name).zip(rows).collect()
    }
}

/// Out to this machine alone, where receivers of ours are.
fn http_client() -> net::HttpClient {
    let here = "127.0.0.0/8".parse().unwrap();
    let guard = net::Guard::Public { allow: vec![here, "::1".parse().unwrap()] };
    net::HttpClient::new(net::Policy { guard, extra_ca: Some(receiver::authority()) }).unwrap()
}

fn trading(market: &Market, when_closed: WhenClosed) -> Trading {
    Trading { market: Arc::new(market.clone()), when_closed, slippage_basis_points: 0 }
}

/// Somebody with an account here, and the right to do everything with it.
#[derive(Clone)]
pub struct Person {
    pub user: User,
    pub caller: Caller,
    app: App,
}

/// A key as its holder knows it.
pub struct Issued {
    pub id: KeyId,
    pub secret: String,
    pub caller: Caller,
}

impl Person {
    /// The same person, signed in on the web.
    pub async fn session(&self) -> Caller {
        let visit = Visit { address: Some("192.0.2.1".to_owned()), ..Visit::default() };
        let made = sessions::create(&self.app, &self.user, Method::Password, visit);
        let token = made.await.unwrap();
        let found = sessions::find(&self.app, &token, Some("192.0.2.1")).await.unwrap();
        found.unwrap().1
    }

    /// Brings data in by the one client there is.
    pub async fn import(&self, statement: Statement) -> Summary {
        self.try_import(statement).await.unwrap()
    }

    pub async fn try_import(&self, statement: Statement) -> service::Result<Summary> {
        imports::commit(&self.app, &self.caller, statement).await
    }

    /// The account of that name, whatever its state.
    pub async fn account(&self, name: &str) -> AccountId {
        let filter = accounts::Filter { status: Status::All, include_hidden: true };
        let accounts = accounts::list(&self.app, &self.caller, filter).await.unwrap();
        let found = accounts.iter().find(|it| it.name == name);
        found.unwrap_or_else(|| panic!("{name} is not among the accounts")).id
    }

    pub async fn key(&self, new: NewKey) -> Issued {
        let (key, secret) = keys::create(&self.app, &self.caller, new).await.unwrap();
        let caller = keys::authenticate(&self.app, &secret, None).await.unwrap();
        Issued { id: key.id, secret, caller }
    }
}

/// May do everything and see all accounts, without an end.
pub fn new_key() -> NewKey {
    NewKey { name: "A script".to_owned(), scopes: Scopes::all(), accounts: None, expires_at: None }
}

/// Counts in dollars and has no password.
pub fn new_user(email: &str) -> NewUser {
    NewUser {
        email: email.to_owned(),
        preferred_name: None,
        base_currency: Currency::USD,
        password: None,
    }
}

/// Bytes as `stored` shows them.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}
