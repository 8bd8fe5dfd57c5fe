//! SQLite: one writer on a thread of its own, and readers that never wait for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, params_from_iter};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::Instant;

use crate::dialect::for_sqlite;
use crate::slow::{self, Deadline, ReadLimits};
use crate::tx::{After, Tx};
use crate::value::{Param, Row, RowOf};
use crate::{Error, Result};

/// Enough for every statement of the product, with its variants, on each connection.
const STATEMENTS_CACHED: usize = 256;
/// Waiting transactions that one commit, and so one flush to the disk, may carry together.
const BATCH_MAX: usize = 128;
/// Reads come from the page cache of the operating system; the address space is the only cost.
const MAPPED_BYTES: i64 = 1 << 40;
/// Steps of SQLite's machine between two looks at the deadline of a read.
const STEPS_BETWEEN_LOOKS: i32 = 500;

#[derive(Clone)]
pub(crate) struct Sqlite {
    shared: Arc<Shared>,
}

struct Shared {
    path: PathBuf,
    readers: Mutex<Vec<Reader>>,
    jobs: mpsc::Sender<Box<dyn Job>>,
    limits: ReadLimits,
    slow_reads: Arc<Semaphore>,
}

/// A connection that only reads, each time until its deadline.
struct Reader {
    connection: Connection,
    deadline: Arc<Deadline>,
}

/// A transaction on its way: its work, and what to tell its owner once the commit is known.
trait Job: Send {
    /// Whether what it wrote is to be kept.
    fn run(&mut self, tx: &mut Tx<'_>) -> bool;
    fn finish(self: Box<Self>, committed: Result<()>);
}

struct Write<W, T, E> {
    work: Option<W>,
    outcome: Option<Result<T, E>>,
    after: Vec<After>,
    answer: oneshot::Sender<Result<T, E>>,
}

impl<W, T, E> Job for Write<W, T, E>
where
    W: FnOnce(&mut Tx<'_>) -> Result<T, E> + Send,
    T: Send,
    E: From<Error> + Send,
{
    fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        self.outcome = self.work.take().map(|work| tx.run(work));
        self.after = tx.take_after();
        matches!(self.outcome, Some(Ok(_)))
    }

    fn finish(self: Box<Self>, committed: Result<()>) {
        if committed.is_ok() && matches!(self.outcome, Some(Ok(_))) {
            self.after.into_iter().for_each(|then| then());
        }
        let answer = match (committed, self.outcome) {
            (_, Some(Err(error))) => Err(error),
            (Ok(()), Some(Ok(value))) => Ok(value),
            (Ok(()), None) => Err(E::from(Error::internal("a transaction panicked"))),
            (Err(error), _) => Err(E::from(error)),
        };
        // The owner may have gone away; what is committed stands all the same.
        let _ = self.answer.send(answer);
    }
}

impl Sqlite {
    pub(crate) async fn open(path: &Path, limits: ReadLimits) -> Result<Sqlite> {
        // The writer comes first and sets the journal mode: two connections switching at once would collide.
        let writer = in_wal_mode(Connection::open(path)?).await?;
        writer.busy_timeout(Duration::from_secs(10))?;
        // Full: an acknowledged change survives a power cut, not only a crash of the program.
        writer.pragma_update(None, "synchronous", "full")?;
        writer.pragma_update(None, "foreign_keys", "on")?;
        writer.pragma_update(None, "cache_size", -65_536)?;
        writer.pragma_update(None, "journal_size_limit", 64 << 20)?;
        writer.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        writer.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
        let (jobs, inbox) = mpsc::channel();
        std::thread::Builder::new()
            .name("sqlite-writer".to_owned())
            .spawn(move || write_all(&writer, &inbox))
            .map_err(|error| Error::unavailable(format!("starting the writer: {error}")))?;
        let shared = Shared {
            path: path.to_owned(),
            readers: Mutex::new(Vec::new()),
            jobs,
            limits,
            slow_reads: Arc::new(Semaphore::new(limits.slow_at_once)),
        };
        Ok(Sqlite { shared: Arc::new(shared) })
    }

    pub(crate) fn limits(&self) -> ReadLimits {
        self.shared.limits
    }

    /// Reads on the calling thread, for as long as that may be held up.
    pub(crate) fn each_inline(
        &self,
        sql: &str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        self.with_reader(|reader| {
            reader.deadline.set(self.shared.limits.inline);
            each_on(&reader.connection, sql, params, visit)
        })
    }

    /// The same for a read that cannot be begun anew once a row was visited: from then on it may take its full time.
    pub(crate) fn each_once(
        &self,
        sql: &str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        self.with_reader(|reader| {
            reader.deadline.set(self.shared.limits.inline);
            let mut is_first = true;
            each_on(&reader.connection, sql, params, &mut |row| {
                if std::mem::take(&mut is_first) {
                    reader.deadline.set(self.shared.limits.total);
                }
                visit(row)
            })
        })
    }

