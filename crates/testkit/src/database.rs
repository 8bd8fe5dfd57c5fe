//! Databases for tests: a file of their own on SQLite, a clone of a migrated template on PostgreSQL.

use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use db::{Db, Error, Migration, Target};
use service::schema::MIGRATIONS;
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::sync::{OnceCell, Semaphore, SemaphorePermit};

/// The server that tests are to use; without it they run on SQLite.
const SERVER: &str = "EVENKEEL_TEST_POSTGRES";
/// A server takes only so many connections, and each test holds several.
const DATABASES_MAX: usize = 12;
static TURNS: Semaphore = Semaphore::const_new(DATABASES_MAX);
static TEMPLATE: OnceCell<String> = OnceCell::const_new();
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// A database of a test's own, gone when it is dropped.
pub struct Database(Kind);

enum Kind {
    File(TempDir),
    Server { server: String, name: String, url: String, _turn: SemaphorePermit<'static> },
}

impl Database {
    /// Empty, on the engine at hand.
    pub async fn empty() -> Database {
        match server() {
            Some(server) => Database::on_server(server, None).await,
            None => Database(Kind::File(tempfile::tempdir().unwrap())),
        }
    }

    /// With the product's schema, on the engine at hand.
    pub async fn migrated() -> Database {
        let Some(server) = server() else {
            let database = Database::empty().await;
            database.open().await.migrate(MIGRATIONS).await.unwrap();
            return database;
        };
        let template = TEMPLATE.get_or_init(|| make_template(&server)).await;
        Database::on_server(server, Some(template)).await
    }

    async fn on_server(server: String, template: Option<&str>) -> Database {
        let turn = TURNS.acquire().await.unwrap();
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("evenkeel_test_{}_{number}", process::id());
        let template = template.map_or_else(String::new, |it| format!(" template {it}"));
        let admin = connect(&server).await;
        // Left over by a process that had the same number and was killed.
        run(&admin, &format!("drop database if exists {name} with (force)")).await.unwrap();
        run(&admin, &format!("create database {name}{template}")).await.unwrap();
        let url = on_same_server(&server, &name);
        Database(Kind::Server { server, name, url, _turn: turn })
    }

    pub fn target(&self) -> Target {
        match &self.0 {
            Kind::File(folder) => Target::sqlite(&folder.path().join("evenkeel.db")),
            Kind::Server { url, .. } => Target::postgres(url).unwrap(),
        }
    }

    /// Its address, when it is on a server.
    pub fn url(&self) -> Option<&str> {
        match &self.0 {
            Kind::File(_) => None,
            Kind::Server { url, .. } => Some(url),
        }
    }

    /// Another handle to it, as another process would have.
    pub async fn open(&self) -> Db {
        Db::open(&self.target()).await.unwrap()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let Kind::Server { server, name, .. } = &self.0 else { return };
        let (server, sql) = (server.clone(), format!("drop database {name} with (force)"));
        // The test's own runtime may be on its way out, so this takes one of its own. Nobody waits for it: deleting
        // takes the server its time, and a database left behind harms nobody.
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let dropping = async {
                let target = Target::postgres(&server).unwrap();
                run(&Db::open(&target).await?, &sql).await
            };
            runtime.map(|it| it.block_on(dropping))
        });
    }
}

/// A fresh empty database on the PostgreSQL server that tests are to use, if there is one.
pub async fn postgres_database() -> Option<Database> {
    Some(Database::on_server(server()?, None).await)
}

#[expect(clippy::disallowed_methods, reason = "where the tests' server is comes from outside")]
fn server() -> Option<String> {
    std::env::var(SERVER).ok()
}

async fn connect(url: &str) -> Db {
    let target = Target::postgres(url).unwrap();
    Db::open(&target).await.unwrap_or_else(|error| panic!("{SERVER} cannot be reached: {error:?}"))
}

/// Runs a statement that PostgreSQL refuses inside a transaction.
async fn run(db: &Db, sql: &str) -> Result<(), Error> {
    db.each(sql, &[], |_| Ok(())).await
}

fn on_same_server(url: &str, database: &str) -> String {
    let (address, options) = url.split_once('?').map_or((url, ""), |(url, options)| (url, options));
    let (server, _) = address.rsplit_once('/').unwrap();
    let mark = if options.is_empty() { "" } else { "?" };
    format!("{server}/{database}{mark}{options}")
}

/// A database with the schema, made once and cloned for every test. Other processes may want the same one.
async fn make_template(server: &str) -> String {
    let name = format!("evenkeel_template_{:x}", digest(MIGRATIONS));
    let admin = connect(server).await;
    let (server, template, handle) = (server.to_owned(), name.clone(), Handle::current());
    let making = admin.write(move |tx| {
        tx.each("select 1 from pg_advisory_xact_lock(9172035)", &[], |_| Ok(()))?;
        handle.block_on(build_template(&server, &template))
    });
    making.await.unwrap();
    name
}

/// Under another name until it is complete, so that the name means a whole one.
async fn build_template(server: &str, name: &str) -> Result<(), Error> {
    let admin = connect(server).await;
    let find = "select cast(datname as text) from pg_database where datname = $1";
    let found = admin.first(find, db::params![name], |row| row.get::<String>(0)).await?;
    if found.is_some() {
        return Ok(());
    }
    let unfinished = format!("{name}_unfinished");
    run(&admin, &format!("drop database if exists {unfinished} with (force)")).await?;
    run(&admin, &format!("create database {unfinished}")).await?;
    let db = connect(&on_same_server(server, &unfinished)).await;
    db.migrate(MIGRATIONS).await.unwrap();
    // The server waits a while for our connection to be gone before it renames.
    drop(db);
    run(&admin, &format!("alter database {unfinished} rename to {name}")).await
}

fn digest(migrations: &[Migration]) -> u64 {
    let bytes = migrations.iter().flat_map(|it| it.sql.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
