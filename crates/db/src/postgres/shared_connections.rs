//! The connections that reads share. Reads are pipelined: each waits for the earlier reads on its connection. A
//! read therefore goes to a connection without another person's slow read, and one person's reads never occupy all
//! connections.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::connection::{Connection, Opener};
use crate::error::Result;
use crate::meters::PoolState;
use crate::request::ReadGroup;

/// A connection whose server has not answered for this long, while a read waits, is avoided by others.
const STALLED: Duration = Duration::from_millis(20);
/// After the server refused another connection, none is opened for this long.
const REOPEN_AFTER: Duration = Duration::from_secs(5);

pub(super) struct SharedConnections {
    /// Held while a connection of the slot is opened, so that there is never a second one.
    opening: Vec<tokio::sync::Mutex<()>>,
    table: Mutex<Table>,
}

struct Table {
    slots: Vec<Slot>,
    /// For each group with reads in flight, how many it has on each connection.
    groups: HashMap<ReadGroup, Box<[usize]>>,
    /// Until when no further connection is opened, because the server has no more.
    closed_until: Option<Instant>,
}

struct Slot {
    connection: Option<Arc<Connection>>,
    in_flight: usize,
    /// When the server last answered, or when the first of the reads in flight was sent.
    answered_at: Instant,
}

/// One read on a shared connection.
pub(super) struct ReadInFlight<'s> {
    shared: &'s SharedConnections,
    index: usize,
    group: Option<ReadGroup>,
    is_answered: bool,
}

impl SharedConnections {
    pub(super) fn new(count: usize) -> SharedConnections {
        let now = Instant::now();
        let slot = || Slot { connection: None, in_flight: 0, answered_at: now };
        let slots = (0..count).map(|_| slot()).collect();
        SharedConnections {
            opening: (0..count).map(|_| tokio::sync::Mutex::new(())).collect(),
            table: Mutex::new(Table { slots, groups: HashMap::new(), closed_until: None }),
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state(&self) -> PoolState {
        let table = self.table();
        let slots = &table.slots;
        PoolState {
            name: "shared",
            open: slots.iter().filter(|it| it.connection.is_some()).count(),
            busy: slots.iter().filter(|it| it.in_flight > 0).count(),
            most: Some(slots.len()),
        }
    }

    /// Adds a connection that was opened before.
    pub(super) fn add(&self, connection: Arc<Connection>) {
        let mut table = self.table();
        if let Some(slot) = table.slots.iter_mut().find(|it| it.connection.is_none()) {
            slot.connection = Some(connection);
        }
    }

    /// Chooses a connection for a read; `opener` makes a new one if needed.
    pub(super) async fn begin(
        &self,
        group: Option<ReadGroup>,
        opener: Opener<'_>,
    ) -> Result<(Arc<Connection>, ReadInFlight<'_>)> {
        let read = self.enter(group, None);
        match self.connection(read.index, opener).await {
            Ok(connection) => Ok((connection, read)),
            Err(error) if error.is_out_of_connections() => {
                drop(read);
                let open_slot = {
                    let mut table = self.table();
                    table.closed_until = Some(Instant::now() + REOPEN_AFTER);
                    table.least_busy_open_slot()
                };
                let Some((index, connection)) = open_slot else { return Err(error) };
                Ok((connection, self.enter(group, Some(index))))
            }
            Err(error) => Err(error),
        }
    }

    fn enter(&self, group: Option<ReadGroup>, index: Option<usize>) -> ReadInFlight<'_> {
        let now = Instant::now();
        let mut table = self.table();
        let index = index.unwrap_or_else(|| table.choose(group.as_ref(), now));
        let count = table.slots.len();
        let slot = &mut table.slots[index];
        if slot.in_flight == 0 {
            slot.answered_at = now;
        }
        slot.in_flight += 1;
        if let Some(group) = group {
            table.groups.entry(group).or_insert_with(|| vec![0; count].into())[index] += 1;
        }
        ReadInFlight { shared: self, index, group, is_answered: false }
    }

    async fn connection(&self, index: usize, opener: Opener<'_>) -> Result<Arc<Connection>> {
        if let Some(connection) = self.table().usable(index) {
            return Ok(connection);
        }
        let _opening = self.opening[index].lock().await;
        if let Some(connection) = self.table().usable(index) {
            return Ok(connection);
        }
        let fresh = Arc::new(opener.open().await?);
        let mut table = self.table();
        table.slots[index].connection = Some(fresh.clone());
        table.slots[index].answered_at = Instant::now();
        Ok(fresh)
    }

    /// Closes connections that nobody used for this long.
    pub(super) fn close_idle(&self, longer_than: Duration) {
        let now = Instant::now();
        for slot in self.table().slots.iter_mut().filter(|it| it.in_flight == 0) {
            if now.saturating_duration_since(slot.answered_at) >= longer_than {
                slot.connection = None;
            }
        }
    }

    /// Closes every connection as soon as its reads have ended.
    pub(super) fn clear(&self) {
        self.table().slots.iter_mut().for_each(|it| it.connection = None);
    }
}

impl Table {
    fn usable(&self, index: usize) -> Option<Arc<Connection>> {
        self.slots[index].connection.as_ref().filter(|it| it.is_usable()).cloned()
    }

