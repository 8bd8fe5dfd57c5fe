//! Injects the planned faults into one process, and crashes into PostgreSQL.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use db::{Param, params};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::Storm;
use crate::faults::{Fault, PlannedFault};
use crate::random::Random;
use crate::server::{Server, application_name};

/// How long PostgreSQL may take to recover from a crash on a busy machine.
const DATABASE_RECOVERY_MAX: Duration = Duration::from_secs(60);
/// What the report calls a crash of PostgreSQL.
pub(crate) const CRASH: &str = "fault: PostgreSQL crashed and recovered";

/// Injects the faults of one process, each at its time or as soon as the one before is over.
pub(crate) async fn run(
    storm: Arc<Storm>,
    process: usize,
    planned: Vec<PlannedFault>,
    began: Instant,
) -> Result<()> {
    let random = Random::new(storm.seed, 500 + process as u64);
    for PlannedFault { at, length, fault, .. } in planned {
        tokio::time::sleep_until((began + at).into()).await;
        if storm.is_over() {
            break;
        }
        let millis = u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
        storm.history.record(json!({
            "process": process, "fault": format!("{fault:?}"), "length_ms": millis,
        }));
        inject(&storm, process, fault, length, &random).await?;
        storm.history.count(fault.name());
        storm.history.record(json!({ "process": process, "fault_ended": format!("{fault:?}") }));
    }
    Ok(())
}

async fn inject(
    storm: &Storm,
    process: usize,
    fault: Fault,
    length: Duration,
    random: &Random,
) -> Result<()> {
    let server = &storm.servers[process];
    if server.has_ended() {
        restart(storm, server).await?;
    }
    match fault {
        Fault::Kill => {
            server.kill();
            server.launch(&storm.settings)?;
            server.wait_until_ready(&storm.settings).await?;
            storm.count_clock(server.clock_offset());
        }
        Fault::Pause | Fault::LongPause | Fault::LongestPause => {
            let from = Instant::now();
            server.pause()?;
            tokio::time::sleep(length).await;
            server.resume()?;
            storm.history.paused(from, Instant::now());
        }
        Fault::Silence => server.wire.silence(),
        Fault::LoseAnswers => server.wire.lose_answers(),
        Fault::Slow => {
            server.wire.slow_down(Duration::from_millis(random.between(50, 250)));
        }
        Fault::Cut => server.wire.cut(),
        Fault::Terminate => terminate(storm, process).await?,
    }
    if matches!(fault, Fault::Silence | Fault::LoseAnswers | Fault::Slow | Fault::Cut) {
        tokio::time::sleep(length).await;
        server.wire.restore();
    }
    Ok(())
}

/// Starts a process again that ended by itself, as a supervisor would. It may end only while it starts.
pub(crate) async fn restart(storm: &Storm, server: &Server) -> Result<()> {
    match server.is_starting() {
        true => storm.history.count("process ended while it started"),
        false => storm.history.violated(format!("process {} ended by itself", server.index)),
    }
    server.kill();
    server.launch(&storm.settings)?;
    server.wait_until_ready(&storm.settings).await
}

/// Has PostgreSQL end all connections of a process. After a crash of PostgreSQL there are none to end.
async fn terminate(storm: &Storm, process: usize) -> Result<()> {
    const TERMINATE: &str = "select cast(count(pg_terminate_backend(pid)) as bigint)
        from pg_stat_activity where application_name like $1";
    let name = application_name(process);
    storm.read(TERMINATE, params![&name], |row| row.get::<i64>(0)).await?;
    Ok(())
}

/// Crashes PostgreSQL at each planned time.
pub(crate) async fn crash_database(
    storm: Arc<Storm>,
    planned: Vec<Duration>,
    began: Instant,
) -> Result<()> {
    for at in planned {
        tokio::time::sleep_until((began + at).into()).await;
        if storm.is_over() {
            break;
        }
        crash(&storm).await?;
    }
    Ok(())
}

/// Kills a server process of PostgreSQL. PostgreSQL then ends all its other processes, reads its log again from the last
/// checkpoint, and empties unlogged tables, as after `pg_ctl restart -m immediate`.
async fn crash(storm: &Storm) -> Result<()> {
    const BACKEND: &str = "select cast(pid as bigint) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() limit 1";
    let found = storm.read(BACKEND, &[], |row| row.get::<i64>(0)).await?;
    let Some(backend) = found.first() else { bail!("PostgreSQL has no connection to kill") };
    let id = Pid::from_raw(i32::try_from(*backend)?).context("a connection has no process")?;
    let from = Instant::now();
    storm.history.record(json!({ "fault": "Crash", "backend": backend }));
    // A connection that ended meanwhile is found missing; the next planned crash comes in a minute.
    if kill_process(id, Signal::KILL).is_err() {
        return Ok(());
    }
    storm.read("select 1", &[], |_| Ok(())).await?;
    storm.history.crashed(from, Instant::now());
    storm.history.record(json!({ "fault_ended": "Crash" }));
    storm.history.count(CRASH);
    Ok(())
}

impl Storm {
    /// Reads rows from the database, which may be recovering from a crash.
    pub(crate) async fn read<T: Send>(
        &self,
        text: &str,
        params: &[Param<'_>],
        read: fn(&db::Row<'_>) -> db::Result<T>,
    ) -> Result<Vec<T>> {
        let began = Instant::now();
        loop {
            match self.app.db.all(text, params, read).await {
                Ok(found) => return Ok(found),
                Err(error) if began.elapsed() > DATABASE_RECOVERY_MAX => {
                    return Err(error).context("the database does not answer");
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }
}
