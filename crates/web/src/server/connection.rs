//! One open connection: what the server waits for on it, and when that has taken too long.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use base::AddressGroup;
use tokio::sync::watch;
use tokio::time::Instant;

use super::transfer::Transfer;

/// How long a client may take to send its first byte, and then the rest of a request's head.
const HEAD_TIMEOUT_MS: u64 = 15_000;
/// How long a connection stays open without a request after its last one.
const KEEP_ALIVE_MS: u64 = 75_000;
/// A client that has kept a request waiting this long may lose its connection to a new client.
const STALLED_MS: u64 = 5_000;
/// A new connection gets this long to send its request before it makes room for others like any silent one.
const FRESH_MS: u64 = 1_000;

/// How a connection is being closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Closing {
    Open,
    /// Requests in flight finish; no further one is read.
    Graceful,
    /// The connection is dropped now.
    Cut,
}

/// How readily a connection is closed to make room for a new one; the first kind goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spare {
    /// It has not sent one request yet.
    NeverUsed,
    /// Its requests have all been answered.
    Idle,
    /// Its client has kept a request or an answer waiting for seconds.
    Stalled,
    /// It was opened a moment ago, and its request may be on the way.
    Fresh,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) group: AddressGroup,
    origin: Instant,
    closing: watch::Sender<Closing>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    idle_since: u64,
    /// When the first byte of a request came whose head is not complete.
    head_since: Option<u64>,
    has_been_used: bool,
    /// The time spent waiting for the client to read what the socket does not take.
    writing: Transfer,
    exchanges: Vec<Running>,
    next_exchange: u64,
    /// Whether a request was answered before all of its body was read.
    has_unread_body: bool,
}

/// A request that is being received, worked on or answered.
#[derive(Debug)]
struct Running {
    id: u64,
    transfer: Transfer,
    /// Woken when the request's body is overdue, to end it with an error.
    body_reader: Option<Waker>,
    is_body_overdue: bool,
}

impl Connection {
    pub(super) fn new(group: AddressGroup, origin: Instant) -> Connection {
        let connection = Connection {
            group,
            origin,
            closing: watch::Sender::new(Closing::Open),
            state: Mutex::new(State {
                idle_since: 0,
                head_since: None,
                has_been_used: false,
                writing: Transfer::default(),
                exchanges: Vec::new(),
                next_exchange: 0,
                has_unread_body: false,
            }),
        };
        connection.state().idle_since = connection.now();
        connection
    }

    /// Milliseconds since the server started.
    fn now(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn close(&self, how: Closing) {
        self.closing.send_if_modified(|now| {
            let is_further = how > *now;
            *now = (*now).max(how);
            is_further
        });
    }

    /// Resolves once the connection is to be closed at least like this.
    pub(super) async fn reached(&self, how: Closing) {
        // The sender is this very connection, so it cannot be gone.
        let _ = self.closing.subscribe().wait_for(|now| *now >= how).await;
    }

    pub(super) fn note_read(&self) {
        let now = self.now();
        let mut state = self.state();
        if state.exchanges.is_empty() {
            state.head_since.get_or_insert(now);
        }
    }

    pub(super) fn note_write_blocked(&self) {
        let now = self.now();
        self.state().writing.wait(now);
    }

    pub(super) fn note_written(&self, bytes: usize) {
        let now = self.now();
        self.state().writing.progress(now, bytes);
    }

    /// Begins an exchange, once a request's head is complete. Returns its id, until `end_exchange`.
    pub(super) fn begin_exchange(&self) -> u64 {
        let mut state = self.state();
        let id = state.next_exchange;
        state.next_exchange += 1;
        state.head_since = None;
        state.has_been_used = true;
        let transfer = Transfer::default();
        state.exchanges.push(Running { id, transfer, body_reader: None, is_body_overdue: false });
        id
    }

    pub(super) fn end_exchange(&self, id: u64) {
        let now = self.now();
        let mut state = self.state();
        state.exchanges.retain(|it| it.id != id);
        state.idle_since = now;
        state.head_since = None;
    }

    /// Records that the server waits for the client of this exchange to send or to take bytes.
    pub(super) fn wait_for_client(&self, id: u64, body_reader: Option<&Waker>) {
        let now = self.now();
        let mut state = self.state();
        if let Some(running) = state.exchanges.iter_mut().find(|it| it.id == id) {
            running.transfer.wait(now);
            running.body_reader = body_reader.cloned();
        }
    }

    pub(super) fn note_progress(&self, id: u64, bytes: usize) {
        let now = self.now();
        let mut state = self.state();
        if let Some(running) = state.exchanges.iter_mut().find(|it| it.id == id) {
            running.transfer.progress(now, bytes);
            running.body_reader = None;
        }
    }

    pub(super) fn note_unread_body(&self) {
        self.state().has_unread_body = true;
    }

    pub(super) fn has_unread_body(&self) -> bool {
        self.state().has_unread_body
    }

    pub(super) fn is_body_overdue(&self, id: u64) -> bool {
        self.state().exchanges.iter().any(|it| it.id == id && it.is_body_overdue)
    }

    /// Closes the connection if its client is overdue. A request whose body does not come is ended with an error first,
    /// so that the client gets an answer. Returns whether anything was overdue.
    pub(super) fn enforce_deadlines(&self) -> bool {
        let now = self.now();
        let mut state = self.state();
        for running in &mut state.exchanges {
            if running.transfer.is_overdue(now)
                && let Some(reader) = running.body_reader.take()
            {
                running.is_body_overdue = true;
                running.transfer.progress(now, 0);
                reader.wake();
                return true;
            }
        }
        if !state.is_overdue(now) {
            return false;
        }
        drop(state);
        let was_closing = *self.closing.borrow() >= Closing::Graceful;
        self.close(if was_closing { Closing::Cut } else { Closing::Graceful });
        true
    }

    /// Whether the connection may be closed to make room, and since when it has been spare. A request that the server
    /// works on is never given up.
    pub(super) fn spare(&self) -> Option<(Spare, u64)> {
        let now = self.now();
        let state = self.state();
        if state.exchanges.is_empty() {
            let is_fresh = now.saturating_sub(state.idle_since) < FRESH_MS;
            let kind = match state.has_been_used {
                true => Spare::Idle,
                false if is_fresh => Spare::Fresh,
                false => Spare::NeverUsed,
            };
            return Some((kind, state.idle_since));
        }
        let waiting = |it: &Running| it.transfer.waiting_since();
        let each = state.exchanges.iter().map(|it| waiting(it).or(state.writing.waiting_since()));
        // The exchange that moved last decides.
        let since = each.collect::<Option<Vec<u64>>>()?.into_iter().max()?;
        (now.saturating_sub(since) >= STALLED_MS).then_some((Spare::Stalled, since))
    }
}

impl State {
    fn is_overdue(&self, now: u64) -> bool {
        let past = |since: u64, allowed: u64| now.saturating_sub(since) > allowed;
        if self.writing.is_overdue(now)
            || self.exchanges.iter().any(|it| it.transfer.is_overdue(now))
        {
            return true;
        }
        if !self.exchanges.is_empty() {
            return false;
        }
        match self.head_since {
            Some(since) => past(since, HEAD_TIMEOUT_MS),
            None if self.has_been_used => past(self.idle_since, KEEP_ALIVE_MS),
            None => past(self.idle_since, HEAD_TIMEOUT_MS),
        }
    }
}
