//! The handle to a database: reads, transactions and notifications on either engine.

use std::sync::Arc;
use std::time::Duration;

use base::metrics::MetricFamily;
use base::{Clock, Timestamp};
use futures_util::FutureExt as _;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::error::{Error, Result};
use crate::meters::Meters;
use crate::postgres::{Postgres, SchemaLock};
use crate::read_limits::ReadLimits;
use crate::sqlite::Sqlite;
use crate::target::{Engine, Target};
use crate::tx::{Signer, Tx, TxContext};
use crate::value::{Param, Row, Visit};
use crate::work::{self, Work};

/// Whether a resumable query finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Done,
    /// The query exceeded the inline limit; the rest belongs in the slow-read pool.
    Stopped,
}

/// A handle to the database; clones share its connections.
#[derive(Clone)]
pub struct Db {
    pub(crate) driver: Driver,
    signer: Option<Signer>,
    /// The time of the database in a test that controls it.
    clock: Option<Clock>,
    /// Wakes the worker of this process.
    work: Arc<Notify>,
    meters: Arc<Meters>,
}

#[derive(Clone)]
pub(crate) enum Driver {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Db {
    pub async fn open(target: &Target) -> Result<Db> {
        Db::open_with(target, target.read_limits()).await
    }

    pub async fn open_with(target: &Target, limits: ReadLimits) -> Result<Db> {
        let engine = match target {
            Target::Sqlite(_) => Engine::Sqlite,
            Target::Postgres(_) => Engine::Postgres,
        };
        let meters = Arc::new(Meters::new(engine.as_str()));
        let driver = match target {
            Target::Sqlite(path) => {
                Driver::Sqlite(Sqlite::open(path, limits, meters.clone()).await?)
            }
            Target::Postgres(address) => {
                Driver::Postgres(Postgres::connect(address, limits, meters.clone()).await?)
            }
        };
        Ok(Db { driver, signer: None, clock: None, work: Arc::default(), meters })
    }

    /// The metrics of the database in this process, with the connections that are open now.
    pub fn metrics(&self) -> Vec<MetricFamily> {
        self.meters.families(&match &self.driver {
            Driver::Sqlite(sqlite) => sqlite.state(),
            Driver::Postgres(postgres) => postgres.state(),
        })
    }

    /// Counts a read and its error.
    fn count_read<T>(&self, sql: &str, started: Instant, outcome: Result<T>) -> Result<T> {
        self.meters.count_read(sql, started.elapsed(), outcome.as_ref().err());
        outcome
    }

    /// The same database with a key for `sign`.
    pub fn with_signer(self, signer: Signer) -> Db {
        Db { signer: Some(signer), ..self }
    }

    /// The same database, whose time is a process's clock if that is a frozen one of a test. A process whose clock is
    /// ahead or behind does not move the database's time with it.
    pub fn with_frozen_clock(self, clock: &Clock) -> Db {
        match clock.unshifted() {
            frozen @ Clock::Frozen(_) => Db { clock: Some(frozen.clone()), ..self },
            _ => self,
        }
    }

    /// The present time of the database, which all its processes agree on: the server's on PostgreSQL, this machine's
    /// on SQLite. Leases and due times are compared with this time, never with a process's own clock.
    pub async fn now(&self) -> Result<Timestamp> {
        match (&self.driver, &self.clock) {
            (_, Some(clock)) => Ok(clock.now()),
            (Driver::Sqlite(_), None) => Ok(Clock::System.now()),
            (Driver::Postgres(postgres), None) => postgres.now().boxed().await,
        }
    }

    /// Signs bytes; none if the database was opened without a signer.
    pub fn sign(&self, bytes: &[u8]) -> Option<[u8; 32]> {
        self.signer.as_ref().map(|sign| sign(bytes))
    }

    pub fn engine(&self) -> Engine {
        match &self.driver {
            Driver::Sqlite(_) => Engine::Sqlite,
            Driver::Postgres(_) => Engine::Postgres,
        }
    }

    pub fn read_limits(&self) -> ReadLimits {
        match &self.driver {
            Driver::Sqlite(sqlite) => sqlite.limits(),
            Driver::Postgres(postgres) => postgres.limits(),
        }
    }

