//! Counts connections: those that are open, and those that were refused or closed by the server.

use std::sync::atomic::{AtomicUsize, Ordering};

use base::metrics::{Counter, MetricFamily};

/// Why a connection was not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// Its address has too many open.
    PerAddress,
    /// All connections are in use.
    Busy,
    /// The system could not accept it, mostly because there are too many open files.
    NotAccepted,
}

/// Why the server closed a connection that was open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    /// Its client was too slow.
    Slow,
    /// It was spare, and made room for another.
    Evicted,
}

/// The connections of one listener.
#[derive(Debug, Default)]
pub struct ConnectionMeters {
    open: AtomicUsize,
    most: AtomicUsize,
    refused: [Counter; 3],
    closed: [Counter; 2],
}

impl ConnectionMeters {
    pub(super) fn set_most(&self, most: usize) {
        self.most.store(most, Ordering::Relaxed);
    }

    pub(super) fn set_open(&self, open: usize) {
        self.open.store(open, Ordering::Relaxed);
    }

    pub(super) fn count_refused(&self, reason: Refused) {
        self.refused[reason as usize].increment();
    }

    pub(super) fn count_closed(&self, reason: Closed, count: usize) {
        self.closed[reason as usize].add(count as u64);
    }

    pub(crate) fn families(&self) -> [MetricFamily; 4] {
        let [per_address, busy, not_accepted] = &self.refused;
        let [slow, evicted] = &self.closed;
        let reason = |it: &'static str| [("reason", it)];
        [
            MetricFamily::gauge("http_connections", "Open connections of the main listener")
                .with(&[], self.open.load(Ordering::Relaxed)),
            MetricFamily::gauge("http_connections_max", "Connections that may be open at once")
                .with(&[], self.most.load(Ordering::Relaxed)),
            MetricFamily::counter("http_connections_refused", "Connections that were not served")
                .with(&reason("per_address"), per_address)
                .with(&reason("busy"), busy)
                .with(&reason("not_accepted"), not_accepted),
            MetricFamily::counter(
                "http_connections_closed",
                "Connections that the server closed before their clients did",
            )
            .with(&reason("slow"), slow)
            .with(&reason("evicted"), evicted),
        ]
    }
}
