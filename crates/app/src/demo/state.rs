//! The state of a demo, kept in its data directory so that the next start continues it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use base::Timestamp;
use serde::{Deserialize, Serialize};

use crate::cli;
use crate::config::Config;
use crate::data_dir;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    seed: u64,
    /// The time the data was generated for; the live feed continues from there.
    as_of: String,
    /// The size of load-test data; none for the household.
    pub(super) size: Option<Size>,
    /// Whether all data was imported. An interrupted start imports again; known rows are not imported twice.
    pub(super) complete: bool,
    /// Whether there was no state file; the database may then hold real data.
    #[serde(skip)]
    pub(super) is_new: bool,
}

/// The size of load-test data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Size {
    pub(super) users: u64,
    pub(super) transactions: u64,
}

impl State {
    /// The existing demo if it matches the requested one, otherwise the requested one.
    pub(super) fn open(config: &Config, args: &cli::Demo, now: Timestamp) -> Result<State> {
        let size = args.users.map(|users| Size {
            users,
            transactions: args.transactions.unwrap_or(users.saturating_mul(2_000)),
        });
        let Some(found) = read(&path(config))? else {
            let seed = args.seed.unwrap_or(1);
            let as_of = now.to_string();
            return Ok(State { seed, as_of, size, complete: false, is_new: true });
        };
        let other_seed = args.seed.is_some_and(|it| it != found.seed);
        if other_seed || size.is_some() && size != found.size {
            bail!(
                "{} contains another demo ({}); start that one, or use another --data-dir",
                config.data_dir.display(),
                found.flags()
            );
        }
        Ok(found)
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    pub(super) fn as_of(&self) -> Result<Timestamp> {
        self.as_of
            .parse()
            .context("demo.json has no valid time; start the demo with another --data-dir")
    }

    pub(super) fn finish(mut self, config: &Config) -> Result<()> {
        self.complete = true;
        self.save(config)
    }

    pub(super) fn save(&self, config: &Config) -> Result<()> {
        data_dir::write_private(&path(config), serde_json::to_string_pretty(self)?.as_bytes())
    }

    fn flags(&self) -> String {
        match self.size {
            None => format!("--seed {}", self.seed),
            Some(Size { users, transactions }) => {
                format!("--seed {} --users {users} --transactions {transactions}", self.seed)
            }
        }
    }
}

fn path(config: &Config) -> PathBuf {
    config.data_dir.join("demo.json")
}

fn read(path: &Path) -> Result<Option<State>> {
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    let state = serde_json::from_str(&text);
    Ok(Some(state.with_context(|| format!("{} is damaged", path.display()))?))
}
