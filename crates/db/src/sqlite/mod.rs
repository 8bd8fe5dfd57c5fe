//! SQLite: one writer on its own thread, and readers that never wait for it.

mod shrink;
pub(crate) mod statement;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, params_from_iter};
use tokio::time::Instant;

use crate::dialect::for_sqlite;
use crate::error::{Error, Result};
use crate::meters::{DriverState, Meters, PoolState};
use crate::read_limits::{self, Deadline, ReadLimits, SlowReads};
use crate::request;
use crate::value::{Param, Row, RowSource, Visit};
use writer::Writer;

/// Enough for every statement of the product, with its variants, on each connection.
const STATEMENTS_CACHED: usize = 256;
/// The length that the write-ahead log keeps between large transactions.
const LOG_BYTES_KEPT: i64 = 4 << 20;
/// Reads come from the operating system's page cache, so mapping the file costs only address space.
const MAPPED_BYTES: i64 = 1 << 40;
/// SQLite virtual machine steps between two checks of a read's deadline.
const STEPS_PER_DEADLINE_CHECK: i32 = 500;

#[derive(Clone)]
pub(crate) struct Sqlite {
    shared: Arc<Shared>,
}

struct Shared {
    path: PathBuf,
    idle_readers: Mutex<Vec<Reader>>,
    writer: Writer,
    limits: ReadLimits,
    slow_reads: SlowReads,
    meters: Arc<Meters>,
}

/// A read-only connection whose queries are interrupted at their deadline.
struct Reader {
    connection: Connection,
    deadline: Arc<Deadline>,
}

impl Sqlite {
    pub(crate) async fn open(
        path: &Path,
        limits: ReadLimits,
        meters: Arc<Meters>,
    ) -> Result<Sqlite> {
        // The writer opens first and sets the journal mode: two connections switching at once would collide.
        let writer = Writer::start(writer_connection(path).await?, meters.clone())?;
        let shared = Shared {
            path: path.to_owned(),
            idle_readers: Mutex::new(Vec::new()),
            writer,
            limits,
            slow_reads: SlowReads::new(limits.slow_at_once, meters.clone()),
            meters,
        };
        Ok(Sqlite { shared: Arc::new(shared) })
    }

    pub(crate) fn limits(&self) -> ReadLimits {
        self.shared.limits
    }

    /// Its connections, and the size of its write-ahead log.
    pub(crate) fn state(&self) -> DriverState {
        let idle = self.shared.idle_readers.lock().unwrap_or_else(PoisonError::into_inner).len();
        let open = self.shared.meters.readers();
        let busy = open.saturating_sub(idle);
        let mut log = self.shared.path.clone().into_os_string();
        log.push("-wal");
        DriverState {
            is_sqlite: true,
            pools: vec![PoolState { name: "readers", open, busy, most: None }],
            log_bytes: std::fs::metadata(log).ok().map(|it| it.len()),
        }
    }

    /// Reads on the calling thread, for at most the inline limit. A statement that exceeded it a moment ago for this
    /// person is not tried.
    pub(crate) fn each_inline(
        &self,
        sql: &str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        if self.shared.slow_reads.is_known(sql) {
            return Err(Error::TimedOut);
        }
        let read = self.with_reader(|reader| {
            reader.deadline.set(self.shared.limits.inline);
            statement::each(&reader.connection, sql, params, visit)
        });
        self.remember_if_slow(sql, read)
    }

    /// Reads on the calling thread a query that cannot restart once a row was visited: the inline limit applies up to
    /// the first row, the total limit after it. Rows after the inline limit are read off the runtime's threads.
    pub(crate) fn each_once(
        &self,
        sql: &str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        if self.shared.slow_reads.is_known(sql) {
            return Err(Error::TimedOut);
        }
        let read = self.with_reader(|reader| {
            let started = Instant::now();
            reader.deadline.set(self.shared.limits.inline);
            let mut statement = reader.connection.prepare_cached(&for_sqlite(sql))?;
            let mut rows = statement.query(params_from_iter(params))?;
            let Some(first) = rows.next()? else { return Ok(()) };
            let until = request::deadline_within(self.shared.limits.total);
            reader.deadline.set(until.saturating_duration_since(Instant::now()));
            visit(&Row(RowSource::Sqlite(first)))?;
            while started.elapsed() < self.shared.limits.inline {
                let Some(row) = rows.next()? else { return Ok(()) };
                visit(&Row(RowSource::Sqlite(row)))?;
            }
            read_limits::block_off_runtime(|| {
                while let Some(row) = rows.next()? {
                    visit(&Row(RowSource::Sqlite(row)))?;
                }
                Ok(())
            })
        });
        self.remember_if_slow(sql, read)
    }

