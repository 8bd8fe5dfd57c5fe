//! Tries each way of installing with the packages themselves, as `docs/installing.md` describes it. `cargo xtask dist` and
//! `cargo xtask image` try what they have built; the gate tries packages of the program that its other steps use.

mod container;
mod documents;
mod plain;
mod processes;
mod sandbox;
mod service;
mod visitor;

use std::path::Path;
use std::thread;

use anyhow::{Context as _, Result, anyhow, ensure};

use super::Target;
use crate::postgres::Cluster;
use sandbox::Sandbox;

/// Tries the archive and the Debian package.
pub(crate) fn packages(folder: &Path, target: &Target) -> Result<()> {
    plain::check(folder, target).context("the program of the archive")?;
    if !Sandbox::is_possible("installing the archive and the Debian package")? {
        return Ok(());
    }
    service::check_archive(folder, target).context("the service of the archive")?;
    service::check_debian(folder, target).context("the Debian package")?;
    println!("the archive and the Debian package were installed and work");
    Ok(())
}

/// Tries the image.
pub(crate) fn image(folder: &Path, target: &Target) -> Result<()> {
    if Sandbox::is_possible("running the image")? {
        container::check(folder, target).context("the image")?;
        println!("the image runs on a read-only root");
    }
    Ok(())
}

/// Tries everything at the same time, because most of it waits.
pub(crate) fn all(folder: &Path, target: &Target, cluster: &Cluster) -> Result<()> {
    if !Sandbox::is_possible("installing packages, and running the image and proxies")? {
        return plain::check(folder, target).context("the program of the archive");
    }
    let together = thread::scope(|scope| {
        let trials = [
            ("the program of the archive", scope.spawn(|| plain::check(folder, target))),
            ("the service of the archive", scope.spawn(|| service::check_archive(folder, target))),
            ("the Debian package", scope.spawn(|| service::check_debian(folder, target))),
            ("the image", scope.spawn(|| container::check(folder, target))),
            ("two processes", scope.spawn(|| processes::check(folder, target, cluster))),
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
