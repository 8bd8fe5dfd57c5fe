//! Databases for tests: each has its own file on SQLite, or its own clone of a migrated template on PostgreSQL.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use db::{Db, Migration, ReadLimits, Target};
use service::placement::PLACEMENTS;
use service::schema::{MIGRATIONS, VIEWS};
use tempfile::TempDir;
use tokio::sync::{OnceCell, Semaphore, SemaphorePermit, mpsc, oneshot};

/// The URL of the PostgreSQL server that tests use. Without it they run on SQLite.
const SERVER: &str = "EVENKEEL_TEST_POSTGRES";
/// The URLs of workers, separated by spaces, if that server is the coordinator of a cluster with Citus. The template is
/// then sharded. Each node clones its part, and finds the others by the name of the database, which is the same.
const WORKERS: &str = "EVENKEEL_TEST_CITUS_WORKERS";
/// Few, so that a database is cloned quickly.
const TEST_SHARDS: u32 = 4;
/// The limit on databases in use at once: a server accepts a limited number of connections, and each test holds
/// several.
const DATABASES_MAX: usize = 12;
static TURNS: Semaphore = Semaphore::const_new(DATABASES_MAX);
static TEMPLATE: OnceCell<Template> = OnceCell::const_new();
/// Several, because on a busy machine a database takes long to create or to drop.
static CREATORS: [OnceLock<Worker>; 4] = [const { OnceLock::new() }; 4];
static DROPPERS: [OnceLock<Worker>; 2] = [const { OnceLock::new() }; 2];
static FILE_TEMPLATE: OnceCell<Vec<u8>> = OnceCell::const_new();
/// A server on a busy machine may stop the first statements of a connection at their time limit.
const OPEN_ATTEMPTS: usize = 5;
const FILE_NAME: &str = "evenkeel.db";
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// The database of one test, deleted on drop.
pub struct Database(Kind);

enum Kind {
    File(TempDir),
    Server { server: String, name: String, url: String, _turn: SemaphorePermit<'static> },
}

impl Database {
    /// An empty database, on the engine that the environment selects.
    pub async fn empty() -> Database {
        match server() {
            Some(server) => Database::on_server(server, None).await,
            None => Database(Kind::File(tempfile::tempdir().unwrap())),
        }
    }

    /// A database with the product's schema, on the engine that the environment selects.
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

    /// A copy of this database, which nobody may be connected to. None if it is a file.
    pub async fn copy(&self) -> Option<Database> {
        let Kind::Server { server, name, .. } = &self.0 else { return None };
        let copy_strategy = TEMPLATE.get_or_init(|| make_template(server)).await.copy_strategy;
        let template = Template { name: name.clone(), copy_strategy };
        Some(Database::on_server(server.clone(), Some(&template)).await)
    }

    async fn on_server(server: String, template: Option<&Template>) -> Database {
        let turn = TURNS.acquire().await.unwrap();
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("evenkeel_test_{}_{number}", run_id());
        let template = match template {
            Some(Template { name, copy_strategy }) => format!(" template {name}{copy_strategy}"),
            None => String::new(),
        };
        let create = format!("create database {name}{template}");
        for (index, node) in citus_workers().iter().enumerate() {
            node_worker(index, node).run(create.clone()).await;
        }
        worker(&CREATORS, number, &server).run(create).await;
        let url = on_same_server(&server, &name);
        Database(Kind::Server { server, name, url, _turn: turn })
    }

    pub fn target(&self) -> Target {
        match &self.0 {
            Kind::File(folder) => Target::sqlite(&folder.path().join(FILE_NAME)),
            Kind::Server { url, .. } => Target::postgres(url).unwrap(),
        }
    }

    /// Its URL, if it is on a server.
    pub fn url(&self) -> Option<&str> {
        match &self.0 {
            Kind::File(_) => None,
            Kind::Server { url, .. } => Some(url),
        }
    }

    /// Opens another handle, as another process would. Reads may take much longer than in the product, so that a busy
    /// machine does not fail a test. Tests of slow reads set their own limits with `open_with`.
    pub async fn open(&self) -> Db {
        let limits = self.target().read_limits();
        self.open_with(ReadLimits { total: Duration::from_secs(120), ..limits }).await
    }

    /// Opens the database with these limits.
    pub async fn open_with(&self, limits: ReadLimits) -> Db {
        let target = self.target();
        for _ in 1..OPEN_ATTEMPTS {
            match Db::open_with(&target, limits).await {
                Err(db::Error::Unavailable(_)) => {}
                opened => return opened.unwrap(),
            }
        }
        Db::open_with(&target, limits).await.unwrap()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let Kind::Server { server, name, .. } = &self.0 else { return };
        // Nothing waits for it: deleting takes time, and a database left behind does no harm.
        for (index, node) in citus_workers().iter().enumerate() {
            let drop_it = format!("drop database {name} with (force)");
            drop(node_worker(index, node).send(drop_it));
        }
        let dropper = worker(&DROPPERS, COUNTER.load(Ordering::Relaxed), server);
        drop(dropper.send(format!("drop database {name} with (force)")));
    }
}

/// A new empty database on the PostgreSQL server that tests use, if there is one.
pub async fn postgres_database() -> Option<Database> {
    Some(Database::on_server(server()?, None).await)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the URL of the test server comes from the environment"
)]
fn server() -> Option<String> {
    std::env::var(SERVER).ok()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the URLs of the test servers come from the environment"
)]
fn citus_workers() -> Vec<String> {
    let urls = std::env::var(WORKERS).unwrap_or_default();
    urls.split_whitespace().map(str::to_owned).collect()
}

