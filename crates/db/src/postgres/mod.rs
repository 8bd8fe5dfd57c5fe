//! PostgreSQL: reads are pipelined over a few shared connections; a transaction and a slow read have their own.

mod address;
mod arrays;
mod budget;
mod connect;
mod connection;
mod listen;
mod long_statements;
mod pipeline;
mod pool;
mod pooler;
mod settings;
mod shared_connections;
mod tls;
mod unlimited;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use base::Timestamp;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::error::{Error, Result};
use crate::meters::{DriverState, Meters};
use crate::outcome::Outcome;
use crate::read_limits::{ReadLimits, SlowReadPermit, SlowReads};
use crate::request;
use crate::value::{Param, Row, RowSource, Visit};
pub(crate) use address::Address;
pub use address::DEFAULT_CONNECTIONS;
use budget::Budget;
pub use budget::SERVER_MIN;
pub(crate) use connection::Connection;
use connection::Opener;
pub(crate) use listen::OnNotification;
pub(crate) use pipeline::Pipeline;
use pool::{ConnectionPool, Lent};
use settings::{Planning, Settings, SettingsBy};
use shared_connections::{ReadInFlight, SharedConnections};
pub(crate) use unlimited::SchemaLock;

/// How long one statement of a transaction may take.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a transaction may wait for a connection.
const CONNECTION_WAIT: Duration = Duration::from_secs(10);
/// A server that answers no read for this long counts as gone. It cancels a read that takes longer than the limit by
/// itself, so there is nothing else to wait for.
const SILENCE_MAX: Duration = Duration::from_secs(4);
/// Connections that nobody used for this long are closed.
const IDLE_MAX: Duration = Duration::from_secs(60);
const IDLE_CHECK: Duration = Duration::from_secs(10);

#[derive(Clone)]
pub(crate) struct Postgres {
    pool: Arc<Pool>,
}

struct Pool {
    address: Address,
    settings: Settings,
    budget: Budget,
    limits: ReadLimits,
    shared: SharedConnections,
    transactions: Arc<ConnectionPool>,
    slow: Arc<ConnectionPool>,
    slow_reads: SlowReads,
    meters: Arc<Meters>,
}