    /// Reads in the pool of slow reads, and so waits for a place in it.
    pub(crate) async fn each_slow(
        &self,
        sql: &str,
        params: &[Param<'_>],
        visit: &mut (dyn FnMut(&Row<'_>) -> Result<()> + Send),
    ) -> Result<()> {
        let until = Instant::now() + self.shared.limits.total;
        let place = slow::place(&self.shared.slow_reads, until).await?;
        let outcome = slow::off_the_runtime(|| {
            self.with_reader(|reader| {
                reader.deadline.set(until.saturating_duration_since(Instant::now()));
                each_on(&reader.connection, sql, params, visit)
            })
        });
        drop(place);
        outcome
    }

    pub(crate) fn check(&self, sql: &str) -> Result<()> {
        self.with_reader(|reader| {
            reader.deadline.set(self.shared.limits.total);
            Ok(reader.connection.prepare(&for_sqlite(sql)).map(drop)?)
        })
    }

    fn with_reader<T>(&self, read: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        let reader = self.reader()?;
        let outcome = read(&reader);
        self.shared.readers.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
        outcome
    }

    pub(crate) async fn write<T, E>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let job = Box::new(Write { work: Some(work), outcome: None, after: Vec::new(), answer });
        let gone = || E::from(Error::internal("the writer is gone"));
        self.shared.jobs.send(job).map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }

    /// A connection outside the pool, for reads that take long and must see one moment.
    pub(crate) fn connection(&self) -> Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let reader = Connection::open_with_flags(&self.shared.path, flags)?;
        reader.busy_timeout(Duration::from_secs(5))?;
        reader.pragma_update(None, "query_only", "on")?;
        reader.pragma_update(None, "mmap_size", MAPPED_BYTES)?;
        reader.pragma_update(None, "cache_size", -1_024)?;
        // Plans do not depend on bound values: otherwise SQLite prepares anew whenever a page's place is bound.
        reader.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        reader.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
        add_strpos(&reader)?;
        Ok(reader)
    }

    /// There are never more readers than threads that read at once.
    fn reader(&self) -> Result<Reader> {
        let idle = self.shared.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(reader) = idle {
            return Ok(reader);
        }
        let (mut connection, deadline) = (self.connection()?, Arc::new(Deadline::new()));
        let watched = deadline.clone();
        connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || watched.is_over()))?;
        Ok(Reader { connection, deadline })
    }
}

/// PostgreSQL's `strpos`, which SQLite calls `instr` and does several times slower. It counts bytes, not letters: that
/// it is more than zero is what both engines agree on.
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

/// Two processes that open a fresh file at once both want to switch it, and SQLite refuses one of them without
/// waiting as it does elsewhere.
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

/// Takes transactions as they come and commits those that wait together in one go: each keeps its own savepoint,
/// so that one's failure is not another's, and all share the one flush that makes them durable.
fn write_all(connection: &Connection, inbox: &mpsc::Receiver<Box<dyn Job>>) {
    while let Ok(first) = inbox.recv() {
        let mut ran = Vec::new();
        let mut outcome = connection.execute_batch("begin immediate").map_err(Error::from);
        let mut next = Some(first);
        while let Some(mut job) = next {
            if outcome.is_ok() {
                outcome = run(connection, job.as_mut());
            }
            ran.push(job);
            let more = outcome.is_ok() && ran.len() < BATCH_MAX;
            next = if more { inbox.try_recv().ok() } else { None };
        }
        if outcome.is_ok() {
            outcome = connection.execute_batch("commit").map_err(Error::from);
        }
        if outcome.is_err() && !connection.is_autocommit() {
            let _ = connection.execute_batch("rollback");
        }
        for job in ran {
            let outcome = outcome.clone();
            // A panic after a commit, in what a caller does then, must not end the one writer there is.
            let _ = catch_unwind(AssertUnwindSafe(move || job.finish(outcome)));
        }
    }
}

fn run(connection: &Connection, job: &mut dyn Job) -> Result<()> {
    connection.execute_batch("savepoint one")?;
    let keep = catch_unwind(AssertUnwindSafe(|| job.run(&mut Tx::sqlite(connection))));
    // Some failures (a full disk) make SQLite roll the whole transaction back by itself: then the batch is gone.
    if connection.is_autocommit() {
        return Err(Error::unavailable("SQLite rolled the transaction back"));
    }
    let end = if keep.unwrap_or(false) { "release one" } else { "rollback to one; release one" };
    Ok(connection.execute_batch(end)?)
}

pub(crate) fn each_on(
    connection: &Connection,
    sql: &str,
    params: &[Param<'_>],
    visit: &mut dyn FnMut(&Row<'_>) -> Result<()>,
) -> Result<()> {
    let mut statement = connection.prepare_cached(&for_sqlite(sql))?;
    let mut rows = statement.query(params_from_iter(params))?;
    while let Some(row) = rows.next()? {
        visit(&Row(RowOf::Sqlite(row)))?;
    }
    Ok(())
}

pub(crate) fn execute_on(connection: &Connection, sql: &str, params: &[Param<'_>]) -> Result<u64> {
    let mut statement = connection.prepare_cached(&for_sqlite(sql))?;
    Ok(statement.execute(params_from_iter(params))? as u64)
}
