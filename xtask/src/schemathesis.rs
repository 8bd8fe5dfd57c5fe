//! Tests the running API against its OpenAPI document: Schemathesis sends requests that the document allows and requests
//! that it forbids, and checks every response.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::{install, root, run, target_folder};

/// The packages with their exact versions, and the settings with the reasons for them.
const REQUIREMENTS: &str = "xtask/schemathesis/requirements.txt";
const SETTINGS: &str = "xtask/schemathesis/schemathesis.toml";
const HOOKS: &str = "xtask/schemathesis/hooks.py";
const DOCUMENT: &str = "docs/openapi.json";

/// The same requests in every run.
const SEED: &str = "20260410";
/// Generated requests for each operation, beside those that cover the bounds of every parameter.
const EXAMPLES: &str = "5";
/// The time that the server gets to generate its data.
const START_MAX: Duration = Duration::from_secs(60);

/// Settings of the server: limits that are tested elsewhere must not hide other responses.
const SERVER: [(&str, &str); 2] =
    [("EVENKEEL_DEMO__FEED_SECONDS", "0"), ("EVENKEEL_RATE_LIMIT__REQUESTS", "1000000")];

pub(crate) fn check() -> Result<()> {
    let programs = programs()?;
    let document = root().join(DOCUMENT);
    run(Command::new(programs.join("openapi-spec-validator")).arg(&document))
        .context("the OpenAPI document is not valid")?;
    let server = Server::start()?;
    let log = server.folder.join("schemathesis.txt");
    let mut command = Command::new(programs.join("schemathesis"));
    command
        .current_dir(&server.folder)
        .arg("--config-file")
        .arg(root().join(SETTINGS))
        .arg("run")
        .arg(&document)
        .arg("--url")
        .arg(server.fact("base_url")?)
        .args(["--seed", SEED, "--max-examples", EXAMPLES, "--no-color"])
        .args(["--generation-database", "none"])
        .env("EVENKEEL_KEY", server.fact("api_key")?)
        .env("SCHEMATHESIS_HOOKS", root().join(HOOKS))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdout(File::create(&log)?)
        .stderr(File::options().append(true).open(&log)?);
    let status = command.status().context("cannot start Schemathesis")?;
    let output = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    if !status.success() {
        bail!("the API does not conform to {DOCUMENT} ({status}):\n{output}");
    }
    println!("{}", output.lines().rev().find(|it| it.contains("in ")).unwrap_or_default());
    Ok(())
}

/// The folder of Schemathesis's programs, installed on first use into a folder named by the required versions.
fn programs() -> Result<PathBuf> {
    let requirements = fs::read_to_string(root().join(REQUIREMENTS))?;
    let folder = target_folder()?.join("schemathesis");
    let (programs, installed) = (folder.join("venv/bin"), folder.join("installed.txt"));
    if fs::read_to_string(&installed).is_ok_and(|it| it == requirements) {
        return Ok(programs);
    }
    install::python()?;
    println!("installing Schemathesis with pip");
    if folder.join("venv").exists() {
        fs::remove_dir_all(folder.join("venv"))?;
    }
    fs::create_dir_all(&folder)?;
    run(Command::new("python3").args(["-m", "venv"]).arg(folder.join("venv")))?;
    let mut pip = Command::new(programs.join("python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    run(pip.arg("--requirement").arg(root().join(REQUIREMENTS)))
        .context("Schemathesis could not be installed")?;
    fs::write(&installed, requirements)?;
    Ok(programs)
}

/// A demo server on SQLite at a free port, which ends with this value.
struct Server {
    child: Child,
    folder: PathBuf,
    facts: Value,
}

impl Server {
    fn start() -> Result<Server> {
        let folder = target_folder()?.join("schemathesis").join("run");
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
            .current_dir(&folder)
            .args(["demo", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(folder.join("data"))
            .arg("--ready-file")
            .arg(&ready)
            .stdin(Stdio::null())
            .stdout(File::create(&log)?)
            .stderr(File::options().append(true).open(&log)?);
        let child =
            command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let mut server = Server { child, folder, facts: Value::Null };
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

    fn fact(&self, name: &str) -> Result<&str> {
        self.facts[name].as_str().with_context(|| format!("no {name} in {}", self.facts))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