impl Postgres {
    pub(crate) async fn connect(
        address: &Address,
        limits: ReadLimits,
        meters: Arc<Meters>,
    ) -> Result<Postgres> {
        let budget = Budget::new(address.connections, limits);
        let inline = if budget.slow == 0 { limits.total } else { limits.inline };
        let limits = ReadLimits { inline, slow_at_once: budget.slow.max(1), ..limits };
        let (first, second, settings) = connect_two(address, inline).await?;
        let pool = Arc::new(Pool {
            address: address.clone(),
            settings,
            budget,
            limits,
            shared: SharedConnections::new(budget.shared),
            transactions: Arc::new(ConnectionPool::new(budget.transactions, meters.clone())),
            slow: Arc::new(ConnectionPool::new(budget.slow, meters.clone())),
            slow_reads: SlowReads::new(limits.slow_at_once, meters.clone()),
            meters,
        });
        pool.transactions.add(Arc::new(first));
        pool.shared.add(Arc::new(second));
        let watched = Arc::downgrade(&pool);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(IDLE_CHECK).await;
                let Some(pool) = watched.upgrade() else { return };
                pool.close_idle();
            }
        });
        Ok(Postgres { pool })
    }

    pub(crate) fn limits(&self) -> ReadLimits {
        self.pool.limits
    }

    /// Its connections, by purpose.
    pub(crate) fn state(&self) -> DriverState {
        let pool = &self.pool;
        let mut pools = vec![pool.shared.state(), pool.transactions.state("transactions")];
        if pool.has_slow_pool() {
            pools.push(pool.slow.state("slow_reads"));
        }
        DriverState { is_sqlite: false, pools, log_bytes: None }
    }

    /// Reads on a shared connection. A query that exceeds the inline limit is canceled by the server, before any of its
    /// rows was visited, and restarted in the slow-read pool.
    pub(crate) async fn each(
        &self,
        sql: &str,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let pool = &self.pool;
        if pool.has_slow_pool() && pool.slow_reads.is_known(sql) {
            return self.each_slow(sql, params, visit).await;
        }
        match pool.read_shared(sql, params).await {
            Ok(rows) => visit_all(&rows, visit),
            Err(error) if error.is_canceled_statement() && pool.has_slow_pool() => {
                pool.slow_reads.remember(sql);
                pool.meters.count_restarted();
                self.each_slow(sql, params, visit).await
            }
            Err(error) if error.is_canceled_statement() => Err(Error::TimedOut),
            Err(error) => Err(error),
        }
    }

    /// Waits for a permit of the slow-read pool, then reads on a connection of its own.
    pub(crate) async fn each_slow(
        &self,
        sql: &str,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let pool = &self.pool;
        let until = request::deadline_within(pool.limits.total);
        let permit = pool.slow_reads.acquire(until).await?;
        if !pool.has_slow_pool() {
            let rows = pool.read_shared(sql, params).await.map_err(too_slow_if_canceled)?;
            return visit_all(&rows, visit);
        }
        let opener = pool.opener(pool.limits.total);
        let lent = match pool.slow.acquire(until, opener).await {
            Err(error) if error.is_out_of_connections() => {
                let opener = pool.opener(STATEMENT_TIMEOUT);
                pool.transactions.acquire(until, opener).await?
            }
            acquired => acquired?,
        };
        let (started, connection) = (Instant::now(), lent.connection().clone());
        let read = SlowRead { in_flight: Some((lent, permit)) };
        let reading = connection.read(sql, params);
        let answer = tokio::time::timeout_at(until + SILENCE_MAX, reading).await;
        let answer = answer.unwrap_or_else(|elapsed| {
            connection.discard();
            Err(connect::timed_out(elapsed))
        });
        if started.elapsed() < pool.limits.inline {
            pool.slow_reads.forget(sql);
        }
        // Rows count as part of the read: a long answer takes memory and time as well.
        let visited = answer.and_then(|rows| visit_all(&rows, visit));
        read.finish();
        visited.map_err(too_slow_if_canceled)
    }

    pub(crate) async fn now(&self) -> Result<Timestamp> {
        let rows = self.pool.read_shared(connection::NOW, &[]).await?;
        let row =
            rows.first().ok_or_else(|| Error::internal("PostgreSQL did not tell the time"))?;
        Row(RowSource::Postgres(row)).get(0)
    }

    pub(crate) async fn check(&self, sql: &str) -> Result<()> {
        let pool = &self.pool;
        let opener = pool.opener(pool.limits.inline);
        let (connection, _read) = pool.shared.begin(None, opener).await?;
        connection.check(sql).await
    }

    /// Runs a transaction on a blocking thread, with a connection of its own.
    pub(crate) async fn write(&self, work: Work) -> Result<()> {
        let pool = self.pool.clone();
        let until = request::deadline_within(CONNECTION_WAIT);
        let opener = pool.opener(STATEMENT_TIMEOUT);
        let lent = pool.transactions.acquire(until, opener).await?;
        let runtime = tokio::runtime::Handle::current();
        let done = tokio::task::spawn_blocking(move || {
            let connection = lent.connection().clone();
            let outcome = transact(Pipeline::new(connection.clone(), runtime), work);
            if connection.is_read_only() {
                pool.shared.clear();
            }
            drop(lent);
            outcome
        });
        done.await.unwrap_or_else(|_| Err(Error::internal("a transaction panicked")))
    }

    /// Increments the value whenever a notification arrives, until every receiver is dropped. A pooler that lends its
    /// server connections passes no notifications on; without an address to listen at, the receivers poll.
    pub(crate) fn listen(
        &self,
        notifications: watch::Sender<u64>,
        on_notification: Arc<OnNotification>,
    ) {
        let address = match (&self.pool.address.listen, self.pool.settings.by) {
            (Some(direct), _) => direct.named_like(&self.pool.address),
            (None, SettingsBy::Transaction) => {
                tracing::info!(
                    "a pooler in transaction mode passes no notifications on; polling instead \
                     (set database.listen_url to PostgreSQL's own address to avoid it)"
                );
                return;
            }
            (None, _) => self.pool.address.clone(),
        };
        tokio::spawn(listen::listen(address, notifications, on_notification));
    }

    /// A new connection outside the pool, for one long read.
    pub(crate) async fn connection(&self) -> Result<Connection> {
        self.pool.opener(STATEMENT_TIMEOUT).open().await
    }
}

