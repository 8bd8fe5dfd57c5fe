//! Readiness of this process: the database answers, has a schema that this program can use, and accepts writes, its disk
//! has free space, every background loop is alive, and the process is not about to stop.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::Timestamp;
use db::{Engine, params};

use crate::{App, Error, Result};

/// The test write happens at most this often, because the readiness check is public.
const PROBE_EVERY_MICROSECONDS: i64 = 1_000_000;
/// The limits of the test read and of the test write. Together they are below the two seconds that probes usually wait.
const READ_TIMEOUT: Duration = Duration::from_millis(900);
const WRITE_TIMEOUT: Duration = Duration::from_millis(900);
/// A long import makes other writes wait, and that does not make the process unready. On PostgreSQL nothing waits that
/// long, so there the database is gone if no test write has succeeded for this long.
const UNWRITTEN_MAX_MICROSECONDS: i64 = 15_000_000;
/// A process that was asked for its readiness within this time is probably asked again, and waits before it stops.
const PROBED_MICROSECONDS: i64 = 60_000_000;

/// The test write must need new disk space. A small row could reuse old space and would succeed on a full disk.
const FILLER_BYTES: usize = 32 * 1_024;

/// The folder of the database file, and the free space that its disk must have.
#[derive(Debug, Clone)]
pub struct Disk {
    pub folder: PathBuf,
    pub free_bytes_min: u64,
}

pub(crate) struct Readiness {
    /// The last migration that this program knows.
    known_schema: i64,
    /// `None` for PostgreSQL.
    disk: Option<Disk>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_stopping: bool,
    asked_at: Option<Timestamp>,
    /// The time of the last test write that succeeded, and since when none has.
    written_at: Option<Timestamp>,
    waiting_since: Option<Timestamp>,
}

/// The reason why this process is not ready.
#[derive(Debug, thiserror::Error)]
pub enum NotReady {
    #[error("the server is stopping")]
    Stopping,
    #[error("the database cannot be reached")]
    Unreachable(#[source] Error),
    #[error(
        "a newer Evenkeel has migrated the database to a schema that this program cannot use (it knows version {known}, \
         and {needed} is needed); stop this process and start the new version"
    )]
    Outdated { known: i64, needed: i64 },
    #[error("the database does not accept writes; check its disk")]
    Unwritable(#[source] Error),
    #[error("the database is read-only; check which server is the primary")]
    ReadOnly(#[source] Error),
    #[error("the disk with the data is full: {free_mib} MiB are free, {needed_mib} MiB are needed")]
    DiskFull { free_mib: u64, needed_mib: u64 },
    #[error("the background loop \"{0}\" has stopped; see the log for the reason")]
    LoopDead(&'static str),
}

impl Readiness {
    pub(crate) fn new(known_schema: i64, disk: Option<Disk>) -> Readiness {
        Readiness { known_schema, disk, state: Mutex::default() }
    }

    /// The disk of the database file; `None` for PostgreSQL.
    pub(crate) fn disk(&self) -> Option<&Disk> {
        self.disk.as_ref()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes this process unready from now on, because it is about to stop. Returns whether someone asks for its readiness,
/// and so should be told before it stops to accept connections.
pub fn begin_stop(app: &App) -> bool {
    let now = app.clock.now();
    let mut state = app.readiness.state();
    state.is_stopping = true;
    let age = state.asked_at.map(|it| now.as_microsecond() - it.as_microsecond());
    age.is_some_and(|it| it < PROBED_MICROSECONDS)
}

pub async fn check(app: &App) -> std::result::Result<(), NotReady> {
    {
        let mut state = app.readiness.state();
        state.asked_at = Some(app.clock.now());
        if state.is_stopping {
            return Err(NotReady::Stopping);
        }
    }
    let silent = |_| db::Error::unavailable("the database did not answer in time");
    let read = tokio::time::timeout(READ_TIMEOUT, app.db.oldest_program()).await;
    let read = read.unwrap_or_else(|elapsed| Err(silent(elapsed)));
    let needed = read.map_err(|error| NotReady::Unreachable(error.into()))?;
    let known = app.readiness.known_schema;
    if let Some(needed) = needed.filter(|it| *it > known) {
        return Err(NotReady::Outdated { known, needed });
    }
    if let Some(disk) = &app.readiness.disk {
        check_disk(disk)?;
    }
    check_writes(app).await.map_err(|error| match &error {
        Error::Unavailable(cause) if cause.is_read_only_server() => NotReady::ReadOnly(error),
        _ => NotReady::Unwritable(error),
    })?;
    app.background.find_dead().map_or(Ok(()), |name| Err(NotReady::LoopDead(name)))
}

fn check_disk(disk: &Disk) -> std::result::Result<(), NotReady> {
    // If the file system does not report free space, the test write decides.
    let Some(free) = db::free_bytes(&disk.folder) else { return Ok(()) };
    if free < disk.free_bytes_min {
        let (free_mib, needed_mib) = (free >> 20, disk.free_bytes_min >> 20);
        return Err(NotReady::DiskFull { free_mib, needed_mib });
    }
    Ok(())
}

/// Writes one row, unless a write succeeded a moment ago.
async fn check_writes(app: &App) -> Result<()> {
    let now = app.clock.now();
    let age = |since: Option<Timestamp>| since.map(|it| now.as_microsecond() - it.as_microsecond());
    let written_at = app.readiness.state().written_at;
    if age(written_at).is_some_and(|it| (0..PROBE_EVERY_MICROSECONDS).contains(&it)) {
        return Ok(());
    }
    let probe = app.db.write::<_, Error>(move |tx| {
        tx.execute(PROBE, params![now, &vec![0_u8; FILLER_BYTES]])?;
        Ok(tx.execute(CLEAR, &[])?)
    });
    let Ok(written) = tokio::time::timeout(WRITE_TIMEOUT, probe).await else {
        let since = *app.readiness.state().waiting_since.get_or_insert(now);
        let is_gone = age(Some(since)).is_some_and(|it| it > UNWRITTEN_MAX_MICROSECONDS);
        if app.db.engine() == Engine::Postgres && is_gone {
            return Err(db::Error::unavailable("a test write did not end in time").into());
        }
        return Ok(());
    };
    written?;
    let mut state = app.readiness.state();
    (state.written_at, state.waiting_since) = (Some(now), None);
    Ok(())
}

const PROBE: &str = "insert into write_probes (id, written_at, filler) values (1, $1, $2)
    on conflict (id) do update set written_at = excluded.written_at, filler = excluded.filler";
const CLEAR: &str = "update write_probes set filler = null where id = 1";

pub(crate) const STATEMENTS: &[&str] = &[PROBE, CLEAR];
