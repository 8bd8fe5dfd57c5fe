//! Tests the MCP server with programs of others: the conformance suite of the protocol's authors, in both eras, and the
//! Python SDK as a client. The suite runs against the product, and against the same layer with the suite's fixtures.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::Value;

use crate::demo_server::DemoServer;
use crate::{install, node, root, run, target_folder};

/// The versions of the suite, of Node.js and of the SDKs, the forwarder and the clients.
const FOLDER: &str = "xtask/mcp";
/// The revisions, each with the scenarios that the product cannot pass, because they need tools which only a test server
/// has.
const REVISIONS: [(&str, &str); 2] =
    [("2026-07-28", "expected-2026-07-28.yml"), ("2025-11-25", "expected-2025-11-25.yml")];

/// Installs the suite and the SDKs on first use. The browser tests use the SDKs too, and axe-core beside them.
pub(crate) fn install() -> Result<()> {
    node_modules()?;
    python()?;
    Ok(())
}

pub(crate) fn check() -> Result<()> {
    let node = node_modules()?;
    let python = python()?;
    let server = DemoServer::start("mcp")?;
    let address = format!("{}/mcp", server.fact("web_url")?);
    let key = server.fact("api_key")?;
    let fixtures = FixtureServer::start()?;
    let forwarder = Forwarder::start(&node, &address, key)?;
    let to_fixtures = Forwarder::start(&node, &fixtures.url, &fixtures.key)?;
    let mut suites = Vec::new();
    for (revision, expected) in REVISIONS {
        suites.push(Suite { revision, url: forwarder.url(), expected: Some(expected) });
        suites.push(Suite { revision, url: to_fixtures.url(), expected: None });
    }
    // They mostly wait, so they run at the same time.
    thread::scope(|scope| {
        let running: Vec<_> =
            suites.iter().map(|it| scope.spawn(|| it.run(&node, &server.folder))).collect();
        running.into_iter().try_for_each(|it| {
            println!("{}", it.join().map_err(|_| anyhow!("a suite panicked"))??);
            Ok::<(), anyhow::Error>(())
        })
    })?;
    let log = server.folder.join("python.txt");
    let mut client = Command::new(python);
    client.arg(root().join(FOLDER).join("client.py")).args([&address, key]);
    client.env("PYTHONDONTWRITEBYTECODE", "1");
    let output = logged(client, &log).context("the Python SDK cannot use the MCP server")?;
    println!("{}", output.trim());
    Ok(())
}

/// The conformance suite for one revision, against one server.
struct Suite {
    revision: &'static str,
    url: String,
    /// The scenarios that may fail; none for the server with the fixtures, which must pass all that count.
    expected: Option<&'static str>,
}

impl Suite {
    fn run(&self, node: &Path, folder: &Path) -> Result<String> {
        let revision = self.revision;
        let server = if self.expected.is_some() { "product" } else { "fixtures" };
        let folder = folder.join(format!("conformance-{server}-{revision}"));
        fs::create_dir_all(&folder)?;
        let mut suite = Command::new(node.join(".bin/node"));
        suite
            .current_dir(&folder)
            .arg(node.join("@modelcontextprotocol/conformance/dist/index.js"))
            .args(["server", "--url", &self.url, "--requirements", revision]);
        if let Some(expected) = self.expected {
            suite.arg("--expected-failures").arg(root().join(FOLDER).join(expected));
        }
        let output = logged(suite, &folder.join("output.txt"))
            .with_context(|| format!("the {server} does not conform to {revision}"))?;
        let passed = output.lines().filter(|it| it.starts_with('\u{2713}')).count();
        Ok(format!("{revision}, {server}: {passed} scenarios pass"))
    }
}

/// The product's layer with the suite's fixtures. It ends with this value.
struct FixtureServer {
    child: Child,
    url: String,
    key: String,
}

impl FixtureServer {
    /// Starts the example of the crate `web`, which is compiled together with this program.
    fn start() -> Result<FixtureServer> {
        let program = std::env::current_exe()?.with_file_name("examples").join("mcp_conformance");
        let mut child = Command::new(&program)
            .env_remove("EVENKEEL_TEST_POSTGRES")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let mut server = FixtureServer { child, url: String::new(), key: String::new() };
        let facts: Value = serde_json::from_str(&line).context("the fixtures did not start")?;
        server.url = facts["url"].as_str().unwrap_or_default().to_owned();
        server.key = facts["key"].as_str().unwrap_or_default().to_owned();
        Ok(server)
    }
}

impl Drop for FixtureServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a program to its end and returns its output, or fails with it.
fn logged(mut command: Command, log: &Path) -> Result<String> {
    command.stdout(File::create(log)?).stderr(File::options().append(true).open(log)?);
    let status = command.stdin(Stdio::null()).status().context("cannot start it")?;
    let output = String::from_utf8_lossy(&fs::read(log)?).into_owned();
    if !status.success() {
        bail!("{status}:\n{output}");
    }
    Ok(output)
}

/// The folder of the suite and of the Node.js that it needs, installed on first use.
fn node_modules() -> Result<PathBuf> {
    node::packages("mcp/node", FOLDER).context("the conformance suite could not be installed")
}

/// The Python that has the SDK, installed on first use.
fn python() -> Result<PathBuf> {
    let requirements = root().join(FOLDER).join("requirements.txt");
    let wanted = fs::read_to_string(&requirements)?;
    let folder = target_folder()?.join("mcp").join("python");
    let program = folder.join("venv/bin/python");
    if fs::read_to_string(folder.join("installed.txt")).is_ok_and(|it| it == wanted) {
        return Ok(program);
    }
    install::python()?;
    println!("installing the MCP SDK with pip");
    if folder.join("venv").exists() {
        fs::remove_dir_all(folder.join("venv"))?;
    }
    fs::create_dir_all(&folder)?;
    run(Command::new("python3").args(["-m", "venv"]).arg(folder.join("venv")))?;
    let mut pip = Command::new(&program);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    run(pip.arg("--requirement").arg(&requirements)).context("the SDK could not be installed")?;
    fs::write(folder.join("installed.txt"), wanted)?;
    Ok(program)
}

/// Adds the API key to the suite's requests, because the suite cannot send one. It ends with this value.
struct Forwarder {
    child: Child,
    port: u16,
}

impl Forwarder {
    fn start(node: &Path, address: &str, key: &str) -> Result<Forwarder> {
        let mut child = Command::new(node.join(".bin/node"))
            .arg(root().join(FOLDER).join("forward.mjs"))
            .args([address, key])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the forwarder")?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let port = line.trim().parse().context("the forwarder did not start");
        let mut forwarder = Forwarder { child, port: 0 };
        forwarder.port = port?;
        Ok(forwarder)
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
