//! All checks that a change must pass, as steps.

use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::compile::{self, TestBinary};
use crate::postgres::Cluster;
use crate::suite::Settings;
use crate::{
    advisories, cargo, dist, features, fuzz, generate, install, licences, mcp, run as run_command,
    schemathesis, suite,
};

pub(crate) struct Step {
    name: &'static str,
    what: &'static str,
    run: fn(&mut Shared) -> Result<()>,
}

/// State that steps share.
#[derive(Default)]
struct Shared {
    cluster: Option<Cluster>,
    binaries: Option<Vec<TestBinary>>,
    mcp_installation: Option<JoinHandle<Result<()>>>,
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

    /// Begins to install what the MCP clients need, which takes the network and hardly the processor.
    fn begin_mcp_installation(&mut self) {
        self.mcp_installation = Some(thread::spawn(mcp::install));
    }

    fn end_mcp_installation(&mut self) -> Result<()> {
        match self.mcp_installation.take().map(JoinHandle::join) {
            Some(Ok(outcome)) => outcome,
            Some(Err(_)) => bail!("the installation of the MCP clients panicked"),
            None => mcp::install(),
        }
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

const STEPS: [Step; 13] = [
    Step { name: "format", what: "every file is formatted", run: format },
    Step { name: "lint", what: "everything compiles, and Clippy finds nothing", run: lint },
    Step { name: "licences", what: "every dependency may be used", run: |_| licences::check() },
    Step {
        name: "advisories",
        what: "no dependency has a known fault",
        run: |_| advisories::check(),
    },
    Step { name: "postgres", what: "a temporary PostgreSQL runs", run: postgres },
    Step { name: "tests", what: "every test, on SQLite", run: tests },
    Step {
        name: "tests-postgres",
        what: "the integration tests, on PostgreSQL",
        run: tests_on_postgres,
    },
    Step { name: "fuzz", what: "hostile bytes, for some seconds", run: fuzz_briefly },
    Step {
        name: "schemathesis",
        what: "the API conforms to its OpenAPI document",
        run: conformance,
    },
    Step { name: "mcp", what: "the MCP server, as programs of others see it", run: mcp_clients },
    Step { name: "browser", what: "the pages, in a real browser", run: browser },
    Step {
        name: "packages",
        what: "packages, images, the service and proxies' settings work",
        run: packages,
    },
    Step { name: "generated", what: "the generated files are up to date", run: generated },
];

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
        println!("{}: passed after {:.1} s\n", step.name, took.as_secs_f32());
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
    install::pgbouncer();
    Ok(())
}

/// Without a PostgreSQL, even if the environment names one.
fn on_sqlite() -> Settings<'static> {
    Settings { environment: &[(POSTGRES_VARIABLE, None)], ..Settings::default() }
}

/// All tests except those that need a browser and the fuzz targets, which have their own steps.
fn tests(shared: &mut Shared) -> Result<()> {
    shared.begin_mcp_installation();
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

/// Random mutations of the fixtures for some seconds. `cargo xtask fuzz` searches longer.
fn fuzz_briefly(shared: &mut Shared) -> Result<()> {
    let seed = fuzz::seed().to_string();
    let binaries = shared.binaries_where(|it| it.package == FUZZ)?;
    let environment = [("EVENKEEL_FUZZ_SEED", Some(seed.as_str()))];
    suite::run("fuzz", &binaries, &Settings { environment: &environment, ..Settings::default() })
}

/// The browser tests start the program, which is compiled together with them.
fn browser(shared: &mut Shared) -> Result<()> {
    install::browser()?;
    shared.end_mcp_installation()?;
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
    shared.end_mcp_installation()?;
    mcp::check()
}

fn generated(shared: &mut Shared) -> Result<()> {
    shared.binaries()?;
    generate::check()
}

#[cfg(test)]
mod tests {
    use super::*;

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
