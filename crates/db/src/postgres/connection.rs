//! One connection to PostgreSQL, with its prepared statements and a timeout on every answer.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base::Timestamp;
use futures_util::future::{join_all, join3};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, NoTls, SimpleQueryMessage, Statement};

use super::address::{ANSWER_TIMEOUT, Address, CONNECT_TIMEOUT};
use super::arrays::{self, ArrayParam};
use super::connect::{connect, timed_out};
use super::long_statements;
use super::settings::{Planning, Settings, SettingsBy};
use crate::error::{Error, Result};
use crate::value::{Param, Row, RowSource, Visit};

/// Up to this many updates are pipelined one by one, which is faster than one statement over arrays.
const PIPELINED_UPDATES_MAX: usize = 16;

/// More rows are changed or copied by several statements, so that none comes near its time limit.
pub(super) const ROWS_PER_STATEMENT: usize = 2_000;

/// The present time, in microseconds. It advances during a transaction.
pub(super) const NOW: &str =
    "select cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)";

pub(crate) struct Connection {
    client: Client,
    /// Kept for cancel requests and for asking about long statements, which need a connection of their own.
    address: Address,
    prepared: Mutex<HashMap<String, Statement>>,
    /// The connection is not used again: an answer timed out, and it may be dead although it looks open, or it leads to
    /// a server that has become read-only.
    is_discarded: AtomicBool,
    is_read_only: AtomicBool,
    /// The settings, where each transaction has to set them.
    local_settings: Option<String>,
    /// Held while statements are sent, where each read is a transaction of several statements.
    sending: Mutex<()>,
    /// How long the server may take for an answer, in milliseconds.
    answer_timeout: AtomicU64,
    /// The server's process, while statements may take minutes; 0 otherwise.
    long_process: AtomicI32,
    planning: Planning,
}

/// How connections of one purpose are opened.
#[derive(Clone, Copy)]
pub(super) struct Opener<'a> {
    pub(super) address: &'a Address,
    pub(super) settings: Settings,
    /// `None` for changes of the schema, whose statements may take any time and wait for locks as they choose.
    pub(super) statement_timeout: Option<Duration>,
}

impl Opener<'_> {
    pub(super) async fn open(&self) -> Result<Connection> {
        Connection::open(self.address, self.settings, self.statement_timeout).await
    }
}

impl Connection {
    pub(super) async fn open(
        address: &Address,
        Settings { by, planning }: Settings,
        statement_timeout: Option<Duration>,
    ) -> Result<Connection> {
        let settings = Settings { by, planning }.list(statement_timeout.map(|it| it.as_millis()));
        let mut config = address.config.clone();
        if by == SettingsBy::Startup {
            config.options(startup_options(address.config.get_options(), &settings));
        }
        let client = connect(address, &config).await?;
        let statements = |verb: &str| {
            let each = settings.iter().map(|(name, value)| format!("{verb} {name} = '{value}'"));
            each.collect::<Vec<_>>().join("; ")
        };
        let connection = Connection {
            client,
            address: address.clone(),
            prepared: Mutex::default(),
            is_discarded: AtomicBool::new(false),
            is_read_only: AtomicBool::new(false),
            local_settings: (by == SettingsBy::Transaction).then(|| statements("set local")),
            sending: Mutex::default(),
            answer_timeout: AtomicU64::new(0),
            long_process: AtomicI32::new(0),
            planning,
        };
        let timeout = statement_timeout.map_or(Duration::MAX, |_| ANSWER_TIMEOUT);
        connection.set_answer_timeout(timeout);
        if by == SettingsBy::Session {
            connection.execute_batch(&statements("set")).await?;
        }
        Ok(connection)
    }

    /// Whether PostgreSQL has the settings that the connection asked for. A pooler between them may ignore them.
    pub(super) async fn has_settings(&self) -> Result<bool> {
        Ok(self.answer("show plan_cache_mode").await?.as_deref() == Some("force_generic_plan"))
    }

    /// Whether the database has the extension Citus.
    pub(super) async fn has_citus(&self) -> Result<bool> {
        let sql = "select 1 from pg_extension where extname = 'citus'";
        Ok(self.answer(sql).await?.is_some())
    }

    /// The first value of the first row, as text.
    async fn answer(&self, sql: &str) -> Result<Option<String>> {
        let answer = self.with_timeout(self.client.simple_query(sql)).await?;
        Ok(answer.iter().find_map(|it| match it {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        }))
    }

    /// The statement that begins a transaction, with the settings where they are not the connection's own.
    pub(super) fn begin_statement(&self) -> String {
        match &self.local_settings {
            Some(settings) => format!("begin; {settings}"),
            None => "begin".to_owned(),
        }
    }

    pub(crate) fn is_citus(&self) -> bool {
        self.planning == Planning::Citus
    }

