//! Runs our Plaid client against Plaid's sandbox, with the developer's keys from the environment.

use std::io::Write as _;
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};

use crate::cargo;

const MISSING: &str = "nothing was run: set PLAID_CLIENT_ID and PLAID_SECRET to the keys of your \
    sandbox, from https://dashboard.plaid.com/developers/keys";

pub(crate) fn run() -> Result<()> {
    let key = |name: &str| {
        let value = std::env::var_os(name).and_then(|it| it.into_string().ok());
        value.filter(|it| !it.is_empty())
    };
    let keys = key("PLAID_CLIENT_ID").zip(key("PLAID_SECRET"));
    let (client_id, secret) = keys.context(MISSING)?;
    let mut command = cargo(&["run", "--quiet", "--package", "bench", "--", "plaid-sandbox"]);
    let mut child = command.stdin(Stdio::piped()).spawn().context("cannot start cargo")?;
    let mut input = child.stdin.take().context("the program has no input")?;
    writeln!(input, "{client_id}\n{secret}")?;
    drop(input);
    ensure!(child.wait()?.success(), "a step failed in Plaid's sandbox");
    Ok(())
}
