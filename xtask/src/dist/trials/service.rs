//! Installs the archive and the Debian package as `docs/installing.md` says, opens the server over HTTPS through Caddy and
//! nginx, and removes the package again.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::documents::commands;
use super::sandbox::{HOST, Sandbox};
use super::visitor::Visitor;
use crate::dist::{Target, deb, pack, version};

/// The authority of Caddy in the sandbox.
pub(super) const CADDY_AUTHORITY: &str = "/var/lib/caddy/pki/authorities/local/root.crt";
/// The certificate that nginx gets in the sandbox, which signs itself.
const NGINX_CERTIFICATE: &str = "/etc/letsencrypt/live/money.example.net/fullchain.pem";
/// The link with which systemd starts the service at boot.
const ENABLED: &str = "/etc/systemd/system/multi-user.target.wants/evenkeel.service";
const DATABASE: &str = "/var/lib/evenkeel/evenkeel.db";

/// The archive as a service, behind Caddy.
pub(super) fn check_archive(folder: &Path, target: &Target) -> Result<()> {
    let sandbox = Sandbox::start("archive", folder)?;
    install_archive(&sandbox, target).with_context(|| last_lines(&sandbox))
}

/// The Debian package behind Caddy and then nginx, its update, and its removal.
pub(super) fn check_debian(folder: &Path, target: &Target) -> Result<()> {
    let sandbox = Sandbox::start("debian", folder)?;
    install_debian(&sandbox, target).with_context(|| last_lines(&sandbox))
}

/// The end of the service's journal, for an error.
fn last_lines(sandbox: &Sandbox) -> String {
    sandbox.shell("tail --lines 5 /var/log/evenkeel.journal").unwrap_or_default()
}

fn install_archive(sandbox: &Sandbox, target: &Target) -> Result<()> {
    let files = ["SHA256SUMS".to_owned(), format!("{}.tar.gz", pack::archive_stem(target))];
    follow(sandbox, &files, &commands("## Program", target)?)?;
    let visitor = Visitor::new(sandbox, HOST, CADDY_AUTHORITY);
    visitor.wait_for_page()?;
    visitor.set_up(&setup_code(sandbox)?)?;
    visitor.sign_in()?;
    visitor.upload()?;
    visitor.wait_and_stream(&key(sandbox)?)?;
    stop(sandbox)
}

fn install_debian(sandbox: &Sandbox, target: &Target) -> Result<()> {
    let package = deb::file_name(target, version());
    follow(sandbox, std::slice::from_ref(&package), &commands("## Debian package", target)?)?;
    // dpkg itself has enabled and started the service, before the document restarts it.
    let installed = format!(
        "test -L {ENABLED}
         grep --quiet --regexp='--system restart evenkeel.service' /run/systemctl.log
         systemd-analyze verify --man=no evenkeel.service"
    );
    sandbox.shell(&installed)?;
    let visitor = Visitor::new(sandbox, HOST, CADDY_AUTHORITY);
    visitor.wait_for_page()?;
    visitor.set_up(&setup_code(sandbox)?)?;
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
    credentials(sandbox)?;
    update_and_remove(sandbox, &package)
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

/// The drop-ins for secrets hand files of root to the service.
fn credentials(sandbox: &Sandbox) -> Result<()> {
    sandbox.shell(
        "umask 077
         for name in mail-password s3-key; do echo secret > /etc/evenkeel/$name; done
         mkdir -p /etc/systemd/system/evenkeel.service.d
         cp /usr/share/evenkeel/systemd/mail.conf /usr/share/evenkeel/systemd/s3.conf \
             /etc/systemd/system/evenkeel.service.d/
         systemd-analyze verify --man=no evenkeel.service
         systemctl restart evenkeel",
    )?;
    let healthy = "sudo -u evenkeel evenkeel --config /etc/evenkeel/evenkeel.toml healthy";
    sandbox.wait_for(healthy).context("with the drop-ins for secrets")?;
    let environment = sandbox.shell("tr '\\0' '\\n' < /proc/$(cat /run/evenkeel.pid)/environ")?;
    for (variable, name) in [
        ("EVENKEEL_MAIL__PASSWORD_FILE", "mail-password"),
        ("EVENKEEL_BACKUPS__S3__SECRET_ACCESS_KEY_FILE", "s3-key"),
    ] {
        let line = format!("{variable}=/run/credentials/evenkeel.service/{name}\n");
        ensure!(environment.contains(&line), "the service has no {line}");
    }
    sandbox.shell("rm -r /etc/systemd/system/evenkeel.service.d").map(|_| ())
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
