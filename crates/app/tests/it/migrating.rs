//! `evenkeel migrate`, and programs that meet a schema which a newer Evenkeel has migrated.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use db::{Migration, schema_version};
use service::schema::{MIGRATIONS, known_version};

use crate::program::{Installation, Running, connect, launch, outcome, read_answer};

#[tokio::test]
async fn migrate_shows_the_pending_steps_and_applies_them() {
    let it = Installation::empty().await;
    if !it.is_on_postgres() {
        let error = it.run(&["migrate", "--check"]).failed();
        assert!(error.contains("does not exist; `evenkeel migrate` creates it"), "{error}");
        assert!(!it.data_dir().exists(), "a check created the database");
    } else {
        let checked = it.run(&["migrate", "--check"]);
        assert_eq!(checked.code, Some(2), "{}", checked.errors);
        assert_eq!(schema_version(&it.db().await).await.unwrap(), None);
    }
    let output = it.run(&["migrate"]).succeeded();
    assert!(output.contains("applied     1 foundation\n"), "{output}");
    let db = it.db().await;
    // One step is missing again.
    let last = MIGRATIONS.last().unwrap().version;
    let forget = move |tx: &mut db::Tx<'_>| {
        tx.execute("delete from schema_migrations where version = $1", db::params![last])
    };
    db.write(forget).await.unwrap();
    let checked = it.run(&["migrate", "--check"]);
    assert_eq!(checked.code, Some(2), "{}", checked.errors);
    let name = MIGRATIONS.last().unwrap().name;
    assert!(checked.output.contains(&format!("pending  {last:4} {name}")), "{}", checked.output);
    let checked = it.run(&["migrate", "--dry-run", "--json"]);
    let pending: serde_json::Value = serde_json::from_str(&checked.output).unwrap();
    assert_eq!((checked.code, &pending["pending"][0]["version"]), (Some(2), &last.into()));
    assert_eq!(schema_version(&db).await.unwrap(), Some(last - 1));
}

#[tokio::test]
async fn the_sqlite_file_is_copied_before_it_is_migrated() {
    let it = Installation::empty().await;
    if it.is_on_postgres() {
        return;
    }
    std::fs::create_dir(it.data_dir()).unwrap();
    let last = known_version();
    it.db().await.migrate(&MIGRATIONS[..MIGRATIONS.len() - 1]).await.unwrap();
    for old in ["0001", "0002", "0003"] {
        std::fs::write(it.data_dir().join(format!("evenkeel.db.before-{old}")), "old").unwrap();
    }
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let copies = || {
        let entries = std::fs::read_dir(it.data_dir()).unwrap();
        let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names
            .filter(|it| it.contains("before") && it.ends_with(|it: char| it.is_ascii_digit()))
            .collect();
        names.sort();
        names
    };
    let copy = format!("evenkeel.db.before-{last:04}");
    assert_eq!(copies(), ["evenkeel.db.before-0003", &copy], "two are kept");
    let path = it.data_dir().join(&copy);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let db = db::Db::open(&db::Target::sqlite(&path)).await.unwrap();
    assert_eq!(schema_version(&db).await.unwrap(), Some(last - 1));
    // Nothing is pending anymore, so nothing is copied.
    std::fs::remove_file(&path).unwrap();
    it.run(&["user", "list"]).succeeded();
    assert_eq!(copies(), ["evenkeel.db.before-0003"]);
}

#[tokio::test]
async fn migrate_needs_no_installation_key_and_leaves_none() {
    let it = Installation::empty().await;
    it.run(&["migrate"]).succeeded();
    assert!(!it.data_dir().join("installation.key").exists());
    let output = it.run(&["migrate", "--check"]).succeeded();
    assert!(output.contains("as this program expects"), "{output}");
}

#[tokio::test]
async fn a_server_that_may_not_migrate_says_what_to_run() {
    let it = Installation::empty().await;
    let mut serve = it.command(&["serve"]);
    let error = outcome(serve.env("EVENKEEL_DATABASE__MIGRATE", "false")).failed();
    assert!(error.contains("run `evenkeel migrate` first"), "{error}");
    it.run(&["migrate"]).succeeded();
    let mut serve = it.command(&["serve"]);
    serve.env("EVENKEEL_DATABASE__MIGRATE", "false");
    let mut server = launch(serve, &it.path(""));
    server.wait_until_ready();
    server.stop();
}

