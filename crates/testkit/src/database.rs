//! Databases for tests: a file of their own on SQLite, a clone of a migrated template on PostgreSQL.

use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use db::{Db, Migration, ReadLimits, Target};
use service::schema::MIGRATIONS;
use tempfile::TempDir;
use tokio::sync::{OnceCell, Semaphore, SemaphorePermit};

/// The server that tests are to use; without it they run on SQLite.
const SERVER: &str = "EVENKEEL_TEST_POSTGRES";
/// A server takes only so many connections, and each test holds several.
const DATABASES_MAX: usize = 12;
static TURNS: Semaphore = Semaphore::const_new(DATABASES_MAX);
static TEMPLATE: OnceCell<String> = OnceCell::const_new();
static FILE_TEMPLATE: OnceCell<Vec<u8>> = OnceCell::const_new();
const FILE_NAME: &str = "evenkeel.db";
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
            let folder = tempfile::tempdir().unwrap();
            let template = FILE_TEMPLATE.get_or_init(make_file_template).await;
            std::fs::write(folder.path().join(FILE_NAME), template).unwrap();
            return Database(Kind::File(folder));
        };
        let template = TEMPLATE.get_or_init(|| make_template(&server)).await;
        Database::on_server(server, Some(template)).await
    }

    async fn on_server(server: String, template: Option<&str>) -> Database {
        let turn = TURNS.acquire().await.unwrap();
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("evenkeel_test_{}_{number}", process::id());
        let admin = Admin::connect(&server).await;
        let template = match template {
            Some(template) => format!(" template {template}{}", admin.copy_strategy().await),
            None => String::new(),
        };
        // Left over by a process that had the same number and was killed.
        admin.run(&format!("drop database if exists {name} with (force)")).await;
        admin.run(&format!("create database {name}{template}")).await;
        let url = on_same_server(&server, &name);
        Database(Kind::Server { server, name, url, _turn: turn })
    }

    pub fn target(&self) -> Target {
        match &self.0 {
            Kind::File(folder) => Target::sqlite(&folder.path().join(FILE_NAME)),
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

    /// Another handle to it, as another process would have. Reads may take much longer than in the product: a machine
    /// that is busy with other work must not fail a test. Tests of slow reads open the database themselves.
    pub async fn open(&self) -> Db {
        let target = self.target();
        let limits = ReadLimits { total: Duration::from_secs(120), ..target.read_limits() };
        Db::open_with(&target, limits).await.unwrap()
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
            runtime.map(|it| it.block_on(async { Admin::connect(&server).await.run(&sql).await }))
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

/// A connection that creates and drops databases. The product's own connections stop a statement after some seconds,
/// and a server that is busy takes longer than that to copy a template.
struct Admin(tokio_postgres::Client);

impl Admin {
    async fn connect(url: &str) -> Admin {
        let connecting = tokio_postgres::connect(url, tokio_postgres::NoTls).await;
        let (client, connection) =
            connecting.unwrap_or_else(|error| panic!("{SERVER} cannot be reached: {error:?}"));
        tokio::spawn(connection);
        Admin(client)
    }

    /// How the server is to copy a template. Copying its files takes half as long as writing its pages to the log,
    /// which is what servers since PostgreSQL 15 do unless they are told otherwise; older ones know no other way.
    async fn copy_strategy(&self) -> &'static str {
        let sql = "select current_setting('server_version_num')::int";
        let version: i32 = self.0.query_one(sql, &[]).await.unwrap().get(0);
        if version >= 150_000 { " strategy file_copy" } else { "" }
    }

    async fn run(&self, sql: &str) {
        self.0.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }
}

fn on_same_server(url: &str, database: &str) -> String {
    let (address, options) = url.split_once('?').map_or((url, ""), |(url, options)| (url, options));
    let (server, _) = address.rsplit_once('/').unwrap();
    let mark = if options.is_empty() { "" } else { "?" };
    format!("{server}/{database}{mark}{options}")
}

/// The bytes of a SQLite database with the schema, made once in a process and written to a file for every test.
async fn make_file_template() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE_NAME);
    let db = Db::open(&Target::sqlite(&path)).await.unwrap();
    db.migrate(MIGRATIONS).await.unwrap();
    // Changes lie in a file of their own until they are moved into the database's.
    let connection = rusqlite::Connection::open(&path).unwrap();
    let is_busy: bool =
        connection.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get(0)).unwrap();
    assert!(!is_busy, "the template is still in use");
    std::fs::read(&path).unwrap()
}

/// A database with the schema, made once and cloned for every test. Other processes may want the same one: the lock is
/// theirs once this connection ends.
async fn make_template(server: &str) -> String {
    let name = format!("evenkeel_template_{:x}", digest(MIGRATIONS));
    let admin = Admin::connect(server).await;
    admin.run("select pg_advisory_lock(9172035)").await;
    let find = "select 1 from pg_database where datname = $1";
    if admin.0.query_opt(find, &[&name]).await.unwrap().is_some() {
        return name;
    }
    // Under another name until it is complete, so that the name means a whole one.
    let unfinished = format!("{name}_unfinished");
    admin.run(&format!("drop database if exists {unfinished} with (force)")).await;
    admin.run(&format!("create database {unfinished}")).await;
    let target = Target::postgres(&on_same_server(server, &unfinished)).unwrap();
    let db = Db::open(&target).await.unwrap();
    db.migrate(MIGRATIONS).await.unwrap();
    // The server waits a while for our connection to be gone before it renames.
    drop(db);
    admin.run(&format!("alter database {unfinished} rename to {name}")).await;
    name
}

fn digest(migrations: &[Migration]) -> u64 {
    let bytes = migrations.iter().flat_map(|it| it.sql.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
