//! The writer thread: runs transactions one after the other, and commits those that are waiting together.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::time::Instant;

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::{Error, Result};
use crate::meters::{Meters, Wait};
use crate::outcome::Outcome;

/// Waiting transactions that may share one commit, and so one flush to the disk.
const BATCH_MAX: usize = 128;

/// The statements of a transaction.
pub(crate) type Work = Box<dyn FnOnce(&Connection) -> Outcome + Send>;

/// The sending side of the writer thread, which ends when this is dropped.
pub(super) struct Writer {
    jobs: mpsc::Sender<Job>,
}

impl Writer {
    pub(super) fn start(connection: Connection, meters: Arc<Meters>) -> Result<Writer> {
        let (jobs, inbox) = mpsc::channel();
        std::thread::Builder::new()
            .name("sqlite-writer".to_owned())
            .spawn(move || run_jobs(&connection, &inbox, &meters))
            .map_err(|error| Error::unavailable(format!("starting the writer thread: {error}")))?;
        Ok(Writer { jobs })
    }

    pub(super) async fn write(&self, work: Work) -> Result<()> {
        let (reply, replied) = oneshot::channel();
        let job = Job { work: Some(work), outcome: None, reply, queued_at: Instant::now() };
        let stopped = || Error::internal("the writer thread has stopped");
        self.jobs.send(job).map_err(|_| stopped())?;
        replied.await.map_err(|_| stopped())?
    }
}

/// One queued transaction.
struct Job {
    /// Taken when it runs.
    work: Option<Work>,
    outcome: Option<Outcome>,
    reply: oneshot::Sender<Result<()>>,
    queued_at: Instant,
}

impl Job {
    /// Runs the transaction's statements; true if they are to be committed.
    fn run(&mut self, connection: &Connection) -> bool {
        self.outcome = self.work.take().map(|work| work(connection));
        self.outcome.as_ref().is_some_and(|it| it.is_good)
    }

    /// Replies to the caller, after the commit succeeded or failed.
    fn finish(self, committed: Result<()>) {
        if let (Ok(()), Some(Outcome { is_good: true, on_commit })) = (&committed, self.outcome) {
            on_commit.into_iter().for_each(|callback| callback());
        }
        // The caller may have stopped waiting; the commit stands all the same.
        let _ = self.reply.send(committed);
    }
}

/// Runs jobs as they arrive, and commits those that wait together in one transaction. Each has its own savepoint, so
/// that one's failure does not affect another, and all share the flush that makes them durable.
fn run_jobs(connection: &Connection, inbox: &mpsc::Receiver<Job>, meters: &Meters) {
    while let Ok(first) = inbox.recv() {
        let mut batch = Vec::new();
        let mut outcome = connection.execute_batch("begin immediate").map_err(Error::from);
        let mut next = Some(first);
        while let Some(mut job) = next {
            meters.count_wait(Wait::Writer, job.queued_at.elapsed());
            if outcome.is_ok() {
                outcome = run_in_savepoint(connection, &mut job);
            }
            batch.push(job);
            let has_room = outcome.is_ok() && batch.len() < BATCH_MAX;
            next = if has_room { inbox.try_recv().ok() } else { None };
        }
        if outcome.is_ok() {
            outcome = connection.execute_batch("commit").map_err(Error::from);
        }
        meters.count_commit(batch.len());
        if outcome.is_err() && !connection.is_autocommit() {
            let _ = connection.execute_batch("rollback");
        }
        for job in batch {
            let outcome = outcome.clone();
            // A panic in an on-commit callback must not end the only writer thread.
            let _ = catch_unwind(AssertUnwindSafe(move || job.finish(outcome)));
        }
    }
}

fn run_in_savepoint(connection: &Connection, job: &mut Job) -> Result<()> {
    connection.execute_batch("savepoint one")?;
    let keep = catch_unwind(AssertUnwindSafe(|| job.run(connection)));
    // Some failures, such as a full disk, make SQLite roll back the whole transaction, and so the whole batch.
    if connection.is_autocommit() {
        return Err(Error::unavailable("SQLite rolled the transaction back"));
    }
    let end = if keep.unwrap_or(false) { "release one" } else { "rollback to one; release one" };
    Ok(connection.execute_batch(end)?)
}
