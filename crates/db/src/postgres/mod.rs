//! PostgreSQL: reads are pipelined over a few shared connections; a transaction has its own.

mod address;
mod arrays;
mod connection;
mod listen;
mod pipeline;
mod tls;
mod unlimited;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base::Timestamp;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;

use crate::error::{Error, Result};
use crate::outcome::Outcome;
use crate::read_limits::{self, ReadLimits};
use crate::value::{Param, Row};
pub(crate) use address::Address;
use connection::Connection;
pub(crate) use listen::OnNotification;
pub(crate) use pipeline::Pipeline;
pub(crate) use unlimited::SchemaLock;

/// Connections that reads share. A read waits only for earlier reads on the same one.
const SHARED_CONNECTIONS: usize = 4;
/// Concurrent transactions; more of them wait.
const TRANSACTIONS_MAX: usize = 16;
/// How long one statement of a transaction may take.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(15);

#[derive(Clone)]
pub(crate) struct Postgres {
    pool: Arc<Pool>,
}

struct Pool {
    address: Address,
    /// Connections that reads share, each opened when it is first used.
    shared: Vec<Mutex<Option<Arc<Connection>>>>,
    next_shared: AtomicUsize,
    /// Idle connections for transactions.
    idle: Mutex<Vec<Arc<Connection>>>,
    transactions: Arc<Semaphore>,
    limits: ReadLimits,
    slow_reads: Arc<Semaphore>,
    /// Idle connections for slow reads.
    slow_idle: Mutex<Vec<Arc<Connection>>>,
}

impl Postgres {
    pub(crate) async fn connect(address: &Address, limits: ReadLimits) -> Result<Postgres> {
        let first = Arc::new(Connection::open(address, STATEMENT_TIMEOUT).await?);
        let shared = (0..SHARED_CONNECTIONS).map(|_| Mutex::new(None)).collect();
        let pool = Pool {
            address: address.clone(),
            shared,
            next_shared: AtomicUsize::new(0),
            idle: Mutex::new(vec![first]),
            transactions: Arc::new(Semaphore::new(TRANSACTIONS_MAX)),
            limits,
            slow_reads: Arc::new(Semaphore::new(limits.slow_at_once)),
            slow_idle: Mutex::new(Vec::new()),
        };
        Ok(Postgres { pool: Arc::new(pool) })
    }

    pub(crate) fn limits(&self) -> ReadLimits {
        self.pool.limits
    }

