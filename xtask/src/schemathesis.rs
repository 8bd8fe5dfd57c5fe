//! Tests the running API against its OpenAPI document: Schemathesis sends requests that the document allows and requests
//! that it forbids, and checks every response.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::demo_server::DemoServer;
use crate::{install, root, run};

/// The packages with their exact versions, and the settings with the reasons for them.
const REQUIREMENTS: &str = "xtask/schemathesis/requirements.txt";
const SETTINGS: &str = "xtask/schemathesis/schemathesis.toml";
const HOOKS: &str = "xtask/schemathesis/hooks.py";
const DOCUMENT: &str = "docs/openapi.json";

/// The same requests in every run.
const SEED: &str = "20260410";
/// Generated requests for each operation, beside those that cover the bounds of every parameter.
const EXAMPLES: &str = "5";

pub(crate) fn install() -> Result<()> {
    programs().map(|_| ())
}

pub(crate) fn check() -> Result<()> {
    let programs = programs()?;
    let document = root().join(DOCUMENT);
    run(Command::new(programs.join("openapi-spec-validator")).arg(&document))
        .context("the OpenAPI document is not valid")?;
    let server = DemoServer::start("schemathesis")?;
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

fn programs() -> Result<PathBuf> {
    install::python_packages("schemathesis", REQUIREMENTS)
}
