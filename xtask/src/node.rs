//! Programs from npm, at the versions of a lock file of the repository.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::{install, root, run, target_folder};

/// The folder `node_modules` of the packages that `package.json` in a folder of the repository names, installed on first use
/// below the target folder.
pub(crate) fn packages(name: &str, folder: &str) -> Result<PathBuf> {
    let (source, folder) = (root().join(folder), target_folder()?.join(name));
    let modules = folder.join("node_modules");
    let wanted = fs::read_to_string(source.join("package-lock.json"))?;
    if fs::read_to_string(folder.join("installed.json")).is_ok_and(|it| it == wanted) {
        return Ok(modules);
    }
    install::npm()?;
    println!("installing {name} with npm");
    fs::create_dir_all(&folder)?;
    for file in ["package.json", "package-lock.json"] {
        fs::copy(source.join(file), folder.join(file))?;
    }
    let mut npm = Command::new("npm");
    npm.current_dir(&folder).args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
    run(&mut npm)?;
    fs::write(folder.join("installed.json"), wanted)?;
    Ok(modules)
}
