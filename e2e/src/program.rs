//! Runs the built program in its own folder, at an address that passkeys accept.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::net::TcpListener;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;
use testkit::collector::Collector;

use crate::http::{self, Answer};
use crate::until;

/// Receives the traces of all programs that this process starts.
pub fn collector() -> &'static Collector {
    static COLLECTOR: OnceLock<Collector> = OnceLock::new();
    COLLECTOR.get_or_init(Collector::start)
}

pub struct Program {
    child: Child,
    folder: TempDir,
    facts: Value,
    origin: String,
}

/// A file of a data directory.
struct DataFile {
    name: OsString,
    content: Vec<u8>,
}

impl Program {
    /// The demo, without its live feed.
    pub fn demo() -> Program {
        Program::demo_with(&[])
    }

    /// The demo with more settings. Its data is generated once and copied for every test.
    pub fn demo_with(settings: &[(&str, &str)]) -> Program {
        static DATA: OnceLock<Vec<DataFile>> = OnceLock::new();
        let data = DATA.get_or_init(|| Program::start("demo", &[]).stopped_data());
        Program::start_at("demo", settings, None, data)
    }

    /// A fresh installation without accounts.
    pub fn serve() -> Program {
        Program::serve_with(&[])
    }

    /// A fresh installation with more settings.
    pub fn serve_with(settings: &[(&str, &str)]) -> Program {
        Program::start("serve", settings)
    }

    /// A fresh installation behind a proxy with this address, and its port.
    pub fn serve_behind(proxy: &str, settings: &[(&str, &str)]) -> (Program, u16) {
        let program = Program::start_at("serve", settings, Some(proxy), &[]);
        let port = program.origin.rsplit(':').next().and_then(|it| it.parse().ok());
        (program, port.expect("the origin ends with a port"))
    }

    fn start(command: &str, settings: &[(&str, &str)]) -> Program {
        Program::start_at(command, settings, None, &[])
    }

    /// Starts the program on this data. Its public address is its own unless there is another.
    fn start_at(
        command: &str,
        settings: &[(&str, &str)],
        public: Option<&str>,
        data: &[DataFile],
    ) -> Program {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write_data(&folder.path().join("data"), data);
        let ready = folder.path().join("ready.json");
        // Passkeys are bound to a host name, so the public URL must be known before the start.
        let listener = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
        let port = listener.expect("a free port").port();
        let origin = format!("http://localhost:{port}");
        let mut program = Command::new(binary());
        program.env_clear().env("TMPDIR", folder.path()).env("EVENKEEL_DEMO__FEED_SECONDS", "0");
        program.env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector().url);
        program.envs(settings.iter().copied());
        program.current_dir(folder.path()).stdin(Stdio::null());
        let public = public.unwrap_or(&origin);
        program.args([command, "--listen", &format!("127.0.0.1:{port}"), "--public-url", public]);
        program.arg("--ready-file").arg(&ready).arg("--data-dir").arg(folder.path().join("data"));
        let log = |name: &str| File::create(folder.path().join(name)).expect("a log");
        program.stdout(log("output.txt")).stderr(log("errors.txt"));
        let child = program.spawn().expect("the program starts");
        let mut program = Program { child, folder, facts: Value::Null, origin };
        program.facts = until("the program is ready", || {
            let ended = program.child.try_wait().expect("the process can be polled");
            assert!(ended.is_none(), "the program ended: {}", program.log());
            serde_json::from_str(&fs::read_to_string(&ready).ok()?).ok()
        });
        program
    }

    /// Stops the program as an operator would, and returns the files of its data directory.
    fn stopped_data(mut self) -> Vec<DataFile> {
        let stop = Command::new("kill").arg(self.child.id().to_string()).status();
        assert!(stop.is_ok_and(|it| it.success()), "the program cannot be stopped");
        self.child.wait().expect("the program ends");
        let files = fs::read_dir(self.data_dir()).expect("the data directory");
        let file = |it: fs::DirEntry| DataFile {
            name: it.file_name(),
            content: fs::read(it.path()).expect("a file of the data directory"),
        };
        files.map(|it| file(it.expect("an entry of the data directory"))).collect()
    }

    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Another command of the program, on the same data.
    pub fn other_command(&self, command: &str) -> Command {
        let mut other = Command::new(binary());
        other.env_clear().env("TMPDIR", self.folder.path()).current_dir(self.folder.path());
        other.arg(command).arg("--data-dir").arg(self.data_dir());
        other
    }

    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// A field of the ready file.
    #[track_caller]
    pub fn fact(&self, name: &str) -> &str {
        let fact = self.facts[name].as_str();
        fact.unwrap_or_else(|| panic!("no {name} in {}", self.facts))
    }

    /// Its output so far, from both streams.
    pub fn log(&self) -> String {
        let read = |name: &str| fs::read_to_string(self.folder.path().join(name));
        read("output.txt").unwrap_or_default() + &read("errors.txt").unwrap_or_default()
    }

    #[track_caller]
    pub fn get(&self, path: &str, token: &str) -> Answer {
        let authorization = format!("Bearer {token}");
        self.send("GET", path, &[("Authorization", &authorization)], "")
    }

    #[track_caller]
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        http::send(&self.origin, method, path, headers, body)
            .unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Traces must have only words of the program, whatever the test typed and opened.
        if !std::thread::panicking() {
            assert_eq!(collector().doubtful(), BTreeSet::new(), "personal data in traces");
        }
    }
}

/// Writes the files into a new folder. Without files the program creates the folder itself.
fn write_data(folder: &Path, files: &[DataFile]) {
    if files.is_empty() {
        return;
    }
    DirBuilder::new().mode(0o700).create(folder).expect("a data directory");
    for file in files {
        fs::write(folder.join(&file.name), &file.content).expect("a file of the data directory");
    }
}

/// The built program, which Cargo puts in the same folder as this binary or one above.
fn binary() -> PathBuf {
    let own = std::env::current_exe().expect("the path of this binary is known");
    let candidates = own.ancestors().skip(1).take(2).map(|it: &Path| it.join("evenkeel"));
    let mut found = candidates.filter(|it| it.is_file());
    found.next().expect("the program is not built: run `cargo build` first")
}
