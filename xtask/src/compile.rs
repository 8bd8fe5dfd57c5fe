//! Compiles every program and test of the workspace once, with Clippy as the compiler.
//!
//! `cargo clippy` followed by `cargo test` would analyze everything twice, dependencies included. Clippy's driver is
//! the compiler with more lints, so building with it finds the same warnings and leaves programs that can run. Cargo
//! keeps them apart from what a plain `cargo test` builds; dependencies are shared with it.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::{cargo, install, output_of, shown};

/// A compiled set of tests: a library's or a program's own, or those of a `tests` folder.
#[derive(Debug, PartialEq)]
pub(crate) struct TestBinary {
    pub(crate) package: String,
    /// `lib`, `bin`, or `test` for those of a `tests` folder.
    pub(crate) kind: String,
    pub(crate) target: String,
    pub(crate) program: PathBuf,
    /// The package's folder, from which Cargo would start the program.
    pub(crate) folder: PathBuf,
}

/// Compiles the workspace and fails on any warning. All steps request all packages and tests, because the features of a
/// dependency depend on the request, and nothing should be built twice.
pub(crate) fn workspace() -> Result<Vec<TestBinary>> {
    install::rust_component("clippy", "clippy")?;
    let sysroot = output_of(Command::new("rustc").args(["--print", "sysroot"]))?;
    let driver = Path::new(String::from_utf8(sysroot)?.trim()).join("bin/clippy-driver");
    let mut command = cargo(&["build", "--workspace", "--all-targets", "--message-format=json"]);
    // A panic names its line also without the tables for debuggers, which take time to write and to link.
    command.env("CARGO_PROFILE_DEV_DEBUG", "none");
    command.env("RUSTC_WORKSPACE_WRAPPER", driver).stdout(Stdio::piped());
    let shown = shown(&command);
    let mut child = command.spawn().with_context(|| format!("cannot start `{shown}`"))?;
    let output = child.stdout.take().context("the output of cargo is not piped")?;
    let (mut binaries, mut is_clean) = (Vec::new(), true);
    for line in BufReader::new(output).lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        if let Some(text) = message["message"]["rendered"].as_str() {
            eprint!("{text}");
        }
        is_clean &= message["message"]["level"] != "warning";
        binaries.extend(test_binary(&message));
    }
    let status = child.wait()?;
    ensure!(status.success(), "`{shown}` failed ({status})");
    ensure!(is_clean, "the compiler or Clippy warns: see above");
    binaries.sort_by(|a, b| a.program.cmp(&b.program));
    Ok(binaries)
}

/// The test binary that a message of Cargo announces, if any.
fn test_binary(message: &Value) -> Option<TestBinary> {
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let program = PathBuf::from(message["executable"].as_str()?);
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let package = message["package_id"].as_str()?;
    // `path+file:///folder/name#0.1.0`, or `path+file:///folder#name@0.1.0` if the folder has another name.
    let (path, end) = package.rsplit_once('#')?;
    let name = end.split_once('@').map_or_else(|| path.rsplit('/').next(), |it| Some(it.0))?;
    let kind = message["target"]["kind"][0].as_str()?.to_owned();
    let target = message["target"]["name"].as_str()?.to_owned();
    Some(TestBinary { package: name.to_owned(), kind, target, program, folder })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn artifact(package: &str, is_test: bool) -> Value {
        json!({
            "reason": "compiler-artifact",
            "package_id": package,
            "manifest_path": "/evenkeel/crates/app/Cargo.toml",
            "target": { "kind": ["test"], "name": "it" },
            "profile": { "test": is_test },
            "executable": "/target/debug/deps/it-1",
        })
    }

    #[test]
    fn a_test_binary_is_read_with_its_package_and_target() {
        let found = test_binary(&artifact("path+file:///evenkeel/crates/app#evenkeel@0.1.0", true));
        let found = found.unwrap();
        assert_eq!((found.package.as_str(), found.target.as_str()), ("evenkeel", "it"));
        assert_eq!(found.folder, Path::new("/evenkeel/crates/app"));
        let named_by_folder = test_binary(&artifact("path+file:///evenkeel/crates/db#0.1.0", true));
        assert_eq!(named_by_folder.unwrap().package, "db");
    }

    #[test]
    fn other_messages_are_ignored() {
        assert_eq!(test_binary(&artifact("path+file:///evenkeel/crates/db#0.1.0", false)), None);
        assert_eq!(test_binary(&json!({ "reason": "build-finished", "success": true })), None);
    }
}
