//! Counters of the database layer: how long reads, transactions and waits take, and which errors there were. Reads and
//! transactions are also spans of the trace that they belong to.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base::metrics::{Buckets, ByLabel, Counter, Histogram, MetricFamily, Unit};
use trace::{Span, SpanKind};

use crate::error::Error;

/// Waiting transactions that shared one commit of SQLite.
static BATCH_SIZES: Buckets =
    Buckets { unit: Unit::Things, bounds: &[1, 2, 4, 8, 16, 32, 64, 128] };

/// A resource that a statement waits for before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// SQLite's only writer.
    Writer,
    /// A connection of PostgreSQL.
    Connection,
    /// A permit of the slow-read pool.
    SlowRead,
}

#[derive(Debug)]
pub(crate) struct Meters {
    engine: &'static str,
    /// By the table that a statement mainly reads.
    reads: ByLabel<String, Histogram>,
    transactions: Histogram,
    waits: [Histogram; 3],
    /// By the kind of the error.
    errors: ByLabel<&'static str, Counter>,
    /// Reads that exceeded the inline limit and were restarted in the slow-read pool.
    restarted: Counter,
    commit_batches: Histogram,
    /// Connections that read on SQLite, which are never closed.
    readers: AtomicUsize,
}

impl Meters {
    pub(crate) fn new(engine: &'static str) -> Meters {
        Meters {
            engine,
            reads: ByLabel::new(Histogram::short),
            transactions: Histogram::short(),
            waits: [Histogram::short(), Histogram::short(), Histogram::short()],
            errors: ByLabel::default(),
            restarted: Counter::default(),
            commit_batches: Histogram::new(&BATCH_SIZES),
            readers: AtomicUsize::new(0),
        }
    }

    pub(crate) fn count_read(&self, sql: &str, took: Duration, error: Option<&Error>) {
        let table = table_of(sql);
        self.reads.with(table, |it| it.observe_duration(took));
        if let Some(error) = error {
            self.count_error(error);
        }
        trace::record(SpanKind::Client, took, |span| {
            let summary = format!("SELECT {table}");
            span.set("db.operation.name", "SELECT");
            span.set_word("db.collection.name", table);
            span.set_word("db.query.summary", &summary);
            self.describe(span, error);
            Cow::Owned(summary)
        });
    }

    pub(crate) fn count_transaction(&self, took: Duration, error: Option<&Error>) {
        self.transactions.observe_duration(took);
        if let Some(error) = error {
            self.count_error(error);
        }
        trace::record(SpanKind::Client, took, |span| {
            span.set("db.operation.name", "transaction");
            self.describe(span, error);
            Cow::Borrowed("transaction")
        });
    }

    fn describe(&self, span: &mut Span, error: Option<&Error>) {
        span.set("db.system.name", self.engine);
        if let Some(error) = error {
            span.fail(kind_of(error));
        }
    }

    pub(crate) fn count_wait(&self, wait: Wait, took: Duration) {
        self.waits[wait as usize].observe_duration(took);
    }

    pub(crate) fn count_error(&self, error: &Error) {
        self.errors.with(&kind_of(error), Counter::increment);
    }

    pub(crate) fn count_restarted(&self) {
        self.restarted.increment();
    }

    pub(crate) fn count_commit(&self, transactions: usize) {
        self.commit_batches.observe(transactions as u64);
    }

