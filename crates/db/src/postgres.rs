//! PostgreSQL: reads share a few connections and travel back to back; a transaction has one to itself.

use std::collections::HashMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, NoTls, Statement};

use crate::slow::{self, ReadLimits};
use crate::talk::Talk;
use crate::tls::{self, Tls};
use crate::tx::Tx;
use crate::value::{Param, Row, RowOf};
use crate::{Error, Result, batch};

/// Reads wait for each other only within one of these.
const SHARED_CONNECTIONS: usize = 4;
/// Transactions at one time; the others wait their turn.
const TRANSACTIONS_MAX: usize = 16;
/// So many rows are sooner updated one by one than by setting out to update them together.
const FEW: usize = 16;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// A server that does not answer for this long is as good as gone.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// Planning a page anew would cost three times as much as reading it, so one plan serves all values of a statement.
const SETTINGS: &str = "set plan_cache_mode = 'force_generic_plan'; set jit = off;
    set lock_timeout = '10s';
    set idle_in_transaction_session_timeout = '60s';
    set default_transaction_isolation = 'read committed'";

/// How long a statement of a transaction may take.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(15);

/// Where the server is. Never printed: it may hold a password.
#[derive(Clone)]
pub struct Address {
    config: Config,
    tls: Tls,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Address(..)")
    }
}

impl Address {
    pub(crate) fn parse(url: &str) -> Result<Address, String> {
        let (url, asked) = tls::take_from(url);
        let mut config: Config = url
            .parse()
            .map_err(|_| "must look like postgres://user:password@host:5432/database".to_owned())?;
        let tls = asked.settle(is_local(&config))?;
        config.ssl_mode(if tls == Tls::Off { SslMode::Disable } else { SslMode::Require });
        config.connect_timeout(CONNECT_TIMEOUT);
        // A line that went dead without a word is noticed by the operating system too, even while nobody asks.
        config.tcp_user_timeout(ANSWER_TIMEOUT);
        config.keepalives_idle(ANSWER_TIMEOUT);
        config.application_name("evenkeel");
        Ok(Address { config, tls })
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn has_password(&self) -> bool {
        self.config.get_password().is_some()
    }

    pub(crate) fn tls(&self) -> &Tls {
        &self.tls
    }
}

fn is_local(config: &Config) -> bool {
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
        Host::Unix(_) => true,
    })
}

#[derive(Clone)]
pub(crate) struct Postgres {
    pool: Arc<Pool>,
}

struct Pool {
    address: Address,
    shared: Vec<Mutex<Option<Arc<Connection>>>>,
    next: AtomicUsize,
    idle: Mutex<Vec<Arc<Connection>>>,
    turns: Arc<Semaphore>,
    limits: ReadLimits,
    slow_reads: Arc<Semaphore>,
    slow_idle: Mutex<Vec<Arc<Connection>>>,
}

pub(crate) struct Connection {
    client: Client,
    /// How a request to cancel a query is sent.
    tls: Tls,
    prepared: Mutex<HashMap<String, Statement>>,
    /// The server owes an answer: the line may be dead although it looks open.
    is_silent: AtomicBool,
}

impl Postgres {
    pub(crate) async fn connect(address: &Address, limits: ReadLimits) -> Result<Postgres> {
        let first = Arc::new(Connection::open(address, STATEMENT_TIMEOUT).await?);
        let shared = (0..SHARED_CONNECTIONS).map(|_| Mutex::new(None)).collect();
        let pool = Pool {
            address: address.clone(),
            shared,
            next: AtomicUsize::new(0),
            idle: Mutex::new(vec![first]),
            turns: Arc::new(Semaphore::new(TRANSACTIONS_MAX)),
            limits,
            slow_reads: Arc::new(Semaphore::new(limits.slow_at_once)),
            slow_idle: Mutex::new(Vec::new()),
        };
        Ok(Postgres { pool: Arc::new(pool) })
    }

    pub(crate) fn limits(&self) -> ReadLimits {
        self.pool.limits
    }

