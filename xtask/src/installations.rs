//! What the chosen steps need, installed in the background while the workspace compiles: installing takes the network and
//! hardly the processor.

use std::collections::HashMap;
use std::thread::{self, JoinHandle};

use anyhow::{Result, bail};

use crate::{dist, install, mcp, postgres, promtool, schemathesis, servers};

/// What a step installs before it runs.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Tool {
    Postgres,
    McpClients,
    Schemathesis,
    Browser,
    PackageTools,
    Promtool,
    Servers,
}

impl Tool {
    fn install(self) -> Result<()> {
        match self {
            Tool::Postgres => {
                postgres::install()?;
                install::pgbouncer();
                Ok(())
            }
            Tool::McpClients => mcp::install(),
            Tool::Schemathesis => schemathesis::install(),
            Tool::Browser => install::browser(),
            Tool::PackageTools => dist::check::install(),
            Tool::Promtool => promtool::install(),
            Tool::Servers => servers::install(),
        }
    }
}

type Outcomes = HashMap<Tool, Result<()>>;

/// Installations that run in the background, and the outcomes of those that ended.
#[derive(Default)]
pub(crate) struct Installations {
    running: Option<JoinHandle<Outcomes>>,
    ended: Outcomes,
}

impl Installations {
    /// Installs one tool after another, because apt-get cannot run twice at a time.
    pub(crate) fn begin(tools: Vec<Tool>) -> Installations {
        let install = move || tools.into_iter().map(|it| (it, it.install())).collect();
        Installations { running: Some(thread::spawn(install)), ended: Outcomes::new() }
    }

    /// Waits for the installations, and reports whether this one succeeded. Installs a tool that was not begun.
    pub(crate) fn finish(&mut self, tool: Tool) -> Result<()> {
        match self.running.take().map(JoinHandle::join) {
            Some(Ok(outcomes)) => self.ended.extend(outcomes),
            Some(Err(_)) => bail!("an installation panicked"),
            None => {}
        }
        self.ended.remove(&tool).unwrap_or_else(|| tool.install())
    }
}
