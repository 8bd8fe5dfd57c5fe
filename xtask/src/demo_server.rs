//! A server, with or without the demo household, for programs of others that test it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::target_folder;

/// The time that the server gets to generate its data.
const START_MAX: Duration = Duration::from_secs(60);

/// Settings of the server: limits that are tested elsewhere must not hide other responses, and one address serves all.
const SERVER: [(&str, &str); 3] = [
    ("EVENKEEL_DEMO__FEED_SECONDS", "0"),
    ("EVENKEEL_RATE_LIMIT__REQUESTS", "1000000"),
    ("EVENKEEL_METRICS__PUBLIC", "true"),
];

/// A demo server on SQLite at a free port, which ends with this value.
pub(crate) struct DemoServer {
    child: Child,
    /// The folder of its data and logs.
    pub(crate) folder: PathBuf,
    facts: Value,
}

impl DemoServer {
    /// Starts a server whose data is in a folder of this step.
    pub(crate) fn start(step: &str) -> Result<DemoServer> {
        DemoServer::start_with(step, &[])
    }

    /// The same with more settings, as environment variables.
    pub(crate) fn start_with(step: &str, settings: &[(&str, &str)]) -> Result<DemoServer> {
        DemoServer::run(["demo", "127.0.0.1:0"], step, settings)
    }

    /// A server without example data at this address, which sends email.
    pub(crate) fn serve_at(
        address: &str,
        step: &str,
        settings: &[(&str, &str)],
    ) -> Result<DemoServer> {
        DemoServer::run(["serve", address], step, settings)
    }

    fn run(
        [what, address]: [&str; 2],
        step: &str,
        settings: &[(&str, &str)],
    ) -> Result<DemoServer> {
        let folder = target_folder()?.join(step).join("run");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let (ready, log) = (folder.join("ready.json"), folder.join("server.txt"));
        let program = std::env::current_exe()?.with_file_name("evenkeel");
        let mut command = Command::new(&program);
        command
            .env_clear()
            .env("TMPDIR", &folder)
            .envs(SERVER)
            .envs(settings.iter().copied())
            .current_dir(&folder)
            .args([what, "--listen", address, "--data-dir"])
            .arg(folder.join("data"))
            .arg("--ready-file")
            .arg(&ready)
            .stdin(Stdio::null())
            .stdout(File::create(&log)?)
            .stderr(File::options().append(true).open(&log)?);
        let child =
            command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let mut server = DemoServer { child, folder, facts: Value::Null };
        server.facts = server.wait_for(&ready, &log)?;
        Ok(server)
    }

    /// Waits until the server has written its address and key.
    #[expect(clippy::disallowed_methods, reason = "the wait is bounded by START_MAX")]
    fn wait_for(&mut self, ready: &Path, log: &Path) -> Result<Value> {
        let start = Instant::now();
        while start.elapsed() < START_MAX {
            let written = fs::read_to_string(ready).ok();
            if let Some(facts) = written.and_then(|it| serde_json::from_str(&it).ok()) {
                return Ok(facts);
            }
            let is_running = self.child.try_wait()?.is_none();
            ensure!(is_running, "the server ended: {}", fs::read_to_string(log)?);
            std::thread::sleep(Duration::from_millis(50));
        }
        bail!("the server is not ready after {START_MAX:?}: {}", fs::read_to_string(log)?)
    }

    /// A fact of the file that the server writes when it is ready.
    pub(crate) fn fact(&self, name: &str) -> Result<&str> {
        self.facts[name].as_str().with_context(|| format!("no {name} in {}", self.facts))
    }
}

impl Drop for DemoServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
