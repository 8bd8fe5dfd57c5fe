//! Installs the archive and the Debian package as `docs/installing.md` says, opens the server over HTTPS through Caddy and
//! nginx, and removes the package again.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::documents::commands;
use super::operator;
use super::sandbox::{HOST, Sandbox};
use super::visitor::{CADDY_AUTHORITY, Visitor};
use crate::dist::{Target, deb, pack, version};

/// The certificate that nginx gets in the sandbox, which signs itself.
const NGINX_CERTIFICATE: &str = "/etc/letsencrypt/live/money.example.net/fullchain.pem";
/// The link with which systemd starts the service at boot.
const ENABLED: &str = "/etc/systemd/system/multi-user.target.wants/evenkeel.service";
const DATABASE: &str = "/var/lib/evenkeel/evenkeel.db";
/// The time that the commands of the document get until a page is served over HTTPS. Alone they take a few seconds; in the
/// gate, other steps keep the machine busy.
const FIRST_PAGE_MAX: Duration = Duration::from_secs(120);

/// The archive as a service, behind Caddy.
pub(super) fn check_archive(folder: &Path, target: &Target) -> Result<()> {
    let sandbox = Sandbox::start("archive", folder)?;
    install_archive(&sandbox, target).with_context(|| last_lines(&sandbox))
}

/// The Debian package behind Caddy and then nginx, its update, and its removal.
pub(super) fn check_debian(folder: &Path, target: &Target) -> Result<()> {
    let sandbox = Sandbox::start("debian", folder)?;
    install_debian(&sandbox, folder, target).with_context(|| last_lines(&sandbox))
}

/// The end of the service's journal, for an error.
fn last_lines(sandbox: &Sandbox) -> String {
    sandbox.shell("tail --lines 5 /var/log/evenkeel.journal").unwrap_or_default()
}

fn install_archive(sandbox: &Sandbox, target: &Target) -> Result<()> {
    let files = ["SHA256SUMS".to_owned(), format!("{}.tar.gz", pack::archive_stem(target))];
    let start = Instant::now();
    follow(sandbox, &files, &commands("## Program", target)?)?;
    let visitor = Visitor::new(sandbox, HOST, CADDY_AUTHORITY);
    visitor.wait_for_page()?;
    check_time("the archive", start.elapsed())?;
    visitor.set_up(&setup_code(sandbox)?)?;
    visitor.sign_in()?;
    visitor.upload()?;
    visitor.wait_and_stream(&key(sandbox)?)?;
    stop(sandbox)
}

fn install_debian(sandbox: &Sandbox, folder: &Path, target: &Target) -> Result<()> {
    let package = deb::file_name(target, version());
    let start = Instant::now();
    follow(sandbox, std::slice::from_ref(&package), &commands("## Debian package", target)?)?;
    let visitor = Visitor::new(sandbox, HOST, CADDY_AUTHORITY);
    visitor.wait_for_page()?;
    check_time("the Debian package", start.elapsed())?;
    // dpkg itself has enabled and started the service, before the document restarts it.
    let installed = format!(
        "test -L {ENABLED}
         grep --quiet --regexp='--system restart evenkeel.service' /run/systemctl.log
         systemd-analyze verify --man=no evenkeel.service"
    );
    sandbox.shell(&installed)?;
    visitor.set_up(&setup_code(sandbox)?)?;
    operator::doctor(sandbox, CADDY_AUTHORITY).context("doctor behind Caddy")?;
    sandbox.shell("systemctl stop caddy")?;
    let with_nginx = commands("### nginx", target)?;
    follow(sandbox, &[], &with_nginx)?;
    let visitor = Visitor::new(sandbox, HOST, NGINX_CERTIFICATE);
    visitor.wait_for_page()?;
    visitor.sign_in()?;
    visitor.upload()?;
    visitor.wait_and_stream(&key(sandbox)?)?;
    // The certificate is renewed through the settings that are now in use.
    follow(sandbox, &[], &with_nginx).context("the second certificate")?;
    operator::credentials(sandbox, folder).context("secrets in files")?;
    operator::decrypt_backup(sandbox).context("an encrypted backup")?;
    update_and_remove(sandbox, &package)
}

/// Prints the time from the first command of the document to the first page over HTTPS. The packages are already there, and
/// so are those of the reverse proxy.
fn check_time(way: &str, taken: Duration) -> Result<()> {
    println!("{way}: {:.1} s from the first command to the first HTTPS page", taken.as_secs_f32());
    ensure!(taken <= FIRST_PAGE_MAX, "{way} takes more than {FIRST_PAGE_MAX:?}");
    Ok(())
}

/// Runs commands of the document in a folder with the files that it names.
fn follow(sandbox: &Sandbox, files: &[String], commands: &str) -> Result<()> {
    let mut script = "mkdir -p /root/download; cd /root/download\n".to_owned();
    for file in files {
        script.push_str(&format!("ln -s /mnt/{file} {file}\n"));
    }
    sandbox.shell(&format!("{script}{commands}")).context("docs/installing.md").map(|_| ())
}

/// The code that the service printed at its newest start.
fn setup_code(sandbox: &Sandbox) -> Result<String> {
    // The service was started before its public address was set, and restarted.
    let announced = format!("grep 'https://{HOST}/setup and enter' /var/log/evenkeel.journal");
    super::setup_code_in(&sandbox.wait_for(&announced)?)
}

/// An API key, by a command in the form that the document shows.
fn key(sandbox: &Sandbox) -> Result<String> {
    let made = sandbox.shell(
        "sudo -u evenkeel evenkeel --config /etc/evenkeel/evenkeel.toml key create --name trial --json",
    )?;
    let made: Value = serde_json::from_str(&made)?;
    Ok(made["key"].as_str().context("no key was made")?.to_owned())
}

fn stop(sandbox: &Sandbox) -> Result<()> {
    sandbox.shell("systemctl stop evenkeel")?;
    let code = sandbox.wait_for("cat /run/evenkeel.status")?;
    ensure!(code == "0\n", "after SIGTERM the service ended with the code {}", code.trim());
    Ok(())
}

/// An update keeps settings and data, removing keeps them too, and a purge keeps only the data.
fn update_and_remove(sandbox: &Sandbox, package: &str) -> Result<()> {
    sandbox.shell(&format!(
        "echo '# a change of the administrator' >> /etc/evenkeel/evenkeel.toml
         : > /run/systemctl.log
         dpkg --install /mnt/{package}
         grep --quiet 'a change of the administrator' /etc/evenkeel/evenkeel.toml
         grep --quiet 'restart evenkeel.service' /run/systemctl.log"
    ))?;
    let visitor = Visitor::new(sandbox, HOST, NGINX_CERTIFICATE);
    visitor.wait_for_page()?;
    visitor.sees_overview().context("after the update")?;
    sandbox.shell(&format!(
        "dpkg --remove evenkeel
         test ! -e /run/evenkeel.pid
         test \"$(cat /run/evenkeel.status)\" = 0
         test ! -e /usr/bin/evenkeel
         test -f /etc/evenkeel/evenkeel.toml
         test -f {DATABASE}"
    ))?;
    let printed = sandbox.shell(&format!(
        "dpkg --purge evenkeel 2>&1
         test ! -e /etc/evenkeel
         test ! -L {ENABLED}
         test -f {DATABASE}"
    ))?;
    ensure!(printed.contains("your data stays in /var/lib/evenkeel"), "a purge prints {printed}");
    Ok(())
}
