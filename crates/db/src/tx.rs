//! A transaction. It is synchronous, so that nothing but SQL can happen inside one.

use std::sync::Arc;

use base::{Clock, Timestamp};
use tokio::sync::Notify;
use tokio_postgres::types::Type;

use crate::dialect;
use crate::error::{Error, Result};
use crate::meters::Meters;
use crate::outcome::{OnCommit, Outcome};
use crate::postgres::Pipeline;
use crate::sqlite::statement;
use crate::target::Engine;
use crate::value::{Param, Row};

/// Signs bytes with a key that is not stored in the database.
pub type Signer = Arc<dyn Fn(&[u8]) -> [u8; 32] + Send + Sync>;

pub struct Tx<'c> {
    connection: Connection<'c>,
    /// The first statement error. After it no statement runs and the transaction rolls back, even if the closure
    /// ignored the error: PostgreSQL would answer the commit with a silent rollback, and SQLite may already have
    /// ended the transaction.
    failed: Option<Error>,
    on_commit: Vec<OnCommit>,
    context: TxContext,
}

/// The parts of a database handle that its transactions use.
pub(crate) struct TxContext {
    pub(crate) signer: Option<Signer>,
    /// The clock that tells the database's time; none where the server tells it.
    pub(crate) clock: Option<Clock>,
    /// Wakes the worker of this process.
    pub(crate) worker: Arc<Notify>,
    pub(crate) meters: Arc<Meters>,
}

