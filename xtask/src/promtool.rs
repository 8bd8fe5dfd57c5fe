//! Has Prometheus's own promtool read the metrics of a running server, and test the alerts that are shipped.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::demo_server::DemoServer;
use crate::{install, root, run};

const ALERTS: &str = "deploy/prometheus";
const ANSWER_MAX: Duration = Duration::from_secs(10);

pub(crate) fn install() -> Result<()> {
    install::promtool()
}

pub(crate) fn check() -> Result<()> {
    let promtool = |arguments: &[&str]| {
        let mut command = Command::new("promtool");
        command.args(arguments).current_dir(root().join(ALERTS));
        command
    };
    run(&mut promtool(&["check", "rules", "rules.yml"])).context("the alerts are not valid")?;
    run(&mut promtool(&["test", "rules", "rules_test.yml"]))
        .context("the alerts do not do what their tests say")?;
    let server = DemoServer::start("promtool")?;
    let address = server.fact("base_url")?;
    let address = address.trim_start_matches("http://").split('/').next().unwrap_or_default();
    // So that there is something to report.
    for path in ["/v1/me", "/sign-in", "/no-such-page"] {
        get(address, path)?;
    }
    let metrics = get(address, "/metrics")?;
    ensure!(metrics.contains("evenkeel_http_requests_total{"), "no metrics: {metrics}");
    let mut lint = promtool(&["check", "metrics"]);
    let mut lint = lint.stdin(Stdio::piped()).spawn().context("cannot start promtool")?;
    lint.stdin.take().context("promtool takes no input")?.write_all(metrics.as_bytes())?;
    let status = lint.wait()?;
    ensure!(status.success(), "promtool finds fault with the metrics ({status})");
    Ok(())
}

/// The body of a response.
fn get(address: &str, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(ANSWER_MAX))?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (_, body) = answer.split_once("\r\n\r\n").context("not an HTTP response")?;
    Ok(body.to_owned())
}
