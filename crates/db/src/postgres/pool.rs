//! Connections that are used by one transaction or one slow read at a time: at most so many, and closed when idle.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::connection::{Connection, Opener};
use crate::error::{Error, Result};
use crate::meters::{Meters, PoolState, Wait};

pub(super) struct ConnectionPool {
    most: usize,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Idle>>,
    /// Connections that are open or being opened, idle ones included.
    open: AtomicUsize,
    returned: Notify,
    meters: Arc<Meters>,
}

struct Idle {
    connection: Arc<Connection>,
    since: Instant,
}

/// A connection in use. It goes back to the pool when this is dropped, unless it is broken.
pub(super) struct Lent {
    pool: Arc<ConnectionPool>,
    connection: Arc<Connection>,
    is_retired: bool,
    _permit: OwnedSemaphorePermit,
}

impl ConnectionPool {
    pub(super) fn new(most: usize, meters: Arc<Meters>) -> ConnectionPool {
        ConnectionPool {
            most,
            permits: Arc::new(Semaphore::new(most)),
            idle: Mutex::default(),
            open: AtomicUsize::new(0),
            returned: Notify::new(),
            meters,
        }
    }

    pub(super) fn state(&self, name: &'static str) -> PoolState {
        let busy = self.most.saturating_sub(self.permits.available_permits());
        let open = self.open.load(Ordering::Relaxed).max(busy);
        PoolState { name, open, busy, most: Some(self.most) }
    }

    /// Adds a connection that was opened before the pool.
    pub(super) fn add(&self, connection: Arc<Connection>) {
        self.open.fetch_add(1, Ordering::Relaxed);
        self.idle().push(Idle { connection, since: Instant::now() });
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a connection; `opener` makes a new one.
    pub(super) async fn acquire(
        self: &Arc<ConnectionPool>,
        until: Instant,
        opener: Opener<'_>,
    ) -> Result<Lent> {
        let started = Instant::now();
        let lent = self.acquire_by(until, opener).await;
        self.meters.count_wait(Wait::Connection, started.elapsed());
        lent
    }

    async fn acquire_by(
        self: &Arc<ConnectionPool>,
        until: Instant,
        opener: Opener<'_>,
    ) -> Result<Lent> {
        let permit = tokio::time::timeout_at(until, self.permits.clone().acquire_owned()).await;
        let permit = permit.map_err(|_| {
            let most = self.most;
            Error::unavailable(format!(
                "all {most} connections of this kind are busy; raise database.connections if this happens often"
            ))
        })?;
        let permit = permit.map_err(|_| Error::internal("the pool is closed"))?;
        let connection = self.connection(until, opener).await?;
        Ok(Lent { pool: self.clone(), connection, is_retired: false, _permit: permit })
    }

    /// The connection that was returned last, or a new one. If the server has no more connections, this waits for one
    /// that another user of the pool returns.
    async fn connection(&self, until: Instant, opener: Opener<'_>) -> Result<Arc<Connection>> {
        loop {
            let returned = self.returned.notified();
            while let Some(Idle { connection, .. }) = self.pop_idle() {
                if connection.is_usable() {
                    return Ok(connection);
                }
                self.open.fetch_sub(1, Ordering::Relaxed);
            }
            let opening = Opening::start(&self.open);
            match opener.open().await {
                Ok(connection) => {
                    opening.keep();
                    return Ok(Arc::new(connection));
                }
                Err(error) => {
                    drop(opening);
                    let others = self.open.load(Ordering::Relaxed) > 0;
                    if !error.is_out_of_connections() || !others {
                        return Err(error);
                    }
                    tokio::time::timeout_at(until, returned).await.map_err(|_| error)?;
                }
            }
        }
    }

    fn pop_idle(&self) -> Option<Idle> {
        self.idle().pop()
    }

    /// Closes connections that nobody used for this long.
    pub(super) fn close_idle(&self, longer_than: Duration) {
        let now = Instant::now();
        let mut idle = self.idle();
        let before = idle.len();
        idle.retain(|it| now.saturating_duration_since(it.since) < longer_than);
        self.open.fetch_sub(before - idle.len(), Ordering::Relaxed);
    }

    /// Closes every idle connection. If one connection died, the others are probably dead too, and each would cost a
    /// caller its timeout.
    pub(super) fn clear(&self) {
        let mut idle = self.idle();
        self.open.fetch_sub(idle.len(), Ordering::Relaxed);
        idle.clear();
    }

    fn put_back(&self, connection: Arc<Connection>, is_retired: bool) {
        if is_retired {
            self.open.fetch_sub(1, Ordering::Relaxed);
        } else if connection.is_usable() {
            self.idle().push(Idle { connection, since: Instant::now() });
        } else {
            self.open.fetch_sub(1, Ordering::Relaxed);
            self.clear();
        }
        self.returned.notify_one();
    }
}

/// Counts a connection that is being opened, unless that fails or its caller stops waiting.
struct Opening<'p>(Option<&'p AtomicUsize>);

impl<'p> Opening<'p> {
    fn start(open: &'p AtomicUsize) -> Opening<'p> {
        open.fetch_add(1, Ordering::Relaxed);
        Opening(Some(open))
    }

    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        if let Some(open) = self.0 {
            open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Lent {
    pub(super) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// The connection works, but it is closed instead of going back.
    pub(super) fn retire(&mut self) {
        self.is_retired = true;
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.pool.put_back(self.connection.clone(), self.is_retired);
    }
}
