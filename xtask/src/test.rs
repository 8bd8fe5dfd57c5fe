//! All checks that a change must pass, as steps.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::compile::{self, TestBinary};
use crate::installations::{Installations, Tool};
use crate::postgres::Cluster;
use crate::suite::Settings;
use crate::{
    advisories, cargo, dist, features, fuzz, generate, install, licences, mcp, run as run_command,
    schemathesis, storm, suite,
};

pub(crate) struct Step {
    name: &'static str,
    what: &'static str,
    needs: &'static [Tool],
    run: fn(&mut Shared) -> Result<()>,
}

/// State that steps share.
#[derive(Default)]
struct Shared {
    cluster: Option<Cluster>,
    binaries: Option<Vec<TestBinary>>,
}

impl Shared {
    /// Starts the database on first use, so that any step can run alone.
    fn cluster(&mut self) -> Result<&Cluster> {
        let started = match self.cluster.take() {
            Some(cluster) => cluster,
            None => Cluster::start_for_tests()?,
        };
        Ok(self.cluster.insert(started))
    }

    /// Compiles the workspace on first use.
    fn binaries(&mut self) -> Result<&[TestBinary]> {
        let compiled = match self.binaries.take() {
            Some(binaries) => binaries,
            None => compile::workspace()?,
        };
        Ok(self.binaries.insert(compiled))
    }

    fn binaries_where(
        &mut self,
        is_selected: impl Fn(&TestBinary) -> bool,
    ) -> Result<Vec<&TestBinary>> {
        Ok(self.binaries()?.iter().filter(|it| is_selected(it)).collect())
    }
}

const STEPS: [Step; 14] = [
    step("format", "every file is formatted", &[], format),
    step("lint", "everything compiles, and Clippy finds nothing", &[], lint),
    step("licences", "every dependency may be used", &[], |_| licences::check()),
    step("advisories", "no dependency has a known fault", &[], |_| advisories::check()),
    step("postgres", "a temporary PostgreSQL runs", &[Tool::Postgres], postgres),
    step("tests", "every test, on SQLite", &[], tests),
    step(
        "tests-postgres",
        "the integration tests, on PostgreSQL",
        &[Tool::Postgres],
        tests_on_postgres,
    ),
    step("storm", "three servers under faults, for a minute", &[Tool::Postgres], storm_briefly),
    step("fuzz", "hostile bytes, for some seconds", &[], fuzz_briefly),
    step(
        "schemathesis",
        "the API conforms to its OpenAPI document",
        &[Tool::Schemathesis],
        conformance,
    ),
    step("mcp", "the MCP server, as programs of others see it", &[Tool::McpClients], mcp_clients),
    step("browser", "the pages, in a real browser", &[Tool::Browser, Tool::McpClients], browser),
    step(
        "packages",
        "packages, images, the service and proxies' settings work",
        &[Tool::PackageTools],
        packages,
    ),
    step("generated", "the generated files are up to date", &[], generated),
];

const fn step(
    name: &'static str,
    what: &'static str,
    needs: &'static [Tool],
    run: fn(&mut Shared) -> Result<()>,
) -> Step {
    Step { name, what, needs, run }
}

/// The tests that need a browser.
const BROWSER: &str = "browser";
/// The package with the fuzz targets.
const FUZZ: &str = "fuzz";
/// Packages whose integration tests use no database: on PostgreSQL they would only run a second time.
const WITHOUT_DATABASE: [&str; 2] = ["net", "sources"];
/// The tests that read the repository's files, which need no second run on PostgreSQL either.
const REPOSITORY_RULES: &str = "tidy::";

pub(crate) const POSTGRES_VARIABLE: &str = "EVENKEEL_TEST_POSTGRES";

pub(crate) fn list() {
    for step in &STEPS {
        println!("{:16}{}", step.name, step.what);
    }
}

/// The steps that the options select: all of them, unless some are named.
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
    let mut installations = Installations::begin(tools(steps));
    let mut times = Vec::new();
    for step in steps {
        println!("{}: {}", step.name, step.what);
        let start = Instant::now();
        let installed = step.needs.iter().try_for_each(|it| installations.finish(*it));
        let outcome = installed.and_then(|()| (step.run)(&mut shared));
        let took = start.elapsed();
        times.push((step.name, took));
        if let Err(error) = outcome {
            summarize(&times);
            return Err(error.context(format!("step {} failed", step.name)));
        }
        println!("{}: passed after {:.1} s\n", step.name, took.as_secs_f32());
    }
    summarize(&times);
    Ok(())
}