    /// Reads on a shared connection. A query that exceeds the inline limit is canceled by the server, before any of its
    /// rows was visited, and restarted in the slow-read pool.
    pub(crate) async fn each(
        &self,
        sql: &str,
        params: &[Param<'_>],
        visit: &mut (dyn FnMut(&Row<'_>) -> Result<()> + Send),
    ) -> Result<()> {
        match self.pool.shared_connection().await?.each(sql, params, visit).await {
            Err(error) if error.is_canceled_statement() => self.each_slow(sql, params, visit).await,
            outcome => outcome,
        }
    }

    /// Waits for a permit of the slow-read pool, then reads on a connection of its own.
    pub(crate) async fn each_slow(
        &self,
        sql: &str,
        params: &[Param<'_>],
        visit: &mut (dyn FnMut(&Row<'_>) -> Result<()> + Send),
    ) -> Result<()> {
        let until = Instant::now() + self.pool.limits.total;
        let permit = read_limits::acquire_slow_read(&self.pool.slow_reads, until).await?;
        let connection = self.pool.slow_connection().await?;
        let read = SlowRead { in_flight: Some((connection.clone(), permit)) };
        let outcome = connection.each(sql, params, visit).await;
        read.finish(&self.pool);
        outcome.map_err(|it| if it.is_canceled_statement() { Error::TimedOut } else { it })
    }

    pub(crate) async fn now(&self) -> Result<Timestamp> {
        self.pool.shared_connection().await?.now().await
    }

    pub(crate) async fn check(&self, sql: &str) -> Result<()> {
        self.pool.shared_connection().await?.check(sql).await
    }

    /// Runs a transaction on a blocking thread, with a connection of its own.
    pub(crate) async fn write<T, E>(
        &self,
        work: impl FnOnce(&mut Pipeline) -> Outcome<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let pool = self.pool.clone();
        let closed = |_| Error::internal("the pool is closed");
        let permit = pool.transactions.clone().acquire_owned().await.map_err(closed)?;
        let connection = pool.transaction_connection().await?;
        let runtime = tokio::runtime::Handle::current();
        let done = tokio::task::spawn_blocking(move || {
            let outcome = transact(Pipeline::new(connection.clone(), runtime), work);
            pool.return_connection(connection);
            drop(permit);
            outcome
        });
        match done.await {
            Ok(outcome) => outcome,
            Err(_) => Err(E::from(Error::internal("a transaction panicked"))),
        }
    }

    /// Increments the value whenever a notification arrives, until every receiver is dropped.
    pub(crate) fn listen(
        &self,
        notifications: watch::Sender<u64>,
        on_notification: Arc<OnNotification>,
    ) {
        tokio::spawn(listen::listen(self.pool.address.clone(), notifications, on_notification));
    }

    /// A new connection outside the pool, for one long read.
    pub(crate) async fn connection(&self) -> Result<Connection> {
        Connection::open(&self.pool.address, STATEMENT_TIMEOUT).await
    }
}

fn transact<T, E: From<Error>>(
    mut pipeline: Pipeline,
    work: impl FnOnce(&mut Pipeline) -> Outcome<T, E>,
) -> Result<T, E> {
    match catch_unwind(AssertUnwindSafe(|| work(&mut pipeline))) {
        Ok(Outcome { result: Ok(value), on_commit }) => {
            pipeline.commit().inspect_err(|_| pipeline.roll_back())?;
            on_commit.into_iter().for_each(|callback| callback());
            Ok(value)
        }
        Ok(Outcome { result: Err(error), .. }) => {
            pipeline.roll_back();
            Err(error)
        }
        Err(panic) => {
            pipeline.roll_back();
            resume_unwind(panic)
        }
    }
}

impl Pool {
    async fn shared_connection(&self) -> Result<Arc<Connection>> {
        let index = self.next_shared.fetch_add(1, Ordering::Relaxed) % SHARED_CONNECTIONS;
        let slot = &self.shared[index];
        let live = |slot: &Mutex<Option<Arc<Connection>>>| {
            let slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            slot.as_ref().filter(|it| it.is_usable()).cloned()
        };
        if let Some(connection) = live(slot) {
            return Ok(connection);
        }
        let fresh = Arc::new(Connection::open(&self.address, self.limits.inline).await?);
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(fresh.clone());
        Ok(fresh)
    }

    async fn transaction_connection(&self) -> Result<Arc<Connection>> {
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match idle {
                Some(connection) if connection.is_usable() => return Ok(connection),
                Some(_) => {}
                None => {
                    let fresh = Connection::open(&self.address, STATEMENT_TIMEOUT).await?;
                    return Ok(Arc::new(fresh));
                }
            }
        }
    }

    async fn slow_connection(&self) -> Result<Arc<Connection>> {
        let idle = self.slow_idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle.filter(|it| it.is_usable()) {
            Some(connection) => Ok(connection),
            None => Ok(Arc::new(Connection::open(&self.address, self.limits.total).await?)),
        }
    }

    fn return_connection(&self, connection: Arc<Connection>) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if connection.is_usable() {
            idle.push(connection);
        } else {
            // If one connection died, the idle ones are probably dead too, and each would cost a caller its timeout.
            idle.clear();
        }
    }
}

/// A slow read in flight. If its caller stops waiting, the query is canceled on the server: otherwise it would keep
/// running while its permit went to another read.
struct SlowRead {
    in_flight: Option<(Arc<Connection>, OwnedSemaphorePermit)>,
}

impl SlowRead {
    fn finish(mut self, pool: &Pool) {
        let Some((connection, permit)) = self.in_flight.take() else { return };
        if connection.is_usable() {
            pool.slow_idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
        drop(permit);
    }
}

impl Drop for SlowRead {
    fn drop(&mut self) {
        let Some((connection, permit)) = self.in_flight.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            connection.cancel_query().await;
            drop((connection, permit));
        });
    }
}
