//! Measures the import of a large file, from the upload to the last insight computed from it: time, CPU, peak memory,
//! and how long another person's small change waits meanwhile.

use std::fs;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use base::draft::AccountKind;
use base::metrics::MetricValue;
use base::{Clock, Currency, Date, TimeZone, Timestamp, UserId};
use service::access::users::{self, NewUser};
use service::ingest::imports::files::{
    self as staged_files, AccountChoice, Choices, DestinationChoice,
};
use service::{App, Caller, insights};
use tokio::sync::watch;

use crate::files::{self, Ofx};
use crate::households::{self, World};
use crate::open_at;

/// A file to import.
struct LargeFile {
    name: &'static str,
    content: Vec<u8>,
    rows: usize,
    as_of: Date,
}

/// Statements of a large household, as OFX.
pub(crate) async fn measure(database: &str, rows: usize) -> anyhow::Result<()> {
    let world = households::large_household(1, rows);
    let (content, rows) = (ofx(&world)?.into_bytes(), world.transactions.len());
    let as_of = world.as_of;
    drop(world);
    measure_file(database, LargeFile { name: "statement.ofx", content, rows, as_of }).await
}

/// One account, as CSV with long descriptions: 250,000 rows have 52 MB.
pub(crate) async fn measure_csv(database: &str, rows: usize) -> anyhow::Result<()> {
    let content = files::wide_csv(rows)?.into_bytes();
    let as_of = Date::constant(2032, 1, 1);
    measure_file(database, LargeFile { name: "statement.csv", content, rows, as_of }).await
}

async fn measure_file(database: &str, file: LargeFile) -> anyhow::Result<()> {
    let now: Timestamp = format!("{}T12:00:00Z", file.as_of).parse()?;
    let app = open_at(database, Clock::frozen_at(&now.to_string())).await?;
    let (caller, other) = (create_person(&app).await?, create_person(&app).await?);
    let rows = file.rows;
    println!("  {rows} rows in {} MB", file.content.len() / 1_000_000);
    reset_peak_memory()?;
    let before = Measurement::now()?;
    import(&app, &caller, file, other.user).await?;
    before.print("in all")?;
    let a_second = rows as i64 * 1_000 / before.millis().max(1);
    println!("    {a_second} rows a second, {} MiB at most", peak_kib()? / 1_024);
    if let Ok(file) = fs::metadata(database) {
        println!("    {} bytes of database for each row", file.len() / rows as u64);
    }
    Ok(())
}

/// Prints how long each step of the recomputes took, on the wall clock.
async fn print_insight_steps(app: &App) {
    let families = service::metrics::collect(app).await;
    let steps =
        families.iter().filter(|it| it.name == "insight_seconds").flat_map(|it| &it.samples);
    for step in steps {
        let MetricValue::Histogram(times) = &step.value else { continue };
        let name = step.labels.first().map_or("", |it| &it.1);
        println!("      {name:<10}{:>6} ms", times.sum / 1_000_000);
    }
}

pub(crate) async fn create_person(app: &App) -> anyhow::Result<Caller> {
    let new = NewUser {
        email: format!("{}@example.com", app.ids.make::<base::kinds::User>()),
        preferred_name: None,
        base_currency: Currency::USD,
        timezone: TimeZone::utc(),
        password: None,
    };
    Ok(users::create(app, new).await?.owner())
}

/// Imports like the page does: stages the file, answers its questions, commits it, and computes the insights.
async fn import(app: &App, caller: &Caller, file: LargeFile, other: UserId) -> anyhow::Result<()> {
    let LargeFile { name, content, rows, .. } = file;
    let id = step("stage", app, other, staged_files::stage(app, caller, name, content)).await??;
    if name.ends_with("csv") {
        let new_account = AccountChoice {
            destination: Some(DestinationChoice::New),
            kind: Some(AccountKind::Depository),
            ..AccountChoice::default()
        };
        let accounts = [(0, new_account)].into();
        let choices = Choices { accounts, ..Choices::default() };
        staged_files::choose(app, caller, id, choices).await?;
    }
    let committed = step("commit", app, other, staged_files::commit(app, caller, id)).await??;
    let new = committed.summary.new;
    ensure!(new == rows, "{new} of {rows} rows were imported");
    step("insights", app, other, insights::pipeline::run_all(app)).await??;
    print_insight_steps(app).await;
    Ok(())
}

/// Runs a step, and prints its time and the longest wait of another person's change.
async fn step<T>(
    what: &str,
    app: &App,
    other: UserId,
    work: impl Future<Output = T>,
) -> anyhow::Result<T> {
    let before = Measurement::now()?;
    let (done, is_done) = watch::channel(false);
    let waiting = tokio::spawn(longest_wait(app.clone(), other, is_done));
    let outcome = work.await;
    before.print(what)?;
    done.send(true)?;
    let longest = waiting.await??;
    println!("      another person's change waited at most {longest} ms");
    Ok(outcome)
}

const SMALL_CHANGE: &str = "update users set updated_at = $2 where id = $1";

/// Changes something of a person every few milliseconds, and returns the longest wait in milliseconds.
async fn longest_wait(
    app: App,
    other: UserId,
    is_done: watch::Receiver<bool>,
) -> anyhow::Result<i64> {
    let mut longest = 0;
    while !*is_done.borrow() {
        let before = Clock::System.now().as_microsecond();
        let change =
            move |tx: &mut db::Tx<'_>| tx.execute(SMALL_CHANGE, db::params![other, before]);
        app.db.write::<_, db::Error>(change).await?;
        longest = longest.max(Clock::System.now().as_microsecond() - before);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(longest / 1_000)
}

pub(crate) struct Measurement {
    at: Timestamp,
    cpu_micros: u64,
}

impl Measurement {
    pub(crate) fn now() -> anyhow::Result<Measurement> {
        Ok(Measurement { at: Clock::System.now(), cpu_micros: cpu_micros()? })
    }

    pub(crate) fn millis(&self) -> i64 {
        (Clock::System.now().as_microsecond() - self.at.as_microsecond()) / 1_000
    }

    pub(crate) fn print(&self, what: &str) -> anyhow::Result<()> {
        let (wall, cpu) = (self.millis(), cpu_micros()? - self.cpu_micros);
        println!("    {what:<9}{wall:>6} ms, {:>6} ms of CPU", cpu / 1_000);
        Ok(())
    }
}

/// CPU time of this process, threads that have ended included. The kernel counts it in hundredths of a second.
fn cpu_micros() -> anyhow::Result<u64> {
    const MICROSECONDS_PER_TICK: u64 = 10_000;
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The name of the program comes first, in brackets, and may contain spaces.
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    let ticks: Vec<u64> = fields.skip(11).take(2).filter_map(|it| it.parse().ok()).collect();
    ensure!(ticks.len() == 2, "the kernel does not report the CPU time");
    Ok(ticks.iter().sum::<u64>() * MICROSECONDS_PER_TICK)
}

/// The peak memory of this process, with the pages of the database that are mapped into it.
pub(crate) fn peak_kib() -> anyhow::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let kib = line.and_then(|it| it.split_whitespace().next()).and_then(|it| it.parse().ok());
    kib.context("the kernel does not report the memory")
}

/// Resets the recorded peak, because generating the file takes memory that is not to be measured.
pub(crate) fn reset_peak_memory() -> anyhow::Result<()> {
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
