//! The server processes on one database. Each keeps a row that says until when it is alive, by the database's time, and
//! its claims (idempotency keys, files being imported, syncs) carry its id. When a process dies, its row expires within
//! seconds, and its claims end with it.
//!
//! This decides only how soon a claim can be taken over. That a process that was paused writes nothing afterwards is
//! decided by the claim's own lease, which every write of a claimed thing names.

use std::sync::atomic::{AtomicBool, Ordering};

use base::{Entropy, Timestamp};
use db::{Param, Tx, params};

use crate::{App, Error, Result};

/// How long a process counts as alive after it renewed its row.
pub(crate) const ALIVE_MICROSECONDS: i64 = 10_000_000;
/// How often a process renews its row.
pub const RENEW_SECONDS: u64 = 2;
/// Rows of processes that ended so long ago are deleted.
const KEPT_MICROSECONDS: i64 = 3_600_000_000;

/// This process. One that only runs a command has no row, and its claims end with their lease.
pub struct Process {
    id: [u8; 16],
    is_registered: AtomicBool,
}

impl Process {
    pub(crate) fn new(entropy: &Entropy) -> Process {
        Process { id: entropy.bytes(), is_registered: AtomicBool::new(false) }
    }

    /// The id that claims of this process carry; null if it has no row.
    pub(crate) fn holder(&self) -> Param<'static> {
        Param::Id(self.is_registered.load(Ordering::Relaxed).then_some(self.id))
    }
}

/// Registers this process, before it serves requests.
pub async fn register(app: &App) -> Result<()> {
    renew_once(app).await?;
    app.process.is_registered.store(true, Ordering::Relaxed);
    Ok(())
}

/// Says that this process is alive, and deletes the rows of processes that ended long ago. A background step.
pub async fn renew_once(app: &App) -> Result<usize> {
    let id = app.process.id;
    let renew = move |tx: &mut Tx<'_>| {
        let now = tx.now()?;
        let alive_until = now.as_microsecond() + ALIVE_MICROSECONDS;
        tx.execute(RENEW, &[Param::Id(Some(id)), now.into(), alive_until.into()])?;
        let oldest = now.as_microsecond() - KEPT_MICROSECONDS;
        Ok::<_, Error>(tx.execute(FORGET, params![oldest])? as usize)
    };
    app.db.write(renew).await
}

/// Ends this process's row when it stops, so that its last claims end at once.
pub async fn leave(app: &App) -> Result<()> {
    app.process.is_registered.store(false, Ordering::Relaxed);
    let id = app.process.id;
    let leave = move |tx: &mut Tx<'_>| {
        tx.execute(LEAVE, &[Param::Id(Some(id))])?;
        Ok::<_, Error>(())
    };
    app.db.write(leave).await
}

/// When the process that holds a claim counts as dead unless it renews its row; none if it has no row.
pub(crate) fn alive_until(tx: &mut Tx<'_>, holder: [u8; 16]) -> Result<Option<Timestamp>> {
    Ok(tx.first(ALIVE_UNTIL, &[Param::Id(Some(holder))], |row| row.get(0))?)
}

/// Whether any server runs on this database.
pub(crate) fn is_any_alive(tx: &mut Tx<'_>) -> Result<bool> {
    let now = tx.now()?;
    Ok(tx.first(ANY_ALIVE, params![now], |row| row.get::<Timestamp>(0))?.is_some())
}

/// Whether this process is the one of those alive that has run longest. It does what one process should do for all, and
/// what is not harmed if two do it for a moment, because one of them was taken for dead.
pub(crate) async fn is_longest_running(app: &App) -> Result<bool> {
    let now = app.db.now().await?;
    let own = app.process.id;
    let is_own = move |row: &db::Row<'_>| Ok(row.get::<&[u8]>(0)? == own);
    Ok(app.db.first(LONGEST_RUNNING, params![now], is_own).await?.unwrap_or(true))
}

/// A condition of SQL: the process in a column is dead at a time. False where the column is null; that must be said,
/// because null is not in an empty set.
macro_rules! holder_is_dead {
    ($column:literal, $now:literal) => {
        concat!(
            "(",
            $column,
            " is not null and ",
            $column,
            " not in (select id from processes where alive_until > ",
            $now,
            "))"
        )
    };
}
pub(crate) use holder_is_dead;

const RENEW: &str = "insert into processes (id, started_at, alive_until) values ($1, $2, $3)
    on conflict (id) do update set alive_until = excluded.alive_until";
const LEAVE: &str = "delete from processes where id = $1";
const FORGET: &str = "delete from processes where alive_until < $1";
const ANY_ALIVE: &str = "select alive_until from processes where alive_until > $1 limit 1";
const LONGEST_RUNNING: &str =
    "select id from processes where alive_until > $1 order by started_at, id limit 1";
const ALIVE_UNTIL: &str = "select alive_until from processes where id = $1";

pub(crate) const STATEMENTS: &[&str] =
    &[RENEW, LEAVE, FORGET, ANY_ALIVE, LONGEST_RUNNING, ALIVE_UNTIL];
