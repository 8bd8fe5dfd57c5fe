//! Installs what the checks need beyond Rust and a C compiler, or explains how to install it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::{cargo, output_of, root, run, target_folder};

/// Debian starts a server after the installation. A drop-in file prevents that, and is removed afterward so that it
/// does not affect later installations.
const APT_POSTGRES: &str = "
set -eu
export DEBIAN_FRONTEND=noninteractive
drop_in=/etc/postgresql-common/createcluster.d/evenkeel.conf
mkdir -p /etc/postgresql-common/createcluster.d
trap 'rm -f $drop_in' EXIT
echo 'create_main_cluster = false' > $drop_in
apt-get update --quiet
apt-get install --quiet --yes --no-install-recommends postgresql
";

pub(crate) fn postgres() -> Result<()> {
    if on_path("apt-get").is_none() {
        bail!(
            "PostgreSQL's server programs (initdb, pg_ctl, postgres) are missing: install the \
             PostgreSQL server of this system (macOS: `brew install postgresql`; Fedora: \
             `dnf install postgresql-server`; Arch: `pacman -S postgresql`; Alpine: \
             `apk add postgresql`), or put its bin folder on the PATH"
        );
    }
    println!("installing PostgreSQL with apt-get");
    as_root(APT_POSTGRES).context("PostgreSQL could not be installed")
}

/// Debian starts a service after its installation, unless a policy forbids it.
const APT_PGBOUNCER: &str = "
set -eu
export DEBIAN_FRONTEND=noninteractive
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
    trap 'rm -f $policy' EXIT
    printf '#!/bin/sh\\nexit 101\\n' > $policy
    chmod 755 $policy
fi
apt-get update --quiet
apt-get install --quiet --yes --no-install-recommends pgbouncer
";

/// Installs PgBouncer where apt-get has it. Without it, the tests of poolers do nothing, and this says so.
pub(crate) fn pgbouncer() {
    let variable = "EVENKEEL_TEST_PGBOUNCER";
    let is_there = || Path::new("/usr/sbin/pgbouncer").is_file() || on_path("pgbouncer").is_some();
    if std::env::var_os(variable).is_some() || is_there() {
        return;
    }
    if on_path("apt-get").is_some() {
        println!("installing PgBouncer with apt-get");
        if let Err(error) = as_root(APT_PGBOUNCER) {
            eprintln!("{error:#}");
        }
    }
    if !is_there() {
        println!(
            "PgBouncer is not installed: the tests of poolers are skipped (or name it in {variable})"
        );
    }
}

/// Without a font, Chromium would draw empty boxes, and the audit would measure those.
const APT_BROWSER: &str = "
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update --quiet
apt-get install --quiet --yes --no-install-recommends chromium chromium-driver fonts-liberation
";
/// The headless shell takes two thirds of the work of the whole browser. It is named together with the others, because all
/// must have the same version. Systems that do not have it test with the whole browser.
const APT_HEADLESS_SHELL: &str = "
set -eu
dpkg --status chromium > /dev/null 2>&1 || exit 0
export DEBIAN_FRONTEND=noninteractive
apt-get update --quiet
apt-get install --quiet --yes --no-install-recommends chromium chromium-driver chromium-headless-shell
";

/// Installs the browser and its driver. They must have the same version, so both come from the same source.
pub(crate) fn browser() -> Result<()> {
    let browsers = ["chromium", "chromium-browser", "google-chrome"];
    let is_there = browsers.iter().any(|it| on_path(it).is_some());
    if is_there && on_path("chromedriver").is_some() {
        headless_shell();
        return Ok(());
    }
    ensure!(
        on_path("apt-get").is_some(),
        "Chromium or its chromedriver is missing: install both with this system's packages \
         (macOS: `brew install --cask chromium chromedriver`; Fedora: `dnf install chromium \
         chromedriver`; Arch: `pacman -S chromium`; Alpine: `apk add chromium \
         chromium-chromedriver`), and have them on the PATH"
    );
    println!("installing Chromium with apt-get");
    as_root(APT_BROWSER).context("Chromium could not be installed")?;
    headless_shell();
    Ok(())
}

/// Installs Chromium without windows where Chromium is a package of Debian, also if that was there before.
fn headless_shell() {
    if on_path("chromium-headless-shell").is_some() || on_path("apt-get").is_none() {
        return;
    }
    println!("installing Chromium's headless shell with apt-get");
    if let Err(error) = as_root(APT_HEADLESS_SHELL) {
        eprintln!("the tests use the whole browser: {error:#}");
    }
}

/// Installs a C++ compiler for libFuzzer. Everything else needs only a C compiler.
pub(crate) fn cpp_compiler() -> Result<()> {
    let named = std::env::var_os("CXX").is_some();
    if named || ["c++", "g++", "clang++"].iter().any(|it| on_path(it).is_some()) {
        return Ok(());
    }
    ensure!(
        on_path("apt-get").is_some(),
        "a C++ compiler is missing: install one with this system's packages (macOS: \
         `xcode-select --install`; Fedora: `dnf install gcc-c++`; Arch: `pacman -S gcc`; Alpine: \
         `apk add g++`)"
    );
    println!("installing g++ with apt-get");
    as_root("apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends g++")
}

/// Installs Python with the module that makes virtual environments, which Debian packages separately.
pub(crate) fn python() -> Result<()> {
    let has_venv = || output_of(Command::new("python3").args(["-c", "import ensurepip, venv"]));
    if on_path("python3").is_some() && has_venv().is_ok() {
        return Ok(());
    }
    ensure!(
        on_path("apt-get").is_some(),
        "Python 3.10 or newer with its module venv is missing: install it with this system's packages \
         (macOS: `brew install python`; Fedora: `dnf install python3`; Arch: `pacman -S python`; \
         Alpine: `apk add python3`)"
    );
    println!("installing Python with apt-get");
    as_root(
        "apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends python3-venv",
    )
    .context("Python could not be installed")
}

