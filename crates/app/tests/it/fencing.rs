//! A process that is paused while it commits a file, and resumes after another process has committed it.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use base::{Clock, Entropy, FileId};
use db::{Db, Engine};
use service::access::users;
use service::ingest::imports::files::{self, CommitOutcome};
use service::ledger::quotes::{Trading, WhenClosed};
use service::platform::{installation, limits};
use service::{App, Caller, Setup};
use testkit::Market;

use crate::program::{Installation, pause};

/// Enough rows that reading them takes a moment, in which the process can be paused.
const ROWS: usize = 40_000;
/// Longer than the lease of a commit.
const ELEVEN_MINUTES: Duration = Duration::from_secs(660);
const ATTEMPTS: usize = 10;
const TIMED_OUT: &str = "PostgreSQL did not answer in time";

fn statement() -> String {
    let mut text = "Date,Description,Amount,Balance\n".to_owned();
    for row in 0..ROWS {
        let (year, month, day) = (2000 + row / 1_680, row / 140 % 12 + 1, row % 28 + 1);
        let balance = 1_000_000 - row;
        writeln!(text, "{year}-{month:02}-{day:02},Lunch {row},-1.00,{balance}.00").unwrap();
    }
    text
}

/// An app on the same database whose clock is past the end of the lease.
async fn open_app_after_lease(it: &Installation) -> (App, Caller) {
    let clock = Clock::frozen_at(&Clock::System.now().to_string());
    clock.advance(ELEVEN_MINUTES);
    let entropy = Entropy::System;
    let app = App::new(Setup {
        db: it.db().await,
        installation_key: installation::Key::generate(&entropy),
        clock: clock.clone(),
        entropy,
        rate_limit: limits::Policy::default(),
        trading: Trading {
            market: Arc::new(Market::new(clock)),
            when_closed: WhenClosed::Queue,
            slippage_basis_points: 0,
        },
        approvals_life_seconds: 86_400,
        webhook_client: None,
        bank_client: None,
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
    });
    let user = users::find_by_email(&app, "robin@example.com").await.unwrap().unwrap();
    (app, user.owner())
}

/// The files that are being imported.
async fn committing(db: &Db) -> Vec<FileId> {
    let text = "select id from import_files where state = 'committing'";
    db.all(text, &[], |row| row.get(0)).await.unwrap()
}

async fn count(db: &Db, table: &str) -> i64 {
    let text = format!("select cast(count(*) as bigint) from {table}");
    db.first(&text, &[], |row| row.get(0)).await.unwrap().unwrap()
}

/// Pauses the process after it has leased the file and before it writes a row, commits the file from here, and resumes
/// the process. None if the pause came too late.
async fn commit_while_paused(it: &Installation) -> Option<CommitOutcome> {
    let db = it.db().await;
    let path = it.path("lunch.csv").display().to_string();
    let args = ["import", &path, "--account", "new", "--charges", "negative"];
    let leased = async || committing(&db).await.into_iter().next();
    let mut process = ImportProcess::start(it, &args);
    let mut committed = None;
    while process.0.try_wait().unwrap().is_none() && leased().await.is_none() {
        pause(Duration::from_millis(1));
    }
    process.signal("STOP");
    if let Some(id) = leased().await {
        let (app, robin) = open_app_after_lease(it).await;
        // PostgreSQL has its own time, by which the lease is not over yet.
        let end_lease = "update import_files set leased_until = 0 where state = 'committing'";
        let ending = db.write::<_, db::Error>(move |tx| tx.execute(end_lease, &[]));
        if db.engine() == Engine::Postgres {
            ending.await.unwrap();
        }
        // If the process was paused inside its transaction, it holds locks that this commit waits for.
        let committing_here =
            tokio::time::timeout(Duration::from_secs(20), files::commit(&app, &robin, id));
        committed = committing_here.await.ok().and_then(Result::ok);
    }
    process.signal("CONT");
    let ended = process.0.wait().unwrap();
    let output = fs::read_to_string(it.path("output.txt")).unwrap();
    if committed.is_some() {
        assert_eq!(ended.code(), Some(1), "{output}");
        // If the pause was longer than a statement may take, the process has not seen the answer of its statement.
        let has_failed = output.contains("Nothing was changed") || output.contains(TIMED_OUT);
        assert!(has_failed, "{output}");
    }
    committed
}

/// A running `evenkeel import`, killed on drop.
struct ImportProcess(Child);

impl ImportProcess {
    fn start(it: &Installation, args: &[&str]) -> ImportProcess {
        let output = File::create(it.path("output.txt")).unwrap();
        let mut command = it.command(args);
        command.stdout(output).stderr(Stdio::null());
        ImportProcess(command.spawn().unwrap())
    }

    /// Sends a signal, and ignores that the process may have ended.
    fn signal(&self, name: &str) {
        let script = format!("kill -{name} {} 2>/dev/null || true", self.0.id());
        assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
    }
}

impl Drop for ImportProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn a_file_is_imported_once_when_its_process_is_paused_past_its_lease() {
    for _ in 0..ATTEMPTS {
        // A commit that this test stopped waiting for may still end later, so each attempt has its own database.
        let it = Installation::new().await;
        it.run(&["user", "create", "robin@example.com"]).succeeded();
        fs::write(it.path("lunch.csv"), statement()).unwrap();
        if let Some(committed) = commit_while_paused(&it).await {
            let db = it.db().await;
            assert_eq!(committed.summary.new, ROWS);
            let rows = count(&db, "transactions").await;
            assert_eq!(rows, ROWS as i64, "the file was imported twice");
            assert_eq!(count(&db, "accounts").await, 1);
            assert_eq!(count(&db, "imports").await, 1);
            return;
        }
    }
    panic!("the process was never paused in time");
}
