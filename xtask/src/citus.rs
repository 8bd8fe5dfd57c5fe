//! A temporary cluster of PostgreSQL servers with Citus: one coordinator, two workers. Tests run on it like on one server.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::compile::{self, TestBinary};
use crate::output_of;
use crate::postgres::{self, Cluster, POSTGRES_VARIABLE};
use crate::suite::{self, Settings};

/// The variable that names the workers; the other one names the coordinator.
const WORKERS_VARIABLE: &str = "EVENKEEL_TEST_CITUS_WORKERS";
/// Each database has a process of Citus, and tests have many databases. The nodes have no certificates.
const SETTINGS: &str = "
shared_preload_libraries = 'citus'
citus.node_conninfo = 'sslmode=disable'
max_worker_processes = 64
max_locks_per_transaction = 256
";

/// Tests that change tables by statements or triggers of their own which Citus refuses, and two that restore a backup
/// from before version 14 of the schema, which only a plain database takes.
const NOT_WITH_CITUS: [&str; 5] = [
    "anchors::a_forged_or_copied_anchor_is_detected",
    "anchors::a_truncated_ledger_with_adjusted_figures_is_detected",
    "restores::the_admin_of_an_older_backup_is_admin_after_the_restore",
    "securities::a_restored_older_backup_has_the_same_ids_as_a_migrated_database",
    "imports::large::an_import_may_take_longer_than_the_statement_timeout",
];

/// Runs tests on a sharded database: those of `service`, or only those whose names contain one of the filters. Says so
/// and succeeds where the extension is not installed.
pub(crate) fn test(filters: &[&str]) -> Result<()> {
    let Some(library) = find_library()? else {
        println!(
            "SKIPPED: the extension Citus is not installed for this PostgreSQL (no citus.so in its library folder), \
             so nothing was run on a sharded database"
        );
        return Ok(());
    };
    println!("with {}", library.display());
    let nodes: Vec<Cluster> = ["coordinator", "worker-1", "worker-2"]
        .iter()
        .map(|it| start(it))
        .collect::<Result<_>>()?;
    let (coordinator, workers) = nodes.split_first().context("no node was started")?;
    let workers: Vec<String> = workers.iter().map(Cluster::url).collect();
    let (url, workers) = (coordinator.url(), workers.join(" "));
    let environment =
        [(POSTGRES_VARIABLE, Some(url.as_str())), (WORKERS_VARIABLE, Some(workers.as_str()))];
    let mut arguments = filters.to_vec();
    arguments.extend(NOT_WITH_CITUS.iter().flat_map(|it| ["--skip", it]));
    // The same programs as in `cargo xtask test`, so that nothing is compiled twice.
    let binaries = compile::workspace()?;
    let tests: Vec<&TestBinary> =
        binaries.iter().filter(|it| it.package == "service" && it.target == "it").collect();
    let settings = Settings { environment: &environment, arguments: &arguments };
    suite::run("citus", &tests, &settings)
}

fn start(name: &str) -> Result<Cluster> {
    Cluster::start_node(name, SETTINGS)
}

/// The extension's library, if this PostgreSQL has it.
fn find_library() -> Result<Option<PathBuf>> {
    let programs = postgres::install()?;
    let folder = output_of(Command::new(programs.join("pg_config")).arg("--pkglibdir"))?;
    let folder = String::from_utf8(folder).context("pg_config printed something else than text")?;
    let library = PathBuf::from(folder.trim()).join("citus.so");
    Ok(library.exists().then_some(library))
}
