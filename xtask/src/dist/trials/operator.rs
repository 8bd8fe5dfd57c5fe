//! The work of an operator after the installation of the Debian package: `evenkeel doctor` behind the proxy, secrets in files
//! of systemd, and a backup that age decrypts without Evenkeel.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::sandbox::{HOST, Sandbox};
use super::{database, processes};

/// A command of Evenkeel, in the form that `docs/installing.md` shows.
const EVENKEEL: &str = "evenkeel --config /etc/evenkeel/evenkeel.toml";

/// The checks of `doctor` pass behind a proxy, which this authority has given a certificate.
pub(super) fn doctor(sandbox: &Sandbox, authority: &str) -> Result<()> {
    let printed = sandbox.shell(&format!(
        "install --mode=644 {authority} /tmp/authority.crt
         sudo -u evenkeel env SSL_CERT_FILE=/tmp/authority.crt {EVENKEEL} doctor --json"
    ))?;
    let checks: Vec<Value> = serde_json::from_str(&printed)?;
    for (name, message) in [
        ("configuration", "all settings are valid"),
        ("public address", &format!("https://{HOST} answers")),
        ("proxy", "the addresses of visitors are passed on and trusted"),
        ("certificates", "can be read"),
        ("data directory", "/var/lib/evenkeel"),
        ("database", "SQLite 3."),
        ("integrity", "no damage found"),
    ] {
        let found = checks.iter().find(|it| it["check"] == name);
        let found = found.with_context(|| format!("doctor does not check {name}: {printed}"))?;
        let is_expected = found["message"].as_str().is_some_and(|it| it.contains(message));
        ensure!(found["verdict"] == "ok" && is_expected, "doctor says {found}");
    }
    Ok(())
}

/// The drop-ins for secrets hand files of root to the service: the passwords of a mail server and of a store for backups,
/// and the address of a PostgreSQL, which the service then uses.
pub(super) fn credentials(sandbox: &Sandbox, folder: &Path) -> Result<()> {
    processes::make_secrets(sandbox)?;
    database::start(sandbox, folder)?;
    sandbox.shell(
        "umask 077
         for name in mail-password s3-key; do echo secret > /etc/evenkeel/$name; done
         cp /secrets/database-url /etc/evenkeel/database-url
         mkdir -p /etc/systemd/system/evenkeel.service.d
         cp /usr/share/evenkeel/systemd/*.conf /etc/systemd/system/evenkeel.service.d/
         systemd-analyze verify --man=no evenkeel.service
         systemctl restart evenkeel",
    )?;
    sandbox
        .wait_for(&format!("sudo -u evenkeel {EVENKEEL} healthy"))
        .context("with the drop-ins for secrets")?;
    let environment = sandbox.shell("tr '\\0' '\\n' < /proc/$(cat /run/evenkeel.pid)/environ")?;
    for (variable, name) in [
        ("EVENKEEL_MAIL__PASSWORD_FILE", "mail-password"),
        ("EVENKEEL_BACKUPS__S3__SECRET_ACCESS_KEY_FILE", "s3-key"),
        ("EVENKEEL_DATABASE__URL_FILE", "database-url"),
    ] {
        let line = format!("{variable}=/run/credentials/evenkeel.service/{name}\n");
        ensure!(environment.contains(&line), "the service has no {line}");
    }
    // A command of root reads the same file, and finds the tables that the service has made.
    let printed = sandbox.shell(
        "EVENKEEL_DATABASE__URL_FILE=/etc/evenkeel/database-url EVENKEEL_DATA_DIR=/var/lib/evenkeel \
         evenkeel doctor",
    )?;
    ensure!(
        printed.contains("PostgreSQL ") && printed.contains("matches this database"),
        "with the drop-in for PostgreSQL, doctor says {printed}"
    );
    sandbox
        .shell("rm -r /etc/systemd/system/evenkeel.service.d; systemctl restart evenkeel")
        .map(|_| ())
}

/// Debian's age decrypts a backup for a public key, as `docs/running.md` says.
pub(super) fn decrypt_backup(sandbox: &Sandbox) -> Result<()> {
    let rows = sandbox.shell(&format!(
        "cd /tmp
         age-keygen -o backup-key.txt 2> /dev/null
         recipient=$(age-keygen -y backup-key.txt)
         sudo -u evenkeel env EVENKEEL_BACKUPS__RECIPIENTS=$recipient {EVENKEEL} backup /tmp/trial.backup.age > /dev/null
         age --decrypt -i backup-key.txt trial.backup.age | gunzip"
    ))?;
    ensure!(rows.contains("robin@example.com"), "the decrypted backup has no account");
    for row in rows.lines() {
        serde_json::from_str::<Value>(row)
            .with_context(|| format!("no JSON in a backup: {row}"))?;
    }
    Ok(())
}
