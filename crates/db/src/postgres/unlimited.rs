//! Connections whose statements have no time limit, for changes of the schema. A dead server is still noticed, by TCP
//! keepalives.

use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::SimpleQueryMessage;

use super::connection::Connection;
use super::pipeline::Pipeline;
use super::{Postgres, Work, transact};
use crate::error::{Error, Result};

/// How often a process looks whether another one has finished migrating.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// `set local` as well as the settings of the connection: behind a pooler, a connection may change between two
/// transactions.
const NO_LIMITS: &str =
    "set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0";
/// The number is shared with older programs, which take the same lock.
const TRY_LOCK: &str = "select pg_try_advisory_xact_lock(9172034)";

/// The right to change the schema: a transaction that does nothing but hold an advisory lock. It has no snapshot, so
/// that an index can be built concurrently meanwhile.
pub(crate) struct SchemaLock {
    _connection: Connection,
}

impl Postgres {
    /// Waits until no other process is migrating.
    pub(crate) async fn lock_schema(&self) -> Result<SchemaLock> {
        let connection = self.pool.opener(None).open().await?;
        let mut is_waiting = false;
        loop {
            connection.execute_batch(&format!("begin; {NO_LIMITS}")).await?;
            let answer = connection.client().simple_query(TRY_LOCK).await?;
            let is_locked = answer.iter().any(|it| match it {
                SimpleQueryMessage::Row(row) => row.get(0) == Some("t"),
                _ => false,
            });
            if is_locked {
                return Ok(SchemaLock { _connection: connection });
            }
            connection.execute_batch("rollback").await?;
            if !std::mem::replace(&mut is_waiting, true) {
                tracing::info!("waiting for another process that migrates this database");
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Runs a transaction on a blocking thread, on a connection outside of the pool.
    pub(crate) async fn write_unlimited(&self, lock_timeout: Duration, work: Work) -> Result<()> {
        let connection = Arc::new(self.pool.opener(None).open().await?);
        let runtime = tokio::runtime::Handle::current();
        let millis = lock_timeout.as_millis().max(1);
        let limits = format!("{NO_LIMITS}; set local lock_timeout = {millis}");
        let done = tokio::task::spawn_blocking(move || {
            let mut pipeline = Pipeline::new(connection, runtime);
            pipeline.execute_batch(&limits)?;
            transact(pipeline, work)
        });
        done.await.unwrap_or_else(|_| Err(Error::internal("a transaction panicked")))
    }

    /// Runs one statement outside of a transaction, such as the concurrent build of an index. It waits for locks as
    /// long as it takes, because nobody waits behind it.
    pub(crate) async fn run_unlimited(&self, sql: &str) -> Result<()> {
        let connection = self.pool.opener(None).open().await?;
        connection.execute_batch(sql).await
    }
}
