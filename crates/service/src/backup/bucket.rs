//! Backups in an S3-compatible store. An object is uploaded while the rows are read, and read back. A scheduled backup
//! counts as good when a second object beside it says so, which is written last: an upload, a check or a deletion that
//! was interrupted leaves nothing that looks like a good backup.

use std::collections::HashSet;
use std::io::{self, Read};

use base::{Entropy, Timestamp};
use bytes::{Buf as _, Bytes};
use db::Db;
use s3::Store;
use tokio::sync::mpsc;

use super::encryption::Encryption;
use super::files::{self, Opener, Output};
use super::format::Contents;
use super::kept::{Keep, kept};
use super::names::{self, BackupFile};
use super::{check, in_thread, refused, write};
use crate::platform::installation;
use crate::{App, Error, Result};

/// The end of the name of the object that says that a backup was read back.
const CHECKED: &str = ".checked";
/// What an interrupted try has left is deleted after this time. Until then another process may still be writing it.
const UNFINISHED_MICROSECONDS: i64 = 24 * 3_600 * 1_000_000;

/// A store, and the beginning of the names of this installation's objects in it.
pub(super) struct Bucket {
    pub(super) store: Store,
    pub(super) prefix: String,
}

/// A backup that was written and read back.
#[derive(Debug, Clone, Copy)]
pub struct Written {
    pub rows: u64,
    pub bytes: u64,
}

impl Bucket {
    /// This installation's good backups, newest first.
    pub(super) async fn list(&self) -> Result<Vec<BackupFile>> {
        let objects = self.store.list(&self.prefix).await.map_err(unusable)?;
        Ok(good(&objects, |name, bytes| BackupFile::parse(name, &self.prefix, bytes)))
    }

    /// Writes a backup and reads it back. Returns the number of rows.
    pub(super) async fn write(
        &self,
        app: &App,
        encryption: Option<&Encryption>,
        now: Timestamp,
        name: &str,
    ) -> Result<u64> {
        let snapshot =
            Snapshot { db: &app.db, key: &app.installation_key, entropy: &app.entropy, now };
        let written = write_to_store(snapshot, encryption, &self.store, name, |_| ()).await?;
        let note = serde_json::json!({ "rows": written.rows, "bytes": written.bytes }).to_string();
        self.store.put(&format!("{name}{CHECKED}"), note).await.map_err(unusable)?;
        Ok(written.rows)
    }

    /// Deletes backups that are not kept, and what interrupted tries have left. Returns the number of backups.
    pub(super) async fn delete_outdated(&self, now: Timestamp, keep: Keep) -> Result<usize> {
        let objects = self.store.list(&self.prefix).await.map_err(unusable)?;
        let parse = |name: &str, bytes| BackupFile::parse(name, &self.prefix, bytes);
        let files = good(&objects, parse);
        let made: Vec<Timestamp> = files.iter().map(|it| it.made_at).collect();
        let mut deleted = 0;
        for (file, is_kept) in files.iter().zip(kept(&made, now, keep)) {
            if !is_kept {
                // The mark first: without it the rest is an unfinished backup, which the next run deletes.
                self.store.delete(&format!("{}{CHECKED}", file.name)).await.map_err(unusable)?;
                self.store.delete(&file.name).await.map_err(unusable)?;
                deleted += 1;
            }
        }
        let is_old = |made_at: Timestamp| {
            now.as_microsecond() - made_at.as_microsecond() > UNFINISHED_MICROSECONDS
        };
        let known: HashSet<&str> = files.iter().map(|it| it.name.as_str()).collect();
        for object in &objects {
            let name = object.name.strip_suffix(CHECKED).unwrap_or(&object.name);
            let is_unfinished =
                !known.contains(name) && parse(name, 0).is_some_and(|it| is_old(it.made_at));
            if is_unfinished {
                self.store.delete(&object.name).await.map_err(unusable)?;
            }
        }
        // Not every store lists uploads. Those that do not have a rule that deletes old ones.
        for upload in self.store.list_unfinished(&self.prefix).await.unwrap_or_default() {
            if parse(&upload.name, 0).is_some_and(|it| is_old(it.made_at)) {
                let _ = self.store.give_up(&upload).await;
            }
        }
        Ok(deleted)
    }
}

/// The good backups of all installations in a store, newest first.
pub(super) async fn list_any(store: &Store) -> Result<Vec<BackupFile>> {
    let objects = store.list(names::ANY_PREFIX).await.map_err(unusable)?;
    Ok(good(&objects, BackupFile::parse_any))
}

