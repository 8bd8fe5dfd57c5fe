//! CPU time and memory of processes, from the kernel's statistics.

use std::fs;

use anyhow::Context as _;
use service::App;

/// User and system time so far, and that of children which have ended, in microseconds.
pub(super) fn cpu_micros(process: u32) -> anyhow::Result<i64> {
    let fields = fields(process)?;
    let ticks = fields.get(11..15).context("the kernel does not report the time")?;
    Ok(ticks.iter().filter_map(|it| it.parse::<i64>().ok()).sum::<i64>() * 10_000)
}

/// The fields of `/proc/PID/stat` after the process name, which may contain anything.
fn fields(process: u32) -> anyhow::Result<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    Ok(after_name.split(' ').map(str::to_owned).collect())
}

fn parent(process: u32) -> Option<u32> {
    fields(process).ok()?.get(1)?.parse().ok()
}

pub(super) fn memory_mib(process: u32) -> anyhow::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find(|it| it.starts_with("RssAnon:")).unwrap_or_default();
    let kib = line.split_whitespace().nth(1).and_then(|it| it.parse::<u64>().ok());
    Ok(kib.context("the kernel does not report the memory")? / 1024)
}

/// The main process of a PostgreSQL on this machine. None for SQLite, which is part of this process.
pub(super) async fn postmaster(app: &App) -> anyhow::Result<Option<u32>> {
    if app.db.engine() == db::Engine::Sqlite {
        return Ok(None);
    }
    const BACKEND: &str = "select cast(pg_backend_pid() as bigint)";
    let backend = app.db.first(BACKEND, &[], |row| row.get::<i64>(0)).await?;
    let backend = u32::try_from(backend.context("PostgreSQL names no process")?)?;
    Ok(Some(parent(backend).context("PostgreSQL must run on this machine")?))
}

/// CPU time of all processes of a PostgreSQL server together.
pub(super) fn cpu_micros_of_postgres(postmaster: Option<u32>) -> anyhow::Result<i64> {
    let Some(postmaster) = postmaster else { return Ok(0) };
    let mut sum = cpu_micros(postmaster)?;
    for entry in fs::read_dir("/proc")?.flatten() {
        let process = entry.file_name().to_str().and_then(|it| it.parse::<u32>().ok());
        // A process that ends meanwhile is counted with its parent the next time.
        if let Some(process) = process.filter(|it| parent(*it) == Some(postmaster)) {
            sum += cpu_micros(process).unwrap_or(0);
        }
    }
    Ok(sum)
}
