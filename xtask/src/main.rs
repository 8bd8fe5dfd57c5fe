//! Development tasks: all checks, generated files, benchmarks, and a database for development.

mod advisories;
mod bench;
mod citus;
mod compile;
mod demo_server;
mod dist;
mod features;
mod fuzz;
mod generate;
mod install;
mod installations;
mod licences;
mod mcp;
mod node;
mod plaid_sandbox;
mod postgres;
mod promtool;
mod quality;
mod schemathesis;
mod servers;
mod storm;
mod suite;
mod test;

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

#[cfg(not(unix))]
compile_error!("xtask needs a Unix: on Windows, run it inside WSL");

const HELP: &str = "\
usage: cargo xtask <task>

  test              check everything, from formatting to the pages in a browser
  test --list       list the steps
  test --only STEP  run one step; may be given several times
  generate          rewrite the generated files
  fuzz [SECONDS [TARGET]]
                    fuzz each reader of foreign bytes, or one, for SECONDS each (60)
  bench [ROWS]      measure pages, files, insights, approvals and webhooks on both databases
                    (5000000 rows)
  bench webhooks    measure only webhooks
  bench banks       measure only syncs with banks
  bench pages       measure only the pages for people
  bench mcp         measure a search over MCP against the API, and calls that wait
  plaid-sandbox     connect, sync and repair in Plaid's sandbox, with PLAID_CLIENT_ID and
                    PLAID_SECRET from the environment
  quality [SEEDS [FILE]]
                    measure the quality on households of known truth, with SEEDS fresh ones
                    of each kind (12), and on FILE with more descriptors
  quality statements [--list]
                    measure how statement files by others are read, if they are there
  storm [--seed N] [--minutes M | --seconds S] [--processes N]
                    run servers on one PostgreSQL under faults drawn from the seed, for a minute,
                    and check that nothing is lost, doubled or stuck
  dist [TARGET]     build what is shipped into target/packages: static programs, Debian packages,
                    dependency lists and checksums; then install and try those for this machine
  dist --build-only [TARGET]
                    the same without trying it
  dist --compare [TARGET]
                    build the last commit in two folders, and fail if the bytes differ
  image [TARGET]    write container images of the programs that `dist` has built, and try the one
                    for this machine
  postgres          run a temporary PostgreSQL until its input ends or Ctrl-C
  citus [FILTER]    run the tests of `service` on a sharded PostgreSQL: a coordinator and two
                    workers, if the extension Citus is installed
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["test", "--list"] => {
            test::list();
            Ok(())
        }
        ["test", options @ ..] => test::run(&test::chosen(options)?),
        ["generate"] => generate::write(),
        ["fuzz"] => fuzz::check(None, Duration::from_secs(60)),
        ["fuzz", seconds, target @ ..] if target.len() < 2 => {
            let seconds = seconds.parse().context("SECONDS must be a number")?;
            fuzz::check(target.first().copied(), Duration::from_secs(seconds))
        }
        ["bench"] => bench::measure(5_000_000),
        ["bench", "webhooks"] => bench::measure_webhooks(),
        ["bench", "banks"] => bench::measure_banks(),
        ["bench", "pages"] => bench::measure_pages(),
        ["bench", "mcp"] => bench::mcp::measure(),
        ["bench", rows] => bench::measure(rows.parse().context("ROWS must be a number")?),
        ["plaid-sandbox"] => plaid_sandbox::run(),
        ["quality"] => quality::measure(12, None),
        ["quality", "statements", options @ ..] => quality::measure_statements(options),
        ["quality", seeds, file @ ..] if file.len() < 2 => {
            let seeds = seeds.parse().context("SEEDS must be a number")?;
            quality::measure(seeds, file.first().copied())
        }
        ["storm", options @ ..] => storm::start(options),
        ["dist", "--compare", targets @ ..] => dist::compare::check(targets),
        ["dist", "--build-only", targets @ ..] => dist::programs_untried(targets),
        ["dist", targets @ ..] => dist::programs(targets),
        ["image", targets @ ..] => dist::images(targets),
        ["postgres"] => postgres::in_foreground(),
        ["citus", filters @ ..] => citus::test(filters),
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        _ => bail!("no such task: {}\n\n{HELP}", arguments.join(" ")),
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root
}

/// Cargo's target folder: this program is in its `debug` folder.
fn target_folder() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let folder = program.ancestors().find(|it| it.join("CACHEDIR.TAG").is_file());
    Ok(folder.context("this program is not in Cargo's target folder")?.to_owned())
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command, and fails if it fails.
fn run(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    let status = command.status().with_context(|| format!("cannot start `{shown}`"))?;
    ensure!(status.success(), "`{shown}` failed ({status})");
    Ok(())
}

/// Runs a command and returns its output. Its errors are shown only if it fails.
fn output_of(command: &mut Command) -> Result<Vec<u8>> {
    let shown = shown(command);
    let output = command.output().with_context(|| format!("cannot start `{shown}`"))?;
    ensure!(
        output.status.success(),
        "`{shown}` failed ({}): {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim_end()
    );
    Ok(output.stdout)
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|it| it.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
