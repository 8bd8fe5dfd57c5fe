//! Readiness of this process: the database answers, has a schema that this program can use, and accepts writes, its disk has free space, and every background loop
//! is alive.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base::Timestamp;
use db::params;

use crate::{App, Error, Result};

/// The test write happens at most this often, because the readiness check is public.
const PROBE_EVERY_MICROSECONDS: i64 = 5_000_000;
/// A long import makes other writes wait. A test write that waits this long does not make the process unready.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);

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
    written_at: Mutex<Option<Timestamp>>,
}

/// The reason why this process is not ready.
#[derive(Debug, thiserror::Error)]
pub enum NotReady {
    #[error("the database cannot be reached")]
    Unreachable(#[source] Error),
    #[error(
        "a newer Evenkeel has migrated the database to a schema that this program cannot use (it knows version {known}, \
         and {needed} is needed); stop this process and start the new version"
    )]
    Outdated { known: i64, needed: i64 },
    #[error("the database does not accept writes; check its disk")]
    Unwritable(#[source] Error),
    #[error("the disk with the data is full: {free_mib} MiB are free, {needed_mib} MiB are needed")]
    DiskFull { free_mib: u64, needed_mib: u64 },
    #[error("the background loop \"{0}\" has stopped; see the log for the reason")]
    LoopDead(&'static str),
}

impl Readiness {
    pub(crate) fn new(known_schema: i64, disk: Option<Disk>) -> Readiness {
        Readiness { known_schema, disk, written_at: Mutex::new(None) }
    }
}

pub async fn check(app: &App) -> std::result::Result<(), NotReady> {
    let oldest_program = app.db.oldest_program().await;
    let needed = oldest_program.map_err(|error| NotReady::Unreachable(error.into()))?;
    let known = app.readiness.known_schema;
    if let Some(needed) = needed.filter(|it| *it > known) {
        return Err(NotReady::Outdated { known, needed });
    }
    if let Some(disk) = &app.readiness.disk {
        check_disk(disk)?;
    }
    check_writes(app).await.map_err(NotReady::Unwritable)?;
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
    let known = *app.readiness.written_at.lock().unwrap_or_else(PoisonError::into_inner);
    let age = known.map(|it| now.as_microsecond() - it.as_microsecond());
    if age.is_some_and(|it| (0..PROBE_EVERY_MICROSECONDS).contains(&it)) {
        return Ok(());
    }
    let probe = app.db.write::<_, Error>(move |tx| {
        tx.execute(PROBE, params![now, &vec![0_u8; FILLER_BYTES]])?;
        Ok(tx.execute(CLEAR, &[])?)
    });
    match tokio::time::timeout(PROBE_TIMEOUT, probe).await {
        Ok(written) => {
            written?;
            let mut known = app.readiness.written_at.lock().unwrap_or_else(PoisonError::into_inner);
            *known = Some(now);
            Ok(())
        }
        Err(_) => Ok(()),
    }
}

const PROBE: &str = "insert into write_probes (id, written_at, filler) values (1, $1, $2)
    on conflict (id) do update set written_at = excluded.written_at, filler = excluded.filler";
const CLEAR: &str = "update write_probes set filler = null where id = 1";

pub(crate) const STATEMENTS: &[&str] = &[PROBE, CLEAR];
