//! Scheduled backups: written into a folder or a store when they are due, read back and checked, and deleted when newer
//! ones have taken their place.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use base::Timestamp;
use base::metrics::MetricFamily;
use db::params;

use super::bucket::{self, Bucket};
use super::encryption::Encryption;
use super::folder::{self, Folder};
use super::kept::Keep;
use super::names::{self, BackupFile};
use crate::platform::{installation, processes};
use crate::{App, Caller, Error, Result};

/// How long the next try waits after a failure.
const RETRY_MICROSECONDS: i64 = 15 * 60 * 1_000_000;
const SECOND_MICROSECONDS: i64 = 1_000_000;
const HOUR_MICROSECONDS: i64 = 3_600 * SECOND_MICROSECONDS;
/// How long the list of a store is used before it is read again, because stores charge for that.
const LIST_MICROSECONDS: i64 = HOUR_MICROSECONDS;

/// The operator's settings.
#[derive(Clone)]
pub struct Plan {
    pub target: Target,
    pub every_hours: i64,
    /// The hour of the day, in UTC, from which the times of backups are counted.
    pub hour: i64,
    pub keep: Keep,
    /// `None` if backups are not encrypted.
    pub encryption: Option<Encryption>,
}

/// Where backups are written to.
#[derive(Clone)]
pub enum Target {
    Folder(PathBuf),
    Store(s3::Store),
}

/// The plan, and what this process knows of its backups.
#[derive(Default)]
pub struct Scheduled {
    plan: Option<Plan>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// The last failure since the last good backup.
    failure: Option<Failure>,
    /// The backups in a store, and when they were listed.
    listed: Option<(Timestamp, Vec<BackupFile>)>,
}

/// A backup that could not be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub at: Timestamp,
    pub reason: String,
}

/// The state of the scheduled backups.
#[derive(Debug, Clone)]
pub struct Status {
    /// The folder, or the address of the store.
    pub place: String,
    pub every_hours: i64,
    pub hour: i64,
    pub keep: Keep,
    pub is_encrypted: bool,
    /// Newest first; `None` if the store has not been read yet.
    pub files: Option<Vec<BackupFile>>,
    /// Since the last good backup, in this process.
    pub failure: Option<Failure>,
    /// Whether the last good backup is older than one and a half times the interval, or there is none.
    pub is_late: bool,
}

impl Scheduled {
    pub(crate) fn new(plan: Option<Plan>) -> Scheduled {
        Scheduled { plan, known: Mutex::default() }
    }

