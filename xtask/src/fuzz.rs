//! Searches with libFuzzer for bytes that break a reader of foreign files.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::{cargo, install, output_of, root, run, target_folder};

/// The targets of `fuzz`, each with the folders of its seeds.
const TARGETS: [(&str, &[&str]); 10] = [
    ("any", &[CAMT, CSV, EVENKEEL, MT940, OFX, QIF]),
    ("camt", &[CAMT]),
    ("csv", &[CSV]),
    ("evenkeel", &[EVENKEEL]),
    ("exchange_rates", &["fuzz/seeds/exchange_rates"]),
    ("jws", &["fuzz/seeds/jws"]),
    ("mt940", &[MT940]),
    ("ofx", &[OFX]),
    ("qif", &[QIF]),
    ("simplefin", &["fuzz/seeds/simplefin"]),
];
const CAMT: &str = "crates/sources/fixtures/camt";
const CSV: &str = "crates/sources/fixtures/csv";
const EVENKEEL: &str = "crates/sources/fixtures/evenkeel";
const MT940: &str = "crates/sources/fixtures/mt940";
const OFX: &str = "crates/sources/fixtures/ofx";
const QIF: &str = "crates/sources/fixtures/qif";

/// Compiler flags that give libFuzzer coverage. They work with stable Rust because they include no sanitizer, which
/// would find little without unsafe code of our own.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Runs all targets, or only the named one, for this time each.
pub(crate) fn check(only: Option<&str>, time: Duration) -> Result<()> {
    let chosen: Vec<_> = TARGETS.iter().filter(|it| only.is_none_or(|name| name == it.0)).collect();
    if chosen.is_empty() {
        let names = TARGETS.map(|it| it.0).join(", ");
        bail!("there is no such target; there are {names}");
    }
    install::cpp_compiler()?;
    let programs = build()?;
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    for some in chosen.chunks(at_once) {
        let started: Vec<RunningTarget> = some
            .iter()
            .map(|(name, seeds)| RunningTarget::start(name, seeds, &programs, time))
            .collect::<Result<_>>()?;
        // Waits for all of them before reporting a failure.
        let ended: Vec<_> = started.into_iter().map(RunningTarget::end).collect();
        ended.into_iter().collect::<Result<Vec<()>>>()?;
    }
    Ok(())
}

/// A number derived from the commit, so that every change is tested with other mutations.
pub(crate) fn seed() -> u64 {
    let mut git = Command::new("git");
    let commit = output_of(git.args(["rev-parse", "--short=12", "HEAD"]).current_dir(root()));
    let digits = commit.ok().and_then(|it| String::from_utf8(it).ok()).unwrap_or_default();
    u64::from_str_radix(digits.trim(), 16).unwrap_or(1)
}

/// Builds the targets and returns their folder. An explicit `--target` keeps the flags away from build scripts.
fn build() -> Result<PathBuf> {
    let output = String::from_utf8(output_of(Command::new("rustc").arg("-vV"))?)?;
    let host = output.lines().find_map(|it| it.strip_prefix("host: "));
    let host = host.context("`rustc -vV` names no host")?;
    let mut command = cargo(&["build", "--release", "--locked", "--target", host]);
    command.args(["--manifest-path", "fuzz/libfuzzer/Cargo.toml", "--target-dir"]).arg(folder()?);
    run(command.env("RUSTFLAGS", FLAGS))?;
    Ok(folder()?.join(host).join("release"))
}

fn folder() -> Result<PathBuf> {
    Ok(target_folder()?.join("fuzz"))
}

/// A target that is running.
struct RunningTarget {
    name: &'static str,
    program: PathBuf,
    log: PathBuf,
    artifacts: PathBuf,
    child: Child,
}

impl RunningTarget {
    fn start(
        name: &'static str,
        seeds: &[&str],
        programs: &Path,
        time: Duration,
    ) -> Result<RunningTarget> {
        let folder_of_run = folder()?.join("runs").join(name);
        let (corpus, seed, artifacts) = (
            folder_of_run.join("corpus"),
            folder_of_run.join("seeds"),
            folder_of_run.join("artifacts"),
        );
        for made in [&corpus, &seed, &artifacts] {
            fs::create_dir_all(made)?;
        }
        for folder in seeds {
            copy_seeds(&root().join(folder), &seed)?;
        }
        let (log, program) = (folder_of_run.join("log"), programs.join(name));
        let mut command = Command::new(&program);
        command
            .arg(format!("-max_total_time={}", time.as_secs()))
            .args(["-max_len=65536", "-rss_limit_mb=1024", "-timeout=10"])
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            // libFuzzer writes new inputs into the first folder.
            .args([&corpus, &seed])
            .stdout(File::create(&log)?)
            .stderr(File::options().append(true).open(&log)?);
        let child = command.spawn().with_context(|| format!("cannot start {name}"))?;
        Ok(RunningTarget { name, program, log, artifacts, child })
    }

    fn end(mut self) -> Result<()> {
        let status = self.child.wait()?;
        let log_text = String::from_utf8_lossy(&fs::read(&self.log)?).into_owned();
        match status.success() {
            true => {
                println!("{:12}{}", self.name, log_text.lines().last().unwrap_or_default());
                Ok(())
            }
            false => bail!("{}", self.failure_message(status, &log_text)),
        }
    }

    /// Describes the failure, and how to reproduce it.
    fn failure_message(&self, status: ExitStatus, log_text: &str) -> String {
        let lines: Vec<&str> = log_text.lines().collect();
        // The progress output is not useful; the panic and what follows is.
        let from = lines.iter().position(|it| it.contains("panicked at"));
        let from = from.unwrap_or(lines.len().saturating_sub(40));
        let mark = "Test unit written to ";
        let artifact = lines.iter().find_map(|it| it.split(mark).nth(1));
        format!(
            "the target {} failed ({status}):\n{}\n\nreproduce it: {} {}\n\
             fix the reader, and add the bytes to its fixtures",
            self.name,
            lines[from..].iter().take(60).copied().collect::<Vec<_>>().join("\n"),
            self.program.display(),
            artifact.unwrap_or(&self.artifacts.display().to_string())
        )
    }
}

/// Copies the fixtures of a folder, without the expected results, which are no bank files.
fn copy_seeds(from: &Path, to: &Path) -> Result<()> {
    let list = fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))?;
    for entry in list {
        let path = entry?.path();
        if path.extension().is_none_or(|it| it != "expected")
            && let Some(name) = path.file_name()
        {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_listed_and_has_seeds() {
        let folder = fs::read_dir(root().join("fuzz/libfuzzer/targets")).unwrap();
        let mut files: Vec<String> =
            folder.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        assert_eq!(files, TARGETS.map(|it| format!("{}.rs", it.0)));
        for seeds in TARGETS.iter().flat_map(|it| it.1) {
            assert!(fs::read_dir(root().join(seeds)).unwrap().count() > 0, "{seeds}");
        }
    }

    #[test]
    fn an_unknown_target_is_refused() {
        assert!(check(Some("everything"), Duration::from_secs(1)).is_err());
    }
}
