//! The connection pool: idle connections per scope, kept for a short time and limited in number.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::Instant;

use crate::connection::Connection;
use crate::guard::Guard;

#[cfg(test)]
mod tests;

const IDLE_MAX: Duration = Duration::from_secs(30);
/// A connection older than this is not reused, so that its host name is resolved and checked again.
const AGE_MAX: Duration = Duration::from_secs(60);
const CONNECTIONS_PER_SCOPE: usize = 64;
const CONNECTIONS_TOTAL: usize = 1_024;
const SWEEP_EVERY: Duration = Duration::from_secs(5);

#[derive(Default)]
pub(crate) struct Pool {
    scopes: Mutex<Scopes>,
}

#[derive(Default)]
struct Scopes {
    by_name: HashMap<String, Scope>,
    connections: usize,
    is_sweeping: bool,
}

#[derive(Default)]
struct Scope {
    /// The most recently used connection is last.
    connections: VecDeque<PooledConnection>,
    opening: Arc<Opening>,
}

struct PooledConnection {
    origin: Arc<str>,
    connection: Connection,
    used_at: Instant,
}

/// Which requests may share a connection: those of the same scope to the same origin.
pub(crate) struct PoolKey {
    pub(crate) scope: String,
    pub(crate) origin: Arc<str>,
}

/// Coordinates the requests of a scope that need a new connection, because an HTTP/2 connection can serve all of them.
#[derive(Default)]
pub(crate) struct Opening {
    pub(crate) lock: tokio::sync::Mutex<()>,
    /// Whether the last connection spoke HTTP/1.1, so that each request needs its own.
    pub(crate) is_http1: AtomicBool,
}

impl Pool {
    /// Takes a connection out of the pool. An HTTP/2 connection also stays in it for others.
    pub(crate) fn take(&self, key: &PoolKey, guard: &Guard) -> Option<Connection> {
        self.take_if(key, guard, |_| true)
    }

    /// Takes a connection only if it is HTTP/2.
    pub(crate) fn take_shared(&self, key: &PoolKey, guard: &Guard) -> Option<Connection> {
        self.take_if(key, guard, |connection| connection.share().is_some())
    }

    fn take_if(
        &self,
        key: &PoolKey,
        guard: &Guard,
        fits: fn(&Connection) -> bool,
    ) -> Option<Connection> {
        let now = Instant::now();
        let mut scopes = self.scopes();
        let scopes = &mut *scopes;
        let pooled = &mut scopes.by_name.get_mut(&key.scope)?.connections;
        loop {
            let matches = |it: &PooledConnection| it.origin == key.origin && fits(&it.connection);
            let mut found = pooled.remove(pooled.iter().rposition(matches)?)?;
            let is_admitted = guard.admit(&[found.connection.peer]).is_ok();
            if !is_admitted || found.is_expired(now) || !found.connection.is_open() {
                scopes.connections -= 1;
                continue;
            }
            let Some(shared) = found.connection.share() else {
                scopes.connections -= 1;
                return Some(found.connection);
            };
            found.used_at = now;
            pooled.push_back(found);
            return Some(shared);
        }
    }

    /// Puts a connection into the pool, unless it is too old.
    pub(crate) fn put(self: &Arc<Self>, key: &PoolKey, connection: Connection) {
        let used_at = Instant::now();
        let pooled = PooledConnection { origin: key.origin.clone(), connection, used_at };
        if pooled.is_expired(used_at) {
            return;
        }
        let mut scopes = self.scopes();
        let connections = &mut scopes.scope(&key.scope).connections;
        connections.push_back(pooled);
        match connections.len() > CONNECTIONS_PER_SCOPE {
            true => drop(connections.pop_front()),
            false => scopes.connections += 1,
        }
        if scopes.connections > CONNECTIONS_TOTAL {
            scopes.drop_least_recently_used();
        }
        self.start_sweeping(&mut scopes);
    }

    pub(crate) fn opening(self: &Arc<Self>, scope: &str) -> Arc<Opening> {
        let mut scopes = self.scopes();
        self.start_sweeping(&mut scopes);
        scopes.scope(scope).opening.clone()
    }

    fn scopes(&self) -> MutexGuard<'_, Scopes> {
        self.scopes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the task that closes expired connections, unless it is running.
    fn start_sweeping(self: &Arc<Self>, scopes: &mut Scopes) {
        if !std::mem::replace(&mut scopes.is_sweeping, true) {
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
    }
}

async fn sweep(pool: Weak<Pool>) {
    loop {
        tokio::time::sleep(SWEEP_EVERY).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut scopes = pool.scopes();
        scopes.drop_expired(Instant::now());
        if scopes.by_name.is_empty() {
            scopes.is_sweeping = false;
            return;
        }
    }
}

impl Scopes {
    fn scope(&mut self, name: &str) -> &mut Scope {
        self.by_name.entry(name.to_owned()).or_default()
    }

    fn drop_expired(&mut self, now: Instant) {
        self.by_name.retain(|_, scope| {
            scope.connections.retain_mut(|it| !it.is_expired(now) && it.connection.is_open());
            !scope.connections.is_empty() || Arc::strong_count(&scope.opening) > 1
        });
        self.connections = self.by_name.values().map(|it| it.connections.len()).sum();
    }

    fn drop_least_recently_used(&mut self) {
        let oldest = |it: &Scope| it.connections.front().map(|it| it.used_at);
        let used = self.by_name.values_mut().filter(|it| !it.connections.is_empty());
        if let Some(scope) = used.min_by_key(|it| oldest(it)) {
            scope.connections.pop_front();
            self.connections -= 1;
        }
    }
}

impl PooledConnection {
    fn is_expired(&self, now: Instant) -> bool {
        now >= self.used_at + IDLE_MAX || now >= self.connection.opened_at + AGE_MAX
    }
}
