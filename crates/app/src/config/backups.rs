//! The settings of backups: the folder or the store, the times, what is kept, and the encryption.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail, ensure};
use service::backup;

use super::key::Key;
use super::layers::Settings;
use super::value::Kind;

pub(super) const BACKUP_KEYS: &[Key] = &[
    Key {
        name: "backups.folder",
        kind: Kind::Path,
        default: None,
        secret: false,
        about: "Folder that a server writes backups to, best on another disk; it must exist. By default there are none.",
    },
    Key {
        name: "backups.s3.endpoint",
        kind: Kind::Origin,
        default: None,
        secret: false,
        about: "S3-compatible store that a server writes backups to, instead of a folder.",
    },
    Key {
        name: "backups.s3.bucket",
        kind: Kind::Text,
        default: None,
        secret: false,
        about: "Bucket for backups; it must exist.",
    },
    Key {
        name: "backups.s3.region",
        kind: Kind::Text,
        default: Some("us-east-1"),
        secret: false,
        about: "Region of the bucket, as your provider names it.",
    },
    Key {
        name: "backups.s3.prefix",
        kind: Kind::Text,
        default: None,
        secret: false,
        about: "Folder inside the bucket, such as evenkeel; by default none.",
    },
    Key {
        name: "backups.s3.access_key_id",
        kind: Kind::Secret,
        default: None,
        secret: true,
        about: "Id of the store's access key.",
    },
    Key {
        name: "backups.s3.secret_access_key",
        kind: Kind::Secret,
        default: None,
        secret: true,
        about: "The store's access key; it must be allowed to list the bucket and to read, write and delete objects.",
    },
    Key {
        name: "backups.s3.addressing",
        kind: Kind::Word(&["path", "virtual_host"]),
        default: Some("path"),
        secret: false,
        about: "Whether the bucket is part of the path or of the host name.",
    },
    Key {
        name: "backups.s3.ca_file",
        kind: Kind::Path,
        default: None,
        secret: false,
        about: "PEM file of certificate authorities to trust for the store, in addition to the system's.",
    },
    Key {
        name: "backups.every_hours",
        kind: Kind::Count { from: 1, to: 744 },
        default: Some("24"),
        secret: false,
        about: "Hours between two backups.",
    },
    Key {
        name: "backups.hour",
        kind: Kind::Count { from: 0, to: 23 },
        default: Some("3"),
        secret: false,
        about: "Hour of the day, in UTC, of daily backups; with shorter intervals, of one of them.",
    },
    Key {
        name: "backups.keep_daily",
        kind: Kind::Count { from: 1, to: 3_650 },
        default: Some("7"),
        secret: false,
        about: "Days whose newest backup is kept.",
    },
    Key {
        name: "backups.keep_weekly",
        kind: Kind::Count { from: 0, to: 520 },
        default: Some("4"),
        secret: false,
        about: "Weeks whose newest backup is kept.",
    },
    Key {
        name: "backups.keep_monthly",
        kind: Kind::Count { from: 0, to: 1_200 },
        default: Some("12"),
        secret: false,
        about: "Months whose newest backup is kept.",
    },
    Key {
        name: "backups.passphrase",
        kind: Kind::Secret,
        default: None,
        secret: true,
        about: "Encrypts backups, at least 12 characters; without it, and without a copy elsewhere, they cannot be read.",
    },
    Key {
        name: "backups.recipients",
        kind: Kind::Recipients,
        default: Some(""),
        secret: false,
        about: "Public keys of age (age1...) that backups are encrypted for; only their secret keys open them.",
    },
    Key {
        name: "backups.identity",
        kind: Kind::Identities,
        default: None,
        secret: true,
        about: "Secret keys of age (AGE-SECRET-KEY-1...) that open backups for `evenkeel restore`; a server needs none.",
    },
];

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
