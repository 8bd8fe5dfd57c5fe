//! Keeps the files of a database small: gives free pages back to the disk, and empties the write-ahead log.

use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::Sqlite;
use crate::error::Result;
use crate::outcome::{Outcome, Pending};
use crate::read_limits;

/// Free pages that stay in the file for the next rows: one MiB.
const FREE_PAGES_KEPT: i64 = 256;
/// Pages that one transaction gives back, so that others wait only for a moment.
const PAGES_PER_STEP: i64 = 512;

impl Sqlite {
    /// Returns how many pages were given back. A file that an earlier version created cannot give
    /// pages back, and keeps them for later rows.
    pub(crate) async fn shrink(&self) -> Result<usize> {
        let mut given_back = 0;
        loop {
            let pages = Pending::new();
            let stored = pages.share();
            let ended = self.write(Box::new(move |connection| Outcome {
                is_good: stored.store(give_pages_back(connection)),
                on_commit: Vec::new(),
            }));
            match pages.after(ended.await)? {
                0 => break,
                pages => given_back += pages,
            }
        }
        read_limits::block_off_runtime(|| self.empty_log())?;
        Ok(given_back)
    }

    /// Copies the log into the database file and truncates it. If somebody is reading or writing, the rest follows the
    /// next time: nobody waits for this.
    fn empty_log(&self) -> Result<()> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.shared.path, flags)?;
        connection.busy_timeout(Duration::ZERO)?;
        Ok(connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))?)
    }
}

fn give_pages_back(connection: &Connection) -> Result<usize> {
    let free = || connection.query_row("pragma freelist_count", [], |row| row.get::<_, i64>(0));
    let before = free()?;
    let pages = (before - FREE_PAGES_KEPT).min(PAGES_PER_STEP);
    if pages <= 0 {
        return Ok(0);
    }
    let mut statement = connection.prepare(&format!("pragma incremental_vacuum({pages})"))?;
    let mut rows = statement.query([])?;
    // Each step gives one page back.
    while rows.next()?.is_some() {}
    Ok(usize::try_from(before - free()?).unwrap_or(0))
}
