//! Names of scheduled backups, such as `evenkeel-0a0b0c0d-20261117T030000Z.backup`: the installation, the time, and
//! whether it is encrypted.

use base::Timestamp;

use crate::platform::installation;

const TIME: &str = "%Y%m%dT%H%M%SZ";
const PROGRAM: &str = "evenkeel-";
const ID_DIGITS: usize = 8;

/// A scheduled backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupFile {
    pub name: String,
    pub made_at: Timestamp,
    pub bytes: u64,
    pub is_encrypted: bool,
}

impl BackupFile {
    /// A backup whose name begins with this; `None` if the name is not that of a backup.
    pub(super) fn parse(name: &str, prefix: &str, bytes: u64) -> Option<BackupFile> {
        let rest = name.strip_prefix(prefix)?;
        let (time, is_encrypted) = match rest.strip_suffix(".backup.age") {
            Some(time) => (time, true),
            None => (rest.strip_suffix(".backup")?, false),
        };
        let time = jiff::civil::DateTime::strptime(TIME, time).ok()?;
        let made_at = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
        Some(BackupFile { name: name.to_owned(), made_at, bytes, is_encrypted })
    }

    /// A backup of any installation.
    pub(super) fn parse_any(name: &str, bytes: u64) -> Option<BackupFile> {
        let id = name.strip_prefix(PROGRAM)?.get(..ID_DIGITS)?;
        id.bytes().all(|it| it.is_ascii_hexdigit()).then_some(())?;
        BackupFile::parse(name, &format!("{PROGRAM}{id}-"), bytes)
    }
}

/// The beginning of the names of this installation's backups: others may use the same place.
pub(super) fn prefix(key: &installation::Key) -> String {
    let id: String =
        key.derive("backup folder")[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{PROGRAM}{id}-")
}

/// The beginning of the names of everybody's backups.
pub(super) const ANY_PREFIX: &str = PROGRAM;

pub(super) fn name(prefix: &str, made_at: Timestamp, is_encrypted: bool) -> String {
    let end = if is_encrypted { ".backup.age" } else { ".backup" };
    format!("{prefix}{}{end}", made_at.strftime(TIME))
}

/// Newest first.
pub(super) fn sort(files: &mut [BackupFile]) {
    files.sort_by_key(|it| std::cmp::Reverse(it.made_at));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_installations_backups_are_recognized() {
        let parse = |name: &str| BackupFile::parse(name, "evenkeel-0a0b0c0d-", 7);
        let time: Timestamp = "2026-03-02T03:04:05Z".parse().unwrap();
        for is_encrypted in [false, true] {
            let name = name("evenkeel-0a0b0c0d-", time, is_encrypted);
            let found = parse(&name).unwrap();
            assert_eq!((found.made_at, found.is_encrypted), (time, is_encrypted));
            assert_eq!(BackupFile::parse_any(&name, 7), Some(found));
        }
        for other in [
            "evenkeel-ffffffff-20260302T030405Z.backup",
            "evenkeel-0a0b0c0d-20260302T030405Z.backup.new",
            "evenkeel-0a0b0c0d-yesterday.backup",
            "evenkeel-0a0b0c0d-20260302T030405Z.backup.txt",
            "notes.backup",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
        assert!(BackupFile::parse_any("evenkeel-ffffffff-20260302T030405Z.backup", 0).is_some());
        for other in ["evenkeel-0a0b0c0-20260302T030405Z.backup", "evenkeel-ä", "evenkeel-"] {
            assert_eq!(BackupFile::parse_any(other, 0), None, "{other}");
        }
    }
}