    /// The connection where a read waits least: an open one without reads, then one that is not open yet, then the one
    /// with the fewest; those that seem stuck behind a slow read come last. A group that is on all connections but one
    /// gets none of its own on the last.
    fn choose(&self, group: Option<&ReadGroup>, now: Instant) -> usize {
        let of_group = group.and_then(|it| self.groups.get(it));
        let used = of_group.map_or(0, |it| it.iter().filter(|count| **count > 0).count());
        let may_use =
            |index: usize| used + 1 < self.slots.len() || of_group.is_none_or(|it| it[index] > 0);
        let rank = |(_, slot): &(usize, &Slot)| {
            let is_open = slot.connection.as_ref().is_some_and(|it| it.is_usable());
            let waits = now.saturating_duration_since(slot.answered_at);
            let is_stalled = slot.in_flight > 0 && waits >= STALLED;
            let may_open = self.closed_until.is_none_or(|until| until <= now);
            let reads = match is_open {
                true if slot.in_flight == 0 => 0,
                true => slot.in_flight + 1,
                false => slot.in_flight + usize::from(!may_open) * 1_000 + 1,
            };
            (is_stalled, reads)
        };
        let candidates = self.slots.iter().enumerate().filter(|(index, _)| may_use(*index));
        candidates.min_by_key(rank).map_or(0, |(index, _)| index)
    }

    fn least_busy_open_slot(&self) -> Option<(usize, Arc<Connection>)> {
        let open = (0..self.slots.len()).filter_map(|it| Some((it, self.usable(it)?)));
        open.min_by_key(|(index, _)| self.slots[*index].in_flight)
    }
}

impl ReadInFlight<'_> {
    /// When the server last answered on this connection.
    pub(super) fn answered_at(&self) -> Instant {
        self.shared.table().slots[self.index].answered_at
    }

    /// Ends the read after its answer.
    pub(super) fn finish(mut self) {
        self.is_answered = true;
    }
}

impl Drop for ReadInFlight<'_> {
    fn drop(&mut self) {
        let mut table = self.shared.table();
        let slot = &mut table.slots[self.index];
        slot.in_flight -= 1;
        if self.is_answered {
            slot.answered_at = Instant::now();
        }
        let Some(group) = self.group else { return };
        if let Some(counts) = table.groups.get_mut(&group) {
            counts[self.index] -= 1;
            if counts.iter().all(|it| *it == 0) {
                table.groups.remove(&group);
            }
        }
    }
}
