//! A transaction's connection to PostgreSQL. Statements whose result is not needed are queued and sent together with
//! the next one, so that a small change takes two round trips instead of five.

use std::sync::Arc;
use std::time::Duration;

use base::Timestamp;
use futures_util::future::{join_all, join4};
use tokio::runtime::Handle;
use tokio_postgres::types::{ToSql, Type};

use super::address::ANSWER_TIMEOUT;
use super::arrays::{self, ArrayParam};
use super::connection::{Connection, ROWS_PER_STATEMENT};
use super::listen::NOTIFY;
use crate::error::{Error, Result};
use crate::value::{Param, Visit};

/// Up to this many inserted rows are queued; more are copied, which takes round trips of its own.
const QUEUED_ROWS_MAX: usize = 64;
/// How long one statement over a person's whole history may take.
const LONG_STATEMENT_TIMEOUT: Duration = Duration::from_secs(300);

pub(crate) struct Pipeline {
    connection: Arc<Connection>,
    runtime: Handle,
    has_begun: bool,
    queued: Vec<QueuedStatement>,
    time: PrefetchedTime,
}

/// The server's time, which can be read together with another statement.
enum PrefetchedTime {
    None,
    Requested,
    Known(Timestamp),
}

/// A statement of which only a failure matters.
struct QueuedStatement {
    sql: String,
    params: Vec<ArrayParam>,
}

impl QueuedStatement {
    fn types(&self) -> Vec<Type> {
        self.params.iter().map(|it| it.typed().1).collect()
    }

    fn values(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.params.iter().map(|it| it.typed().0).collect()
    }
}

impl Pipeline {
    pub(super) fn new(connection: Arc<Connection>, runtime: Handle) -> Pipeline {
        Pipeline {
            connection,
            runtime,
            has_begun: false,
            queued: Vec::new(),
            time: PrefetchedTime::None,
        }
    }

    pub(crate) fn is_citus(&self) -> bool {
        self.connection.is_citus()
    }

    pub(crate) fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64> {
        let connection = self.connection.clone();
        self.flush_with(connection.execute(sql, params))
    }

