//! Injects the planned faults into one process.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use db::params;
use serde_json::json;

use crate::Storm;
use crate::faults::{Fault, PlannedFault};
use crate::random::Random;
use crate::server::{Server, application_name};

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
        Fault::Pause | Fault::LongPause => {
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

/// Has PostgreSQL end all connections of a process.
async fn terminate(storm: &Storm, process: usize) -> Result<()> {
    const TERMINATE: &str = "select cast(count(pg_terminate_backend(pid)) as bigint)
        from pg_stat_activity where application_name like $1";
    let name = application_name(process);
    let read = |row: &db::Row<'_>| row.get::<i64>(0);
    storm.app.db.first(TERMINATE, params![&name], read).await?;
    Ok(())
}