    /// Runs a query and calls `visit` with each row, borrowed from the driver.
    ///
    /// Here and below, the futures that PostgreSQL and slow reads need are boxed: they are large, and every request that
    /// waits would have room for them. They are boxed as `dyn Future`, because the compiler would otherwise look into them
    /// for every handler of a page.
    ///
    /// On SQLite this runs on the calling thread: switching threads costs more than the query (docs/performance.md).
    /// A query that does not reach its first row within the inline limit is restarted in the slow-read pool.
    pub async fn each(
        &self,
        sql: &str,
        params: &[Param<'_>],
        mut visit: impl FnMut(&Row<'_>) -> Result<()> + Send,
    ) -> Result<()> {
        self.read(sql, params, &mut visit).await
    }

    /// `each`, compiled once for all closures; so are the two below.
    async fn read(&self, sql: &str, params: &[Param<'_>], visit: &mut Visit<'_>) -> Result<()> {
        let started = Instant::now();
        let outcome = match &self.driver {
            Driver::Sqlite(sqlite) => {
                let mut is_visited = false;
                let read = sqlite.each_once(sql, params, &mut |row| {
                    is_visited = true;
                    visit(row)
                });
                match read {
                    Err(Error::TimedOut) if !is_visited => {
                        self.meters.count_restarted();
                        sqlite.each_slow(sql, params, visit).boxed().await
                    }
                    outcome => outcome,
                }
            }
            Driver::Postgres(postgres) => postgres.each(sql, params, visit).boxed().await,
        };
        self.count_read(sql, started, outcome)
    }

    /// `each` for a query that is known to be slow at times: it runs in the slow-read pool from the start.
    pub async fn each_slow(
        &self,
        sql: &str,
        params: &[Param<'_>],
        mut visit: impl FnMut(&Row<'_>) -> Result<()> + Send,
    ) -> Result<()> {
        self.read_slow(sql, params, &mut visit).await
    }

    async fn read_slow(
        &self,
        sql: &str,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let started = Instant::now();
        let outcome = match &self.driver {
            Driver::Sqlite(sqlite) => sqlite.each_slow(sql, params, visit).boxed().await,
            Driver::Postgres(postgres) => postgres.each_slow(sql, params, visit).boxed().await,
        };
        self.count_read(sql, started, outcome)
    }

    /// `each` for a query that its caller can resume after the last row visited.
    pub async fn each_resumable(
        &self,
        sql: &str,
        params: &[Param<'_>],
        mut visit: impl FnMut(&Row<'_>) -> Result<()> + Send,
    ) -> Result<Progress> {
        self.read_resumable(sql, params, &mut visit).await
    }

    async fn read_resumable(
        &self,
        sql: &str,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<Progress> {
        let started = Instant::now();
        let read = match &self.driver {
            Driver::Sqlite(sqlite) => sqlite.each_inline(sql, params, visit),
            Driver::Postgres(postgres) => postgres.each(sql, params, visit).boxed().await,
        };
        let outcome = match (read, self.engine()) {
            (Ok(()), _) => Ok(Progress::Done),
            (Err(Error::TimedOut), Engine::Sqlite) => {
                self.meters.count_restarted();
                Ok(Progress::Stopped)
            }
            (Err(error), _) => Err(error),
        };
        self.count_read(sql, started, outcome)
    }

    /// Every row. A query that exceeds the inline limit is restarted in the slow-read pool, so `read` may see a row
    /// twice.
    pub async fn all<T: Send>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T> + Send,
    ) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        let mut visit = |row: &Row<'_>| {
            rows.push(read(row)?);
            Ok(())
        };
        if self.read_resumable(sql, params, &mut visit).await? == Progress::Stopped {
            rows = Vec::new();
            let mut visit = |row: &Row<'_>| {
                rows.push(read(row)?);
                Ok(())
            };
            self.read_slow(sql, params, &mut visit).await?;
        }
        Ok(rows)
    }

    /// The first row, if there is one.
    pub async fn first<T: Send>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T> + Send,
    ) -> Result<Option<T>> {
        let mut found = None;
        let mut visit = |row: &Row<'_>| {
            if found.is_none() {
                found = Some(read(row)?);
            }
            Ok(())
        };
        // The first row is enough, even if the query was stopped while looking for a second.
        if self.read_resumable(sql, params, &mut visit).await? == Progress::Stopped
            && found.is_none()
        {
            let mut visit = |row: &Row<'_>| {
                if found.is_none() {
                    found = Some(read(row)?);
                }
                Ok(())
            };
            self.read_slow(sql, params, &mut visit).await?;
        }
        Ok(found)
    }

    fn tx_context(&self) -> TxContext {
        let (signer, clock) = (self.signer.clone(), self.clock.clone());
        TxContext { signer, clock, worker: self.work.clone(), meters: self.meters.clone() }
    }

    /// Runs `work` in one transaction; an error rolls it back. The closure is synchronous, so nothing but SQL can
    /// happen inside a transaction.
    pub async fn write<T, E>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let (work, pending) = work::separate(work);
        pending.after(self.transact(work).await)
    }

