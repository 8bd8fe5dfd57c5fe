//! Tries each way of installing with the packages themselves, as `docs/installing.md` describes it. `cargo xtask dist` and
//! `cargo xtask image` try what they have built; the gate tries packages of the program that its other steps use.

mod container;
pub(crate) mod database;
mod documents;
mod operator;
mod plain;
mod processes;
mod sandbox;
mod service;
mod visitor;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context as _, Result, anyhow, ensure};

use super::Target;
use crate::target_folder;
use sandbox::Sandbox;

/// What a server without accounts prints before the code.
const SETUP_CODE: &str = "/setup and enter the setup code ";

/// The setup code in what a server has printed.
fn setup_code_in(printed: &str) -> Result<String> {
    let code = printed.lines().find_map(|it| it.split_once(SETUP_CODE)).map(|it| it.1.to_owned());
    code.with_context(|| format!("no setup code in {printed}"))
}

/// Tries the archive and the Debian package.
pub(crate) fn packages(folder: &Path, target: &Target) -> Result<()> {
    let folder = &staged(folder)?;
    plain::check(folder, target).context("the program of the archive")?;
    if Sandbox::is_possible("installing the archive and the Debian package")? {
        database::stage(folder)?;
        service::check_archive(folder, target).context("the service of the archive")?;
        service::check_debian(folder, target).context("the Debian package")?;
        println!("the archive and the Debian package were installed and work");
    }
    Ok(fs::remove_dir_all(folder)?)
}

/// Tries the image.
pub(crate) fn image(folder: &Path, target: &Target) -> Result<()> {
    let folder = &staged(folder)?;
    if Sandbox::is_possible("running the image")? {
        container::check(folder, target).context("the image")?;
        println!("the image runs on a read-only root");
    }
    Ok(fs::remove_dir_all(folder)?)
}

/// A folder with the same files, in which trials may leave their own.
fn staged(folder: &Path) -> Result<PathBuf> {
    let staged = target_folder()?.join("tests/trials");
    if staged.exists() {
        fs::remove_dir_all(&staged)?;
    }
    fs::create_dir_all(&staged)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::hard_link(entry.path(), staged.join(entry.file_name()))?;
        }
    }
    Ok(staged)
}

/// Tries everything at the same time, because most of it waits.
pub(crate) fn all(folder: &Path, target: &Target) -> Result<()> {
    if !Sandbox::is_possible("installing packages, and running the image and proxies")? {
        return plain::check(folder, target).context("the program of the archive");
    }
    database::stage(folder)?;
    let together = thread::scope(|scope| {
        let trials = [
            ("the program of the archive", scope.spawn(|| plain::check(folder, target))),
            ("the service of the archive", scope.spawn(|| service::check_archive(folder, target))),
            ("the Debian package", scope.spawn(|| service::check_debian(folder, target))),
            ("the image", scope.spawn(|| container::check(folder, target))),
            ("two processes", scope.spawn(|| processes::check(folder, target))),
        ];
        trials.map(|(name, trial)| match trial.join() {
            Ok(outcome) => outcome.context(name),
            Err(_) => Err(anyhow!("the trial of {name} panicked")),
        })
    });
    let errors = together.into_iter().filter_map(Result::err).map(|it| format!("{it:#}"));
    let errors: Vec<String> = errors.collect();
    ensure!(errors.is_empty(), "{}", errors.join("\n"));
    Ok(())
}
