//! Backups: all data of an installation in one file, which can be restored on either engine.
//!
//! The file is gzip over lines of JSON: a header, then `[table, value...]` for each row, then a last line with the number
//! of rows and a SHA-256 of everything before it. A truncated or damaged file is detected before a row is written.

mod access;
mod bucket;
mod encryption;
mod files;
mod folder;
mod format;
mod kept;
mod names;
mod restore;
mod scheduled;
mod upgrade;

use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Mutex, PoisonError};

use base::Timestamp;
use db::{Db, Value};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use crate::platform::installation;
use crate::{Error, Result};

pub use access::{LiveEndpoint, LiveKey, RestoredAccess};
pub use bucket::{Snapshot, Written, unusable, write_to_store};
pub use encryption::{Encryption, Identity, Recipient, Secrets};
pub use files::{Output, open};
pub use format::{Contents, check};
pub use kept::Keep;
pub use names::BackupFile;
pub use restore::{must_be_empty, restore};
pub use scheduled::{
    Failure, Plan, Scheduled, Status, Target, is_late_for_admin, run_once, status,
};
pub(crate) use scheduled::{figures, is_late};

pub(crate) fn statements() -> Vec<&'static str> {
    [restore::STATEMENTS, scheduled::STATEMENTS, upgrade::STATEMENTS, &access::statements()]
        .concat()
}

/// Writes a consistent snapshot of all tables while others go on working. Returns the output and the number of rows.
pub async fn write<W: Write + Send + 'static>(
    db: &Db,
    key: &installation::Key,
    made_at: Timestamp,
    output: W,
    mut on_rows: impl FnMut(u64) + Send + 'static,
) -> Result<(W, u64)> {
    let Some(schema) = db::schema_version(db).await? else {
        return Err(refused("there is nothing to back up: the database is empty"));
    };
    let tables = db.tables().await?;
    let header = format::Header::new(schema, made_at, key, &tables);
    let mut writer = Writer::new(output, tables.len());
    writer.header(&header).map_err(unwritable)?;

    // The rows are read on another thread, so the writer is shared with it.
    let shared = Arc::new(Mutex::new((writer, None)));
    let shared_writer = shared.clone();
    let dumped = db.dump(tables, move |table, row| {
        let mut guard = shared_writer.lock().unwrap_or_else(PoisonError::into_inner);
        let (writer, failure) = &mut *guard;
        writer.row(table, row).map_err(|error| match error {
            RowError::Read(error) => error,
            RowError::Write(error) => {
                *failure = Some(error);
                db::Error::unavailable("the backup cannot be written")
            }
        })?;
        if writer.rows.is_multiple_of(10_000) {
            on_rows(writer.rows);
        }
        Ok(())
    });
    let dumped = dumped.await;
    let lost = || Error::internal("the backup writer is still in use");
    let shared = Arc::into_inner(shared).ok_or_else(lost)?;
    let (writer, failure) = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = failure {
        return Err(unwritable(error));
    }
    dumped?;
    in_thread(move || writer.finish().map_err(unwritable)).await
}

fn refused(message: impl Into<String>) -> Error {
    Error::Invalid { param: None, message: message.into() }
}

/// Runs work that waits for a disk or takes much CPU time.
async fn in_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| Error::internal("a step of a backup panicked"))?
}

fn unwritable(error: io::Error) -> Error {
    refused(format!("the backup cannot be written: {error}"))
}

/// Writes lines to the file, and counts and hashes them. One that is dropped before it is finished writes nothing more:
/// the output may wait for a network, which must not happen where a task is dropped.
struct Writer<W: Write> {
    /// `None` after `finish`.
    output: Option<BufWriter<GzEncoder<Abandonable<W>>>>,
    hash: Sha256,
    line: Vec<u8>,
    counts: Vec<u64>,
    rows: u64,
}

impl<W: Write> Writer<W> {
    fn new(output: W, tables: usize) -> Writer<W> {
        // Rows of text compress well even at the fastest level.
        let encoder = GzEncoder::new(Abandonable(Some(output)), Compression::fast());
        let output = Some(BufWriter::with_capacity(1 << 18, encoder));
        Writer { output, hash: Sha256::new(), line: Vec::new(), counts: vec![0; tables], rows: 0 }
    }

    fn header(&mut self, header: &format::Header) -> io::Result<()> {
        self.line = serde_json::to_vec(header)?;
        self.write_line()
    }

    fn row(&mut self, table: usize, row: &db::Row<'_>) -> Result<(), RowError> {
        self.line.clear();
        self.line.extend_from_slice(format!("[{table}").as_bytes());
        for column in 0..row.columns() {
            self.line.push(b',');
            write_value(&mut self.line, row.value(column)?)?;
        }
        self.line.push(b']');
        self.counts[table] += 1;
        self.rows += 1;
        self.write_line()?;
        Ok(())
    }

    fn write_line(&mut self) -> io::Result<()> {
        self.line.push(b'\n');
        self.hash.update(&self.line);
        self.output.as_mut().ok_or_else(abandoned)?.write_all(&self.line)
    }

    fn finish(mut self) -> io::Result<(W, u64)> {
        let mut output = self.output.take().ok_or_else(abandoned)?;
        let sha256 = format::hex(&std::mem::take(&mut self.hash).finalize());
        let end = format::End { rows: std::mem::take(&mut self.counts), sha256 };
        serde_json::to_writer(&mut output, &end)?;
        output.write_all(b"\n")?;
        let encoder = output.into_inner().map_err(io::IntoInnerError::into_error)?;
        let output = encoder.finish()?.0.ok_or_else(abandoned)?;
        Ok((output, self.rows))
    }
}

impl<W: Write> Drop for Writer<W> {
    fn drop(&mut self) {
        if let Some(output) = &mut self.output {
            output.get_mut().get_mut().0 = None;
        }
    }
}

/// An output that can be taken away from an encoder, which otherwise writes its last bytes when it is dropped.
struct Abandonable<W>(Option<W>);

impl<W: Write> Write for Abandonable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.as_mut().ok_or_else(abandoned)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.as_mut().ok_or_else(abandoned)?.flush()
    }
}

fn abandoned() -> io::Error {
    io::Error::other("the backup was abandoned")
}

/// The reason why a row could not be copied into the file.
#[derive(Debug, thiserror::Error)]
enum RowError {
    #[error("the row cannot be read")]
    Read(#[from] db::Error),
    #[error("the row cannot be written")]
    Write(#[from] io::Error),
}

fn write_value(line: &mut Vec<u8>, value: Value<'_>) -> io::Result<()> {
    match value {
        Value::Null => line.extend_from_slice(b"null"),
        Value::Int(number) => write!(line, "{number}")?,
        Value::Text(text) => serde_json::to_writer(line, text)?,
        Value::Bytes(bytes) => format::write_bytes(line, bytes),
    }
    Ok(())
}