/// Whether the databases of these tests are on PostgreSQL, and not files of SQLite.
pub fn is_on_postgres() -> bool {
    server().is_some()
}

/// Whether tests run on a sharded database.
pub fn is_sharded() -> bool {
    is_on_postgres() && !citus_workers().is_empty()
}

/// The thread that creates and drops databases on a node of the cluster.
fn node_worker(index: usize, node: &str) -> &'static Worker {
    static WORKERS: [OnceLock<Worker>; 4] = [const { OnceLock::new() }; 4];
    WORKERS[index].get_or_init(|| Worker::start(node))
}

/// A number that no other test program on this server has.
fn run_id() -> u64 {
    static RUN: OnceLock<u64> = OnceLock::new();
    *RUN.get_or_init(|| RandomState::new().hash_one(process::id()))
}

/// The workers take turns.
fn worker<'w>(workers: &'w [OnceLock<Worker>], turn: u64, server: &str) -> &'w Worker {
    let index = usize::try_from(turn).unwrap() % workers.len();
    workers[index].get_or_init(|| Worker::start(server))
}

/// A thread that runs statements of an `Admin` one after another. Connecting for each of them took a tenth of the
/// server's time, and a connection cannot outlive the test whose runtime it belongs to.
struct Worker(mpsc::UnboundedSender<(String, oneshot::Sender<Outcome>)>);

/// The error of a statement in words.
type Outcome = Result<(), String>;

impl Worker {
    fn start(server: &str) -> Worker {
        let (sender, mut statements) =
            mpsc::unbounded_channel::<(String, oneshot::Sender<Outcome>)>();
        let server = server.to_owned();
        let work = async move {
            let admin = Admin::connect(&server).await;
            while let Some((sql, done)) = statements.recv().await {
                // Nobody waits for the end of a drop, and a database left behind does no harm.
                let _ = done.send(admin.try_run(&sql).await);
            }
        };
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(work);
        });
        Worker(sender)
    }

    fn send(&self, sql: String) -> oneshot::Receiver<Outcome> {
        let (done, finished) = oneshot::channel();
        // A worker that could not connect has ended, and its panic says why.
        let _ = self.0.send((sql, done));
        finished
    }

    async fn run(&self, sql: String) {
        let outcome = self.send(sql).await.expect("the thread that creates databases has ended");
        outcome.unwrap_or_else(|error| panic!("{error}"));
    }
}

/// A connection that creates and drops databases. The product's connections stop a statement after some seconds, and a
/// busy server takes longer than that to copy a template.
struct Admin(tokio_postgres::Client);

impl Admin {
    async fn connect(url: &str) -> Admin {
        let connecting = tokio_postgres::connect(url, tokio_postgres::NoTls).await;
        let (client, connection) =
            connecting.unwrap_or_else(|error| panic!("{SERVER} cannot be reached: {error:?}"));
        tokio::spawn(connection);
        Admin(client)
    }

    /// The option for copying a template. Copying its files takes half as long as writing its pages to the log, which
    /// is the default since PostgreSQL 15. Older servers always copy files and do not know the option.
    async fn copy_strategy(&self) -> &'static str {
        let sql = "select current_setting('server_version_num')::int";
        let version: i32 = self.0.query_one(sql, &[]).await.unwrap().get(0);
        if version >= 150_000 { " strategy file_copy" } else { "" }
    }

    async fn run(&self, sql: &str) {
        self.try_run(sql).await.unwrap_or_else(|error| panic!("{error}"));
    }

    async fn try_run(&self, sql: &str) -> Outcome {
        self.0.batch_execute(sql).await.map_err(|error| format!("{sql}: {error:?}"))
    }
}

fn on_same_server(url: &str, database: &str) -> String {
    let (address, options) = url.split_once('?').map_or((url, ""), |(url, options)| (url, options));
    let (server, _) = address.rsplit_once('/').unwrap();
    let mark = if options.is_empty() { "" } else { "?" };
    format!("{server}/{database}{mark}{options}")
}

/// The bytes of a SQLite database with the schema, created once per process and written to a file for every test.
async fn make_file_template() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE_NAME);
    let db = Db::open(&Target::sqlite(&path)).await.unwrap();
    db.migrate(MIGRATIONS).await.unwrap();
    db.create_views(VIEWS).await.unwrap();
    // Moves the changes from the write-ahead log into the database file.
    let connection = rusqlite::Connection::open(&path).unwrap();
    let is_busy: bool =
        connection.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get(0)).unwrap();
    assert!(!is_busy, "the template is still in use");
    std::fs::read(&path).unwrap()
}

