//! Scheduled backups: written into a folder, read back and checked, and deleted when newer ones have taken their place.
//!
//! The folder alone says which backups there are. A file gets its final name after it was read back without a fault, so
//! every file with such a name was good when it was written.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use base::{Entropy, Timestamp};
use db::params;

use super::encryption::Encryption;
use super::files::{self, Output};
use super::kept::{Keep, kept};
use super::{check, refused, write};
use crate::platform::installation;
use crate::{App, Caller, Error, Result};

/// How long the next try waits after a failure.
const RETRY_MICROSECONDS: i64 = 15 * 60 * 1_000_000;
const HOUR_MICROSECONDS: i64 = 3_600_000_000;
/// Held while a process writes into the folder, which several may share.
const LOCK: &str = ".evenkeel-backup.lock";
const TIME: &str = "%Y%m%dT%H%M%SZ";
const UNFINISHED: &str = ".new";

/// The operator's settings.
#[derive(Clone)]
pub struct Plan {
    pub folder: PathBuf,
    pub every_hours: i64,
    /// The hour of the day, in UTC, from which the times of backups are counted.
    pub hour: i64,
    pub keep: Keep,
    /// `None` if backups are not encrypted.
    pub encryption: Option<Encryption>,
}

/// The plan, and the last failure in this process.
#[derive(Default)]
pub struct Scheduled {
    plan: Option<Plan>,
    failure: Mutex<Option<Failure>>,
}

/// A backup that could not be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub at: Timestamp,
    pub reason: String,
}

/// A backup in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupFile {
    pub name: String,
    pub made_at: Timestamp,
    pub bytes: u64,
    pub is_encrypted: bool,
}

/// The state of the scheduled backups.
#[derive(Debug, Clone)]
pub struct Status {
    pub folder: PathBuf,
    pub every_hours: i64,
    pub hour: i64,
    pub keep: Keep,
    pub is_encrypted: bool,
    /// Newest first.
    pub files: Vec<BackupFile>,
    /// Since the last good backup, in this process.
    pub failure: Option<Failure>,
    /// Whether the last good backup is older than one and a half times the interval, or there is none.
    pub is_late: bool,
}

impl Scheduled {
    pub(crate) fn new(plan: Option<Plan>) -> Scheduled {
        Scheduled { plan, failure: Mutex::new(None) }
    }

    fn failure(&self) -> Option<Failure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn record(&self, failure: Option<Failure>) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }
}

impl Plan {
    /// The last time at or before `now` when a backup was due.
    fn due_at(&self, now: Timestamp) -> i64 {
        let every = self.every_hours.max(1) * HOUR_MICROSECONDS;
        let offset = self.hour * HOUR_MICROSECONDS;
        (now.as_microsecond() - offset).div_euclid(every) * every + offset
    }

    fn is_due(&self, newest: Option<Timestamp>, now: Timestamp) -> bool {
        newest.is_none_or(|it| it.as_microsecond() < self.due_at(now))
    }

    /// Reads the folder, for the settings page and `evenkeel doctor`.
    pub fn examine(&self, key: &installation::Key, now: Timestamp) -> Result<Status> {
        let files = list(&self.folder, &prefix(key))?;
        let most = self.every_hours * HOUR_MICROSECONDS * 3 / 2;
        let is_old = |it: &BackupFile| now.as_microsecond() - it.made_at.as_microsecond() > most;
        Ok(Status {
            folder: self.folder.clone(),
            every_hours: self.every_hours,
            hour: self.hour,
            keep: self.keep,
            is_encrypted: self.encryption.is_some(),
            is_late: files.first().is_none_or(is_old),
            files,
            failure: None,
        })
    }
}

/// The state of the scheduled backups, for an admin; `None` if the operator has set no folder.
pub async fn status(app: &App, caller: &Caller) -> Result<Option<Status>> {
    caller.require_owner("page")?;
    if app.db.first(IS_ADMIN, params![caller.user], |_| Ok(())).await?.is_none() {
        return Err(Error::NotFound("page"));
    }
    let Some(plan) = app.backups.plan.clone() else { return Ok(None) };
    let (key, now) = (app.installation_key.clone(), app.clock.now());
    let mut status = in_thread(move || plan.examine(&key, now)).await?;
    status.failure = app.backups.failure();
    Ok(Some(status))
}