/// Opens the first two connections, for a transaction and for reads, and finds out how settings reach the server and
/// whether it is Citus.
async fn connect_two(
    address: &Address,
    inline: Duration,
) -> Result<(Connection, Connection, Settings)> {
    let mut settings = Settings::FIRST;
    let first = match Connection::open(address, settings, Some(STATEMENT_TIMEOUT)).await {
        Err(error) if error.server_says("startup parameter") => {
            settings.by = SettingsBy::Session;
            Connection::open(address, settings, Some(STATEMENT_TIMEOUT)).await?
        }
        opened => opened?,
    };
    // A pooler may also be told to ignore what it does not know.
    if settings.by == SettingsBy::Startup && !first.has_settings().await? {
        settings.by = SettingsBy::Session;
    }
    let second = Connection::open(address, settings, Some(inline)).await?;
    if pooler::pools_transactions(&first, &second).await? {
        settings.by = SettingsBy::Transaction;
    }
    if first.has_citus().await? {
        settings.planning = Planning::Citus;
    }
    if settings == Settings::FIRST {
        return Ok((first, second, settings));
    }
    // Both are opened again: a session's settings would stay on a server connection that others are lent.
    drop((first, second));
    let first = Connection::open(address, settings, Some(STATEMENT_TIMEOUT)).await?;
    Ok((first, Connection::open(address, settings, Some(inline)).await?, settings))
}

fn visit_all(rows: &[tokio_postgres::Row], visit: &mut Visit<'_>) -> Result<()> {
    rows.iter().try_for_each(|row| visit(&Row(RowSource::Postgres(row))))
}

fn too_slow_if_canceled(error: Error) -> Error {
    if error.is_canceled_statement() { Error::TimedOut } else { error }
}

/// The statements of a transaction.
type Work = Box<dyn FnOnce(&mut Pipeline) -> Outcome + Send>;

fn transact(mut pipeline: Pipeline, work: Work) -> Result<()> {
    match catch_unwind(AssertUnwindSafe(|| work(&mut pipeline))) {
        Ok(Outcome { is_good: true, on_commit }) => {
            pipeline.commit().inspect_err(|_| pipeline.roll_back())?;
            on_commit.into_iter().for_each(|callback| callback());
            Ok(())
        }
        Ok(Outcome { is_good: false, .. }) => {
            pipeline.roll_back();
            Ok(())
        }
        Err(panic) => {
            pipeline.roll_back();
            resume_unwind(panic)
        }
    }
}

impl Pool {
    fn has_slow_pool(&self) -> bool {
        self.budget.slow > 0
    }

    fn opener(&self, statement_timeout: impl Into<Option<Duration>>) -> Opener<'_> {
        let (address, settings) = (&self.address, self.settings);
        Opener { address, settings, statement_timeout: statement_timeout.into() }
    }

    async fn read_shared(
        &self,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<tokio_postgres::Row>> {
        let opener = self.opener(self.limits.inline);
        let (connection, read) = self.shared.begin(request::read_group(), opener).await?;
        let reading = connection.read(sql, params);
        let answer = self.unless_silent(&connection, &read, reading).await;
        read.finish();
        answer
    }

    /// Waits for an answer as long as the server answers anything on this connection.
    async fn unless_silent<T>(
        &self,
        connection: &Connection,
        read: &ReadInFlight<'_>,
        answer: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let mut answer = pin!(answer);
        let silence = self.limits.inline + SILENCE_MAX;
        loop {
            let until = read.answered_at() + silence;
            match tokio::time::timeout_at(until, answer.as_mut()).await {
                Ok(outcome) => return outcome,
                Err(_) if read.answered_at() + silence > until => {}
                Err(elapsed) => {
                    connection.discard();
                    return Err(connect::timed_out(elapsed));
                }
            }
        }
    }

    fn close_idle(&self) {
        self.transactions.close_idle(IDLE_MAX);
        self.slow.close_idle(IDLE_MAX);
        self.shared.close_idle(IDLE_MAX);
    }
}

/// A slow read in flight. If its caller stops waiting, the query is canceled on the server: otherwise it would keep
/// running while its permit went to another read.
struct SlowRead {
    in_flight: Option<(Lent, SlowReadPermit)>,
}

impl SlowRead {
    fn finish(mut self) {
        self.in_flight = None;
    }
}

impl Drop for SlowRead {
    fn drop(&mut self) {
        let Some((mut lent, permit)) = self.in_flight.take() else { return };
        // The cancel request may arrive late and hit the next query, so the connection is not used again.
        lent.retire();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            lent.connection().cancel_query().await;
            drop((lent, permit));
        });
    }
}