/// A database with the schema, created once and cloned for every test.
struct Template {
    name: String,
    copy_strategy: &'static str,
}

/// Finds or creates the template. The lock keeps other processes from creating it too; it is released when this
/// connection ends.
async fn make_template(server: &str) -> Template {
    let name = format!("evenkeel_template_{:x}", digest(MIGRATIONS));
    let admin = Admin::connect(server).await;
    let copy_strategy = admin.copy_strategy().await;
    admin.run("select pg_advisory_lock(9172035)").await;
    let find = "select 1 from pg_database where datname = $1";
    if admin.0.query_opt(find, &[&name]).await.unwrap().is_some() {
        return Template { name, copy_strategy };
    }
    // It has another name until it is complete, so that a database with the final name is always complete.
    let unfinished = format!("{name}_unfinished");
    let mut nodes = citus_workers();
    nodes.push(server.to_owned());
    for node in &nodes {
        let admin = Admin::connect(node).await;
        admin.run(&format!("drop database if exists {unfinished} with (force)")).await;
        admin.run(&format!("create database {unfinished}")).await;
    }
    if nodes.len() > 1 {
        join_nodes(&nodes, &unfinished).await;
    }
    let target = Target::postgres(&on_same_server(server, &unfinished)).unwrap();
    let db = Db::open(&target).await.unwrap();
    db.migrate(MIGRATIONS).await.unwrap();
    db.create_views(VIEWS).await.unwrap();
    if nodes.len() > 1 {
        service::schema::shard(&db, TEST_SHARDS, |_| ()).await.unwrap();
    }
    // The server waits for a while until this connection has closed before it renames.
    drop(db);
    for node in &nodes {
        let admin = Admin::connect(node).await;
        if nodes.len() > 1 {
            // Citus has a process of its own in each database, which comes back as long as somebody can connect.
            admin.run(&format!("alter database {unfinished} with allow_connections false")).await;
            let end = "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname";
            admin.run(&format!("{end} = '{unfinished}'")).await;
        }
        admin.run(&format!("alter database {unfinished} rename to {name}")).await;
    }
    Template { name, copy_strategy }
}

/// Makes the databases of that name one cluster with Citus; the last node is the coordinator.
async fn join_nodes(nodes: &[String], database: &str) {
    for node in nodes {
        let admin = Admin::connect(&on_same_server(node, database)).await;
        admin.run("create extension citus").await;
    }
    let Some((coordinator, workers)) = nodes.split_last() else { return };
    let admin = Admin::connect(&on_same_server(coordinator, database)).await;
    let set = |function: &str, url: &str| {
        let address = url.split(['@', '/']).find(|it| it.contains(':') && !it.ends_with(':'));
        let (host, port) = address.unwrap().split_once(':').unwrap();
        format!("select {function}('{host}', {port})")
    };
    admin.run(&set("citus_set_coordinator_host", coordinator)).await;
    for worker in workers {
        admin.run(&set("citus_add_node", worker)).await;
    }
}

/// Asks a server how it plans statements.
pub struct Explainer(Admin);

impl Explainer {
    pub async fn connect(database: &Database) -> Explainer {
        Explainer(Admin::connect(database.url().unwrap()).await)
    }

    /// The plan of a statement, with a value of its type for each parameter. An error says why there is none.
    pub async fn explain(&self, sql: &str) -> Result<String, String> {
        let Explainer(Admin(client)) = self;
        let said = |error: tokio_postgres::Error| {
            error.as_db_error().map_or_else(|| error.to_string(), |it| it.message().to_owned())
        };
        let prepared = client.prepare(sql).await.map_err(said)?;
        let value = |kind: &tokio_postgres::types::Type| match kind.name() {
            "bytea" => r"'\x0102030405060708090a0b0c0d0e0f10'",
            "text" | "varchar" => "'a'",
            _ => "1",
        };
        let values: Vec<&str> = prepared.params().iter().map(value).collect();
        let values =
            if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) };
        self.0.run(&format!("deallocate all; prepare explained as {sql}")).await;
        let explained = format!("explain (costs off) execute explained{values}");
        let lines = client.simple_query(&explained).await.map_err(said)?;
        let line = |it: &tokio_postgres::SimpleQueryMessage| match it {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(|it| format!("{it}\n")),
            _ => None,
        };
        Ok(lines.iter().filter_map(line).collect())
    }
}

fn digest(migrations: &[Migration]) -> u64 {
    let placements = if is_sharded() { format!("{PLACEMENTS:?}") } else { String::new() };
    let bytes = migrations.iter().flat_map(|it| it.sql.bytes()).chain(VIEWS.bytes());
    let bytes = bytes.chain(placements.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
