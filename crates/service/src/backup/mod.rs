//! Backups: all data of an installation in one file, which can be restored on either engine.
//!
//! The file is gzip over lines of JSON: a header, then `[table, value...]` for each row, then a last line with the number
//! of rows and a SHA-256 of everything before it. A truncated or damaged file is detected before a row is written.

mod access;
mod encryption;
mod files;
mod format;
mod kept;
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
pub use encryption::{Encryption, Identity, Recipient, Secrets};
pub use files::{Output, open};
pub use format::{Contents, check};
pub use kept::Keep;
pub use restore::{must_be_empty, restore};
pub use scheduled::{BackupFile, Failure, Plan, Scheduled, Status, run_once, status};

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
    writer.finish().map_err(unwritable)
}

fn refused(message: impl Into<String>) -> Error {
    Error::Invalid { param: None, message: message.into() }
}

fn unwritable(error: io::Error) -> Error {
    refused(format!("the backup cannot be written: {error}"))
}

/// Writes lines to the file, and counts and hashes them.
struct Writer<W: Write> {
    output: BufWriter<GzEncoder<W>>,
    hash: Sha256,
    line: Vec<u8>,
    counts: Vec<u64>,
    rows: u64,
}

impl<W: Write> Writer<W> {
    fn new(output: W, tables: usize) -> Writer<W> {
        // Rows of text compress well even at the fastest level.
        let output = BufWriter::with_capacity(1 << 18, GzEncoder::new(output, Compression::fast()));
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
        self.output.write_all(&self.line)
    }

    fn finish(self) -> io::Result<(W, u64)> {
        let Writer { mut output, hash, counts, rows, .. } = self;
        let sha256 = format::hex(&hash.finalize());
        serde_json::to_writer(&mut output, &format::End { rows: counts, sha256 })?;
        output.write_all(b"\n")?;
        let encoder = output.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok((encoder.finish()?, rows))
    }
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