    async fn transact(&self, work: Work) -> Result<()> {
        let mut context = self.tx_context();
        let started = Instant::now();
        let outcome = match &self.driver {
            Driver::Sqlite(sqlite) => {
                context.clock.get_or_insert(Clock::System);
                let work = move |connection: &_| Tx::sqlite(connection, context).run(work);
                sqlite.write(Box::new(work)).boxed().await
            }
            Driver::Postgres(postgres) => {
                let work = move |pipeline: &mut _| Tx::postgres(pipeline, context).run(work);
                postgres.write(Box::new(work)).boxed().await
            }
        };
        self.meters.count_transaction(started.elapsed(), outcome.as_ref().err());
        outcome
    }

    /// `write` for a change of the schema: no statement has a time limit, and waits for locks have this one.
    pub(crate) async fn write_unlimited<T, E>(
        &self,
        lock_timeout: Duration,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        match &self.driver {
            Driver::Sqlite(_) => self.write(work).await,
            Driver::Postgres(postgres) => {
                let (work, pending) = work::separate(work);
                let context = self.tx_context();
                let work = move |pipeline: &mut _| Tx::postgres(pipeline, context).run(work);
                pending.after(postgres.write_unlimited(lock_timeout, Box::new(work)).boxed().await)
            }
        }
    }

    /// Lets only one process migrate, until the result is dropped. On SQLite, each step takes the only writer and finds
    /// out for itself what is left to do.
    pub(crate) async fn lock_schema(&self) -> Result<Option<SchemaLock>> {
        match &self.driver {
            Driver::Sqlite(_) => Ok(None),
            Driver::Postgres(postgres) => postgres.lock_schema().await.map(Some),
        }
    }

    /// A counter that changes whenever another process has called `Tx::notify`, or may have. Never changes on SQLite.
    /// `on_notification` is called with the text of each notification (`Tx::notify_of`) before the counter changes.
    pub fn listen(
        &self,
        on_notification: impl Fn(&str) + Send + Sync + 'static,
    ) -> watch::Receiver<u64> {
        let (sender, notifications) = watch::channel(0);
        if let Driver::Postgres(postgres) = &self.driver {
            postgres.listen(sender, Arc::new(on_notification));
        }
        notifications
    }

    /// Waits until a transaction of this process that called `Tx::wake_worker` was committed.
    pub async fn work_queued(&self) {
        self.work.notified().await;
    }

    /// Wakes the worker of this process without a transaction, because it left work in the queue.
    pub fn wake_worker(&self) {
        self.work.notify_one();
    }

    /// Makes the files of a SQLite database smaller, if rows were deleted or the write-ahead log is long. Returns how many
    /// pages were given back to the disk. PostgreSQL does this by itself.
    pub async fn shrink(&self) -> Result<usize> {
        match &self.driver {
            Driver::Sqlite(sqlite) => sqlite.shrink().await,
            Driver::Postgres(_) => Ok(0),
        }
    }

    /// Prepares a statement without running it. A test checks every statement this way on both engines.
    pub async fn check(&self, sql: &str) -> Result<()> {
        match &self.driver {
            Driver::Sqlite(sqlite) => sqlite.check(sql),
            Driver::Postgres(postgres) => postgres.check(sql).await,
        }
    }
}
