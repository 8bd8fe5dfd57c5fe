//! The shortest way: the checksums are right, and the program of the archive serves from where it was unpacked.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use serde_json::Value;

use crate::dist::{Target, pack};
use crate::{output_of, run};

/// The time that the server gets to start.
const START_MAX: Duration = Duration::from_secs(60);

pub(super) fn check(folder: &Path, target: &Target) -> Result<()> {
    let mut sums = Command::new("sha256sum");
    output_of(sums.args(["--check", "--strict", "--quiet", "SHA256SUMS"]).current_dir(folder))?;
    let name = pack::archive_stem(target);
    let listed = String::from_utf8(fs::read(folder.join("SHA256SUMS"))?)?;
    ensure!(listed.contains(&format!("  {name}.tar.gz\n")), "SHA256SUMS has no {name}.tar.gz");
    let unpacked = folder.join("unpacked-archive");
    if unpacked.exists() {
        fs::remove_dir_all(&unpacked)?;
    }
    fs::create_dir_all(&unpacked)?;
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--gzip", "--file"]).arg(folder.join(format!("{name}.tar.gz")));
    run(tar.arg("--directory").arg(&unpacked))?;
    let program = |arguments: &[&str]| {
        let mut command = Command::new(unpacked.join(&name).join("evenkeel"));
        command.env_clear().current_dir(&unpacked).args(arguments).stdin(Stdio::null());
        command
    };
    let mut serve = program(&["serve", "--listen", "127.0.0.1:0"]);
    serve.args(["--data-dir", "data", "--ready-file", "ready.json"]);
    serve.env("EVENKEEL_LOG__LEVEL", "warn");
    let mut server = Server(serve.spawn()?);
    let facts = server.wait_for(&unpacked.join("ready.json"))?;
    let address = facts["web_url"].as_str().unwrap_or_default().replace("http://", "");
    let answer = output_of(&mut program(&["healthy", "--listen", &address]))?;
    ensure!(answer == b"ready\n", "the server is not healthy");
    server.stop()?;
    fs::remove_dir_all(&unpacked)?;
    Ok(())
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
            ensure!(self.0.try_wait()?.is_none(), "the server ended before it was ready");
            std::thread::sleep(Duration::from_millis(50));
        }
        bail!("the server is not ready after {START_MAX:?}")
    }

    fn stop(&mut self) -> Result<()> {
        run(Command::new("kill").arg("-TERM").arg(self.0.id().to_string()))?;
        let status = self.0.wait()?;
        ensure!(status.success(), "after SIGTERM the server ended with {status}");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
