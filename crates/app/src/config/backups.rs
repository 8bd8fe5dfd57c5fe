//! The settings of backups: the folder or the store, the times, what is kept, and the encryption.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail, ensure};
use service::backup;

use super::layers::Settings;

/// The shortest passphrase of backups: a file that someone copied can be guessed at without a limit.
const PASSPHRASE_MIN: usize = 12;

pub(super) fn encryption(all: &Settings) -> Result<Option<backup::Encryption>> {
    let recipients = all.list("backups.recipients");
    match (all.maybe_text("backups.passphrase"), recipients.is_empty()) {
        (None, true) => Ok(None),
        (None, false) => {
            let recipients = recipients.iter().map(|it| it.parse()).collect::<Result<_, _>>();
            Ok(Some(backup::Encryption::Recipients(recipients.context("backups.recipients")?)))
        }
        (Some(passphrase), true) => {
            let is_long = passphrase.chars().count() >= PASSPHRASE_MIN;
            ensure!(is_long, "backups.passphrase must have at least {PASSPHRASE_MIN} characters");
            Ok(Some(backup::Encryption::Passphrase(passphrase)))
        }
        (Some(_), false) => bail!(
            "backups are encrypted with backups.passphrase or for backups.recipients; set only one of them"
        ),
    }
}

pub(super) fn secrets(all: &Settings) -> Result<backup::Secrets> {
    let identities = all.maybe_text("backups.identity").unwrap_or_default();
    Ok(backup::Secrets {
        passphrase: all.maybe_text("backups.passphrase"),
        identities: backup::Identity::parse_file(&identities).context("backups.identity")?,
    })
}

/// Scheduled backups.
pub(crate) struct BackupSettings {
    /// `None` if they are written to the store.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) every_hours: i64,
    pub(crate) hour: i64,
    pub(crate) keep: backup::Keep,
}

/// The store of backups.
pub(crate) struct StoreSettings {
    pub(crate) settings: s3::Settings,
    pub(crate) ca_file: Option<PathBuf>,
}

pub(super) fn schedule(all: &Settings) -> Result<Option<BackupSettings>> {
    let folder = all.maybe_text("backups.folder");
    let has_store = all.maybe_text("backups.s3.endpoint").is_some();
    ensure!(
        folder.is_none() || !has_store,
        "backups are written to backups.folder or to backups.s3.endpoint; set only one of them"
    );
    if folder.is_none() && !has_store {
        return Ok(None);
    }
    let keep = |name: &str| -> Result<usize> { Ok(usize::try_from(all.count(name)?)?) };
    Ok(Some(BackupSettings {
        folder: folder.map(PathBuf::from),
        every_hours: all.count("backups.every_hours")?,
        hour: all.count("backups.hour")?,
        keep: backup::Keep {
            daily: keep("backups.keep_daily")?,
            weekly: keep("backups.keep_weekly")?,
            monthly: keep("backups.keep_monthly")?,
        },
    }))
}

pub(super) fn store(all: &Settings) -> Result<Option<StoreSettings>> {
    let Some(endpoint) = all.maybe_text("backups.s3.endpoint") else { return Ok(None) };
    let needed = |name: &str| {
        all.maybe_text(name).with_context(|| format!("backups.s3.endpoint needs {name}; set it"))
    };
    let settings = s3::Settings {
        endpoint,
        region: all.text("backups.s3.region")?,
        bucket: needed("backups.s3.bucket")?,
        prefix: all.maybe_text("backups.s3.prefix").unwrap_or_default(),
        addressing: match all.text("backups.s3.addressing")?.as_str() {
            "virtual_host" => s3::Addressing::VirtualHost,
            _ => s3::Addressing::Path,
        },
        access_key_id: needed("backups.s3.access_key_id")?,
        secret_access_key: needed("backups.s3.secret_access_key")?,
    };
    let ca_file = all.maybe_text("backups.s3.ca_file").map(PathBuf::from);
    Ok(Some(StoreSettings { settings, ca_file }))
}
