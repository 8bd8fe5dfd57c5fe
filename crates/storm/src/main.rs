//! The storm: several real servers on one PostgreSQL, clients that write and read, and faults drawn from a seed. At the end
//! it checks that nothing that was acknowledged is lost, nothing is doubled, and nothing is stuck.
//!
//! The seed decides what clients do and which faults happen when. It does not decide how they interleave, so a seed that
//! failed once may pass the next time; its history stays in the folder of the run.

mod check;
mod client;
mod faults;
mod history;
mod inject;
mod people;
mod random;
mod recovery;
mod report;
mod server;
mod setup;
mod work;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use service::App;
use testkit::receiver::Receiver;

use faults::PlannedFault;
use history::History;
use people::{Person, Proposed};
use server::{Server, ServerSettings};
use work::floods::Accepted;
use work::imports::Imported;
use work::proposals::Attempted;

const USAGE: &str = "usage: storm FOLDER [--seed N] [--minutes M | --seconds S] [--processes N]";

/// How long clients go on after the faults at most.
const MORE_TIME: Duration = Duration::from_secs(60);

/// A run with all that its tasks know.
pub(crate) struct Storm {
    seed: u64,
    servers: Vec<Server>,
    settings: ServerSettings,
    people: Vec<Person>,
    /// The storm's own access to the database, not through a wire that breaks.
    app: App,
    receiver: Receiver,
    receiver_url: String,
    history: History,
    length: Duration,
    ends_at: Instant,
    attempted: Mutex<Vec<Attempted>>,
    acknowledged: Mutex<Vec<Proposed>>,
    /// Acknowledged decisions, and whether they approve.
    decided: Mutex<Vec<(Proposed, bool)>>,
    /// Actions by id, with the status that an answer named and that is final.
    expected_status: Mutex<Vec<(String, String)>>,
    /// Paths of deleted endpoints and former paths of moved ones, and when the deletion or move was answered.
    left_addresses: Mutex<Vec<(String, Instant)>>,
    revoked: Mutex<Vec<String>>,
    accepted: Mutex<Vec<Accepted>>,
    imported: Mutex<Vec<Imported>>,
}

impl Storm {
    /// Whether faults should end.
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.ends_at
    }

    /// Whether clients should end. On a busy machine they go on for a while, until each has done its part.
    pub(crate) fn are_clients_done(&self) -> bool {
        let is_late = || Instant::now() >= self.ends_at + MORE_TIME;
        self.is_over() && (is_late() || report::is_work_done(&self.history))
    }
}

struct Options {
    folder: PathBuf,
    seed: u64,
    length: Duration,
    processes: usize,
}

fn options(arguments: &[String]) -> Result<Options> {
    let (folder, named) = arguments.split_first().context(USAGE)?;
    // A first option, such as --help, would become a folder of that name.
    ensure!(!folder.starts_with('-'), USAGE);
    let mut options = Options {
        folder: PathBuf::from(folder),
        seed: 1,
        length: Duration::from_secs(60),
        processes: 3,
    };
    for pair in named.chunks(2) {
        let [name, value] = pair else { bail!(USAGE) };
        let number: f64 = value.parse().with_context(|| format!("{name} takes a number"))?;
        match name.as_str() {
            "--seed" => options.seed = value.parse().context("--seed takes a whole number")?,
            "--minutes" => options.length = seconds(number, 60)?,
            "--seconds" => options.length = seconds(number, 1)?,
            "--processes" => {
                options.processes = value.parse().context("--processes takes a whole number")?
            }
            _ => bail!(USAGE),
        }
    }
    ensure!((2..=16).contains(&options.processes), "a storm needs 2 to 16 processes");
    ensure!(options.length >= Duration::from_secs(5), "a storm takes at least 5 seconds");
    Ok(options)
}

fn seconds(number: f64, factor: u32) -> Result<Duration> {
    let length = Duration::try_from_secs_f64(number).context("the length cannot be negative")?;
    Ok(length * factor)
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let options = options(&arguments)?;
    tokio::select! {
        outcome = run(options) => outcome,
        // The processes end when the run is dropped, paused ones too.
        _ = tokio::signal::ctrl_c() => bail!("interrupted"),
    }
}

async fn run(options: Options) -> Result<()> {
    let Options { folder, seed, length, processes } = options;
    println!("storm with seed {seed}: {processes} processes, {} s", length.as_secs());
    let plan = faults::plan(seed, processes, length);
    let crashes = faults::plan_crashes(seed, length);
    let (storm, database) = setup::start(&folder, seed, processes, length).await?;
    let began = Instant::now();
    let clients = work::start(&storm);
    inject_all(&storm, &plan, crashes, began).await?;
    println!("{:>7.1} s  the faults are over", storm.history.elapsed().as_secs_f32());
    recovery::wait(&storm, clients).await?;
    println!("{:>7.1} s  all work is done", storm.history.elapsed().as_secs_f32());
    check::all(&storm).await?;
    check::calm(&storm).await?;
    let outcome = report::print(&storm, &plan, length >= faults::ROUND);
    drop(storm);
    drop(database);
    outcome.with_context(|| {
        format!("the storm with seed {seed} failed; its history is in {}", folder.display())
    })
}

/// Injects the faults of each process one after the other, and those of different processes and of PostgreSQL side by side.
async fn inject_all(
    storm: &Arc<Storm>,
    plan: &[PlannedFault],
    crashes: Vec<Duration>,
    began: Instant,
) -> Result<()> {
    let mut lanes = tokio::task::JoinSet::new();
    for process in 0..storm.servers.len() {
        let own = plan.iter().filter(|it| it.process == process).copied().collect();
        lanes.spawn(inject::run(storm.clone(), process, own, began));
    }
    lanes.spawn(inject::crash_database(storm.clone(), crashes, began));
    lanes.join_all().await.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_given_in_minutes_or_seconds() {
        let read = |text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            options(&words)
        };
        assert_eq!(read("f --minutes 0.5").unwrap().length, Duration::from_secs(30));
        assert_eq!(read("f --seconds 90 --seed 7").unwrap().length, Duration::from_secs(90));
        assert_eq!(read("f --seed 7").unwrap().seed, 7);
        for bad in
            ["f --minutes", "f --minutes -1", "f --processes 1", "f --fast 1", "f --seconds 1"]
        {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
