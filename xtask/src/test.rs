//! The whole check, step by step: what it names is what a change must pass.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::postgres::Cluster;
use crate::{advisories, cargo, fuzz, generate, install, licences, run as run_command};

pub(crate) struct Step {
    name: &'static str,
    what: &'static str,
    run: fn(&mut Shared) -> Result<()>,
}

/// What one step leaves for the next.
#[derive(Default)]
struct Shared {
    cluster: Option<Cluster>,
}

impl Shared {
    /// Starts the database on first use, so that any step can run alone.
    fn cluster(&mut self) -> Result<&Cluster> {
        let started = match self.cluster.take() {
            Some(cluster) => cluster,
            None => Cluster::start()?,
        };
        Ok(self.cluster.insert(started))
    }
}

const STEPS: [Step; 10] = [
    Step { name: "format", what: "every file is formatted", run: format },
    Step { name: "lint", what: "clippy finds nothing", run: lint },
    Step { name: "licences", what: "every dependency may be used", run: |_| licences::check() },
    Step {
        name: "advisories",
        what: "no dependency has a known fault",
        run: |_| advisories::check(),
    },
    Step { name: "postgres", what: "a throw-away PostgreSQL runs", run: postgres },
    Step { name: "tests", what: "every test, on SQLite", run: tests },
    Step {
        name: "tests-postgres",
        what: "the integration tests, on PostgreSQL",
        run: tests_on_postgres,
    },
    Step { name: "fuzz", what: "hostile bytes, for some seconds", run: fuzz_for_a_moment },
    Step { name: "browser", what: "the pages, in a real browser", run: browser },
    Step { name: "generated", what: "the generated files are up to date", run: generated },
];

pub(crate) const POSTGRES_VARIABLE: &str = "EVENKEEL_TEST_POSTGRES";

pub(crate) fn list() {
    for step in &STEPS {
        println!("{:16}{}", step.name, step.what);
    }
}

/// The steps that the options ask for: all of them, unless some are named.
pub(crate) fn chosen(options: &[&str]) -> Result<Vec<&'static Step>> {
    let mut names = Vec::new();
    for option in options.chunks(2) {
        match option {
            ["--only", name] if STEPS.iter().any(|it| it.name == *name) => names.push(*name),
            ["--only", name] => bail!("no step is called {name}: see `cargo xtask test --list`"),
            _ => bail!("`cargo xtask test` takes --list or --only STEP, not {}", option.join(" ")),
        }
    }
    Ok(STEPS.iter().filter(|it| names.is_empty() || names.contains(&it.name)).collect())
}

pub(crate) fn run(steps: &[&Step]) -> Result<()> {
    let mut shared = Shared::default();
    let mut times = Vec::new();
    for step in steps {
        println!("{}: {}", step.name, step.what);
        let start = Instant::now();
        let outcome = (step.run)(&mut shared);
        let took = start.elapsed();
        times.push((step.name, took));
        if let Err(error) = outcome {
            summarize(&times);
            return Err(error.context(format!("step {} failed", step.name)));
        }
        println!("{}: fine after {:.1} s\n", step.name, took.as_secs_f32());
    }
    summarize(&times);
    Ok(())
}

fn summarize(times: &[(&str, Duration)]) {
    println!("{:16}{:>8}", "step", "seconds");
    for (name, took) in times {
        println!("{name:16}{:8.1}", took.as_secs_f32());
    }
    let total: Duration = times.iter().map(|(_, took)| *took).sum();
    println!("{:16}{:8.1}", "in all", total.as_secs_f32());
}

fn format(_: &mut Shared) -> Result<()> {
    install::rust_component("rustfmt", "fmt")?;
    run_command(&mut cargo(&["fmt", "--all", "--check"]))
        .context("not every file is formatted: run `cargo fmt --all`")?;
    let apart = ["--manifest-path", "fuzz/Cargo.toml"];
    run_command(cargo(&["fmt", "--check"]).args(apart))
        .context("not every file is formatted: run `cargo fmt --manifest-path fuzz/Cargo.toml`")
}

fn lint(_: &mut Shared) -> Result<()> {
    install::rust_component("clippy", "clippy")?;
    run_command(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

/// A step of its own before the long ones, so that a machine without PostgreSQL says so early.
fn postgres(shared: &mut Shared) -> Result<()> {
    println!("{}", shared.cluster()?.url());
    Ok(())
}

/// Cargo settles which features a dependency is built with by the packages that are asked for. All steps ask for all of
/// them, and for tests, so that nothing is built twice.
fn test(targets: &[&str]) -> Command {
    let mut command = cargo(&["test", "--workspace"]);
    command.args(targets).env_remove(POSTGRES_VARIABLE);
    command
}

/// Without those that need a browser, which have a step of their own.
fn tests(_: &mut Shared) -> Result<()> {
    run_command(&mut test(&["--lib", "--bins", "--test", "it"]))?;
    run_command(&mut test(&["--doc"]))
}

fn tests_on_postgres(shared: &mut Shared) -> Result<()> {
    run_command(test(&["--test", "it"]).env(POSTGRES_VARIABLE, shared.cluster()?.url()))
}

/// Long enough to find what is easily broken; `cargo xtask fuzz` looks longer.
fn fuzz_for_a_moment(_: &mut Shared) -> Result<()> {
    fuzz::check(None, Duration::from_secs(6))
}

/// They meet the program as it is built, so it is built first.
fn browser(_: &mut Shared) -> Result<()> {
    install::browser()?;
    build_program()?;
    run_command(&mut test(&["--test", "browser"]))
}

/// As it is built beside its own tests.
fn build_program() -> Result<()> {
    run_command(&mut test(&["--test", "it", "--no-run"]))
}

fn generated(_: &mut Shared) -> Result<()> {
    build_program()?;
    generate::check()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(options: &[&str]) -> Vec<&'static str> {
        chosen(options).unwrap().iter().map(|it| it.name).collect()
    }

    #[test]
    fn all_steps_run_unless_some_are_named_and_always_in_their_order() {
        assert_eq!(names(&[]).len(), STEPS.len());
        assert_eq!(names(&["--only", "tests", "--only", "format"]), ["format", "tests"]);
    }

    #[test]
    fn an_unknown_step_or_option_is_refused() {
        for bad in [&["--only", "everything"][..], &["--only"], &["--fast"], &["format"]] {
            assert!(chosen(bad).is_err(), "{bad:?}");
        }
    }
}
