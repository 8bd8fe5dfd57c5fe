//! All checks that a change must pass, as steps. The first steps run one after another. Of the others, those that keep the
//! cores busy run beside those that mostly wait; whichever end first, two steps run at once until all have begun.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};

use crate::compile::{self, TestBinary};
use crate::installations::{Installations, Tool};
use crate::postgres::{Cluster, POSTGRES_VARIABLE};
use crate::suite::Settings;
use crate::{
    advisories, cargo, dist, features, fuzz, generate, install, licences, mcp, promtool,
    run as run_command, schemathesis, servers, storm, suite,
};

pub(crate) struct Step {
    name: &'static str,
    what: &'static str,
    group: Group,
    needs: &'static [Tool],
    run: fn(&Shared) -> Result<()>,
}

/// The first steps run one after another, and then the busy ones beside the waiting ones.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Group {
    /// Runs before the other groups, and compiles what they use.
    First,
    /// Keeps the cores busy.
    Busy,
    /// Runs beside the busy group, and mostly waits for servers, browsers and timers.
    Waiting,
}

/// State that steps share.
#[derive(Default)]
struct Shared {
    cluster: OnFirstUse<Cluster>,
    binaries: OnFirstUse<Vec<TestBinary>>,
}

impl Shared {
    /// Starts the database on first use, so that any step can run alone.
    fn cluster(&self) -> Result<&Cluster> {
        self.cluster.get(Cluster::start_for_tests)
    }

    /// Compiles the workspace on first use.
    fn binaries(&self) -> Result<&[TestBinary]> {
        self.binaries.get(compile::workspace).map(Vec::as_slice)
    }

    fn binaries_where(
        &self,
        is_selected: impl Fn(&TestBinary) -> bool,
    ) -> Result<Vec<&TestBinary>> {
        Ok(self.binaries()?.iter().filter(|it| is_selected(it)).collect())
    }
}

/// A value that the first step to use it makes. Others wait for it.
struct OnFirstUse<T> {
    value: OnceLock<T>,
    making: Mutex<()>,
}

impl<T> Default for OnFirstUse<T> {
    fn default() -> OnFirstUse<T> {
        OnFirstUse { value: OnceLock::new(), making: Mutex::new(()) }
    }
}

impl<T> OnFirstUse<T> {
    fn get(&self, make: impl FnOnce() -> Result<T>) -> Result<&T> {
        let _one_at_a_time = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = self.value.get() {
            return Ok(made);
        }
        let made = make()?;
        Ok(self.value.get_or_init(|| made))
    }
}

const STEPS: [Step; 16] = [
    step("format", "every file is formatted", Group::First, &[], format),
    step("lint", "everything compiles, and Clippy finds nothing", Group::First, &[], lint),
    step("licences", "every dependency may be used", Group::First, &[], |_| licences::check()),
    step("advisories", "no dependency has a known fault", Group::First, &[], |_| {
        advisories::check()
    }),
    step("postgres", "a temporary PostgreSQL runs", Group::First, &[Tool::Postgres], postgres),
    step("tests", "every test, on SQLite", Group::Busy, &[], tests),
    step("fuzz", "hostile bytes, for some seconds", Group::Busy, &[], fuzz_briefly),
    step(
        "tests-postgres",
        "the integration tests, on PostgreSQL",
        Group::Busy,
        &[Tool::Postgres],
        tests_on_postgres,
    ),
    step(
        "storm",
        "three servers under faults, for a minute",
        Group::Waiting,
        &[Tool::Postgres],
        storm_briefly,
    ),
    step(
        "browser",
        "the pages, in a real browser",
        Group::Waiting,
        &[Tool::Browser, Tool::McpClients],
        browser,
    ),
    step(
        "schemathesis",
        "the API conforms to its OpenAPI document",
        Group::Waiting,
        &[Tool::Schemathesis],
        conformance,
    ),
    step(
        "metrics",
        "promtool reads the metrics and tests the alerts",
        Group::Waiting,
        &[Tool::Promtool],
        metrics,
    ),
    step(
        "servers",
        "backups in a real S3 server, and email through a real mail server",
        Group::Waiting,
        &[Tool::Servers],
        other_servers,
    ),
    step(
        "mcp",
        "the MCP server, as programs of others see it",
        Group::Waiting,
        &[Tool::McpClients],
        mcp_clients,
    ),
    step(
        "packages",
        "packages, images and reverse proxies work as documented",
        Group::Waiting,
        &[Tool::PackageTools, Tool::Postgres],
        packages,
    ),
    step("generated", "the generated files are up to date", Group::Waiting, &[], generated),
];