/// What the steps need, once each, in the order in which they need it.
fn tools(steps: &[&Step]) -> Vec<Tool> {
    let mut tools = Vec::new();
    for tool in steps.iter().flat_map(|it| it.needs) {
        if !tools.contains(tool) {
            tools.push(*tool);
        }
    }
    tools
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
    let separate_workspace = ["--manifest-path", "fuzz/libfuzzer/Cargo.toml"];
    run_command(cargo(&["fmt", "--check"]).args(separate_workspace)).context(
        "not every file is formatted: run `cargo fmt --manifest-path fuzz/libfuzzer/Cargo.toml`",
    )
}

fn lint(shared: &mut Shared) -> Result<()> {
    features::check()?;
    shared.binaries().map(|_| ())
}

/// A separate step before the long ones, so that a missing PostgreSQL is reported early.
fn postgres(shared: &mut Shared) -> Result<()> {
    println!("{}", shared.cluster()?.url());
    Ok(())
}

/// Without a PostgreSQL, even if the environment names one.
fn on_sqlite() -> Settings<'static> {
    Settings { environment: &[(POSTGRES_VARIABLE, None)], ..Settings::default() }
}

/// All tests except those that need a browser and the fuzz targets, which have their own steps.
fn tests(shared: &mut Shared) -> Result<()> {
    let binaries = shared.binaries_where(|it| it.target != BROWSER && it.package != FUZZ)?;
    suite::run("sqlite", &binaries, &on_sqlite())
}

/// Integration tests of the packages that use a database.
fn tests_on_postgres(shared: &mut Shared) -> Result<()> {
    let url = shared.cluster()?.url();
    let binaries = shared.binaries_where(|it| {
        it.kind == "test" && it.target == "it" && !WITHOUT_DATABASE.contains(&it.package.as_str())
    })?;
    let environment = [(POSTGRES_VARIABLE, Some(url.as_str()))];
    let settings = Settings { environment: &environment, arguments: &["--skip", REPOSITORY_RULES] };
    suite::run("postgres", &binaries, &settings)
}

/// A storm of a minute. `cargo xtask storm` runs others.
fn storm_briefly(shared: &mut Shared) -> Result<()> {
    shared.binaries()?;
    storm::rage(shared.cluster()?, &["--seed", "1"])
}

/// Random mutations of the fixtures for some seconds. `cargo xtask fuzz` searches longer.
fn fuzz_briefly(shared: &mut Shared) -> Result<()> {
    let seed = fuzz::seed().to_string();
    let binaries = shared.binaries_where(|it| it.package == FUZZ)?;
    let environment = [("EVENKEEL_FUZZ_SEED", Some(seed.as_str()))];
    suite::run("fuzz", &binaries, &Settings { environment: &environment, ..Settings::default() })
}

/// The browser tests start the program, which is compiled together with them.
fn browser(shared: &mut Shared) -> Result<()> {
    let binaries = shared.binaries_where(|it| it.target == BROWSER)?;
    suite::run("browser", &binaries, &on_sqlite())
}

/// The document is generated from the same list as the routes; this tests that both describe what the server does.
fn conformance(shared: &mut Shared) -> Result<()> {
    shared.binaries()?;
    schemathesis::check()
}

fn packages(shared: &mut Shared) -> Result<()> {
    shared.binaries()?;
    dist::check::run_all()
}

fn mcp_clients(shared: &mut Shared) -> Result<()> {
    shared.binaries()?;
    mcp::check()
}

fn generated(shared: &mut Shared) -> Result<()> {
    shared.binaries()?;
    generate::check()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_two_steps_need_is_installed_once() {
        let both = chosen(&["--only", "mcp", "--only", "browser"]).unwrap();
        assert_eq!(tools(&both), [Tool::McpClients, Tool::Browser]);
        assert_eq!(tools(&chosen(&["--only", "format"]).unwrap()), []);
    }

    fn names(options: &[&str]) -> Vec<&'static str> {
        chosen(options).unwrap().iter().map(|it| it.name).collect()
    }

    #[test]
    fn all_steps_run_in_order_unless_some_are_named() {
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
