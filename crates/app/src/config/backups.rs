//! The settings of backups: the folder and the times, what is kept, and the encryption.

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

pub(super) fn plan(all: &Settings) -> Result<Option<backup::Plan>> {
    let Some(folder) = all.maybe_text("backups.folder") else { return Ok(None) };
    let keep = |name: &str| -> Result<usize> { Ok(usize::try_from(all.count(name)?)?) };
    Ok(Some(backup::Plan {
        folder: PathBuf::from(folder),
        every_hours: all.count("backups.every_hours")?,
        hour: all.count("backups.hour")?,
        keep: backup::Keep {
            daily: keep("backups.keep_daily")?,
            weekly: keep("backups.keep_weekly")?,
            monthly: keep("backups.keep_monthly")?,
        },
        encryption: encryption(all)?,
    }))
}
