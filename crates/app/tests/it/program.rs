//! Runs the built program: each test has its own installation, on SQLite or on the PostgreSQL of this test run.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use db::{Db, Target};
use serde_json::Value;
use tempfile::TempDir;
use testkit::Database;
use tokio::sync::OnceCell;

/// Nothing here takes nearly as long, so a test that waits longer has failed.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Installation {
    folder: TempDir,
    database: Database,
}

/// The exit code and output of a command.
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) output: String,
    pub(crate) errors: String,
}

impl Outcome {
    #[track_caller]
    pub(crate) fn succeeded(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.errors);
        self.output
    }

    /// The one sentence that a failed command prints.
    #[track_caller]
    pub(crate) fn failed(self) -> String {
        assert_eq!(self.code, Some(1), "{}{}", self.output, self.errors);
        assert_eq!(self.errors.lines().count(), 1, "{}", self.errors);
        assert!(self.errors.starts_with("evenkeel: "), "{}", self.errors);
        self.errors.trim_start_matches("evenkeel: ").trim_end().to_owned()
    }

    #[track_caller]
    pub(crate) fn json(self) -> Value {
        serde_json::from_str(&self.succeeded()).unwrap()
    }
}

impl Installation {
    /// An installation before its first start. On PostgreSQL, its database is migrated already, which takes a second.
    pub(crate) async fn new() -> Installation {
        match testkit::is_on_postgres() {
            true => Installation::at(Database::migrated().await),
            false => Installation::empty().await,
        }
    }

    /// An installation before its first start, with an empty database.
    pub(crate) async fn empty() -> Installation {
        Installation::at(Database::empty().await)
    }

    /// An installation with the data of a demo, which this process makes once and copies for every test.
    pub(crate) async fn with_demo() -> Installation {
        static DEMO: OnceCell<StoppedDemo> = OnceCell::const_new();
        DEMO.get_or_init(StoppedDemo::make).await.copy().await
    }

    fn at(database: Database) -> Installation {
        Installation { folder: tempfile::tempdir().unwrap(), database }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.path("data")
    }

    pub(crate) fn is_on_postgres(&self) -> bool {
        self.database.url().is_some()
    }

    /// The program in an empty environment, with the options that point it to this installation.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = program(self.folder.path());
        command.args(args).arg("--data-dir").arg(self.data_dir());
        if let Some(url) = self.database.url() {
            command.args(["--database-url", url]);
        }
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Outcome {
        outcome(&mut self.command(args))
    }

    /// Starts a server and waits until it is ready.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        let mut running = self.launch(args);
        running.wait_until_ready();
        running
    }

    /// Starts a server without waiting for it.
    pub(crate) fn launch(&self, args: &[&str]) -> Running {
        let mut command = self.command(args);
        command.args(["--listen", "127.0.0.1:0"]);
        launch(command, self.folder.path())
    }

    /// The database as another process would see it.
    pub(crate) async fn db(&self) -> Db {
        let file = Target::sqlite(&self.data_dir().join("evenkeel.db"));
        let target = if self.is_on_postgres() { self.database.target() } else { file };
        Db::open(&target).await.unwrap()
    }
}

/// The files of an installation with the data of a demo, held in memory, and its database on PostgreSQL, which stays on the
/// test server.
struct StoppedDemo {
    files: Vec<(OsString, Vec<u8>)>,
    database: Option<Database>,
}

impl StoppedDemo {
    async fn make() -> StoppedDemo {
        let it = Installation::new().await;
        it.start(&["demo"]).stop();
        let entries = fs::read_dir(it.data_dir()).unwrap().map(|it| it.unwrap());
        let files = entries.map(|it| (it.file_name(), fs::read(it.path()).unwrap())).collect();
        let database = it.is_on_postgres().then_some(it.database);
        StoppedDemo { files, database }
    }

    async fn copy(&self) -> Installation {
        let database = match &self.database {
            Some(database) => database.copy().await.unwrap(),
            None => Database::empty().await,
        };
        let it = Installation::at(database);
        DirBuilder::new().mode(0o700).create(it.data_dir()).unwrap();
        for (name, content) in &self.files {
            let mut options = File::options();
            let file = options.write(true).create_new(true).mode(0o600);
            file.open(it.data_dir().join(name)).unwrap().write_all(content).unwrap();
        }
        it
    }
}

