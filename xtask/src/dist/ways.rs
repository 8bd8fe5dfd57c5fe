//! Tries the ways of installing with the program that the other steps have built, so that nothing is built again. It is
//! not static like the one that is shipped, so the libraries that it needs are put beside it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::{output_of, run};

/// The time that the server gets to start.
const START_MAX: Duration = Duration::from_secs(60);
/// The user of the image.
const USER: &str = "1000:1000";
const PROGRAM: &str = "/usr/bin/evenkeel";

/// The program beside this one.
fn program() -> Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name("evenkeel"))
}

/// Runs the program in the unpacked root of the image, as the image's user, who can write to `/data` and `/tmp` alone. It
/// answers its own health check, and stops when it is told to.
pub(crate) fn container(unpacked: &Path) -> Result<()> {
    let is_root = output_of(Command::new("id").arg("--user"))? == b"0\n";
    if !is_root || cfg!(not(target_os = "linux")) {
        println!("the image's root was not entered, which only root can do on Linux");
        return Ok(());
    }
    place_program(unpacked)?;
    run(Command::new("chown").arg(USER).arg(unpacked.join("data")))?;
    let mut server = Server(
        enter(unpacked, &["serve", "--ready-file", "/data/ready.json"])
            .env("EVENKEEL_LISTEN", "127.0.0.1:0")
            .stdin(Stdio::null())
            .spawn()?,
    );
    let facts = server.wait_for(&unpacked.join("data/ready.json"))?;
    let address = facts["web_url"].as_str().unwrap_or_default().replace("http://", "");
    let answer = output_of(&mut enter(unpacked, &["healthy", "--listen", &address]))?;
    ensure!(answer == b"ready\n", "the server in the image's root is not ready");
    ensure!(unpacked.join("data/evenkeel.db").is_file(), "the data is not in /data");
    server.stop()
}

/// The program reads the settings of the Debian package, and its data folder is the service's.
pub(crate) fn settings(unpacked: &Path) -> Result<()> {
    let file = unpacked.join("etc/evenkeel/evenkeel.toml");
    let mut command = Command::new(program()?);
    command.env_clear().arg("--config").arg(file).args(["config", "--json"]);
    let printed: Value = serde_json::from_slice(&output_of(&mut command)?)?;
    let folder = &printed["data_dir"]["value"];
    ensure!(folder == "/var/lib/evenkeel", "the package's data folder is {folder}");
    Ok(())
}

/// Puts the program and the libraries that it needs into the root.
fn place_program(unpacked: &Path) -> Result<()> {
    let program = program()?;
    let listed = output_of(Command::new("ldd").arg(&program))?;
    for library in String::from_utf8_lossy(&listed).split_whitespace() {
        if library.starts_with('/') && Path::new(library).is_file() {
            let target = unpacked.join(library.trim_start_matches('/'));
            fs::create_dir_all(target.parent().context("a library has no folder")?)?;
            fs::copy(library, target)?;
        }
    }
    fs::copy(program, unpacked.join(PROGRAM.trim_start_matches('/')))?;
    Ok(())
}

fn enter(unpacked: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("chroot");
    command.arg(format!("--userspec={USER}")).arg(unpacked).arg(PROGRAM).args(arguments);
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command.env("EVENKEEL_DATA_DIR", "/data").env("EVENKEEL_LOG__LEVEL", "warn");
    command
}

/// A server that is killed on drop unless it has stopped.
struct Server(Child);

impl Server {
    #[expect(clippy::disallowed_methods, reason = "the wait is bounded by START_MAX")]
    fn wait_for(&mut self, ready: &Path) -> Result<Value> {
        let start = Instant::now();
        while start.elapsed() < START_MAX {
            let written = fs::read_to_string(ready).ok();
            if let Some(facts) = written.and_then(|it| serde_json::from_str(&it).ok()) {
                return Ok(facts);
            }
            ensure!(self.0.try_wait()?.is_none(), "the server in the image's root ended");
            std::thread::sleep(Duration::from_millis(50));
        }
        bail!("the server in the image's root is not ready after {START_MAX:?}")
    }

    fn stop(&mut self) -> Result<()> {
        run(Command::new("kill").arg("-TERM").arg(self.0.id().to_string()))?;
        let status = self.0.wait()?;
        ensure!(status.success(), "the server in the image's root ended with {status}");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
