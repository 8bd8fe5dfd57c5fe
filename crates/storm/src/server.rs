//! One `evenkeel serve` behind its own wire to the database. It can be killed, paused and started again.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testkit::Proxy;

use crate::history::lock;
use crate::random::Random;

/// How long a process may take to start on a busy machine.
const START_MAX: Duration = Duration::from_secs(60);

/// What all processes of a run have in common.
pub(crate) struct ServerSettings {
    pub(crate) program: PathBuf,
    /// The folder of the logs.
    pub(crate) folder: PathBuf,
    pub(crate) environment: Vec<(String, String)>,
}

pub(crate) struct Server {
    pub(crate) index: usize,
    pub(crate) wire: Proxy,
    database_url: String,
    running: Mutex<Running>,
    random: Random,
}

#[derive(Default)]
struct Running {
    child: Option<Child>,
    /// None while it starts.
    address: Option<SocketAddr>,
    starts: u64,
    started_at: Option<Instant>,
    clock_offset: i64,
}

impl Server {
    pub(crate) async fn new(index: usize, seed: u64, database_url: &str) -> Server {
        let (wire, database_url) = Proxy::to(database_url).await;
        let random = Random::new(seed, 100 + index as u64);
        Server { index, wire, database_url, running: Mutex::default(), random }
    }

    /// The address, while it is running.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        lock(&self.running).address
    }

    /// Seconds by which the clock of the process is wrong.
    pub(crate) fn clock_offset(&self) -> i64 {
        lock(&self.running).clock_offset
    }

    /// Starts the process without waiting for it. Of three starts, one has a clock that is ahead, one a clock that is
    /// behind, and one the right time.
    pub(crate) fn launch(&self, settings: &ServerSettings) -> Result<()> {
        let mut running = lock(&self.running);
        let off = i64::try_from(self.random.between(50, 120))?;
        running.clock_offset = match (self.index as u64 + running.starts) % 3 {
            0 => off,
            1 => -off,
            _ => 0,
        };
        running.starts += 1;
        running.started_at = Some(Instant::now());
        let folder = settings.folder.join(format!("process-{}", self.index));
        fs::create_dir_all(&folder)?;
        let _ = fs::remove_file(folder.join("ready.json"));
        let log = File::options().create(true).append(true).open(folder.join("log.txt"))?;
        let mut command = Command::new(&settings.program);
        command.env_clear().env("TMPDIR", &folder).current_dir(&folder).stdin(Stdio::null());
        command.envs(settings.environment.iter().map(|(name, value)| (name, value)));
        command.env("EVENKEEL_DATABASE__CONNECTIONS", connections(self.index).to_string());
        command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(folder.join("data"));
        command.args(["--database-url", &self.database_url]);
        command.arg(format!("--clock-offset={}", running.clock_offset));
        command.arg("--ready-file").arg(folder.join("ready.json"));
        command.stdout(log.try_clone()?).stderr(log);
        let program = || format!("cannot start {}", settings.program.display());
        running.child = Some(command.spawn().with_context(program)?);
        Ok(())
    }

    /// Waits until it is ready. A process that ends while it starts is started again, as a supervisor would: its
    /// database may have been out of reach.
    pub(crate) async fn wait_until_ready(&self, settings: &ServerSettings) -> Result<()> {
        let began = Instant::now();
        let ready = settings.folder.join(format!("process-{}/ready.json", self.index));
        while began.elapsed() < START_MAX {
            let facts = fs::read_to_string(&ready).ok();
            let facts = facts.and_then(|it| serde_json::from_str::<Value>(&it).ok());
            if let Some(url) = facts.as_ref().and_then(|it| it["web_url"].as_str()) {
                lock(&self.running).address = Some(url.trim_start_matches("http://").parse()?);
                return Ok(());
            }
            if self.has_ended() {
                tokio::time::sleep(Duration::from_millis(500)).await;
                self.launch(settings)?;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        bail!("process {} is not ready after {START_MAX:?}", self.index)
    }

    /// Whether the process has ended by itself.
    pub(crate) fn has_ended(&self) -> bool {
        let mut running = lock(&self.running);
        running.child.as_mut().is_some_and(|it| !matches!(it.try_wait(), Ok(None)))
    }

    /// Whether the process was started so recently that it may end because its database was out of reach.
    pub(crate) fn is_starting(&self) -> bool {
        lock(&self.running).started_at.is_some_and(|it| it.elapsed() < START_MAX)
    }

    pub(crate) fn kill(&self) {
        let mut running = lock(&self.running);
        running.address = None;
        if let Some(mut child) = running.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    pub(crate) fn pause(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    pub(crate) fn resume(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let running = lock(&self.running);
        let child = running.child.as_ref().context("the process is not running")?;
        let id = Pid::from_raw(i32::try_from(child.id())?).context("the process has no id")?;
        Ok(kill_process(id, signal)?)
    }

    /// Megabytes of memory that the process holds.
    pub(crate) fn memory_mib(&self) -> Option<u64> {
        let id = lock(&self.running).child.as_ref()?.id();
        let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
        Some(line.trim().split(' ').next()?.parse::<u64>().ok()? / 1_024)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The connections of a process. Each has another number, by which PostgreSQL can tell the processes apart.
fn connections(index: usize) -> usize {
    12 + index
}

/// A pattern of the names by which PostgreSQL knows the connections of a process.
pub(crate) fn application_name(index: usize) -> String {
    format!("evenkeel/{}/%", connections(index))
}
