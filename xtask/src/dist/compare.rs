//! `cargo xtask dist --compare`: builds the last commit a second time, in another folder with another target folder, and
//! compares the bytes of what is shipped.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::{build, chosen, files_of, hex_sha256, packages, read};
use crate::{output_of, root, run, target_folder};

/// Builds twice, which takes twice the time of `cargo xtask dist`. On success, the second build is deleted.
pub(crate) fn check(names: &[&str]) -> Result<()> {
    let changed = output_of(
        Command::new("git")
            .args(["status", "--porcelain", "--untracked-files=no"])
            .current_dir(root()),
    )?;
    ensure!(
        changed.is_empty(),
        "the second build is of the last commit: commit or put aside your changes first"
    );
    let targets = chosen(names)?;
    build(&targets)?;
    let folder = target_folder()?.join("compare");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    // The other folder's path has another length, so that a path inside a file moves what follows.
    let sources = folder.join("second-copy-of-the-sources");
    let mut clone = Command::new("git");
    run(clone.args(["clone", "--quiet", "--no-hardlinks"]).arg(root()).arg(&sources))?;
    let mut second = Command::new("cargo");
    second.args(["xtask", "dist", "--build-only"]).args(names).current_dir(&sources);
    run(second.env("CARGO_TARGET_DIR", folder.join("target"))).context("the second build")?;
    let files: Vec<String> = targets.iter().flat_map(|it| files_of(it)).collect();
    compare(&packages()?, &folder.join("target/packages"), &files)?;
    Ok(fs::remove_dir_all(&folder)?)
}

/// Prints the SHA-256 of each file, and fails with the names of those that differ.
fn compare(first: &Path, second: &Path, files: &[String]) -> Result<()> {
    let mut different = Vec::new();
    for file in files {
        let [one, other] = [first, second].map(|it| read(&it.join(file)));
        let (one, other) = (hex_sha256(&one?), hex_sha256(&other?));
        println!("{one}  {file}");
        if one != other {
            println!("{other}  {file}, the second build");
            different.push(file.as_str());
        }
    }
    ensure!(
        different.is_empty(),
        "two builds differ in {}: compare the files in {} and {}, for example with diffoscope",
        different.join(", "),
        first.display(),
        second.display()
    );
    println!("two builds of one commit have the same bytes");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_that_differ_are_named() {
        let folder = std::env::temp_dir().join(format!("evenkeel-compare-{}", std::process::id()));
        let [first, second] = ["first", "second"].map(|it| folder.join(it));
        for (folder, program) in [(&first, "program"), (&second, "other program")] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join("evenkeel"), program).unwrap();
            fs::write(folder.join("evenkeel.deb"), "package").unwrap();
        }
        let compared = |files: &[&str]| {
            compare(&first, &second, &files.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
        };
        let same = compared(&["evenkeel.deb"]);
        let different = compared(&["evenkeel.deb", "evenkeel"]).unwrap_err().to_string();
        let missing = compared(&["evenkeel.tar.gz"]);
        fs::remove_dir_all(&folder).unwrap();
        assert!(same.is_ok());
        assert!(different.starts_with("two builds differ in evenkeel:"), "{different}");
        assert!(missing.is_err());
    }
}
