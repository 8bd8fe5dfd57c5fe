//! One connection to PostgreSQL, with its prepared statements and a timeout on every answer.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base::Timestamp;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, NoTls, Statement};

use super::address::{ANSWER_TIMEOUT, Address, CONNECT_TIMEOUT};
use super::arrays::{self, ArrayParam};
use super::tls::Tls;
use crate::error::{Error, Result};
use crate::value::{Param, Row, RowSource};

/// Up to this many updates are pipelined one by one, which is faster than one statement over arrays.
const PIPELINED_UPDATES_MAX: usize = 16;

/// More rows are changed or copied by several statements, so that none comes near its time limit.
pub(super) const ROWS_PER_STATEMENT: usize = 2_000;

/// Planning a query for one page costs three times as much as reading the page, so one generic plan serves all values.
const SETTINGS: &str = "set plan_cache_mode = 'force_generic_plan'; set jit = off;
    set lock_timeout = '10s';
    set idle_in_transaction_session_timeout = '60s';
    set default_transaction_isolation = 'read committed'";

/// The present time, in microseconds. It goes on during a transaction.
const NOW: &str = "select cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)";

pub(crate) struct Connection {
    client: Client,
    /// Kept for cancel requests, which need a connection of their own.
    tls: Tls,
    prepared: Mutex<HashMap<String, Statement>>,
    /// An answer timed out: the connection may be dead although it looks open.
    is_unresponsive: AtomicBool,
    /// How long the server may take for an answer, in milliseconds.
    answer_timeout: AtomicU64,
}

impl Connection {
    pub(super) async fn open(address: &Address, statement_timeout: Duration) -> Result<Connection> {
        let connection = Connection::connect(address).await?;
        // Zero would mean no limit at all.
        let timeout = statement_timeout.as_millis().max(1);
        connection.execute_batch(&format!("{SETTINGS}; set statement_timeout = {timeout}")).await?;
        Ok(connection)
    }

    /// A connection whose statements may take any time.
    pub(super) async fn open_unlimited(address: &Address) -> Result<Connection> {
        let connection = Connection::connect(address).await?;
        let no_limits = "set statement_timeout = 0; set idle_in_transaction_session_timeout = 0";
        connection.execute_batch(&format!("{SETTINGS}; {no_limits}")).await?;
        connection.set_answer_timeout(Duration::MAX);
        Ok(connection)
    }

    async fn connect(address: &Address) -> Result<Connection> {
        let opening = async {
            if let Some(tls) = address.tls.connector()? {
                let (client, connection) = address.config.connect(tls).await?;
                tokio::spawn(async move { log_end(connection.await) });
                Ok::<_, Error>(client)
            } else {
                let (client, connection) = address.config.connect(NoTls).await?;
                tokio::spawn(async move { log_end(connection.await) });
                Ok(client)
            }
        };
        let client =
            tokio::time::timeout(CONNECT_TIMEOUT * 2, opening).await.map_err(timed_out)??;
        let connection = Connection {
            client,
            tls: address.tls.clone(),
            prepared: Mutex::new(HashMap::new()),
            is_unresponsive: AtomicBool::new(false),
            answer_timeout: AtomicU64::new(0),
        };
        connection.set_answer_timeout(ANSWER_TIMEOUT);
        Ok(connection)
    }

    pub(super) fn set_answer_timeout(&self, timeout: Duration) {
        let millis = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        self.answer_timeout.store(millis, Ordering::Relaxed);
    }

    pub(super) fn is_usable(&self) -> bool {
        !self.client.is_closed() && !self.is_unresponsive.load(Ordering::Relaxed)
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
        match tokio::time::timeout(timeout, answer).await {
            Ok(outcome) => Ok(outcome?),
            Err(elapsed) => {
                self.is_unresponsive.store(true, Ordering::Relaxed);
                Err(timed_out(elapsed))
            }
        }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Asks the server to cancel the running query. Best effort: a failure is ignored.
    pub(super) async fn cancel_query(&self) {
        let token = self.client.cancel_token();
        let canceling = async {
            match self.tls.connector()? {
                Some(tls) => Ok::<_, Error>(token.cancel_query(tls).await?),
                None => Ok(token.cancel_query(NoTls).await?),
            }
        };
        let _ = tokio::time::timeout(CONNECT_TIMEOUT * 2, canceling).await;
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
        let statement = self.client.prepare_typed(sql, types).await?;
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
        visit: &mut (dyn FnMut(&Row<'_>) -> Result<()> + Send),
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

    /// The present time of the server.
    pub(super) async fn now(&self) -> Result<Timestamp> {
        let mut now = None;
        self.each(NOW, &[], &mut |row| {
            now = Some(row.get::<Timestamp>(0)?);
            Ok(())
        })
        .await?;
        now.ok_or_else(|| Error::internal("PostgreSQL did not tell the time"))
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
            && let Some(arrays) = arrays::from_rows(rows)
            && let Some(sql) = arrays::update_statement(sql, arrays.len())
        {
            return self.with_timeout(self.update_from_arrays(&sql, &arrays, rows.len())).await;
        }
        self.with_timeout(async {
            let statement = &self.prepare(sql, first.as_ref()).await?;
            let each = rows.iter().map(|row| async move {
                Ok::<_, Error>(self.client.execute(statement, &as_dyn(row.as_ref())).await?)
            });
            futures_util::future::try_join_all(each).await
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

fn as_dyn<'a>(params: &'a [Param<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    params.iter().map(|it| it as &(dyn ToSql + Sync)).collect()
}

fn timed_out(_: tokio::time::error::Elapsed) -> Error {
    Error::unavailable("PostgreSQL did not answer in time")
}

fn log_end(ended: Result<(), tokio_postgres::Error>) {
    if let Err(error) = ended {
        tracing::warn!(%error, "a connection to PostgreSQL ended");
    }
}