    /// Reads on a connection that others share. A statement that is not done soon is stopped, before any row of it
    /// was visited, and begun anew where nobody waits behind it.
    pub(crate) async fn each(
        &self,
        sql: &str,
        params: &[Param<'_>],
        visit: &mut (dyn FnMut(&Row<'_>) -> Result<()> + Send),
    ) -> Result<()> {
        match self.shared_connection().await?.each(sql, params, visit).await {
            Err(error) if error.is_canceled_statement() => self.each_slow(sql, params, visit).await,
            outcome => outcome,
        }
    }

    /// Reads on a connection of its own, of which there are as many as slow reads may run at once.
    pub(crate) async fn each_slow(
        &self,
        sql: &str,
        params: &[Param<'_>],
        visit: &mut (dyn FnMut(&Row<'_>) -> Result<()> + Send),
    ) -> Result<()> {
        let until = Instant::now() + self.pool.limits.total;
        let place = slow::place(&self.pool.slow_reads, until).await?;
        let connection = self.pool.slow_connection().await?;
        let reading = SlowRead { under_way: Some((connection.clone(), place)) };
        let outcome = connection.each(sql, params, visit).await;
        reading.finish(&self.pool);
        outcome.map_err(|it| if it.is_canceled_statement() { Error::TimedOut } else { it })
    }

    pub(crate) async fn check(&self, sql: &str) -> Result<()> {
        let connection = self.shared_connection().await?;
        connection.ask(connection.client.prepare(sql)).await?;
        Ok(())
    }

    pub(crate) async fn write<T, E>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let pool = self.pool.clone();
        let closed = |_| Error::internal("the pool is closed");
        let turn = pool.turns.clone().acquire_owned().await.map_err(closed)?;
        let connection = pool.own_connection().await?;
        let runtime = tokio::runtime::Handle::current();
        let done = tokio::task::spawn_blocking(move || {
            let outcome = transact(&connection, &runtime, work);
            pool.give_back(connection);
            drop(turn);
            outcome
        });
        match done.await {
            Ok(outcome) => outcome,
            Err(_) => Err(E::from(Error::internal("a transaction panicked"))),
        }
    }

    pub(crate) fn address(&self) -> &Address {
        &self.pool.address
    }

    /// A connection of its own for one long read.
    pub(crate) async fn connection(&self) -> Result<Arc<Connection>> {
        Ok(Arc::new(Connection::open(&self.pool.address, STATEMENT_TIMEOUT).await?))
    }

    async fn shared_connection(&self) -> Result<Arc<Connection>> {
        let index = self.pool.next.fetch_add(1, Ordering::Relaxed) % SHARED_CONNECTIONS;
        let slot = &self.pool.shared[index];
        let live = |slot: &Mutex<Option<Arc<Connection>>>| {
            let slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            slot.as_ref().filter(|it| it.is_usable()).cloned()
        };
        if let Some(connection) = live(slot) {
            return Ok(connection);
        }
        let Pool { address, limits, .. } = &*self.pool;
        let fresh = Arc::new(Connection::open(address, limits.inline).await?);
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(fresh.clone());
        Ok(fresh)
    }
}

impl Pool {
    async fn own_connection(&self) -> Result<Arc<Connection>> {
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

    fn give_back(&self, connection: Arc<Connection>) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if connection.is_usable() {
            idle.push(connection);
        } else {
            // What idled beside a dead one is likely dead too, and would cost the next one its patience.
            idle.clear();
        }
    }
}

/// A slow read under way. If nobody waits for it any more, the server is told to stop: otherwise it would go on, and
/// its place in the pool would be taken by another one beside it.
struct SlowRead {
    under_way: Option<(Arc<Connection>, OwnedSemaphorePermit)>,
}

impl SlowRead {
    fn finish(mut self, pool: &Pool) {
        let Some((connection, place)) = self.under_way.take() else { return };
        if connection.is_usable() {
            pool.slow_idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
        drop(place);
    }
}

impl Drop for SlowRead {
    fn drop(&mut self) {
        let Some((connection, place)) = self.under_way.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            let token = connection.client.cancel_token();
            let stopping = async {
                match connection.tls.connector()? {
                    Some(tls) => Ok::<_, Error>(token.cancel_query(tls).await?),
                    None => Ok(token.cancel_query(NoTls).await?),
                }
            };
            let _ = tokio::time::timeout(CONNECT_TIMEOUT * 2, stopping).await;
            drop((connection, place));
        });
    }
}

impl Connection {
    async fn open(address: &Address, statement_timeout: Duration) -> Result<Connection> {
        let opening = async {
            if let Some(tls) = address.tls.connector()? {
                let (client, connection) = address.config.connect(tls).await?;
                tokio::spawn(async move { report(connection.await) });
                Ok::<_, Error>(client)
            } else {
                let (client, connection) = address.config.connect(NoTls).await?;
                tokio::spawn(async move { report(connection.await) });
                Ok(client)
            }
        };
        let client = tokio::time::timeout(CONNECT_TIMEOUT * 2, opening).await.map_err(late)??;
        let (prepared, is_silent) = (Mutex::new(HashMap::new()), AtomicBool::new(false));
        let connection = Connection { client, tls: address.tls.clone(), prepared, is_silent };
        // Zero would mean no limit at all.
        let timeout = statement_timeout.as_millis().max(1);
        let settings = format!("{SETTINGS}; set statement_timeout = {timeout}");
        connection.ask(connection.client.batch_execute(&settings)).await?;
        Ok(connection)
    }

    pub(crate) fn is_usable(&self) -> bool {
        !self.client.is_closed() && !self.is_silent.load(Ordering::Relaxed)
    }

    /// Waits for an answer, but not for ever; a connection that gave none is not used again.
    pub(crate) async fn ask<T, E>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T>
    where
        Error: From<E>,
    {
        match tokio::time::timeout(ANSWER_TIMEOUT, work).await {
            Ok(outcome) => Ok(outcome?),
            Err(elapsed) => {
                self.is_silent.store(true, Ordering::Relaxed);
                Err(late(elapsed))
            }
        }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Types come from the values: with `$1 is null` alone the server could not tell.
    async fn prepare(&self, sql: &str, params: &[Param<'_>]) -> Result<Statement> {
        let types: Vec<Type> = params.iter().map(Param::postgres_type).collect();
        self.prepare_for(sql, &types).await
    }

    pub(crate) async fn prepare_for(&self, sql: &str, types: &[Type]) -> Result<Statement> {
        let known = self.prepared.lock().unwrap_or_else(PoisonError::into_inner).get(sql).cloned();
        if let Some(statement) = known {
            return Ok(statement);
        }
        let statement = self.client.prepare_typed(sql, types).await?;
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        prepared.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    pub(crate) async fn each(
        &self,
        sql: &str,
        params: &[Param<'_>],
        visit: &mut (dyn FnMut(&Row<'_>) -> Result<()> + Send),
    ) -> Result<()> {
        let rows = self.ask(async {
            let statement = self.prepare(sql, params).await?;
            Ok::<_, Error>(self.client.query(&statement, &borrowed(params)).await?)
        });
        for row in &rows.await? {
            visit(&Row(RowOf::Postgres(row)))?;
        }
        Ok(())
    }

    /// Many as one statement; a few, or what cannot be one, back to back without waiting for one before the next.
    pub(crate) async fn execute_each<'p>(
        &self,
        sql: &str,
        rows: &[impl AsRef<[Param<'p>]>],
    ) -> Result<Vec<u64>> {
        let Some(first) = rows.first() else { return Ok(Vec::new()) };
        if rows.len() > FEW
            && let Some(columns) = batch::columns(rows)
            && let Some(sql) = batch::for_all(sql, columns.len())
        {
            return self.ask(self.execute_all(&sql, &columns, rows.len())).await;
        }
        self.ask(async {
            let statement = &self.prepare(sql, first.as_ref()).await?;
            let each = rows.iter().map(|row| async move {
                Ok::<_, Error>(self.client.execute(statement, &borrowed(row.as_ref())).await?)
            });
            futures_util::future::try_join_all(each).await
        })
        .await
    }

    /// Planned anew each time, which costs little beside the rows: a plan from when the table was small would not do.
    async fn execute_all(
        &self,
        sql: &str,
        columns: &[batch::Column],
        rows: usize,
    ) -> Result<Vec<u64>> {
        let params: Vec<_> = columns.iter().map(batch::Column::param).collect();
        let mut touched = vec![0; rows];
        for row in self.client.query_typed(sql, &params).await? {
            let number: i64 = row.try_get(0)?;
            let place = usize::try_from(number - 1).ok().and_then(|it| touched.get_mut(it));
            *place.ok_or_else(|| Error::internal("a row that was not asked for"))? += 1;
        }
        Ok(touched)
    }

    pub(crate) async fn execute(&self, sql: &str, params: &[Param<'_>]) -> Result<u64> {
        self.ask(async {
            let statement = self.prepare(sql, params).await?;
            Ok::<_, Error>(self.client.execute(&statement, &borrowed(params)).await?)
        })
        .await
    }
}

fn transact<T, E: From<Error>>(
    connection: &Connection,
    runtime: &tokio::runtime::Handle,
    work: impl FnOnce(&mut Tx<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let mut tx = Tx::postgres(Talk::new(connection, runtime));
    match catch_unwind(AssertUnwindSafe(|| tx.run(work))) {
        Ok(Ok(value)) => {
            tx.commit()?;
            tx.take_after().into_iter().for_each(|then| then());
            Ok(value)
        }
        Ok(Err(error)) => {
            tx.roll_back();
            Err(error)
        }
        Err(panic) => {
            tx.roll_back();
            resume_unwind(panic)
        }
    }
}

fn borrowed<'a>(params: &'a [Param<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    params.iter().map(|it| it as &(dyn ToSql + Sync)).collect()
}

fn late(_: tokio::time::error::Elapsed) -> Error {
    Error::unavailable("PostgreSQL did not answer in time")
}

fn report(ended: Result<(), tokio_postgres::Error>) {
    if let Err(error) = ended {
        tracing::warn!(%error, "a connection to PostgreSQL ended");
    }
}