/// Writes a small object and deletes it, to show that backups can be written.
pub(super) async fn probe(store: &Store, key: &installation::Key) -> Result<()> {
    let name = format!("{}probe", names::prefix(key));
    store.put(&name, "evenkeel doctor").await.map_err(unusable)?;
    store.delete(&name).await.map_err(unusable)
}

/// What a backup is made of.
pub struct Snapshot<'a> {
    pub db: &'a Db,
    pub key: &'a installation::Key,
    pub entropy: &'a Entropy,
    pub now: Timestamp,
}

/// Uploads a backup while its rows are read, and reads it back. If that fails, the object is deleted.
pub async fn write_to_store(
    snapshot: Snapshot<'_>,
    encryption: Option<&Encryption>,
    store: &Store,
    name: &str,
    on_rows: impl FnMut(u64) + Send + 'static,
) -> Result<Written> {
    let (writer, parts) = s3::upload_channel(store);
    let (by, entropy) = (encryption.cloned(), snapshot.entropy.clone());
    let output = in_thread(move || Output::new(writer, by.as_ref(), &entropy)).await?;
    let opener = output.opener(encryption);
    let writing = async {
        let Snapshot { db, key, now, .. } = snapshot;
        let (output, rows) = write(db, key, now, output, on_rows).await?;
        in_thread(move || {
            let finished = output.finish().and_then(s3::UploadWriter::finish);
            finished.map_err(super::unwritable)
        })
        .await?;
        Ok(rows)
    };
    // When the upload fails, the writer gets an error, too, which says less.
    let (rows, uploaded) = tokio::join!(writing, store.upload(name, parts));
    let (rows, uploaded): (Result<u64>, _) = (rows, uploaded);
    let (rows, uploaded) = match (rows, uploaded) {
        (Ok(rows), Ok(uploaded)) => (rows, uploaded),
        (Err(error), Ok(_) | Err(s3::Error::Incomplete)) => return Err(error),
        (_, Err(error)) => return Err(unusable(error)),
    };
    let bytes = uploaded.bytes;
    let is_good = read_back(store, name, opener).await.and_then(|(contents, read)| {
        let is_same = contents.rows == rows && read == uploaded;
        if is_same { Ok(()) } else { Err(unusable(s3::Error::Differs)) }
    });
    if let Err(error) = is_good {
        let _ = store.delete(name).await;
        return Err(error);
    }
    Ok(Written { rows, bytes })
}

/// Downloads an object and checks it, without keeping it anywhere.
async fn read_back(store: &Store, name: &str, opener: Opener) -> Result<(Contents, s3::Uploaded)> {
    let (sender, receiver) = mpsc::channel(1);
    let input = Ranges { receiver, range: Bytes::new() };
    let checking = tokio::spawn(in_thread(move || check(files::open_with(input, &opener)?)));
    let mut download = store.download(name);
    let fetched = loop {
        let range = match download.next().await {
            Ok(Some(range)) => range,
            Ok(None) => break Ok(()),
            Err(error) => break Err(unusable(error)),
        };
        // Nobody reads on after damage was found.
        if sender.send(range).await.is_err() {
            break Ok(());
        }
    };
    drop(sender);
    let checked = checking.await.map_err(|_| Error::internal("the check of a backup panicked"))?;
    fetched?;
    Ok((checked?, download.finish()))
}

/// The ranges of an object, as a file to read.
struct Ranges {
    receiver: mpsc::Receiver<Bytes>,
    range: Bytes,
}

impl Read for Ranges {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.range.is_empty() {
            self.range = self.receiver.blocking_recv().unwrap_or_default();
        }
        let count = self.range.len().min(out.len());
        self.range.copy_to_slice(&mut out[..count]);
        Ok(count)
    }
}

/// The backups among objects that have a mark beside them, newest first.
fn good(
    objects: &[s3::Object],
    parse: impl Fn(&str, u64) -> Option<BackupFile>,
) -> Vec<BackupFile> {
    let marked: HashSet<&str> =
        objects.iter().filter_map(|it| it.name.strip_suffix(CHECKED)).collect();
    let mut found: Vec<BackupFile> = objects
        .iter()
        .filter(|it| marked.contains(it.name.as_str()))
        .filter_map(|it| parse(&it.name, it.bytes))
        .collect();
    names::sort(&mut found);
    found
}

/// An error of a store, for the operator.
pub fn unusable(error: s3::Error) -> Error {
    refused(format!("backups.s3: {error}"))
}
