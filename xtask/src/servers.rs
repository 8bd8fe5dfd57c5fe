//! Tests the program with servers of others: scheduled backups, `evenkeel backup` and `evenkeel restore` with an S3 server
//! that takes only requests with a signature that botocore computes as well, and email with a mail server that takes
//! messages only over STARTTLS and after a login.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use crate::demo_server::DemoServer;
use crate::{install, output_of, root, target_folder};

const REQUIREMENTS: &str = "xtask/servers/requirements.txt";
const S3_SERVER: &str = "xtask/servers/s3.py";
const MAIL_SERVER: &str = "xtask/servers/smtp.py";
const RESET: &str = "xtask/servers/reset.py";

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

/// Everything that a step of the gate checks.
pub(crate) fn check(run_tests: impl Fn(&[(&str, Option<&str>)]) -> Result<()>) -> Result<()> {
    check_store(run_tests)?;
    check_mail()
}

/// Runs the tests of the client with the variable that names the server, and then the program itself.
fn check_store(run_tests: impl Fn(&[(&str, Option<&str>)]) -> Result<()>) -> Result<()> {
    let arguments = [ACCESS_KEY_ID, SECRET_ACCESS_KEY, REGION, BUCKET];
    let server = PythonServer::start(S3_SERVER, &arguments)?;
    run_tests(&[("EVENKEEL_TEST_S3", Some(&server.first_line))])?;
    let settings = [
        ("EVENKEEL_BACKUPS__S3__ENDPOINT", server.first_line.as_str()),
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

/// Sends a message, which Python's own reader of messages must find sound, and tries a wrong password.
fn check_mail() -> Result<()> {
    let folder = target_folder()?.join("servers").join("mail");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let shown = folder.to_string_lossy().into_owned();
    let server = PythonServer::start(MAIL_SERVER, &[&shown, "robin", "pass word"])?;
    let ca_file = folder.join("ca.pem").to_string_lossy().into_owned();
    let settings = [
        ("EVENKEEL_PUBLIC_URL", "https://money.example.com"),
        ("EVENKEEL_MAIL__SERVER", "127.0.0.1"),
        ("EVENKEEL_MAIL__PORT", server.first_line.as_str()),
        ("EVENKEEL_MAIL__USER", "robin"),
        ("EVENKEEL_MAIL__PASSWORD", "pass word"),
        ("EVENKEEL_MAIL__FROM", "Unser Geld, Zuhaus\u{e9} <money@example.com>"),
        ("EVENKEEL_MAIL__CA_FILE", ca_file.as_str()),
    ];
    let run = |arguments: &[&str], password: &str| {
        let mut command = Command::new(std::env::current_exe()?.with_file_name("evenkeel"));
        command.env_clear().envs(settings).env("EVENKEEL_MAIL__PASSWORD", password);
        output_of(command.args(arguments).arg("--data-dir").arg(&folder))
    };
    run(&["mail", "test", "kim@example.com"], "pass word")?;
    let received = fs::read_to_string(folder.join("messages.jsonl"))?;
    let message: serde_json::Value = serde_json::from_str(received.trim())?;
    let text = message["text"].as_str().unwrap_or_default();
    let is_sound = message["to"] == serde_json::json!(["kim@example.com"])
        && message["from"] == "\"Unser Geld, Zuhaus\u{e9}\" <money@example.com>"
        && message["subject"] == "A test from Evenkeel"
        && text.contains("https://money.example.com can send email")
        && message["defects"] == serde_json::json!([])
        && message["encrypted"] == true;
    ensure!(is_sound, "the message arrived otherwise than it was sent: {received}");
    let refused = run(&["mail", "test", "kim@example.com"], "wrong");
    let reason = refused.err().map(|it| format!("{it:#}")).unwrap_or_default();
    ensure!(reason.contains("check mail.user and mail.password"), "wrong advice: {reason}");
    let injected =
        run(&["mail", "test", "kim@example.com\r\nRCPT TO:<eve@example.com>"], "pass word");
    ensure!(injected.is_err(), "an address with a line end was taken");
    check_reset(&settings, &folder.join("messages.jsonl"))
}

/// A forgotten password of a running server is reset with the link in the message.
fn check_reset(settings: &[(&str, &str)], messages: &Path) -> Result<()> {
    // The public address is another one, so the port must be known before.
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let server = DemoServer::serve_at(&address, "servers/reset", settings)?;
    let mut create = Command::new(std::env::current_exe()?.with_file_name("evenkeel"));
    create.env_clear().envs(settings.iter().copied()).args(["user", "create", "kim@example.com"]);
    output_of(create.arg("--data-dir").arg(server.folder.join("data")))?;
    let python = install::python_packages("servers", REQUIREMENTS)?.join("python");
    let mut reset = Command::new(python);
    reset
        .arg(root().join(RESET))
        .arg(format!("http://{address}"))
        .arg("kim@example.com")
        .arg(messages);
    output_of(&mut reset).context("a forgotten password was not reset")?;
    Ok(())
}

/// A server in Python, which ends with this value. Its first line says where it is.
struct PythonServer {
    child: Child,
    first_line: String,
}

impl PythonServer {
    fn start(script: &str, arguments: &[&str]) -> Result<PythonServer> {
        let python = install::python_packages("servers", REQUIREMENTS)?.join("python");
        let mut child = Command::new(python)
            .arg(root().join(script))
            .args(arguments)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {script}"))?;
        let output = child.stdout.take().context("the server has no output")?;
        let mut server = PythonServer { child, first_line: String::new() };
        BufReader::new(output).read_line(&mut server.first_line)?;
        server.first_line = server.first_line.trim().to_owned();
        ensure!(!server.first_line.is_empty(), "{script} did not start");
        Ok(server)
    }
}

impl Drop for PythonServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
