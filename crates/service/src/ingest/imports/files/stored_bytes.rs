//! The bytes of a staged file, stored in parts, so that no list, backup or restore has to hold a whole file in memory.

use base::{FileId, UserId};
use db::{Tx, params};
use sources::files::BYTES_MAX;

use crate::{App, Error, Result};

const PART_BYTES: usize = 1_024 * 1_024;

pub(super) fn insert(tx: &mut Tx<'_>, user: UserId, id: FileId, content: &[u8]) -> Result<()> {
    for (part, bytes) in (0_i64..).zip(content.chunks(PART_BYTES)) {
        tx.execute(INSERT, params![user, id, part, bytes])?;
    }
    Ok(())
}

pub(super) fn delete(tx: &mut Tx<'_>, user: UserId, id: FileId) -> Result<()> {
    tx.execute(DELETE, params![user, id])?;
    Ok(())
}

/// Loads a file part by part, and lets other requests run in between.
pub(super) async fn load(app: &App, user: UserId, id: FileId, size: i64) -> Result<Vec<u8>> {
    let expected = usize::try_from(size).unwrap_or(0);
    let mut content = Vec::with_capacity(expected.min(BYTES_MAX));
    for part in 0_i64.. {
        let read = |row: &db::Row<'_>| {
            content.extend_from_slice(row.get::<&[u8]>(0)?);
            Ok(())
        };
        if app.db.first(PART, params![user, id, part], read).await?.is_none() {
            break;
        }
        tokio::task::yield_now().await;
    }
    if content.is_empty() {
        // A backup from before files were stored in parts has all bytes in one row.
        let read = |row: &db::Row<'_>| row.get::<Option<Vec<u8>>>(0);
        content = app.db.first(WHOLE, params![user, id], read).await?.flatten().unwrap_or_default();
    }
    // It may have been imported or discarded in between.
    if content.len() == expected { Ok(content) } else { Err(Error::NotFound("file")) }
}

const INSERT: &str = "insert into import_file_parts (user_id, file_id, part, content)
    values ($1, $2, $3, $4)";
const DELETE: &str = "delete from import_file_parts where user_id = $1 and file_id = $2";
const PART: &str = "select content from import_file_parts
    where user_id = $1 and file_id = $2 and part = $3";
const WHOLE: &str = "select content from import_files where user_id = $1 and id = $2";

pub(super) const STATEMENTS: &[&str] = &[INSERT, DELETE, PART, WHOLE];