/// Writes a backup if one is due, and deletes those that are not kept. A background step.
pub async fn run_once(app: &App) -> Result<usize> {
    let Some(plan) = &app.backups.plan else { return Ok(0) };
    let now = app.clock.now();
    let waits = |it: Failure| now.as_microsecond() - it.at.as_microsecond() < RETRY_MICROSECONDS;
    if app.backups.failure().is_some_and(waits) {
        return Ok(0);
    }
    match run(app, plan, now).await {
        Ok(0) => Ok(0),
        Ok(count) => {
            app.backups.record(None);
            Ok(count)
        }
        Err(error) => {
            let reason = error.to_string();
            app.backups.record(Some(Failure { at: now, reason }));
            Err(error)
        }
    }
}

async fn run(app: &App, plan: &Plan, now: Timestamp) -> Result<usize> {
    let folder = Folder { path: plan.folder.clone(), prefix: prefix(&app.installation_key) };
    if !folder.is_due(plan, now).await? {
        return Ok(0);
    }
    // Another process that writes into the same folder writes this backup.
    let Some(lock) = lock(&folder.path)? else { return Ok(0) };
    if !folder.is_due(plan, now).await? {
        return Ok(0);
    }
    let end = if plan.encryption.is_some() { ".backup.age" } else { ".backup" };
    let name = format!("{}{}{end}", folder.prefix, now.strftime(TIME));
    let unfinished = folder.path.join(format!("{name}{UNFINISHED}"));
    let rows = write_checked(app, plan, now, &unfinished).await.inspect_err(|_| {
        let _ = fs::remove_file(&unfinished);
    })?;
    let (keep, path) = (plan.keep, folder.path.join(&name));
    let deleted = in_thread(move || {
        fs::rename(&unfinished, &path).map_err(|error| failed(&path, &error))?;
        let synced = File::open(&folder.path).and_then(|it| it.sync_all());
        synced.map_err(|error| failed(&folder.path, &error))?;
        let deleted = delete_outdated(&folder.path, &folder.prefix, now, keep)?;
        drop(lock);
        Ok(deleted)
    })
    .await?;
    tracing::info!(file = name, rows, deleted, "backup written and checked");
    Ok(1)
}

/// The folder of backups, and the beginning of the names of this installation's files.
#[derive(Clone)]
struct Folder {
    path: PathBuf,
    prefix: String,
}

impl Folder {
    async fn is_due(&self, plan: &Plan, now: Timestamp) -> Result<bool> {
        let folder = self.clone();
        let found = in_thread(move || list(&folder.path, &folder.prefix)).await?;
        Ok(plan.is_due(found.first().map(|it| it.made_at), now))
    }
}

/// Writes the file, reads it back, and compares the number of rows.
async fn write_checked(app: &App, plan: &Plan, now: Timestamp, path: &Path) -> Result<u64> {
    let (target, encryption, entropy) =
        (path.to_owned(), plan.encryption.clone(), app.entropy.clone());
    let output = in_thread(move || create(&target, encryption.as_ref(), &entropy)).await?;
    let opener = output.opener(plan.encryption.as_ref());
    let (output, rows) = write(&app.db, &app.installation_key, now, output, |_| ()).await?;
    let path = path.to_owned();
    in_thread(move || {
        output.finish().map_err(|error| failed(&path, &error))?;
        let file = File::open(&path).map_err(|error| failed(&path, &error))?;
        let contents = check(files::open_with(file, &opener)?)?;
        if contents.rows != rows {
            return Err(refused("the backup was read back with another number of rows"));
        }
        Ok(rows)
    })
    .await
}

fn create(path: &Path, encryption: Option<&Encryption>, entropy: &Entropy) -> Result<Output> {
    let mut options = OpenOptions::new();
    // A file of this name is what an interrupted try has left, because the lock is held.
    options.write(true).create(true).truncate(true).mode(0o600);
    let file = options.open(path).map_err(|error| failed(path, &error))?;
    Output::new(file, encryption, entropy)
}