const fn step(
    name: &'static str,
    what: &'static str,
    group: Group,
    needs: &'static [Tool],
    run: fn(&Shared) -> Result<()>,
) -> Step {
    Step { name, what, group, needs, run }
}

/// The tests that need a browser.
const BROWSER: &str = "browser";
/// The package with the fuzz targets.
const FUZZ: &str = "fuzz";
/// Packages whose integration tests use no database: on PostgreSQL they would only run a second time.
const WITHOUT_DATABASE: [&str; 3] = ["net", "s3", "sources"];
/// The tests that read the repository's files, which need no second run on PostgreSQL either.
const REPOSITORY_RULES: &str = "tidy::";

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

pub(crate) fn run(steps: &[&'static Step]) -> Result<()> {
    let run = Run::begin(steps);
    let group = |group| steps.iter().copied().filter(move |it| it.group == group);
    group(Group::First).for_each(|it| run.step(it));
    // Taken from the front one after another, and from the back once no busy step is left.
    let waiting = Mutex::new(group(Group::Waiting).collect::<VecDeque<_>>());
    let waiting = || waiting.lock().unwrap_or_else(PoisonError::into_inner);
    thread::scope(|scope| {
        scope.spawn(|| std::iter::from_fn(|| waiting().pop_front()).for_each(|it| run.step(it)));
        group(Group::Busy).for_each(|it| run.step(it));
        std::iter::from_fn(|| waiting().pop_back()).for_each(|it| run.step(it));
    });
    run.finish()
}

/// One run of the chosen steps.
struct Run {
    start: Instant,
    shared: Shared,
    installations: Mutex<Installations>,
    has_failed: AtomicBool,
    ended: Mutex<Vec<Ended>>,
}

struct Ended {
    name: &'static str,
    took: Duration,
    outcome: Result<()>,
}

impl Run {
    fn begin(steps: &[&'static Step]) -> Run {
        Run {
            start: Instant::now(),
            shared: Shared::default(),
            installations: Mutex::new(Installations::begin(tools(steps))),
            has_failed: AtomicBool::new(false),
            ended: Mutex::new(Vec::new()),
        }
    }

    /// Runs a step, unless one has failed.
    fn step(&self, step: &Step) {
        if self.has_failed.load(Ordering::Relaxed) {
            return;
        }
        println!("{}: {}", step.name, step.what);
        let start = Instant::now();
        let outcome = self.install(step).and_then(|()| (step.run)(&self.shared));
        let took = start.elapsed();
        match &outcome {
            Ok(()) => println!("{}: passed after {:.1} s\n", step.name, took.as_secs_f32()),
            Err(_) => self.has_failed.store(true, Ordering::Relaxed),
        }
        let ended = Ended { name: step.name, took, outcome };
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(ended);
    }

    fn install(&self, step: &Step) -> Result<()> {
        let mut installations = self.installations.lock().unwrap_or_else(PoisonError::into_inner);
        step.needs.iter().try_for_each(|it| installations.finish(*it))
    }

    /// Prints how long the steps took, and fails with the errors of all that failed.
    fn finish(self) -> Result<()> {
        let ended = self.ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        println!("{:16}{:>8}", "step", "seconds");
        for Ended { name, took, .. } in &ended {
            println!("{name:16}{:8.1}", took.as_secs_f32());
        }
        println!("{:16}{:8.1}", "in all", self.start.elapsed().as_secs_f32());
        let errors = ended.into_iter().filter_map(|it| {
            let error = it.outcome.err()?;
            Some(format!("step {} failed: {error:#}", it.name))
        });
        let errors: Vec<String> = errors.collect();
        if errors.is_empty() { Ok(()) } else { Err(anyhow!("{}", errors.join("\n\n"))) }
    }
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

fn format(_: &Shared) -> Result<()> {
    install::rust_component("rustfmt", "fmt")?;
    run_command(&mut cargo(&["fmt", "--all", "--check"]))
        .context("not every file is formatted: run `cargo fmt --all`")?;
    let separate_workspace = ["--manifest-path", "fuzz/libfuzzer/Cargo.toml"];
    run_command(cargo(&["fmt", "--check"]).args(separate_workspace)).context(
        "not every file is formatted: run `cargo fmt --manifest-path fuzz/libfuzzer/Cargo.toml`",
    )
}

fn lint(shared: &Shared) -> Result<()> {
    features::check()?;
    shared.binaries().map(|_| ())
}

/// A separate step before the long ones, so that a missing PostgreSQL is reported early.
fn postgres(shared: &Shared) -> Result<()> {
    println!("{}", shared.cluster()?.url());
    Ok(())
}

/// Without a PostgreSQL, even if the environment names one.
fn on_sqlite() -> Settings<'static> {
    Settings { environment: &[(POSTGRES_VARIABLE, None)], ..Settings::default() }
}

/// All tests except those that need a browser and the fuzz targets, which have their own steps.
fn tests(shared: &Shared) -> Result<()> {
    let binaries = shared.binaries_where(|it| it.target != BROWSER && it.package != FUZZ)?;
    suite::run("sqlite", &binaries, &on_sqlite())
}

/// Integration tests of the packages that use a database.
fn tests_on_postgres(shared: &Shared) -> Result<()> {
    let url = shared.cluster()?.url();
    let binaries = shared.binaries_where(|it| {
        it.kind == "test" && it.target == "it" && !WITHOUT_DATABASE.contains(&it.package.as_str())
    })?;
    let environment = [(POSTGRES_VARIABLE, Some(url.as_str()))];
    let settings = Settings { environment: &environment, arguments: &["--skip", REPOSITORY_RULES] };
    suite::run("postgres", &binaries, &settings)
}

/// A storm of a minute. `cargo xtask storm` runs others.
fn storm_briefly(shared: &Shared) -> Result<()> {
    shared.binaries()?;
    storm::rage(&["--seed", "1"])
}

/// Random mutations of the fixtures for some seconds. `cargo xtask fuzz` searches longer.
fn fuzz_briefly(shared: &Shared) -> Result<()> {
    let seed = fuzz::seed().to_string();
    let binaries = shared.binaries_where(|it| it.package == FUZZ)?;
    let environment = [("EVENKEEL_FUZZ_SEED", Some(seed.as_str()))];
    suite::run("fuzz", &binaries, &Settings { environment: &environment, ..Settings::default() })
}

/// The browser tests start the program, which is compiled together with them.
fn browser(shared: &Shared) -> Result<()> {
    let binaries = shared.binaries_where(|it| it.target == BROWSER)?;
    suite::run("browser", &binaries, &on_sqlite())
}

/// The document is generated from the same list as the routes; this tests that both describe what the server does.
fn conformance(shared: &Shared) -> Result<()> {
    shared.binaries()?;
    schemathesis::check()
}

fn packages(shared: &Shared) -> Result<()> {
    shared.binaries()?;
    dist::check::run_all()
}

fn metrics(shared: &Shared) -> Result<()> {
    shared.binaries()?;
    promtool::check()
}

/// The client alone, and the whole program, against servers of others.
fn other_servers(shared: &Shared) -> Result<()> {
    let binaries = shared.binaries_where(|it| it.package == "s3" && it.target == "it")?;
    servers::check(|environment| {
        suite::run("servers", &binaries, &Settings { environment, arguments: &["real::"] })
    })
}

fn mcp_clients(shared: &Shared) -> Result<()> {
    shared.binaries()?;
    mcp::check()
}

fn generated(shared: &Shared) -> Result<()> {
    shared.binaries()?;
    generate::check()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_two_steps_need_is_installed_once() {
        let both = chosen(&["--only", "mcp", "--only", "browser"]).unwrap();
        assert_eq!(tools(&both), [Tool::Browser, Tool::McpClients]);
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
