//! Measures how good the answers are; fails when a goal is missed.

use anyhow::Result;

use crate::{cargo, output_of, root, run};

/// Fresh households follow from the commit, so that every change meets others.
pub(crate) fn measure(seeds: u64, file: Option<&str>) -> Result<()> {
    run(&mut cargo(&["build", "--release", "--package", "bench"]))?;
    let mut git = std::process::Command::new("git");
    let commit =
        String::from_utf8(output_of(git.args(["rev-parse", "HEAD"]).current_dir(root()))?)?;
    let mut bench = std::process::Command::new(root().join("target/release/bench"));
    bench.args(["quality", &seeds.to_string(), commit.trim()]).args(file);
    run(&mut bench)
}