    fn remember_if_slow(&self, sql: &str, read: Result<()>) -> Result<()> {
        if matches!(read, Err(Error::TimedOut)) {
            self.shared.slow_reads.remember(sql);
        }
        read
    }

    /// Waits for a permit of the slow-read pool, then reads.
    pub(crate) async fn each_slow(
        &self,
        sql: &str,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let until = request::deadline_within(self.shared.limits.total);
        let permit = self.shared.slow_reads.acquire(until).await?;
        let started = Instant::now();
        let outcome = read_limits::block_off_runtime(|| {
            self.with_reader(|reader| {
                reader.deadline.set(until.saturating_duration_since(started));
                statement::each(&reader.connection, sql, params, visit)
            })
        });
        drop(permit);
        if started.elapsed() < self.shared.limits.inline {
            self.shared.slow_reads.forget(sql);
        }
        outcome
    }

    pub(crate) fn check(&self, sql: &str) -> Result<()> {
        self.with_reader(|reader| {
            reader.deadline.set(self.shared.limits.total);
            Ok(reader.connection.prepare(&for_sqlite(sql)).map(drop)?)
        })
    }

    /// Runs a transaction on the writer's thread.
    pub(crate) async fn write(&self, work: writer::Work) -> Result<()> {
        self.shared.writer.write(work).await
    }

    /// A connection outside the pool, for long reads that need one consistent snapshot.
    pub(crate) fn connection(&self) -> Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let reader = Connection::open_with_flags(&self.shared.path, flags)?;
        reader.busy_timeout(Duration::from_secs(5))?;
        reader.pragma_update(None, "query_only", "on")?;
        reader.pragma_update(None, "mmap_size", MAPPED_BYTES)?;
        reader.pragma_update(None, "cache_size", -1_024)?;
        // Plans must not depend on bound values: otherwise SQLite prepares the statement again for every page cursor.
        reader.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        reader.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
        add_strpos(&reader)?;
        Ok(reader)
    }

    fn with_reader<T>(&self, read: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        let reader = self.reader()?;
        let outcome = read(&reader);
        self.shared.idle_readers.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
        outcome
    }

    /// An idle reader or a new one. There are never more readers than threads that read at the same time.
    fn reader(&self) -> Result<Reader> {
        let idle = self.shared.idle_readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(reader) = idle {
            return Ok(reader);
        }
        let (mut connection, deadline) = (self.connection()?, Arc::new(Deadline::new()));
        self.shared.meters.add_reader();
        let watched = deadline.clone();
        connection.progress_handler(STEPS_PER_DEADLINE_CHECK, Some(move || watched.is_over()))?;
        Ok(Reader { connection, deadline })
    }
}

async fn writer_connection(path: &Path) -> Result<Connection> {
    let writer = Connection::open(path)?;
    // Only a new file follows this: free pages can then be given back to the disk (`shrink`).
    writer.pragma_update(None, "auto_vacuum", "incremental")?;
    let writer = in_wal_mode(writer).await?;
    writer.busy_timeout(Duration::from_secs(10))?;
    // Full: an acknowledged change survives a power cut, not only a crash of the program.
    writer.pragma_update(None, "synchronous", "full")?;
    writer.pragma_update(None, "foreign_keys", "on")?;
    writer.pragma_update(None, "cache_size", -65_536)?;
    // A log that a large import made long is truncated to this with the next commits.
    writer.pragma_update(None, "journal_size_limit", LOG_BYTES_KEPT)?;
    writer.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    writer.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    Ok(writer)
}

/// Adds PostgreSQL's `strpos`. SQLite's own `instr` is several times slower. Ours counts bytes, not characters, so
/// statements may only test whether the result is greater than zero.
fn add_strpos(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("strpos", 2, flags, |context| {
        let (ValueRef::Text(text), ValueRef::Text(part)) = (context.get_raw(0), context.get_raw(1))
        else {
            return Ok(None);
        };
        let found = memchr::memmem::find(text, part);
        Ok(Some(found.map_or(0, |it| it as i64 + 1)))
    })?;
    Ok(())
}

/// Switches to WAL mode, with retries: when two processes open a new file at once, SQLite refuses one of them without
/// honoring the busy timeout.
async fn in_wal_mode(connection: Connection) -> Result<Connection> {
    const TRIES: usize = 500;
    connection.busy_timeout(Duration::ZERO)?;
    for _ in 0..TRIES {
        match connection.pragma_update(None, "journal_mode", "wal") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            outcome => return Ok(outcome.map(|()| connection)?),
        }
    }
    Err(Error::unavailable("the database file stays locked by another process"))
}
