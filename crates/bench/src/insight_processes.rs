//! Measures how many people's insights one process and three processes recompute per second on one database.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, ensure};
use base::Clock;
use service::platform::dirty_queue;
use service::{Caller, insights};

use crate::insights::{new_person, statement};
use crate::{households, open};

/// The numbers of processes that are compared, more than once: what else runs on the machine falls on all of them.
const ROUNDS: [usize; 4] = [1, 3, 1, 3];

pub(crate) async fn measure(database: &str, people: usize, rows: usize) -> anyhow::Result<()> {
    ensure!(database.starts_with("postgres://"), "several processes need PostgreSQL");
    let app = open(database).await?;
    let mut callers: Vec<Caller> = Vec::with_capacity(people);
    for seed in 0..people {
        let world = households::large_household(seed as u64 + 1, rows);
        let caller = new_person(&app).await?;
        let all: Vec<usize> = (0..world.transactions.len()).collect();
        let all = statement(&world, &all, app.clock.now());
        service::ingest::imports::commit(&app, &caller, all).await?;
        callers.push(caller);
    }
    let mut times: Vec<(usize, i128)> = Vec::new();
    for processes in ROUNDS {
        for caller in &callers {
            dirty_queue::request_recompute(&app, caller.user).await?;
        }
        let mut workers: Vec<Worker> = Vec::with_capacity(processes);
        for _ in 0..processes {
            workers.push(Worker::start(database)?);
        }
        let began = Clock::System.now();
        for it in &mut workers {
            it.go()?;
        }
        let mut shares = Vec::with_capacity(processes);
        for it in workers {
            shares.push(it.finish()?);
        }
        let millis = Clock::System.now().duration_since(began).as_millis().max(1);
        let total: usize = shares.iter().sum();
        ensure!(total == people, "{total} of {people} people were recomputed");
        println!("  {processes} processes: {people} people in {millis} ms, shares {shares:?}");
        times.push((processes, millis));
    }
    let best = |processes: usize| {
        times.iter().filter(|it| it.0 == processes).map(|it| it.1).min().unwrap_or(1)
    };
    let (one, three) = (best(1), best(3));
    println!("  one {one} ms, three {three} ms: {}% of the speed of one", 100 * one / three);
    Ok(())
}

/// `bench recompute`: recomputes until nobody waits, once its input says so, and prints how many people it were.
pub(crate) async fn recompute(database: &str) -> anyhow::Result<()> {
    let app = open(database).await?;
    // Opens a connection of each kind before the measurement.
    insights::pipeline::queue_new_day_once(&app).await?;
    println!("ready");
    std::io::stdin().read_line(&mut String::new())?;
    println!("{}", insights::pipeline::run_all(&app).await?);
    Ok(())
}

/// A running `bench recompute`, killed on drop.
struct Worker {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts a worker and waits until it is ready.
    fn start(database: &str) -> anyhow::Result<Worker> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["recompute", database]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("starting a worker")?;
        let input = child.stdin.take().context("a worker without input")?;
        let output = BufReader::new(child.stdout.take().context("a worker without output")?);
        let mut worker = Worker { child, input, output };
        ensure!(worker.line()? == "ready", "a worker did not start");
        Ok(worker)
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }

    fn go(&mut self) -> anyhow::Result<()> {
        Ok(writeln!(self.input)?)
    }

    /// Waits for the worker, and returns how many people it recomputed.
    fn finish(mut self) -> anyhow::Result<usize> {
        let line = self.line()?;
        line.parse().with_context(|| format!("a worker failed: {line}"))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
