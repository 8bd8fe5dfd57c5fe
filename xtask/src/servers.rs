//! Tests the program with servers of others: scheduled backups, `evenkeel backup` and `evenkeel restore` with an S3 server
//! that takes only requests with a signature that botocore computes as well.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use crate::demo_server::DemoServer;
use crate::{install, output_of, root};

const REQUIREMENTS: &str = "xtask/servers/requirements.txt";
const S3_SERVER: &str = "xtask/servers/s3.py";

/// As in crates/s3/tests/it/real.rs.
const REGION: &str = "eu-central-1";
const ACCESS_KEY_ID: &str = "AKIDOFTHETESTS";
const SECRET_ACCESS_KEY: &str = "secret/of+the=tests";
const BUCKET: &str = "evenkeel-tests";

/// How long the first scheduled backup may take.
const BACKUP_MAX: Duration = Duration::from_secs(60);

pub(crate) fn install() -> Result<()> {
    install::python_packages("servers", REQUIREMENTS).map(|_| ())
}

/// Runs the tests of the client with the variable that names the server, and then the program itself.
pub(crate) fn check(run_tests: impl Fn(&[(&str, Option<&str>)]) -> Result<()>) -> Result<()> {
    let server = S3Server::start()?;
    run_tests(&[("EVENKEEL_TEST_S3", Some(&server.url))])?;
    let settings = [
        ("EVENKEEL_BACKUPS__S3__ENDPOINT", server.url.as_str()),
        ("EVENKEEL_BACKUPS__S3__BUCKET", BUCKET),
        ("EVENKEEL_BACKUPS__S3__REGION", REGION),
        ("EVENKEEL_BACKUPS__S3__PREFIX", "home"),
        ("EVENKEEL_BACKUPS__S3__ACCESS_KEY_ID", ACCESS_KEY_ID),
        ("EVENKEEL_BACKUPS__S3__SECRET_ACCESS_KEY", SECRET_ACCESS_KEY),
        ("EVENKEEL_BACKUPS__PASSPHRASE", "correct horse battery"),
    ];
    let demo = DemoServer::start_with("servers", &settings)?;
    let run = |arguments: &[&str], more: &[(&str, &str)]| {
        let mut command = Command::new(std::env::current_exe()?.with_file_name("evenkeel"));
        command.env_clear().envs(settings).envs(more.iter().copied()).env("TMPDIR", &demo.folder);
        let output =
            output_of(command.args(arguments).arg("--data-dir").arg(demo.folder.join("data")))?;
        Ok::<_, anyhow::Error>(String::from_utf8(output)?)
    };
    let scheduled = wait_for_backup(|| run(&["restore", "--list"], &[]))?;
    let drilled = run(&["restore", &scheduled, "--drill"], &[])?;
    ensure!(drilled.contains("is good"), "the scheduled backup cannot be restored: {drilled}");
    let own = format!("s3://{BUCKET}/by-hand.age");
    let written = run(&["backup", &own], &[])?;
    ensure!(written.contains(" rows in "), "no backup by hand: {written}");
    ensure!(run(&["backup", &own], &[]).is_err(), "an object was replaced without --force");
    run(&["backup", &own, "--force"], &[])?;
    run(&["restore", &own, "--drill"], &[])?;
    let report = run(&["doctor"], &[])?;
    let has_newest = report.lines().any(|it| it.contains("backups") && it.contains("s3://"));
    ensure!(has_newest, "doctor does not see the backup: {report}");
    let wrong = [("EVENKEEL_BACKUPS__S3__SECRET_ACCESS_KEY", "another secret")];
    let refused = run(&["restore", "--list"], &wrong);
    let reason = refused.err().map(|it| format!("{it:#}")).unwrap_or_default();
    ensure!(reason.contains("check secret_access_key"), "a wrong key was not named: {reason}");
    Ok(())
}

/// Waits until a list of backups has one, and returns its address.
#[expect(clippy::disallowed_methods, reason = "the wait is bounded by BACKUP_MAX")]
fn wait_for_backup(list: impl Fn() -> Result<String>) -> Result<String> {
    let start = Instant::now();
    while start.elapsed() < BACKUP_MAX {
        let listed = list()?;
        let address = listed.split_whitespace().find(|it| it.ends_with(".backup.age"));
        if let Some(address) = address {
            return Ok(address.to_owned());
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    bail!("the server wrote no backup within {BACKUP_MAX:?}")
}

/// The S3 server, which ends with this value.
struct S3Server {
    child: Child,
    url: String,
}

impl S3Server {
    fn start() -> Result<S3Server> {
        let python = install::python_packages("servers", REQUIREMENTS)?.join("python");
        let mut child = Command::new(python)
            .arg(root().join(S3_SERVER))
            .args([ACCESS_KEY_ID, SECRET_ACCESS_KEY, REGION, BUCKET])
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the S3 server")?;
        let output = child.stdout.take().context("the S3 server has no output")?;
        let mut server = S3Server { child, url: String::new() };
        BufReader::new(output).read_line(&mut server.url)?;
        server.url = server.url.trim().to_owned();
        ensure!(server.url.starts_with("http://"), "the S3 server did not start");
        Ok(server)
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