    /// Whether the server refused a write because it is read-only.
    pub(super) fn is_read_only(&self) -> bool {
        self.is_read_only.load(Ordering::Relaxed)
    }

    pub(super) fn set_answer_timeout(&self, timeout: Duration) {
        let millis = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        self.answer_timeout.store(millis, Ordering::Relaxed);
    }

    /// The number of the server's process of this connection.
    pub(super) async fn server_process(&self) -> Result<String> {
        let process = self.answer("select pg_backend_pid()").await?;
        process.ok_or_else(|| Error::internal("pg_backend_pid() returned nothing"))
    }

    /// From here on, the statements of this process may take minutes. 0 ends it.
    pub(super) fn set_long_process(&self, process: i32) {
        self.long_process.store(process, Ordering::Relaxed);
    }

    pub(super) fn discard(&self) {
        self.is_discarded.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_usable(&self) -> bool {
        !self.client.is_closed() && !self.is_discarded.load(Ordering::Relaxed)
    }

    /// Waits for an answer up to the timeout. A connection that timed out is not used again.
    pub(crate) async fn with_timeout<T, E>(
        &self,
        answer: impl Future<Output = Result<T, E>>,
    ) -> Result<T>
    where
        Error: From<E>,
    {
        let timeout = Duration::from_millis(self.answer_timeout.load(Ordering::Relaxed));
        let answered = match self.long_process.load(Ordering::Relaxed) {
            0 => tokio::time::timeout(timeout, answer).await,
            process => long_statements::wait(&self.address, process, timeout, answer).await,
        };
        match answered {
            Ok(outcome) => outcome.map_err(|error| self.note_error(Error::from(error))),
            Err(elapsed) => {
                self.discard();
                Err(timed_out(elapsed))
            }
        }
    }

    /// A server that has become read-only, after a failover or by its operator, is left: another connection may find
    /// the one that accepts writes.
    fn note_error(&self, error: Error) -> Error {
        if error.is_read_only_server() {
            self.is_read_only.store(true, Ordering::Relaxed);
            self.discard();
        }
        error
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Asks the server to cancel the running query. Best effort: a failure is ignored.
    pub(super) async fn cancel_query(&self) {
        let token = self.client.cancel_token();
        let canceling = async {
            match self.address.tls.connector()? {
                Some(tls) => Ok::<_, Error>(token.cancel_query(tls).await?),
                None => Ok(token.cancel_query(NoTls).await?),
            }
        };
        let _ = tokio::time::timeout(CONNECT_TIMEOUT, canceling).await;
    }

    /// Prepares with the types of the values: the server cannot infer the type of `$1 is null`.
    async fn prepare(&self, sql: &str, params: &[Param<'_>]) -> Result<Statement> {
        let types: Vec<Type> = params.iter().map(Param::postgres_type).collect();
        self.prepare_typed(sql, &types).await
    }

    pub(super) async fn prepare_typed(&self, sql: &str, types: &[Type]) -> Result<Statement> {
        let cached = self.prepared.lock().unwrap_or_else(PoisonError::into_inner).get(sql).cloned();
        if let Some(statement) = cached {
            return Ok(statement);
        }
        let statement = self.sent_together(self.client.prepare_typed(sql, types)).await?;
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        prepared.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Prepares a statement without caching or running it.
    pub(super) async fn check(&self, sql: &str) -> Result<()> {
        self.with_timeout(self.client.prepare(sql)).await.map(drop)
    }

    pub(crate) async fn execute_batch(&self, sql: &str) -> Result<()> {
        self.with_timeout(self.client.batch_execute(sql)).await
    }

    pub(super) async fn each(
        &self,
        sql: &str,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let rows = self.with_timeout(async {
            let statement = self.prepare(sql, params).await?;
            Ok::<_, Error>(self.client.query(&statement, &as_dyn(params)).await?)
        });
        for row in &rows.await? {
            visit(&Row(RowSource::Postgres(row)))?;
        }
        Ok(())
    }

    /// Prepares the question for the time, so that it can be sent without waiting.
    pub(super) async fn prepare_now(&self) -> Result<()> {
        self.with_timeout(self.prepare_typed(NOW, &[])).await.map(drop)
    }

    /// The present time of the server, in a transaction.
    pub(super) async fn now(&self) -> Result<Timestamp> {
        let mut now = None;
        self.each(NOW, &[], &mut |row| {
            now = Some(row.get::<Timestamp>(0)?);
            Ok(())
        })
        .await?;
        now.ok_or_else(|| Error::internal("PostgreSQL did not tell the time"))
    }

    /// Reads outside of a transaction. The caller limits the time.
    pub(super) async fn read(
        &self,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<tokio_postgres::Row>> {
        let statement = self.prepare(sql, params).await?;
        let params = as_dyn(params);
        if self.local_settings.is_none() {
            let rows = self.client.query(&statement, &params).await;
            return rows.map_err(|error| self.note_error(error.into()));
        }
        let begin = self.begin_statement();
        let transaction = join3(
            self.client.batch_execute(&begin),
            self.client.query(&statement, &params),
            self.client.batch_execute("commit"),
        );
        let (begun, rows, _) = self.sent_together(transaction).await;
        begun.and(rows).map_err(|error| self.note_error(error.into()))
    }

    /// Sends the statements of a future, which its first poll does, without any other statement in between: reads share
    /// the connection, and one that came into the transaction of another would fail with it.
    async fn sent_together<T>(&self, statements: impl Future<Output = T>) -> T {
        let mut statements = pin!(statements);
        let mut is_sent = false;
        poll_fn(|cx| {
            let sending = (!std::mem::replace(&mut is_sent, true))
                .then(|| self.sending.lock().unwrap_or_else(PoisonError::into_inner));
            let polled = statements.as_mut().poll(cx);
            drop(sending);
            polled
        })
        .await
    }

    pub(super) async fn execute(&self, sql: &str, params: &[Param<'_>]) -> Result<u64> {
        self.with_timeout(async {
            let statement = self.prepare(sql, params).await?;
            Ok::<_, Error>(self.client.execute(&statement, &as_dyn(params)).await?)
        })
        .await
    }

    /// Runs an update for each row of parameters. Many rows become one statement over arrays where the statement allows
    /// it; otherwise the statements are pipelined, without waiting for one answer before the next is sent.
    pub(super) async fn execute_each<'p>(
        &self,
        sql: &str,
        rows: &[impl AsRef<[Param<'p>]>],
    ) -> Result<Vec<u64>> {
        let mut changed = Vec::with_capacity(rows.len());
        for rows in rows.chunks(ROWS_PER_STATEMENT) {
            changed.extend(self.execute_chunk(sql, rows).await?);
        }
        Ok(changed)
    }

    async fn execute_chunk<'p>(
        &self,
        sql: &str,
        rows: &[impl AsRef<[Param<'p>]>],
    ) -> Result<Vec<u64>> {
        let Some(first) = rows.first() else { return Ok(Vec::new()) };
        if rows.len() > PIPELINED_UPDATES_MAX
            && let Some(mut arrays) = arrays::from_rows(rows)
            && let Some(mut sql) = arrays::update_statement(sql, arrays.len())
        {
            if self.is_citus() {
                sql = arrays::name_user(&sql, &mut arrays);
            }
            return self.with_timeout(self.update_from_arrays(&sql, &arrays, rows.len())).await;
        }
        self.with_timeout(async {
            let statement = &self.prepare(sql, first.as_ref()).await?;
            let each = rows.iter().map(|row| async move {
                Ok::<_, Error>(self.client.execute(statement, &as_dyn(row.as_ref())).await?)
            });
            join_all(each).await.into_iter().collect()
        })
        .await
    }

    /// Runs an update over arrays and counts the changed rows per array index. It is planned anew each time, because a
    /// cached plan from when the table was small would be slow; planning costs little compared with the rows.
    async fn update_from_arrays(
        &self,
        sql: &str,
        arrays: &[ArrayParam],
        rows: usize,
    ) -> Result<Vec<u64>> {
        let params: Vec<_> = arrays.iter().map(ArrayParam::typed).collect();
        let mut changed = vec![0; rows];
        for row in self.client.query_typed(sql, &params).await? {
            let number: i64 = row.try_get(0)?;
            let count = usize::try_from(number - 1).ok().and_then(|it| changed.get_mut(it));
            *count.ok_or_else(|| Error::internal("an update returned an unknown row number"))? += 1;
        }
        Ok(changed)
    }

    /// Inserts rows with `copy ... from stdin (format binary)`.
    pub(super) async fn copy_in<'p>(
        &self,
        sql: &str,
        types: &[Type],
        rows: impl Iterator<Item = impl AsRef<[Param<'p>]>>,
    ) -> Result<()> {
        self.with_timeout(async {
            let statement = self.prepare_typed(sql, &[]).await?;
            let sink = self.client.copy_in(&statement).await?;
            let mut writer = pin!(BinaryCopyInWriter::new(sink, types));
            for row in rows {
                writer.as_mut().write(&as_dyn(row.as_ref())).await?;
            }
            writer.finish().await?;
            Ok::<_, Error>(())
        })
        .await
    }
}

/// The settings as command-line options of the server, after those of the address.
fn startup_options(own: Option<&str>, settings: &[(&str, String)]) -> String {
    let each =
        settings.iter().map(|(name, value)| format!("-c {name}={}", value.replace(' ', "\\ ")));
    own.map(str::to_owned).into_iter().chain(each).collect::<Vec<_>>().join(" ")
}

fn as_dyn<'a>(params: &'a [Param<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    params.iter().map(|it| it as &(dyn ToSql + Sync)).collect()
}
