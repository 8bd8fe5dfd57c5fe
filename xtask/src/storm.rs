//! The storm: several servers on one PostgreSQL under faults. The program is in `crates/storm`.

use std::process::Command;

use anyhow::{Result, ensure};

use crate::postgres::{Cluster, POSTGRES_VARIABLE};
use crate::{cargo, run, target_folder};

/// Builds the programs and runs a storm with these options: `--seed`, `--minutes` or `--seconds`, `--processes`.
pub(crate) fn start(options: &[&str]) -> Result<()> {
    run(&mut cargo(&["build", "--quiet", "--package", "evenkeel", "--package", "storm"]))?;
    rage(options)
}

/// Runs a storm with programs that were built before, on a PostgreSQL of its own, because it crashes PostgreSQL.
pub(crate) fn rage(options: &[&str]) -> Result<()> {
    let cluster = Cluster::start_for_storm()?;
    let seed = options.windows(2).find(|it| it[0] == "--seed").map_or("1", |it| it[1]);
    let is_number = !seed.is_empty() && seed.bytes().all(|it| it.is_ascii_digit());
    ensure!(is_number, "--seed takes a whole number, not {seed}");
    let folder = target_folder()?.join("storm").join(format!("seed-{seed}"));
    let mut storm = Command::new(std::env::current_exe()?.with_file_name("storm"));
    run(storm.arg(folder).args(options).env(POSTGRES_VARIABLE, cluster.url()))
}