enum Connection<'c> {
    Sqlite(&'c rusqlite::Connection),
    Postgres(&'c mut Pipeline),
}

impl<'c> Tx<'c> {
    pub(crate) fn sqlite(connection: &'c rusqlite::Connection, context: TxContext) -> Tx<'c> {
        Tx::new(Connection::Sqlite(connection), context)
    }

    pub(crate) fn postgres(pipeline: &'c mut Pipeline, context: TxContext) -> Tx<'c> {
        Tx::new(Connection::Postgres(pipeline), context)
    }

    fn new(connection: Connection<'c>, context: TxContext) -> Tx<'c> {
        Tx { connection, failed: None, on_commit: Vec::new(), context }
    }

    /// Runs the transaction's closure.
    pub(crate) fn run(mut self, work: Box<dyn FnOnce(&mut Tx<'_>) -> bool + Send>) -> Outcome {
        let is_good = work(&mut self);
        Outcome { is_good, on_commit: self.on_commit }
    }

    /// The first error of a statement.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.failed.clone()
    }

    pub fn engine(&self) -> Engine {
        match self.connection {
            Connection::Sqlite(_) => Engine::Sqlite,
            Connection::Postgres(_) => Engine::Postgres,
        }
    }

    /// Whether the database is a cluster of PostgreSQL servers with Citus.
    pub fn is_citus(&self) -> bool {
        match &self.connection {
            Connection::Sqlite(_) => false,
            Connection::Postgres(pipeline) => pipeline.is_citus(),
        }
    }

    /// Signs bytes as `Db::sign` does.
    pub fn sign(&self, bytes: &[u8]) -> Option<[u8; 32]> {
        self.context.signer.as_ref().map(|sign| sign(bytes))
    }

    /// The present time of the database, as `Db::now` tells it. Read anew at each call, because a transaction can take
    /// longer than a lease.
    pub fn now(&mut self) -> Result<Timestamp> {
        match self.context.clock.clone() {
            Some(clock) => Ok(clock.now()),
            None => self.attempt(|connection| match connection {
                Connection::Sqlite(_) => Ok(Clock::System.now()),
                Connection::Postgres(pipeline) => pipeline.now(),
            }),
        }
    }

    /// Asks for the time together with the next statement, so that the next `now` costs no round trip of its own.
    pub fn prefetch_now(&mut self) {
        if let (Connection::Postgres(pipeline), None) = (&mut self.connection, &self.context.clock)
        {
            pipeline.prefetch_now();
        }
    }

    /// Runs the callback after a successful commit, and drops it after a rollback. The callback must be short and must
    /// not block: on SQLite every other transaction waits for it.
    pub fn on_commit(&mut self, callback: impl FnOnce() + Send + 'static) {
        self.on_commit.push(Box::new(callback));
    }

    /// After the commit, wakes the worker of this process that waits in `Db::work_queued`.
    pub fn wake_worker(&mut self) {
        let worker = self.context.worker.clone();
        self.on_commit(move || worker.notify_one());
    }

    fn attempt<T>(
        &mut self,
        statement: impl FnOnce(&mut Connection<'c>) -> Result<T>,
    ) -> Result<T> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        statement(&mut self.connection).inspect_err(|error| {
            self.context.meters.count_error(error);
            self.failed = Some(error.clone());
        })
    }

    /// Runs a statement and returns the number of rows it changed.
    pub fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64> {
        self.attempt(|connection| match connection {
            Connection::Sqlite(connection) => statement::execute(connection, sql, params),
            Connection::Postgres(pipeline) => pipeline.execute(sql, params),
        })
    }

    /// Runs one statement once per parameter row, and returns how many rows each run changed. The runs must change
    /// different rows, and a parameter must have the same type in every row: their order, and whether they run as one
    /// statement, is not defined.
    pub fn execute_each<'p>(
        &mut self,
        sql: &str,
        rows: &[impl AsRef<[Param<'p>]>],
    ) -> Result<Vec<u64>> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        self.attempt(|connection| match connection {
            Connection::Sqlite(connection) => {
                rows.iter().map(|it| statement::execute(connection, sql, it.as_ref())).collect()
            }
            Connection::Postgres(pipeline) => pipeline.execute_each(sql, rows),
        })
    }

    /// Lets each further statement of this transaction take minutes, for work on a person's whole history. Does nothing
    /// on SQLite, where statements of a transaction have no time limit.
    pub fn allow_long_statements(&mut self) -> Result<()> {
        self.attempt(|connection| match connection {
            Connection::Postgres(pipeline) => pipeline.allow_long_statements(),
            Connection::Sqlite(_) => Ok(()),
        })
    }

    /// Notifies the other processes on this database, with the commit, that there is work to do (see `Db::listen`).
    /// Does nothing on SQLite, which has no notifications.
    pub fn notify(&mut self) -> Result<()> {
        self.notify_of("")
    }

    /// Notifies the other processes, with the commit, of something that changed.
    pub fn notify_of(&mut self, what: &str) -> Result<()> {
        self.attempt(|connection| match connection {
            Connection::Postgres(pipeline) => pipeline.queue_notification(what),
            Connection::Sqlite(_) => Ok(()),
        })
    }

    /// Runs a query and calls `visit` with each row.
    pub fn each(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        mut visit: impl FnMut(&Row<'_>) -> Result<()> + Send,
    ) -> Result<()> {
        self.attempt(|connection| match connection {
            Connection::Sqlite(connection) => statement::each(connection, sql, params, &mut visit),
            Connection::Postgres(pipeline) => pipeline.each(sql, params, &mut visit),
        })
    }

    /// Every row.
    pub fn all<T: Send>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T> + Send,
    ) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        self.each(sql, params, |row| {
            rows.push(read(row)?);
            Ok(())
        })?;
        Ok(rows)
    }

    /// The first row, if there is one.
    pub fn first<T: Send>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T> + Send,
    ) -> Result<Option<T>> {
        let mut found = None;
        self.each(sql, params, |row| {
            if found.is_none() {
                found = Some(read(row)?);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Inserts rows in the fastest way the engine has. A constraint violation may be reported by the next statement or
    /// by the commit instead of here.
    pub fn insert_many<'p, const N: usize>(
        &mut self,
        table: &str,
        columns: [&str; N],
        rows: impl IntoIterator<Item = [Param<'p>; N]>,
    ) -> Result<()> {
        let mut rows = rows.into_iter().peekable();
        let Some(first) = rows.peek() else { return Ok(()) };
        let types: Vec<Type> = first.iter().map(Param::postgres_type).collect();
        self.insert_rows(table, &columns, &types, rows)
    }

    /// `insert_many` for a number of columns that is known only at run time.
    pub(crate) fn insert_rows<'p>(
        &mut self,
        table: &str,
        columns: &[&str],
        types: &[Type],
        rows: impl Iterator<Item = impl AsRef<[Param<'p>]>>,
    ) -> Result<()> {
        self.attempt(|connection| match connection {
            Connection::Sqlite(connection) => {
                statement::insert_rows(connection, table, columns, rows)
            }
            Connection::Postgres(pipeline) => pipeline.insert_rows(table, columns, types, rows),
        })
    }

    /// Runs the statements of a migration, translated into the engine's dialect.
    pub(crate) fn run_migration(&mut self, sql: &str) -> Result<()> {
        self.attempt(|connection| match connection {
            Connection::Sqlite(connection) => {
                Ok(connection.execute_batch(&dialect::migration_for_sqlite(sql))?)
            }
            Connection::Postgres(pipeline) => {
                pipeline.execute_batch(&dialect::migration_for_postgres(sql))
            }
        })
    }

    /// Lets only one process migrate at a time. SQLite already allows only one writer.
    pub(crate) fn lock_schema(&mut self) -> Result<()> {
        match self.connection {
            Connection::Sqlite(_) => Ok(()),
            Connection::Postgres(_) => {
                self.each("select 1 from pg_advisory_xact_lock(9172034)", &[], |_| Ok(()))
            }
        }
    }
}
