//! Measures the quality of the results; fails if a goal is missed.

use anyhow::Result;

use crate::{bench, output_of, root, run};

/// Fresh households are derived from the commit, so that every change is measured on others.
pub(crate) fn measure(seeds: u64, file: Option<&str>) -> Result<()> {
    bench::build()?;
    let mut git = std::process::Command::new("git");
    let commit =
        String::from_utf8(output_of(git.args(["rev-parse", "HEAD"]).current_dir(root()))?)?;
    let mut bench = bench::bench()?;
    bench.args(["quality", &seeds.to_string(), commit.trim()]).args(file);
    run(&mut bench)
}