    fn with_known<T>(&self, work: impl FnOnce(&mut Known) -> T) -> T {
        work(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Plan {
    /// The last time at or before `now` when a backup was due.
    fn due_at(&self, now: Timestamp) -> i64 {
        let every = self.every_hours.max(1) * HOUR_MICROSECONDS;
        let offset = self.hour * HOUR_MICROSECONDS;
        (now.as_microsecond() - offset).div_euclid(every) * every + offset
    }

    fn is_due(&self, files: &[BackupFile], now: Timestamp) -> bool {
        files.first().is_none_or(|it| it.made_at.as_microsecond() < self.due_at(now))
    }

    /// Reads the folder or the store, for `evenkeel doctor`.
    pub async fn examine(&self, key: &installation::Key, now: Timestamp) -> Result<Status> {
        let files = self.store(key).list().await?;
        Ok(self.status(Some(files), now))
    }

    /// Checks that backups can be written to a store. A folder shows that by its permissions.
    pub async fn probe(&self, key: &installation::Key) -> Result<()> {
        match &self.target {
            Target::Folder(_) => Ok(()),
            Target::Store(store) => bucket::probe(store, key).await,
        }
    }

    fn status(&self, files: Option<Vec<BackupFile>>, now: Timestamp) -> Status {
        let most = self.every_hours * HOUR_MICROSECONDS * 3 / 2;
        let is_old = |it: &BackupFile| now.as_microsecond() - it.made_at.as_microsecond() > most;
        Status {
            place: self.target.shown(),
            every_hours: self.every_hours,
            hour: self.hour,
            keep: self.keep,
            is_encrypted: self.encryption.is_some(),
            is_late: files.as_ref().is_some_and(|it| it.first().is_none_or(is_old)),
            files,
            failure: None,
        }
    }

    fn store(&self, key: &installation::Key) -> BackupStore {
        let prefix = names::prefix(key);
        match &self.target {
            Target::Folder(path) => BackupStore::Folder(Folder { path: path.clone(), prefix }),
            Target::Store(store) => BackupStore::Bucket(Bucket { store: store.clone(), prefix }),
        }
    }
}

impl Target {
    /// The folder, or the address of the store.
    pub fn shown(&self) -> String {
        match self {
            Target::Folder(path) => path.display().to_string(),
            Target::Store(store) => store.shown(""),
        }
    }

    /// The backups of all installations in it, newest first: an operator who lost a server looks for its last one.
    pub async fn list_any(&self) -> Result<Vec<BackupFile>> {
        match self {
            Target::Folder(path) => folder::list_any(path).await,
            Target::Store(store) => bucket::list_any(store).await,
        }
    }
}

/// The folder or bucket of this installation's backups.
enum BackupStore {
    Folder(Folder),
    Bucket(Bucket),
}

/// The right to write a backup: several processes may share the store.
struct BackupPermit {
    _lock: Option<File>,
}

impl BackupStore {
    async fn list(&self) -> Result<Vec<BackupFile>> {
        match self {
            BackupStore::Folder(folder) => folder.list().await,
            BackupStore::Bucket(bucket) => bucket.list().await,
        }
    }

    /// `None` if another process writes this backup.
    async fn acquire_permit(&self, app: &App) -> Result<Option<BackupPermit>> {
        match self {
            BackupStore::Folder(folder) => {
                Ok(folder.lock()?.map(|it| BackupPermit { _lock: Some(it) }))
            }
            // Two that write at once, because one was taken for dead, write two objects.
            BackupStore::Bucket(_) => {
                let is_ours = processes::is_longest_running(app).await?;
                Ok(is_ours.then_some(BackupPermit { _lock: None }))
            }
        }
    }

    async fn write(&self, app: &App, plan: &Plan, now: Timestamp, name: &str) -> Result<u64> {
        let encryption = plan.encryption.as_ref();
        match self {
            BackupStore::Folder(folder) => folder.write(app, encryption, now, name).await,
            BackupStore::Bucket(bucket) => bucket.write(app, encryption, now, name).await,
        }
    }

    async fn delete_outdated(&self, now: Timestamp, keep: Keep) -> Result<usize> {
        match self {
            BackupStore::Folder(folder) => folder.delete_outdated(now, keep).await,
            BackupStore::Bucket(bucket) => bucket.delete_outdated(now, keep).await,
        }
    }

    fn prefix(&self) -> &str {
        match self {
            BackupStore::Folder(folder) => &folder.prefix,
            BackupStore::Bucket(bucket) => &bucket.prefix,
        }
    }
}

/// The state of the scheduled backups, for an admin; `None` if the operator has set neither a folder nor a store. A store
/// is not asked for it, because no request waits for another server.
pub async fn status(app: &App, caller: &Caller) -> Result<Option<Status>> {
    caller.require_owner("page")?;
    if !is_admin(app, caller).await? {
        return Err(Error::NotFound("page"));
    }
    let Some(plan) = &app.backups.plan else { return Ok(None) };
    let failure = app.backups.with_known(|it| it.failure.clone());
    let files = match &plan.target {
        Target::Folder(_) => Some(plan.store(&app.installation_key).list().await?),
        Target::Store(_) => known_files(app, plan).await,
    };
    Ok(Some(Status { failure, ..plan.status(files, app.clock.now()) }))
}

/// Whether the next backup is late. Always false for people who are not admins, because they cannot mend it.
pub async fn is_late_for_admin(app: &App, caller: &Caller) -> Result<bool> {
    caller.require_owner("page")?;
    if app.backups.plan.is_none() || !is_admin(app, caller).await? {
        return Ok(false);
    }
    Ok(is_late(app).await == Some(true))
}

async fn is_admin(app: &App, caller: &Caller) -> Result<bool> {
    Ok(app.db.first(IS_ADMIN, params![caller.user], |_| Ok(())).await?.is_some())
}

/// Whether a backup is late, as far as this process knows; `None` if it does not know or none are scheduled. A folder or a
/// store that cannot be read counts as late.
pub(crate) async fn is_late(app: &App) -> Option<bool> {
    let plan = app.backups.plan.as_ref()?;
    let has_failed = app.backups.with_known(|it| it.failure.is_some());
    match known_files(app, plan).await {
        // A new server is about to write its first backup.
        Some(files) if files.is_empty() && !has_failed => None,
        Some(files) => Some(plan.status(Some(files), app.clock.now()).is_late),
        None => has_failed.then_some(true),
    }
}

/// The backups that this process knows of, newest first: a folder is read, a store is not asked.
async fn known_files(app: &App, plan: &Plan) -> Option<Vec<BackupFile>> {
    match &plan.target {
        Target::Folder(_) => plan.store(&app.installation_key).list().await.ok(),
        Target::Store(_) => app.backups.with_known(|it| it.listed.clone().map(|it| it.1)),
    }
}

/// When the last good backup was made and whether the next one is late, for metrics. Without scheduled backups there are
/// no such metrics.
pub(crate) async fn figures(app: &App) -> Vec<MetricFamily> {
    let Some(plan) = &app.backups.plan else { return Vec::new() };
    let is_late = is_late(app).await == Some(true);
    let help = "Whether the last good backup is older than one and a half times the interval";
    let mut families = vec![MetricFamily::gauge("backup_late", help).with(&[], i64::from(is_late))];
    let newest = known_files(app, plan).await.and_then(|it| Some(it.first()?.made_at));
    if let Some(at) = newest {
        let help = "When the last good backup was made";
        families.push(
            MetricFamily::gauge("backup_last_good_timestamp_seconds", help)
                .with(&[], at.as_microsecond() / SECOND_MICROSECONDS),
        );
    }
    families
}

/// Writes a backup if one is due, and deletes those that are not kept. A background step.
pub async fn run_once(app: &App) -> Result<usize> {
    let Some(plan) = &app.backups.plan else { return Ok(0) };
    let now = app.clock.now();
    let waits = |it: &Failure| now.as_microsecond() - it.at.as_microsecond() < RETRY_MICROSECONDS;
    if app.backups.with_known(|it| it.failure.as_ref().is_some_and(waits)) {
        return Ok(0);
    }
    match run(app, plan, now).await {
        Ok(0) => Ok(0),
        Ok(count) => {
            app.backups.with_known(|it| it.failure = None);
            Ok(count)
        }
        Err(error) => {
            let failure = Failure { at: now, reason: error.to_string() };
            app.backups.with_known(|it| it.failure = Some(failure));
            Err(error)
        }
    }
}

async fn run(app: &App, plan: &Plan, now: Timestamp) -> Result<usize> {
    let store = plan.store(&app.installation_key);
    if is_known_good(app, plan, now) || !plan.is_due(&list(app, &store, now).await?, now) {
        return Ok(0);
    }
    let Some(permit) = store.acquire_permit(app).await? else { return Ok(0) };
    // Another process may have written it before this one got the permit.
    if !plan.is_due(&list(app, &store, now).await?, now) {
        return Ok(0);
    }
    let name = names::name(store.prefix(), now, plan.encryption.is_some());
    let rows = store.write(app, plan, now, &name).await?;
    let deleted = store.delete_outdated(now, plan.keep).await?;
    drop(permit);
    list(app, &store, now).await?;
    tracing::info!(file = name, rows, deleted, "backup written and checked");
    Ok(1)
}

/// Whether the list of a store was read not long ago, and has the backup that is due.
fn is_known_good(app: &App, plan: &Plan, now: Timestamp) -> bool {
    app.backups.with_known(|it| {
        it.listed.as_ref().is_some_and(|(at, files)| {
            now.as_microsecond() - at.as_microsecond() < LIST_MICROSECONDS
                && !plan.is_due(files, now)
        })
    })
}

/// Lists the backups, and remembers those of a store.
async fn list(app: &App, store: &BackupStore, now: Timestamp) -> Result<Vec<BackupFile>> {
    let files = store.list().await?;
    if matches!(store, BackupStore::Bucket(_)) {
        app.backups.with_known(|it| it.listed = Some((now, files.clone())));
    }
    Ok(files)
}

const IS_ADMIN: &str = "select id from users where id = $1 and role = 'admin'";

pub(super) const STATEMENTS: &[&str] = &[IS_ADMIN];

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(every_hours: i64, hour: i64) -> Plan {
        let keep = Keep { daily: 1, weekly: 1, monthly: 1 };
        let target = Target::Folder(PathBuf::new());
        Plan { target, every_hours, hour, keep, encryption: None }
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn made(text: &str) -> Vec<BackupFile> {
        vec![BackupFile { name: String::new(), made_at: at(text), bytes: 0, is_encrypted: false }]
    }

    #[test]
    fn a_backup_is_due_once_for_each_time_of_the_schedule() {
        let daily = plan(24, 3);
        let due = |newest: &str, now: &str| daily.is_due(&made(newest), at(now));
        assert!(daily.is_due(&[], at("2026-03-02T00:00:00Z")));
        assert!(!due("2026-03-01T03:00:00Z", "2026-03-02T02:59:59Z"));
        assert!(due("2026-03-01T03:00:00Z", "2026-03-02T03:00:00Z"));
        assert!(!due("2026-03-02T03:00:00Z", "2026-03-02T03:00:00Z"));
        // A server that was off at three makes the backup when it starts, and the next one at three again.
        assert!(due("2026-03-01T03:00:00Z", "2026-03-02T17:00:00Z"));
        assert!(due("2026-03-02T17:00:00Z", "2026-03-03T03:00:00Z"));
        let often = plan(6, 3);
        assert!(often.is_due(&made("2026-03-01T03:01:00Z"), at("2026-03-01T09:00:00Z")));
        assert!(!often.is_due(&made("2026-03-01T03:01:00Z"), at("2026-03-01T08:59:00Z")));
    }
}
