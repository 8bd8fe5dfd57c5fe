//! The world of a test: the application with a fresh database, a frozen clock, seeded randomness and a test market.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use base::draft::Statement;
use base::{AccountId, Clock, Currency, Entropy, KeyId, TimeZone};
use db::{Db, Value};
use service::access::keys::{self, NewKey};
use service::access::oidc;
use service::access::sessions::{self, Method, Visit};
use service::access::users::{self, NewUser, User};
use service::ingest::imports::{self, Summary};
use service::ledger::accounts::{self, Status};
use service::ledger::quotes::{Trading, WhenClosed};
use service::platform::installation;
use service::platform::limits::Policy;
use service::{App, Caller, Scopes, Setup};

use crate::{Database, Market, receiver};

pub struct World {
    pub app: App,
    pub clock: Clock,
    pub market: Market,
    key: installation::Key,
    // Last, so that it is dropped after everything that uses it.
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
            rates_url: None,
            bank_providers: Vec::new(),
            disk: None,
            imports: Default::default(),
            backups: None,
            mail: None,
            password_cost: service::access::passwords::HashCost::LOWEST,
            password_sign_in: true,
            single_sign_on: Default::default(),
            tracer: Default::default(),
        };
        World { app: App::new(setup), clock, market, key, database }
    }

    /// Another process on the same database, with the same clock.
    pub async fn other_process(&self) -> App {
        self.other_process_at(self.clock.clone()).await
    }

    /// Another process on the same database, with a clock of its own.
    pub async fn other_process_at(&self, clock: Clock) -> App {
        let db = self.database.open().await;
        App::new(Setup { db, clock, ..self.setup() })
    }

    /// Another process that uses this database handle.
    pub fn other_process_on(&self, db: Db) -> App {
        App::new(Setup { db, ..self.setup() })
    }

    /// The same process with another rate limit, and without a memory of earlier requests.
    pub fn with_limit(&self, rate_limit: Policy) -> App {
        App::new(Setup { rate_limit, ..self.setup() })
    }

    /// The same process, which also writes backups.
    pub fn with_backups(&self, plan: service::backup::Plan) -> App {
        App::new(Setup { backups: Some(plan), ..self.setup() })
    }

    /// The same process, which also sends email.
    pub fn with_mail(&self, mailer: service::platform::mail_queue::Mailer) -> App {
        App::new(Setup { mail: Some(mailer), ..self.setup() })
    }

    /// The same process, which sends email and writes backups.
    pub fn with_mail_and_backups(
        &self,
        mailer: service::platform::mail_queue::Mailer,
        plan: service::backup::Plan,
    ) -> App {
        App::new(Setup { mail: Some(mailer), backups: Some(plan), ..self.setup() })
    }

    /// Processes of one world share the installation key and the entropy, so that no two generate the same id.
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
            rates_url: None,
            bank_providers: Vec::new(),
            disk: None,
            imports: Default::default(),
            backups: None,
            mail: None,
            password_cost: service::access::passwords::HashCost::LOWEST,
            password_sign_in: true,
            single_sign_on: Default::default(),
            tracer: Default::default(),
        }
    }

    /// The same process, where trades are filled at the last price while the market is closed.
    pub fn filling_while_closed(&self) -> App {
        let trading = trading(&self.market, WhenClosed::LastPrice);
        App::new(Setup { trading, ..self.setup() })
    }

    /// The same process with other limits on imported files.
    pub fn with_imports(&self, imports: service::ingest::imports::files::Limits) -> App {
        App::new(Setup { imports, ..self.setup() })
    }

    /// The same process with settings for bank providers.
    pub fn with_bank_providers(
        &self,
        bank_providers: Vec<service::ingest::connections::ProviderSettings>,
    ) -> App {
        App::new(Setup { bank_providers, ..self.setup() })
    }

    /// A process on the same database with another installation key.
    pub fn with_key(
        &self,
        installation_key: installation::Key,
        bank_providers: Vec<service::ingest::connections::ProviderSettings>,
    ) -> App {
        App::new(Setup { installation_key, bank_providers, ..self.setup() })
    }

    /// The same process with providers of single sign-on.
    pub fn with_single_sign_on(&self, providers: Vec<oidc::ProviderSettings>) -> App {
        let single_sign_on = oidc::SingleSignOn::new(&http_client(), providers);
        App::new(Setup { single_sign_on, ..self.setup() })
    }

    /// The same process with providers of single sign-on and without passwords.
    pub fn without_passwords(&self, providers: Vec<oidc::ProviderSettings>) -> App {
        let single_sign_on = oidc::SingleSignOn::new(&http_client(), providers);
        App::new(Setup { single_sign_on, password_sign_in: false, ..self.setup() })
    }

    /// The same process, which may fetch exchange rates from this address.
    pub fn with_rates_url(&self, url: &str) -> App {
        App::new(Setup { rates_url: Some(url.to_owned()), ..self.setup() })
    }

    /// The same process without an HTTP client for banks.
    pub fn without_bank_client(&self) -> App {
        App::new(Setup { bank_client: None, ..self.setup() })
    }

    pub async fn person(&self, email: &str) -> Person {
        let user = users::create(&self.app, new_user(email)).await.unwrap();
        Person { caller: user.owner(), app: self.app.clone(), user }
    }

    /// A new person in a time zone.
    pub async fn person_in(&self, email: &str, timezone: &str) -> Person {
        let timezone = TimeZone::parse(timezone).unwrap();
        let user = users::create(&self.app, NewUser { timezone, ..new_user(email) });
        let user = user.await.unwrap();
        Person { caller: user.owner(), app: self.app.clone(), user }
    }

    /// A new person with a random email.
    pub async fn someone(&self) -> Person {
        let name = hex(&self.app.entropy.bytes::<8>());
        self.person(&format!("{name}@example.com")).await
    }

    pub fn advance_seconds(&self, seconds: u64) {
        self.clock.advance(std::time::Duration::from_secs(seconds));
    }

    /// The content of the database: the sorted rows of each table as text.
    pub async fn stored(&self) -> BTreeMap<String, Vec<String>> {
        self.rows_of(self.app.db.tables().await.unwrap()).await
    }

    /// The content of some tables of the database.
    pub async fn stored_in(&self, names: &[&str]) -> BTreeMap<String, Vec<String>> {
        let mut tables = self.app.db.tables().await.unwrap();
        tables.retain(|it| names.contains(&it.name.as_str()));
        self.rows_of(tables).await
    }

    async fn rows_of(&self, tables: Vec<db::Table>) -> BTreeMap<String, Vec<String>> {
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

/// A client that may only reach this machine, where the simulated servers are.
fn http_client() -> net::HttpClient {
    let here = "127.0.0.0/8".parse().unwrap();
    let guard = net::Guard::Public { allow: vec![here, "::1".parse().unwrap()] };
    net::HttpClient::new(net::Policy { guard, extra_ca: Some(receiver::authority()) }).unwrap()
}

fn trading(market: &Market, when_closed: WhenClosed) -> Trading {
    Trading { market: Arc::new(market.clone()), when_closed, slippage_basis_points: 0 }
}

/// A user, with a caller that may do everything.
#[derive(Clone)]
pub struct Person {
    pub user: User,
    pub caller: Caller,
    app: App,
}

/// An API key with its secret.
pub struct IssuedKey {
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

    /// Imports a statement as a source would.
    pub async fn import(&self, statement: Statement) -> Summary {
        self.try_import(statement).await.unwrap()
    }

    pub async fn try_import(&self, statement: Statement) -> service::Result<Summary> {
        imports::commit(&self.app, &self.caller, statement).await
    }

    /// The account of that name, also if it is closed or hidden.
    pub async fn account(&self, name: &str) -> AccountId {
        let filter = accounts::Filter { status: Status::All, include_hidden: true };
        let accounts = accounts::list(&self.app, &self.caller, filter).await.unwrap();
        let found = accounts.iter().find(|it| it.name == name);
        found.unwrap_or_else(|| panic!("{name} is not among the accounts")).id
    }

    pub async fn key(&self, new: NewKey) -> IssuedKey {
        let (key, secret) = keys::create(&self.app, &self.caller, new).await.unwrap();
        let caller = keys::authenticate(&self.app, &secret, None).await.unwrap();
        IssuedKey { id: key.id, secret, caller }
    }
}

/// A key with all scopes and accounts that does not expire.
pub fn new_key() -> NewKey {
    NewKey { name: "A script".to_owned(), scopes: Scopes::all(), accounts: None, expires_at: None }
}

/// A user with US dollars and no password.
pub fn new_user(email: &str) -> NewUser {
    NewUser {
        email: email.to_owned(),
        preferred_name: None,
        base_currency: Currency::USD,
        timezone: TimeZone::utc(),
        password: None,
    }
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}
