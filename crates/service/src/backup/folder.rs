//! Scheduled backups in a folder. The folder alone says which backups there are: a file gets its final name after it was
//! read back without a fault.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use base::{Entropy, Timestamp};

use super::encryption::Encryption;
use super::files::{self, Output};
use super::kept::{Keep, kept};
use super::names::{self, BackupFile};
use super::{check, in_thread, refused, write};
use crate::{App, Error, Result};

/// Held while a process writes into the folder, which several may share.
const LOCK: &str = ".evenkeel-backup.lock";
const UNFINISHED: &str = ".new";

/// The folder of backups, and the beginning of the names of this installation's files.
#[derive(Clone)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) prefix: String,
}

impl Folder {
    /// This installation's backups, newest first.
    pub(super) async fn list(&self) -> Result<Vec<BackupFile>> {
        let folder = self.clone();
        in_thread(move || {
            list(&folder.path, |name, it| BackupFile::parse(name, &folder.prefix, it))
        })
        .await
    }

    /// `None` if another process that writes into the same folder holds the lock.
    pub(super) fn lock(&self) -> Result<Option<File>> {
        let path = self.path.join(LOCK);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(&path).map_err(|error| failed(&path, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(&path, &error)),
        }
    }

    /// Writes a backup, and gives it its name when it was read back. Returns the number of rows.
    pub(super) async fn write(
        &self,
        app: &App,
        encryption: Option<&Encryption>,
        now: Timestamp,
        name: &str,
    ) -> Result<u64> {
        let unfinished = self.path.join(format!("{name}{UNFINISHED}"));
        let written = write_checked(app, encryption, now, &unfinished).await;
        let rows = written.inspect_err(|_| drop(fs::remove_file(&unfinished)))?;
        let (folder, path) = (self.path.clone(), self.path.join(name));
        in_thread(move || {
            fs::rename(&unfinished, &path).map_err(|error| failed(&path, &error))?;
            let synced = File::open(&folder).and_then(|it| it.sync_all());
            synced.map_err(|error| failed(&folder, &error))
        })
        .await?;
        Ok(rows)
    }

    /// Deletes backups that are not kept, and what interrupted tries have left. Returns the number of backups.
    pub(super) async fn delete_outdated(&self, now: Timestamp, keep: Keep) -> Result<usize> {
        let folder = self.clone();
        in_thread(move || delete_outdated(&folder.path, &folder.prefix, now, keep)).await
    }
}

/// The backups of all installations in a folder, newest first.
pub(super) async fn list_any(path: &Path) -> Result<Vec<BackupFile>> {
    let path = path.to_owned();
    in_thread(move || list(&path, BackupFile::parse_any)).await
}

/// Writes the file, reads it back, and compares the number of rows.
async fn write_checked(
    app: &App,
    encryption: Option<&Encryption>,
    now: Timestamp,
    path: &Path,
) -> Result<u64> {
    let (target, by, entropy) = (path.to_owned(), encryption.cloned(), app.entropy.clone());
    let output = in_thread(move || create(&target, by.as_ref(), &entropy)).await?;
    let opener = output.opener(encryption);
    let (output, rows) = write(&app.db, &app.installation_key, now, output, |_| ()).await?;
    let path = path.to_owned();
    in_thread(move || {
        let written = output.finish().and_then(|it| it.sync_all());
        written.map_err(|error| failed(&path, &error))?;
        let file = File::open(&path).map_err(|error| failed(&path, &error))?;
        let contents = check(files::open_with(file, &opener)?)?;
        if contents.rows != rows {
            return Err(refused("the backup was read back with another number of rows"));
        }
        Ok(rows)
    })
    .await
}

fn create(path: &Path, encryption: Option<&Encryption>, entropy: &Entropy) -> Result<Output<File>> {
    let mut options = OpenOptions::new();
    // A file of this name is what an interrupted try has left, because the lock is held.
    options.write(true).create(true).truncate(true).mode(0o600);
    let file = options.open(path).map_err(|error| failed(path, &error))?;
    Output::new(file, encryption, entropy)
}

fn list(folder: &Path, parse: impl Fn(&str, u64) -> Option<BackupFile>) -> Result<Vec<BackupFile>> {
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
        let Some(file) = parse(&name, 0) else { continue };
        found.push(BackupFile { bytes: entry.metadata().map_err(unreadable)?.len(), ..file });
    }
    names::sort(&mut found);
    Ok(found)
}

fn delete_outdated(folder: &Path, prefix: &str, now: Timestamp, keep: Keep) -> Result<usize> {
    let files = list(folder, |name, it| BackupFile::parse(name, prefix, it))?;
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

fn failed(path: &Path, error: &std::io::Error) -> Error {
    refused(format!("{} cannot be written: {error}", path.display()))
}