    pub(crate) fn execute_each<'p>(
        &mut self,
        sql: &str,
        rows: &[impl AsRef<[Param<'p>]>],
    ) -> Result<Vec<u64>> {
        let connection = self.connection.clone();
        self.flush_with(connection.execute_each(sql, rows))
    }

    pub(crate) fn each(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let connection = self.connection.clone();
        self.flush_with(connection.each(sql, params, visit))
    }

    /// Requests the server's time with the next statement.
    pub(crate) fn prefetch_now(&mut self) {
        self.time = PrefetchedTime::Requested;
    }

    /// The server's time: the prefetched one, or the present.
    pub(crate) fn now(&mut self) -> Result<Timestamp> {
        match std::mem::replace(&mut self.time, PrefetchedTime::None) {
            PrefetchedTime::Known(time) => Ok(time),
            PrefetchedTime::None | PrefetchedTime::Requested => {
                let connection = self.connection.clone();
                self.flush_with(connection.now())
            }
        }
    }

    pub(crate) fn execute_batch(&mut self, sql: &str) -> Result<()> {
        let connection = self.connection.clone();
        self.flush_with(connection.execute_batch(sql))
    }

    /// Queues an insert of a few rows, or copies many.
    pub(crate) fn insert_rows<'p>(
        &mut self,
        table: &str,
        columns: &[&str],
        types: &[Type],
        mut rows: impl Iterator<Item = impl AsRef<[Param<'p>]>>,
    ) -> Result<()> {
        let names = columns.join(", ");
        let first: Vec<_> = rows.by_ref().take(QUEUED_ROWS_MAX + 1).collect();
        if first.len() <= QUEUED_ROWS_MAX {
            let params = arrays::from_rows(&first);
            let params =
                params.ok_or_else(|| Error::internal("inserted rows differ in their types"))?;
            let sql = arrays::insert_statement(table, &names, params.len());
            self.queue_statement(sql, params);
            return Ok(());
        }
        let sql = format!("copy {table} ({names}) from stdin with (format binary)");
        let connection = self.connection.clone();
        let mut rows = first.into_iter().chain(rows).peekable();
        while rows.peek().is_some() {
            let part = rows.by_ref().take(ROWS_PER_STATEMENT);
            self.flush_with(connection.copy_in(&sql, types, part))?;
        }
        Ok(())
    }

    /// Lets each statement of this transaction take as long as work on a whole history may.
    pub(crate) fn allow_long_statements(&mut self) -> Result<()> {
        let millis = LONG_STATEMENT_TIMEOUT.as_millis();
        self.queue_statement(format!("set local statement_timeout = {millis}"), Vec::new());
        let connection = self.connection.clone();
        let process = self.flush_with(connection.server_process())?;
        let process = process.parse();
        let process = process.map_err(|_| Error::internal("pg_backend_pid() is not a number"))?;
        connection.set_answer_timeout(LONG_STATEMENT_TIMEOUT + ANSWER_TIMEOUT);
        connection.set_long_process(process);
        Ok(())
    }

    pub(crate) fn queue_notification(&mut self, what: &str) -> Result<()> {
        let params = arrays::from_rows(&[[Param::Text(Some(what))]]);
        let params = params.ok_or_else(|| Error::internal("a notification has no text"))?;
        self.queue_statement(NOTIFY.to_owned(), params);
        Ok(())
    }

    /// Sends the statement together with the next one that waits for an answer, or with the commit. If it fails, that
    /// one fails.
    fn queue_statement(&mut self, sql: String, params: Vec<ArrayParam>) {
        self.queued.push(QueuedStatement { sql, params });
    }

    /// Sends `begin` if needed, the queued statements and `statement`, and waits for all answers. The error of an
    /// earlier statement takes precedence.
    fn flush_with<T>(&mut self, statement: impl Future<Output = Result<T>>) -> Result<T> {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let queued = std::mem::take(&mut self.queued);
        let asks_time = matches!(self.time, PrefetchedTime::Requested);
        let sending = self.send((is_first, asks_time), &queued, statement);
        let (time, answer) = self.runtime.block_on(sending)?;
        if let Some(time) = time {
            self.time = PrefetchedTime::Known(time);
        }
        Ok(answer)
    }

    async fn send<T>(
        &self,
        (is_first, asks_time): (bool, bool),
        queued: &[QueuedStatement],
        statement: impl Future<Output = Result<T>>,
    ) -> Result<(Option<Timestamp>, T)> {
        let connection = &*self.connection;
        // Prepared before anything is sent: a queued statement that had to wait for its preparation would be overtaken
        // by `statement`.
        let mut prepared = Vec::with_capacity(queued.len());
        for it in queued {
            let types = it.types();
            let preparing = connection.prepare_typed(&it.sql, &types);
            prepared.push(connection.with_timeout(preparing).await?);
        }
        if asks_time {
            connection.prepare_now().await?;
        }
        let begin = async {
            match is_first {
                true => connection.execute_batch(&connection.begin_statement()).await,
                false => Ok(()),
            }
        };
        let each = queued.iter().zip(&prepared).map(|(it, prepared)| async move {
            connection.with_timeout(connection.client().execute(prepared, &it.values())).await
        });
        let time = async {
            match asks_time {
                true => connection.now().await.map(Some),
                false => Ok(None),
            }
        };
        // Each future sends its statement when it is first polled, so they are sent in this order. No queued statement
        // can stay unsent while a commit is sent: each was prepared for the very types of its values, so only the
        // server can refuse it.
        let (begun, executed, time, answer) = join4(begin, join_all(each), time, statement).await;
        begun?;
        // The first error in this order is the cause. The statements after it fail too, because the transaction is aborted,
        // and their answers can be seen first.
        executed.into_iter().collect::<Result<Vec<u64>>>()?;
        let time = time?;
        Ok((time, answer?))
    }

    /// Commits. If a queued statement failed, this returns its error; PostgreSQL itself would only answer that it
    /// rolled back.
    pub(super) fn commit(&mut self) -> Result<()> {
        if !self.has_begun && self.queued.is_empty() {
            return Ok(());
        }
        let committed = self.execute_batch("commit");
        self.end_long_statements();
        committed
    }

    /// Rolls back. If the rollback cannot be sent, the server rolls back when it notices that the connection is gone.
    pub(super) fn roll_back(&mut self) {
        self.queued.clear();
        self.end_long_statements();
        if self.has_begun && self.connection.is_usable() {
            let _ = self.execute_batch("rollback");
        }
    }

    fn end_long_statements(&self) {
        self.connection.set_answer_timeout(ANSWER_TIMEOUT);
        self.connection.set_long_process(0);
    }
}