    pub(crate) fn add_reader(&self) {
        self.readers.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn readers(&self) -> usize {
        self.readers.load(Ordering::Relaxed)
    }

    pub(crate) fn families(&self, state: &DriverState) -> Vec<MetricFamily> {
        let engine = self.engine;
        let [writer, connection, slow_read] = &self.waits;
        let mut connections =
            MetricFamily::gauge("db_connections", "Open connections to the database");
        let mut most =
            MetricFamily::gauge("db_connections_max", "Connections that may be open at once");
        for pool in &state.pools {
            let named = [("engine", engine), ("pool", pool.name)];
            let idle = pool.open.saturating_sub(pool.busy);
            connections.add(&[named[0], named[1], ("state", "busy")], pool.busy);
            connections.add(&[named[0], named[1], ("state", "idle")], idle);
            if let Some(count) = pool.most {
                most.add(&named, count);
            }
        }
        let mut families = vec![
            MetricFamily::histogram("db_read_seconds", "Time of reads, by the table they read")
                .with_all(["engine", "table"], &self.reads, |table| {
                    [engine.to_owned(), table.clone()]
                }),
            MetricFamily::histogram(
                "db_transaction_seconds",
                "Time of transactions, with their waits and their commit",
            )
            .with(&[("engine", engine)], &self.transactions),
            MetricFamily::histogram(
                "db_wait_seconds",
                "Time that statements waited for the writer, a connection or the slow-read pool",
            )
            .with(&[("engine", engine), ("for", "writer")], writer)
            .with(&[("engine", engine), ("for", "connection")], connection)
            .with(&[("engine", engine), ("for", "slow_read")], slow_read),
            MetricFamily::counter("db_errors", "Errors of the database, by kind").with_all(
                ["engine", "kind"],
                &self.errors,
                |kind| [engine.to_owned(), (*kind).to_owned()],
            ),
            MetricFamily::counter(
                "db_restarted_reads",
                "Reads that took too long and were restarted in the slow-read pool",
            )
            .with(&[("engine", engine)], &self.restarted),
            connections,
            most,
        ];
        let mut batches = MetricFamily::histogram(
            "sqlite_commit_batch",
            "Transactions that shared one commit of SQLite",
        );
        let mut log =
            MetricFamily::gauge("sqlite_wal_bytes", "Size of the write-ahead log of SQLite");
        if state.is_sqlite {
            batches.add(&[], &self.commit_batches);
        }
        if let Some(bytes) = state.log_bytes {
            log.add(&[], bytes);
        }
        families.extend([batches, log]);
        families
    }
}

/// The state of a driver at the moment of the report.
#[derive(Debug)]
pub(crate) struct DriverState {
    pub(crate) is_sqlite: bool,
    pub(crate) pools: Vec<PoolState>,
    /// The size of SQLite's write-ahead log.
    pub(crate) log_bytes: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct PoolState {
    pub(crate) name: &'static str,
    pub(crate) open: usize,
    pub(crate) busy: usize,
    /// None where the number of connections has no limit of its own.
    pub(crate) most: Option<usize>,
}

fn kind_of(error: &Error) -> &'static str {
    match error {
        Error::Unavailable(_) if error.is_lock_conflict() => "lock_conflict",
        Error::Unavailable(_) => "unavailable",
        Error::TimedOut => "timed_out",
        Error::Unique => "unique",
        Error::ForeignKey => "foreign_key",
        Error::Decode { .. } => "decode",
        Error::Unsupported(_) => "unsupported",
        Error::Internal(_) => "internal",
    }
}

/// The table that a statement is mainly about: the first one that it names. Statements are constants of the program, so
/// there are few tables. They contain no personal data.
pub(crate) fn table_of(sql: &str) -> &str {
    let sql = sql.trim_start();
    for (first, rest) in [("update ", 7), ("insert into ", 12)] {
        if sql.starts_with(first) {
            return name_at(&sql[rest..]).unwrap_or(OTHER);
        }
    }
    let after = memchr::memmem::find_iter(sql.as_bytes(), b"from");
    let mut names = after.filter_map(|at| {
        let is_word = at > 0 && sql.as_bytes()[at - 1].is_ascii_whitespace();
        let rest = &sql[at + 4..];
        (is_word && rest.starts_with(|it: char| it.is_ascii_whitespace()))
            .then(|| name_at(rest.trim_start()))
            .flatten()
    });
    names.next().unwrap_or(OTHER)
}

/// The label of statements that name no table.
const OTHER: &str = "none";

/// The table at the beginning of a text; none for a subquery or a function.
fn name_at(text: &str) -> Option<&str> {
    let is_letter = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    let end = text.find(|it| !is_letter(it)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    (!name.is_empty() && !rest.starts_with('(')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_table_that_a_statement_names_is_its_group() {
        for (sql, table) in [
            ("select id from accounts where user_id = $1", "accounts"),
            ("select a, b\n    from transactions t join accounts a on true", "transactions"),
            ("select count(*) from (select 1 from deliveries limit 5) as d", "deliveries"),
            ("select cast(extract(epoch from clock_timestamp()) as bigint)", "none"),
            ("select x from pg_advisory_xact_lock(1)", "none"),
            ("with w as (select id from rules) select * from w", "rules"),
            ("insert into events (id) values ($1)", "events"),
            ("update actions set status = $1", "actions"),
            ("delete from sessions", "sessions"),
            ("\n  select fromage from cheese", "cheese"),
            ("select 1", "none"),
            ("pragma quick_check(20)", "none"),
            ("", "none"),
        ] {
            assert_eq!(table_of(sql), table, "{sql}");
        }
    }
}