/// The program in an empty environment. It listens on a free port unless a test sets one, because the developer's own
/// Evenkeel may be listening on the default port.
pub(crate) fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
    command.env_clear().env("TMPDIR", folder).env("EVENKEEL_LISTEN", "127.0.0.1:0");
    command.current_dir(folder).stdin(Stdio::null());
    command
}

pub(crate) fn outcome(command: &mut Command) -> Outcome {
    let done = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Outcome { code: done.status.code(), output: text(done.stdout), errors: text(done.stderr) }
}

pub(crate) fn launch(mut command: Command, folder: &Path) -> Running {
    let (ready, output) = (folder.join("ready.json"), folder.join("output.txt"));
    let errors = folder.join("errors.txt");
    let _ = fs::remove_file(&ready);
    command.arg("--ready-file").arg(&ready);
    command.stdout(File::create(&output).unwrap()).stderr(File::create(&errors).unwrap());
    let child = command.spawn().unwrap();
    Running { child, ready, output, errors, facts: Value::Null }
}

/// A running server, killed on drop unless the test has stopped it.
pub(crate) struct Running {
    child: Child,
    ready: PathBuf,
    output: PathBuf,
    errors: PathBuf,
    facts: Value,
}

impl Running {
    pub(crate) fn wait_until_ready(&mut self) {
        let (ready, errors) = (self.ready.clone(), self.errors.clone());
        let child = &mut self.child;
        wait_until("it is ready", || {
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "the server ended: {}", fs::read_to_string(&errors).unwrap());
            ready.exists()
        });
        self.facts = serde_json::from_str(&fs::read_to_string(&self.ready).unwrap()).unwrap();
    }

    /// Waits until the condition holds, the program is ready, or the program has ended.
    pub(crate) async fn wait_while_it_runs(&mut self, condition: impl AsyncFn() -> bool) {
        let start = Instant::now();
        while self.child.try_wait().unwrap().is_none() && !self.ready.exists() && !condition().await
        {
            assert!(start.elapsed() < TIMEOUT, "timed out");
            pause(Duration::from_millis(2));
        }
    }

    /// A field of the ready file.
    pub(crate) fn fact(&self, name: &str) -> &str {
        self.facts[name].as_str().unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn output(&self) -> String {
        fs::read_to_string(&self.output).unwrap()
    }

    pub(crate) fn errors(&self) -> String {
        fs::read_to_string(&self.errors).unwrap()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        connect(self.fact("web_url"))
    }

    pub(crate) fn get(&self, path: &str, key: Option<&str>) -> (u16, Value) {
        get(self.fact("web_url"), path, key)
    }

    /// Sends a signal to the server.
    pub(crate) fn signal(&self, name: &str) {
        let script = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        let mut ended = None;
        wait_until("it has ended", || {
            ended = self.child.try_wait().unwrap();
            ended.is_some()
        });
        ended.unwrap()
    }

    pub(crate) fn stop(mut self) {
        self.signal("TERM");
        assert_eq!(self.wait().code(), Some(0), "{}", self.errors());
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < TIMEOUT, "timed out waiting until {what}");
        pause(Duration::from_millis(10));
    }
}

#[expect(clippy::disallowed_methods, reason = "another process has no clock that a test can move")]
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}

pub(crate) fn connect(url: &str) -> TcpStream {
    let stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream
}

/// Sends one request over a new connection. Returns the status, and the body if it is JSON.
pub(crate) fn get(url: &str, path: &str, key: Option<&str>) -> (u16, Value) {
    let mut stream = connect(url);
    let authorization = key.map(|it| format!("Authorization: Bearer {it}\r\n")).unwrap_or_default();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{authorization}\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    read_answer(&mut stream)
}

pub(crate) fn read_answer(stream: &mut TcpStream) -> (u16, Value) {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let head = head.to_lowercase();
    let length = head.lines().find_map(|it| it.strip_prefix("content-length: "));
    assert_eq!(length.map(str::to_owned), Some(body.len().to_string()), "{head}");
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}
