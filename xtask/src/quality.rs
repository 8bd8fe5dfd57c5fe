//! Measures the quality of the results; fails if a goal is missed.

use anyhow::Result;

use crate::{bench, cargo, output_of, root, run};

/// Statement files by others, beside the checkout. They are not part of the project, so most machines do not have them.
const STATEMENTS: &str = "../shared/realdata/statements";

/// Measures how the statement files are read, if there are any. Only the readers are built.
pub(crate) fn measure_statements(options: &[&str]) -> Result<()> {
    let folder = root().join(STATEMENTS);
    if !folder.join("expected.json").is_file() {
        println!("SKIPPED: there are no statement files in {STATEMENTS}");
        return Ok(());
    }
    let mut command = cargo(&["run", "--quiet", "--package", "fuzz", "--bin", "statements", "--"]);
    run(command.arg(folder).args(options))
}

/// Fresh households are derived from the commit, so that every change is measured on others.
pub(crate) fn measure(seeds: u64, file: Option<&str>) -> Result<()> {
    measure_statements(&[])?;
    bench::build()?;
    let mut git = std::process::Command::new("git");
    let commit =
        String::from_utf8(output_of(git.args(["rev-parse", "HEAD"]).current_dir(root()))?)?;
    let mut bench = bench::bench()?;
    bench.args(["quality", &seeds.to_string(), commit.trim()]).args(file);
    run(&mut bench)
}
