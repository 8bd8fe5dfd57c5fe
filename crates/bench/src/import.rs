//! Measures the import of a large file, from the upload to the last insight computed from it: time, CPU and peak
//! memory.

use std::fs;

use anyhow::{Context as _, ensure};
use base::draft::AccountKind;
use base::{Clock, Currency, TimeZone, Timestamp};
use service::access::users::{self, NewUser};
use service::ingest::imports::files;
use service::{App, Caller, insights};

use crate::files::Ofx;
use crate::households::{self, World};
use crate::insights::cpu_micros;
use crate::open_at;

pub(crate) async fn measure(database: &str, rows: usize) -> anyhow::Result<()> {
    let world = households::large_household(1, rows);
    let now: Timestamp = format!("{}T12:00:00Z", world.as_of).parse()?;
    let content = ofx(&world)?.into_bytes();
    let rows = world.transactions.len();
    drop(world);
    let app = open_at(database, Clock::frozen_at(&now.to_string())).await?;
    let email = format!("{}@example.com", app.ids.make::<base::kinds::User>());
    let new = NewUser {
        email,
        preferred_name: None,
        base_currency: Currency::USD,
        timezone: TimeZone::utc(),
        password: None,
    };
    let caller = users::create(&app, new).await?.owner();
    println!("  {rows} rows in {} MB", content.len() / 1_000_000);
    reset_peak_memory()?;
    let before = Measurement::now()?;
    import(&app, &caller, content, rows).await?;
    before.print("in all")?;
    let a_second = rows as i64 * 1_000 / before.millis().max(1);
    println!("    {a_second} rows a second, {} MiB at most", peak_kib()? / 1_024);
    Ok(())
}

/// Imports like the page does: stages the file, commits it, and computes the insights.
async fn import(app: &App, caller: &Caller, content: Vec<u8>, rows: usize) -> anyhow::Result<()> {
    let before = Measurement::now()?;
    let id = files::stage(app, caller, "statement.ofx", content).await?;
    before.print("stage")?;
    let before = Measurement::now()?;
    let committed = files::commit(app, caller, id).await?;
    ensure!(
        committed.summary.new == rows,
        "{} of {rows} rows were imported",
        committed.summary.new
    );
    before.print("commit")?;
    let before = Measurement::now()?;
    insights::pipeline::run_all(app).await?;
    before.print("insights")
}

struct Measurement {
    at: Timestamp,
    cpu_micros: u64,
}

impl Measurement {
    fn now() -> anyhow::Result<Measurement> {
        Ok(Measurement { at: Clock::System.now(), cpu_micros: cpu_micros()? })
    }

    fn millis(&self) -> i64 {
        (Clock::System.now().as_microsecond() - self.at.as_microsecond()) / 1_000
    }

    fn print(&self, what: &str) -> anyhow::Result<()> {
        let (wall, cpu) = (self.millis(), cpu_micros()? - self.cpu_micros);
        println!("    {what:<9}{wall:>6} ms, {:>6} ms of CPU", cpu / 1_000);
        Ok(())
    }
}

/// The peak memory of this process, with the pages of the database that are mapped into it.
fn peak_kib() -> anyhow::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let kib = line.and_then(|it| it.split_whitespace().next()).and_then(|it| it.parse().ok());
    kib.context("the kernel does not report the memory")
}

/// Resets the recorded peak, because generating the file takes memory that is not to be measured.
fn reset_peak_memory() -> anyhow::Result<()> {
    fs::write("/proc/self/clear_refs", "5").context("the kernel does not reset the peak")
}

/// An OFX file with a bank or card statement for each account.
fn ofx(world: &World) -> anyhow::Result<String> {
    let mut ofx = Ofx::new(false);
    for (index, account) in world.accounts.iter().enumerate() {
        ofx.begin(&account.external_id, account.kind == AccountKind::Credit, account.currency)?;
        let rows = world.transactions.iter().enumerate().filter(|it| it.1.account == index);
        for (number, row) in rows {
            let draft = &row.draft;
            let day = draft.posted_on.strftime("%Y%m%d").to_string();
            let amount = draft.amount.to_string();
            let amount = amount.split(' ').next().unwrap_or_default();
            ofx.row([&day, amount, &number.to_string(), &draft.description, ""])?;
        }
        ofx.end();
    }
    Ok(ofx.finish())
}
