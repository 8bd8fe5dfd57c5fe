//! Runs compiled tests: two programs at once, each with a thread for every core, because tests wait a lot
//! for disks, databases and each other. Failures are printed again at the very end, each with its output.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use crate::compile::TestBinary;
use crate::postgres::memory_folder;
use crate::target_folder;

/// Test programs that run at the same time.
const PROGRAMS_AT_ONCE: usize = 2;
/// The longest first, so that none of them is left to run alone at the end. The order of others does not matter.
const LONGEST_FIRST: [(&str, &str); 4] =
    [("evenkeel", "it"), ("service", "it"), ("web", "it"), ("net", "it")];

/// The title of two parts of a test program's output: the output of the failed tests, and then their names.
const FAILURES: &str = "\nfailures:\n";
/// Lines of the log that are shown if no failed test is named.
const LOG_LINES: usize = 80;
/// Lines of a failed test's panic message that are shown.
const MESSAGE_LINES: usize = 30;

/// How the test programs of one step are started.
#[derive(Default)]
pub(crate) struct Settings<'a> {
    /// Variables to set, or to remove.
    pub(crate) environment: &'a [(&'a str, Option<&'a str>)],
    pub(crate) arguments: &'a [&'a str],
}

/// Runs all of the binaries to their end, and fails if a test failed.
pub(crate) fn run(name: &str, binaries: &[&TestBinary], settings: &Settings) -> Result<()> {
    let folder = target_folder()?.join("tests").join(name);
    fs::create_dir_all(&folder)?;
    let mut waiting: Vec<&TestBinary> = binaries.to_vec();
    // Binaries are taken from the end.
    waiting.sort_by_key(|it| std::cmp::Reverse(rank(it)));
    let (waiting, failures) = (Mutex::new(waiting), Mutex::new(Vec::new()));
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
    std::thread::scope(|scope| {
        for _ in 0..PROGRAMS_AT_ONCE {
            scope.spawn(|| {
                while let Some(binary) = next() {
                    let log = folder.join(format!("{}-{}.log", binary.package, binary.target));
                    let outcome = run_one(binary, settings, &log);
                    let failed = outcome.unwrap_or_else(|error| vec![format!("{error:#}")]);
                    failures.lock().unwrap_or_else(PoisonError::into_inner).extend(failed);
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    // The last thing that is printed, because some machines keep only the end of the output.
    ensure!(failures.is_empty(), "{} failed\n\n{}", failures.len(), failures.join("\n\n"));
    Ok(())
}

fn rank(binary: &TestBinary) -> usize {
    let is_it =
        |(package, target): &(&str, &str)| *package == binary.package && *target == binary.target;
    LONGEST_FIRST.iter().position(is_it).unwrap_or(LONGEST_FIRST.len())
}

/// Runs one program, and returns a short report of each failed test.
fn run_one(binary: &TestBinary, settings: &Settings, log: &Path) -> Result<Vec<String>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut command = Command::new(&binary.program);
    command
        .args(settings.arguments)
        .current_dir(&binary.folder)
        .env("CARGO_MANIFEST_DIR", &binary.folder)
        .env("RUST_TEST_THREADS", cores.to_string())
        .stdout(File::create(log)?)
        .stderr(File::options().append(true).open(log)?);
    // Test databases need not survive a power failure, and on disk SQLite would sync after every change.
    if let Some(folder) = memory_folder() {
        command.env("TMPDIR", folder);
    }
    for (name, value) in settings.environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let start = Instant::now();
    let status =
        command.status().with_context(|| format!("cannot start {}", binary.program.display()))?;
    let output = String::from_utf8_lossy(&fs::read(log)?).into_owned();
    let took = start.elapsed().as_secs_f32();
    let result = output.lines().rev().find(|it| it.starts_with("test result: "));
    let result = result.unwrap_or("no test result");
    // One call, so that the lines of two programs do not mix. The result stays as the program wrote it, because other
    // tools count tests by that line.
    println!("{} {}, {took:.1} s\n{result}", binary.package, binary.target);
    Ok(if status.success() { Vec::new() } else { report(binary, status, &output) })
}

/// Prints the output of a program's failed tests, and returns a short report of each for the end.
fn report(binary: &TestBinary, status: ExitStatus, output: &str) -> Vec<String> {
    let name = format!("{} {}", binary.package, binary.target);
    let failed = failed_tests(output);
    let shown = match output.split_once(FAILURES) {
        Some((_, failures)) => failures.to_owned(),
        None => last_lines(output.lines(), LOG_LINES),
    };
    eprintln!("\n{name} failed ({status}):\n{shown}");
    let program = binary.program.display();
    eprintln!("run one of them again, in {}: {program} NAME\n", binary.folder.display());
    if failed.is_empty() {
        return vec![format!("{name}: ended with {status} and named no failed test: see above")];
    }
    failed.into_iter().map(|(test, message)| format!("{name}: {test}\n{message}")).collect()
}

/// The failed tests that a program names, each with its panic message.
fn failed_tests(output: &str) -> Vec<(String, String)> {
    let Some((_, failures)) = output.split_once(FAILURES) else { return Vec::new() };
    let (blocks, _) = failures.split_once(FAILURES).unwrap_or((failures, ""));
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for line in blocks.lines() {
        let title = line.strip_prefix("---- ").and_then(|it| it.strip_suffix(" stdout ----"));
        match (title, found.last_mut()) {
            (Some(name), _) => found.push((name.to_owned(), Vec::new())),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    found.into_iter().map(|(name, lines)| (name, panic_message(&lines))).collect()
}

/// The text from the first panic to its backtrace, or the last lines if nothing panicked.
fn panic_message(lines: &[&str]) -> String {
    let Some(start) = lines.iter().position(|it| it.contains("panicked at")) else {
        return last_lines(lines.iter().copied(), MESSAGE_LINES);
    };
    let is_message = |it: &&&str| **it != "stack backtrace:" && !it.starts_with("note: ");
    let message = lines[start..].iter().take_while(is_message).take(MESSAGE_LINES);
    message.copied().collect::<Vec<_>>().join("\n")
}

fn last_lines<'a>(lines: impl Iterator<Item = &'a str>, count: usize) -> String {
    let lines: Vec<&str> = lines.collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_test_is_named_with_its_panic_message() {
        let output = "\
running 3 tests
test a::b ... FAILED
test c ... ok

failures:

---- a::b stdout ----
some log line

thread 'a::b' panicked at src/lib.rs:3:5:
assertion `left == right` failed
  left: 1
 right: 2
stack backtrace:
   0: std::panicking

---- d stdout ----
Error: no panic

failures:
    a::b
    d

test result: FAILED. 1 passed; 2 failed
";
        let found = failed_tests(output);
        let names: Vec<&str> = found.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(names, ["a::b", "d"]);
        let message = "thread 'a::b' panicked at src/lib.rs:3:5:\nassertion `left == right` failed\n  left: 1\n right: 2";
        assert_eq!(found[0].1, message);
        assert!(found[1].1.contains("Error: no panic"));
    }

    #[test]
    fn a_crashed_program_names_no_test() {
        assert_eq!(failed_tests("running 1 test\nfatal runtime error: stack overflow"), []);
    }
}
