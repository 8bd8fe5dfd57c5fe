//! Searches with libFuzzer for bytes that break a reader of foreign files, for as long as one likes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::{cargo, install, output_of, root, run, target_folder};

/// A target of `fuzz`, and the folders with what it starts from.
const TARGETS: [(&str, &[&str]); 8] = [
    ("any", &[CAMT, CSV, EVENKEEL, MT940, OFX, QIF]),
    ("camt", &[CAMT]),
    ("csv", &[CSV]),
    ("evenkeel", &[EVENKEEL]),
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

/// What LLVM needs to tell libFuzzer where the program has been. All of it works with a stable Rust, because there is
/// no sanitizer in it: without unsafe code of our own there is little for one to find.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Runs all targets, or the one that is named, for so long each.
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
        let started: Vec<Run> = some
            .iter()
            .map(|(name, seeds)| Run::start(name, seeds, &programs, time))
            .collect::<Result<_>>()?;
        // All are waited for before one of them may fail.
        let ended: Vec<_> = started.into_iter().map(Run::end).collect();
        ended.into_iter().collect::<Result<Vec<()>>>()?;
    }
    Ok(())
}

/// A number that follows from the commit, so that every change meets other mutations.
pub(crate) fn seed() -> u64 {
    let mut git = Command::new("git");
    let commit = output_of(git.args(["rev-parse", "--short=12", "HEAD"]).current_dir(root()));
    let digits = commit.ok().and_then(|it| String::from_utf8(it).ok()).unwrap_or_default();
    u64::from_str_radix(digits.trim(), 16).unwrap_or(1)
}

/// The folder with the programs. A target is named, so that the flags are not for what only helps to build.
fn build() -> Result<PathBuf> {
    let said = String::from_utf8(output_of(Command::new("rustc").arg("-vV"))?)?;
    let host = said.lines().find_map(|it| it.strip_prefix("host: "));
    let host = host.context("`rustc -vV` names no host")?;
    let mut command = cargo(&["build", "--release", "--locked", "--target", host]);
    command.args(["--manifest-path", "fuzz/libfuzzer/Cargo.toml", "--target-dir"]).arg(folder()?);
    run(command.env("RUSTFLAGS", FLAGS))?;
    Ok(folder()?.join(host).join("release"))
}

fn folder() -> Result<PathBuf> {
    Ok(target_folder()?.join("fuzz"))
}

/// One target at work.
struct Run {
    name: &'static str,
    program: PathBuf,
    log: PathBuf,
    artifacts: PathBuf,
    child: Child,
}

impl Run {
    fn start(name: &'static str, seeds: &[&str], programs: &Path, time: Duration) -> Result<Run> {
        let place = folder()?.join("runs").join(name);
        let (corpus, seed, artifacts) =
            (place.join("corpus"), place.join("seeds"), place.join("artifacts"));
        for made in [&corpus, &seed, &artifacts] {
            fs::create_dir_all(made)?;
        }
        for folder in seeds {
            copy_seeds(&root().join(folder), &seed)?;
        }
        let (log, program) = (place.join("log"), programs.join(name));
        let mut command = Command::new(&program);
        command
            .arg(format!("-max_total_time={}", time.as_secs()))
            .args(["-max_len=65536", "-rss_limit_mb=1024", "-timeout=10"])
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            // What is found goes into the first.
            .args([&corpus, &seed])
            .stdout(File::create(&log)?)
            .stderr(File::options().append(true).open(&log)?);
        let child = command.spawn().with_context(|| format!("cannot start {name}"))?;
        Ok(Run { name, program, log, artifacts, child })
    }

    fn end(mut self) -> Result<()> {
        let status = self.child.wait()?;
        let said = String::from_utf8_lossy(&fs::read(&self.log)?).into_owned();
        match status.success() {
            true => {
                println!("{:12}{}", self.name, said.lines().last().unwrap_or_default());
                Ok(())
            }
            false => bail!("{}", self.complaint(status, &said)),
        }
    }

    /// What it died of, and how to see it again.
    fn complaint(&self, status: ExitStatus, said: &str) -> String {
        let lines: Vec<&str> = said.lines().collect();
        // Its progress says nothing; from the panic on it does.
        let from = lines.iter().position(|it| it.contains("panicked at"));
        let from = from.unwrap_or(lines.len().saturating_sub(40));
        let mark = "Test unit written to ";
        let artifact = lines.iter().find_map(|it| it.split(mark).nth(1));
        format!(
            "the target {} failed ({status}):\n{}\n\nsee it again: {} {}\n\
             mend the reader, and put what breaks it among the fixtures",
            self.name,
            lines[from..].iter().take(60).copied().collect::<Vec<_>>().join("\n"),
            self.program.display(),
            artifact.unwrap_or(&self.artifacts.display().to_string())
        )
    }
}

/// Expectations lie beside the fixtures, and are no files of banks.
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
    fn every_target_is_run_and_has_something_to_start_from() {
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
    fn a_target_that_is_not_there_is_refused() {
        assert!(check(Some("everything"), Duration::from_secs(1)).is_err());
    }
}