/// The folder of the programs of Python packages, installed on first use. The requirements name exact versions.
pub(crate) fn python_packages(name: &str, requirements: &str) -> Result<PathBuf> {
    let wanted = fs::read_to_string(root().join(requirements))?;
    let folder = target_folder()?.join(name);
    let (programs, installed) = (folder.join("venv/bin"), folder.join("installed.txt"));
    if fs::read_to_string(&installed).is_ok_and(|it| it == wanted) {
        return Ok(programs);
    }
    python()?;
    println!("installing the Python packages of {name} with pip");
    if folder.join("venv").exists() {
        fs::remove_dir_all(folder.join("venv"))?;
    }
    fs::create_dir_all(&folder)?;
    run(Command::new("python3").args(["-m", "venv"]).arg(folder.join("venv")))?;
    let mut pip = Command::new(programs.join("python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    run(pip.arg("--requirement").arg(root().join(requirements)))
        .with_context(|| format!("the Python packages of {name} could not be installed"))?;
    fs::write(&installed, wanted)?;
    Ok(programs)
}

/// Installs npm, which installs the MCP conformance suite and the Node.js that the suite needs.
pub(crate) fn npm() -> Result<()> {
    if on_path("npm").is_some() {
        return Ok(());
    }
    ensure!(
        on_path("apt-get").is_some(),
        "npm is missing: install Node.js with this system's packages (macOS: `brew install node`; Fedora: \
         `dnf install nodejs`; Arch: `pacman -S npm`; Alpine: `apk add npm`)"
    );
    println!("installing npm with apt-get");
    as_root("apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends npm")
        .context("npm could not be installed")
}

/// Installs a C compiler for the programs that are shipped, and the headers that it needs: a program or the path of a
/// file, and its package.
pub(crate) fn c_compiler(wanted: &[(&str, &str)]) -> Result<()> {
    apt(wanted)
}

/// Installs the programs that read and try packages, images and the files under `deploy`.
pub(crate) fn package_tools() -> Result<()> {
    apt(&[
        ("umoci", "umoci"),
        ("buildah", "buildah"),
        ("dpkg-deb", "dpkg"),
        ("deb-systemd-helper", "init-system-helpers"),
        ("unshare", "util-linux"),
        ("ip", "iproute2"),
        ("curl", "curl"),
        ("systemd-analyze", "systemd"),
        ("nginx", "nginx-light"),
        ("caddy", "caddy"),
        ("openssl", "openssl"),
        ("age", "age"),
    ])
}

/// Installs Prometheus with its tool that reads metrics and alerts.
pub(crate) fn promtool() -> Result<()> {
    apt(&[("promtool", "prometheus")])
}

/// Installs the packages of those programs and files that are missing, without starting their services.
fn apt(wanted: &[(&str, &str)]) -> Result<()> {
    let is_missing = |it: &&(&str, &str)| {
        // The path of a file stays as it is.
        on_path(it.0).is_none() && !Path::new("/usr/sbin").join(it.0).is_file()
    };
    let packages: Vec<&str> = wanted.iter().filter(is_missing).map(|it| it.1).collect();
    if packages.is_empty() {
        return Ok(());
    }
    let packages = packages.join(" ");
    ensure!(
        on_path("apt-get").is_some(),
        "install {packages} (the names of the packages on Debian) with this system's packages"
    );
    println!("installing {packages} with apt-get");
    // `RUNLEVEL=1` keeps Debian's scripts from starting services.
    as_root(&format!(
        "export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1; apt-get update --quiet && \
         apt-get install --quiet --yes --no-install-recommends {packages}"
    ))
    .with_context(|| format!("{packages} could not be installed"))
}

/// Installs the load generator, which only benchmarks need.
pub(crate) fn wrk() -> Result<()> {
    ensure!(
        on_path("apt-get").is_some(),
        "the load generator wrk is missing: install it with this system's packages"
    );
    println!("installing wrk with apt-get");
    as_root("apt-get update --quiet && apt-get install --quiet --yes wrk")
}

fn as_root(script: &str) -> Result<()> {
    let mut shell = if is_root()? {
        Command::new("sh")
    } else {
        ensure!(
            on_path("sudo").is_some(),
            "there is no sudo to install it with: run as root, or install g++, postgresql, python3-venv, \
             chromium and chromium-driver (to test) and wrk (to measure) first"
        );
        let mut sudo = Command::new("sudo");
        sudo.arg("sh");
        sudo
    };
    run(shell.args(["-c", script]))
}

/// Adds rustfmt or clippy, which a minimal Rust lacks, with rustup.
pub(crate) fn rust_component(name: &str, subcommand: &str) -> Result<()> {
    if output_of(&mut cargo(&[subcommand, "--version"])).is_ok() {
        return Ok(());
    }
    ensure!(
        on_path("rustup").is_some(),
        "{name} is missing and there is no rustup to add it: install {name} for this Rust"
    );
    run(Command::new("rustup").args(["component", "add", name]))
}

pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|it| it.join(program)).find(|it| it.is_file())
}

pub(crate) fn is_root() -> Result<bool> {
    Ok(output_of(Command::new("id").arg("-u"))?.trim_ascii() == b"0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_only_on_the_path() {
        assert!(on_path("sh").is_some());
        assert!(on_path("no-such-program-anywhere").is_none());
    }
}