/// The migrations of a later Evenkeel: this program's, and one or two more.
fn later(more: &[&str]) -> &'static [Migration] {
    let mut all = MIGRATIONS.to_vec();
    for (sql, version) in more.iter().zip(known_version() + 1..) {
        all.push(Migration { version, name: "later", sql: sql.to_string().leak() });
    }
    all.leak()
}

/// A step that the present program does not need to know.
fn expanding() -> String {
    format!(
        "{{works with {}}}
        alter table users add column later_note text;
        alter table actions add column later_note text;
        create table later_things (id {{int}} primary key) {{table}};
        {{concurrently}} create index actions_by_later_note on actions (user_id, later_note); {{end concurrently}}",
        known_version()
    )
}

/// No release is older than the change that made this possible, so the older program is today's, and the newer
/// schema has one more step than it knows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_goes_on_working_while_and_after_a_newer_one_migrates() {
    let it = Installation::empty().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let secret = it.run(&["key", "create", "--name", "Laptop"]).succeeded();
    let key = secret.lines().next().unwrap().to_owned();
    let old = serve(&it);
    let load = Load::start(&old, &key);
    let db = it.db().await;
    let expanding = expanding();
    assert_eq!(db.migrate(later(&[&expanding])).await.unwrap(), 1);
    let during = load.stop();
    assert!(during > 0, "no request was answered during the migration");
    old.stop();

    let again = serve(&it);
    let load = Load::start(&again, &key);
    it.run(&["key", "create", "--name", "Phone"]).succeeded();
    assert_eq!(again.get("/readyz", None).0, 200);
    assert!(load.stop() > 0);
    let check = it.run(&["migrate", "--check"]).succeeded();
    assert!(check.contains("from a newer Evenkeel"), "{check}");
    // The views are the newer program's to create.
    assert!(!has_views(&db).await, "the older program created its own views");

    // The next step removes what this program needs.
    let contracting =
        "drop index actions_by_later_note; alter table actions drop column later_note";
    db.migrate(later(&[&expanding, contracting])).await.unwrap();
    assert_eq!(again.get("/readyz", None).0, 503);
    again.stop();
    let error = it.run(&["serve"]).failed();
    let needed =
        format!("and version {} is needed to use it); update the program", known_version() + 2);
    assert!(error.contains(&needed), "{error}");
}

fn serve(it: &Installation) -> Running {
    let mut command = it.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("EVENKEEL_RATE_LIMIT__REQUESTS", "1000000");
    let mut server = launch(command, &it.path(""));
    server.wait_until_ready();
    server
}

async fn has_views(db: &db::Db) -> bool {
    let read = |row: &db::Row<'_>| row.get::<String>(0);
    db.first("select name from evenkeel_views", &[], read).await.is_ok()
}

/// A thread that reads and proposes until it is stopped. Every answer must be a success.
struct Load {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<usize>,
}

/// A key may propose only so often in a day.
const PROPOSALS_MAX: usize = 40;
const PROPOSAL: &str = r#"{"action_type": "custom", "payload": {"title": "Cancel the gym"}}"#;

impl Load {
    fn start(server: &Running, key: &str) -> Load {
        let is_over = Arc::new(AtomicBool::new(false));
        let (url, key) = (server.fact("web_url").to_owned(), key.to_owned());
        let stopped = is_over.clone();
        let thread = std::thread::spawn(move || {
            let mut rounds = 0;
            while !stopped.load(Ordering::Relaxed) || rounds == 0 {
                for path in ["/v1/me", "/v1/actions", "/v1/transactions", "/v1/accounts"] {
                    let (status, body) = crate::program::get(&url, path, Some(&key));
                    assert_eq!(status, 200, "{path}: {body}");
                }
                if rounds < PROPOSALS_MAX {
                    assert_eq!(propose(&url, &key), 200);
                }
                rounds += 1;
            }
            rounds
        });
        Load { is_over, thread }
    }

    /// Stops and returns the number of rounds.
    fn stop(self) -> usize {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

fn propose(url: &str, key: &str) -> u16 {
    let mut stream = connect(url);
    let request = format!(
        "POST /v1/actions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{PROPOSAL}",
        PROPOSAL.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    read_answer(&mut stream).0
}
