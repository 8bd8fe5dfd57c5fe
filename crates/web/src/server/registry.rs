//! Every open connection of a listener: admits new ones within the limits, closes those whose client is overdue, and
//! makes room under pressure.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::AddressGroup;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::connection::{Closing, Connection};
use super::limits::{RESERVED_FOR_LOOPBACK, ServerLimits};
use super::meters::{Closed, Refused};

/// To make room, this share of the connections in question is closed at once, so that a flood of new ones does not cost
/// a search each.
const EVICTED_SHARE: usize = 16;

pub(super) struct Registry {
    limits: ServerLimits,
    origin: Instant,
    table: Mutex<Table>,
    changed: Notify,
}

#[derive(Default)]
struct Table {
    next_id: u64,
    open: HashMap<u64, Arc<Connection>>,
    by_group: HashMap<AddressGroup, usize>,
}

/// A connection's entry in the registry, removed when it ends.
pub(super) struct Admitted {
    registry: Arc<Registry>,
    connection: Arc<Connection>,
    id: u64,
}

impl Admitted {
    pub(super) fn handle(&self) -> Arc<Connection> {
        self.connection.clone()
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.registry.remove(self.id);
    }
}

impl Registry {
    pub(super) fn new(limits: ServerLimits) -> Registry {
        let table = Mutex::default();
        limits.meters.set_most(limits.connections);
        Registry { limits, origin: Instant::now(), table, changed: Notify::new() }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits a new connection; none while all are busy. Connections that wait for their client make room.
    pub(super) fn admit(self: &Arc<Registry>, peer: IpAddr) -> Option<Admitted> {
        let group = AddressGroup::of(peer);
        let meters = &self.limits.meters;
        let mut table = self.table();
        let is_proxy = self.limits.proxies.iter().any(|it| it.contains(peer.to_canonical()));
        let in_group = table.by_group.get(&group).copied().unwrap_or(0);
        if !is_proxy && in_group >= self.limits.per_address {
            let evicted = table.evict(Some(group));
            meters.count_closed(Closed::Evicted, evicted);
            if evicted == 0 {
                meters.count_refused(Refused::PerAddress);
                tracing::debug!(%peer, "a connection was refused: too many from one address");
                return None;
            }
        }
        let evicted = match table.open.len() >= self.limits.connections {
            true => Some(table.evict(None)),
            false => None,
        };
        meters.count_closed(Closed::Evicted, evicted.unwrap_or(0));
        if evicted == Some(0) {
            let reserved = self.limits.connections + RESERVED_FOR_LOOPBACK;
            if !peer.to_canonical().is_loopback() || table.open.len() >= reserved {
                meters.count_refused(Refused::Busy);
                tracing::debug!(%peer, "a connection was refused: all are busy");
                return None;
            }
        }
        let id = table.next_id;
        table.next_id += 1;
        let connection = Arc::new(Connection::new(group, self.origin));
        table.open.insert(id, connection.clone());
        *table.by_group.entry(group).or_default() += 1;
        meters.set_open(table.open.len());
        drop(table);
        Some(Admitted { registry: self.clone(), connection, id })
    }

    fn remove(&self, id: u64) {
        let mut table = self.table();
        table.remove(id);
        self.limits.meters.set_open(table.open.len());
        drop(table);
        self.changed.notify_one();
    }

    /// Closes connections whose client is overdue.
    pub(super) fn sweep(&self) {
        let open: Vec<Arc<Connection>> = self.table().open.values().cloned().collect();
        let overdue = open.iter().filter(|it| it.enforce_deadlines()).count();
        self.limits.meters.count_closed(Closed::Slow, overdue);
        if overdue > 0 {
            tracing::debug!(overdue, "connections of slow clients are being closed");
        }
    }

    /// Asks every connection to finish its requests in flight and to take no further one.
    pub(super) fn drain(&self) {
        self.table().open.values().for_each(|it| it.close(Closing::Graceful));
    }

    pub(super) fn cut_all(&self) {
        self.table().open.values().for_each(|it| it.close(Closing::Cut));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.table().open.is_empty()
    }

    /// Resolves after a connection has ended.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl Table {
    fn remove(&mut self, id: u64) {
        let Some(connection) = self.open.remove(&id) else { return };
        if let Some(count) = self.by_group.get_mut(&connection.group) {
            *count -= 1;
            if *count == 0 {
                self.by_group.remove(&connection.group);
            }
        }
    }

    /// Closes spare connections, of one address or of all, longest spare first. Returns how many. Their entries are
    /// removed at once; their sockets close as soon as their tasks run.
    fn evict(&mut self, group: Option<AddressGroup>) -> usize {
        let in_question =
            self.open.iter().filter(|(_, it)| group.is_none_or(|group| it.group == group));
        let mut total = 0;
        let mut spare: Vec<_> = in_question
            .inspect(|_| total += 1)
            .filter_map(|(id, it)| it.spare().map(|spare| (spare, *id)))
            .collect();
        spare.sort_unstable();
        spare.truncate((total / EVICTED_SHARE).max(1));
        for (_, id) in &spare {
            if let Some(connection) = self.open.get(id) {
                connection.close(Closing::Cut);
            }
            self.remove(*id);
        }
        spare.len()
    }
}