/// The beginning of the names of this installation's files: others may use the same folder.
fn prefix(key: &installation::Key) -> String {
    let id: String =
        key.derive("backup folder")[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("evenkeel-{id}-")
}

/// This installation's backups in the folder, newest first.
fn list(folder: &Path, prefix: &str) -> Result<Vec<BackupFile>> {
    let unreadable = |error: std::io::Error| {
        refused(format!(
            "backups.folder {} cannot be read ({error}); create it, or mount its disk, and let this program write to it",
            folder.display()
        ))
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some((made_at, is_encrypted)) = parse_name(&name, prefix) else { continue };
        let bytes = entry.metadata().map_err(unreadable)?.len();
        found.push(BackupFile { name, made_at, bytes, is_encrypted });
    }
    found.sort_by_key(|it| std::cmp::Reverse(it.made_at));
    Ok(found)
}

fn parse_name(name: &str, prefix: &str) -> Option<(Timestamp, bool)> {
    let rest = name.strip_prefix(prefix)?;
    let (time, is_encrypted) = match rest.strip_suffix(".backup.age") {
        Some(time) => (time, true),
        None => (rest.strip_suffix(".backup")?, false),
    };
    let time = jiff::civil::DateTime::strptime(TIME, time).ok()?;
    Some((time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp(), is_encrypted))
}

/// Deletes backups that are not kept, and what interrupted tries have left.
fn delete_outdated(folder: &Path, prefix: &str, now: Timestamp, keep: Keep) -> Result<usize> {
    let files = list(folder, prefix)?;
    let made: Vec<Timestamp> = files.iter().map(|it| it.made_at).collect();
    let mut deleted = 0;
    for (file, is_kept) in files.iter().zip(kept(&made, now, keep)) {
        if !is_kept {
            let path = folder.join(&file.name);
            fs::remove_file(&path).map_err(|error| failed(&path, &error))?;
            deleted += 1;
        }
    }
    for entry in fs::read_dir(folder).map_err(|error| failed(folder, &error))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(prefix) && name.ends_with(UNFINISHED) {
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(deleted)
}

/// `None` if another process holds the lock.
fn lock(folder: &Path) -> Result<Option<File>> {
    let path = folder.join(LOCK);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(&path).map_err(|error| failed(&path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(failed(&path, &error)),
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
    refused(format!("{} cannot be written: {error}", path.display()))
}

async fn in_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| Error::internal("a step of a backup panicked"))?
}

const IS_ADMIN: &str = "select id from users where id = $1 and role = 'admin'";

pub(super) const STATEMENTS: &[&str] = &[IS_ADMIN];

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(every_hours: i64, hour: i64) -> Plan {
        let keep = Keep { daily: 1, weekly: 1, monthly: 1 };
        Plan { folder: PathBuf::new(), every_hours, hour, keep, encryption: None }
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_backup_is_due_once_for_each_time_of_the_schedule() {
        let daily = plan(24, 3);
        let due = |newest: &str, now: &str| daily.is_due(Some(at(newest)), at(now));
        assert!(daily.is_due(None, at("2026-03-02T00:00:00Z")));
        assert!(!due("2026-03-01T03:00:00Z", "2026-03-02T02:59:59Z"));
        assert!(due("2026-03-01T03:00:00Z", "2026-03-02T03:00:00Z"));
        assert!(!due("2026-03-02T03:00:00Z", "2026-03-02T03:00:00Z"));
        // A server that was off at three makes the backup when it starts, and the next one at three again.
        assert!(due("2026-03-01T03:00:00Z", "2026-03-02T17:00:00Z"));
        assert!(due("2026-03-02T17:00:00Z", "2026-03-03T03:00:00Z"));
        let often = plan(6, 3);
        assert!(often.is_due(Some(at("2026-03-01T03:01:00Z")), at("2026-03-01T09:00:00Z")));
        assert!(!often.is_due(Some(at("2026-03-01T03:01:00Z")), at("2026-03-01T08:59:00Z")));
    }

    #[test]
    fn only_names_of_this_installations_backups_are_recognized() {
        let parse = |name: &str| parse_name(name, "evenkeel-0a0b0c0d-");
        let time = at("2026-03-02T03:04:05Z");
        assert_eq!(parse("evenkeel-0a0b0c0d-20260302T030405Z.backup"), Some((time, false)));
        assert_eq!(parse("evenkeel-0a0b0c0d-20260302T030405Z.backup.age"), Some((time, true)));
        for other in [
            "evenkeel-ffffffff-20260302T030405Z.backup",
            "evenkeel-0a0b0c0d-20260302T030405Z.backup.new",
            "evenkeel-0a0b0c0d-yesterday.backup",
            "evenkeel-0a0b0c0d-20260302T030405Z.backup.txt",
            "notes.backup",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
