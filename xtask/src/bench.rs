//! Measures as ratios within one run: a page of transactions against a ready-made body of its size, approvals against
//! plain transactions; and webhooks as they are.
#![expect(clippy::float_arithmetic, reason = "rates are measured, not money")]

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::{cargo, install, output_of, postgres, run, target_folder};

const USERS: u64 = 500;
const ROUNDS: usize = 5;
const ROUND_SECONDS: u64 = 6;
const DELIVERED: &str = "20000";
const PROTOCOLS: [&str; 2] = ["http/1.1", "h2"];

/// Picks one of the prepared requests at random; the same script without targets asks for the ready-made body.
const SCRIPT: &str = r#"
local requests = {}
local file = os.getenv("TARGETS")
if file then
  for line in io.lines(file) do
    local key, cursor = line:match("(%S+) ?(%S*)")
    local path = "/v1/transactions?limit=50"
    if cursor ~= "" then path = path .. "&cursor=" .. cursor end
    requests[#requests + 1] = wrk.format("GET", path, { Authorization = "Bearer " .. key })
  end
else
  requests[1] = wrk.format("GET", "/ready-made", { Authorization = "Bearer none" })
end
math.randomseed(os.time())
request = function() return requests[math.random(#requests)] end
"#;

pub(crate) fn measure(rows: u64) -> Result<()> {
    if install::on_path("wrk").is_none() {
        install::wrk()?;
    }
    build()?;
    let folder = target_folder()?.join("bench");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("script.lua"), SCRIPT)?;

    println!("SQLite, {rows} rows of {USERS} people");
    let sqlite = Place::new(&folder, "sqlite", folder.join("sqlite.db").display().to_string());
    let big = sqlite.measured(rows, USERS, false)?;

    println!("SQLite, the first page of 10000 rows");
    let small = Place::new(&folder, "small", folder.join("small.db").display().to_string());
    let first = small.measured(10_000, 1, true)?;
    let cost = |it: &Outcome| it.page.cpu_micros - it.ready_made.cpu_micros;
    println!(
        "a page deep in {rows} rows costs {:.2} times the first page of 10000",
        cost(&big) / cost(&first)
    );

    println!("reading files");
    run(bench()?.args(["files", "100000"]))?;

    println!("SQLite, a file from the drop to its last figure");
    import(&folder.join("import.db").display().to_string())?;

    println!("SQLite, insights of one large household");
    let large = folder.join("insights.db");
    insights(&large.display().to_string())?;

    println!("SQLite, approvals of paper trades");
    approvals(&folder.join("approvals.db").display().to_string())?;
    webhooks_on_sqlite(&folder)?;

    println!("PostgreSQL, {rows} rows of {USERS} people");
    let cluster = postgres::Cluster::start()?;
    let place = Place::new(&folder, "postgres", cluster.url());
    place.forget()?;
    place.measured(rows, USERS, false)?;
    place.forget()?;
    println!("PostgreSQL, a file from the drop to its last figure, its own CPU not counted");
    import(&cluster.url())?;
    println!("PostgreSQL, insights of one large household, its own CPU not counted");
    insights(&cluster.url())?;
    println!("PostgreSQL, approvals of paper trades");
    approvals(&cluster.url())?;
    drop(cluster);
    webhooks_on_postgres()
}

/// The part of it that needs no load generator.
pub(crate) fn measure_webhooks() -> Result<()> {
    build()?;
    let folder = target_folder()?.join("bench");
    fs::create_dir_all(&folder)?;
    webhooks_on_sqlite(&folder)?;
    webhooks_on_postgres()
}

/// What is not lost must be on the disk.
fn webhooks_on_postgres() -> Result<()> {
    println!("PostgreSQL that waits for the disk, {DELIVERED} events to webhooks");
    for protocol in PROTOCOLS {
        let cluster = postgres::Cluster::start_durable()?;
        webhooks(&cluster.url(), protocol)?;
    }
    Ok(())
}

fn webhooks_on_sqlite(folder: &Path) -> Result<()> {
    println!("SQLite, {DELIVERED} events to webhooks");
    let folder = folder.join("webhooks");
    for protocol in PROTOCOLS {
        fs::create_dir_all(&folder)?;
        webhooks(&folder.join("evenkeel.db").display().to_string(), protocol)?;
        fs::remove_dir_all(&folder)?;
    }
    Ok(())
}

/// Each on a database of its own, so that none pays for what another left.
fn webhooks(database: &str, protocol: &str) -> Result<()> {
    run(bench()?.args(["webhooks", database, DELIVERED, protocol]))
}

/// A process of its own, so that its memory is its own.
fn import(database: &str) -> Result<()> {
    run(bench()?.args(["import", database, "100000"]))
}

fn insights(database: &str) -> Result<()> {
    run(bench()?.args(["insights", database, "100000"]))
}

fn approvals(database: &str) -> Result<()> {
    run(bench()?.args(["approvals", database, "1000"]))
}

/// A database to measure, with the files that go with it.
struct Place {
    folder: PathBuf,
    name: &'static str,
    database: String,
}

struct Outcome {
    page: Rate,
    ready_made: Rate,
}

#[derive(Clone, Copy)]
struct Rate {
    per_second: f64,
    cpu_micros: f64,
}

impl Place {
    fn new(folder: &Path, name: &'static str, database: String) -> Place {
        Place { folder: folder.to_owned(), name, database }
    }

    fn file(&self, end: &str) -> PathBuf {
        self.folder.join(format!("{}.{end}", self.name))
    }

    /// The keys belong to a database that is gone.
    fn forget(&self) -> Result<()> {
        for file in [self.file("keys"), self.file("targets")] {
            match fs::remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error.into());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Data once made is kept for the next run, except PostgreSQL's, which is thrown away.
    fn measured(&self, rows: u64, users: u64, first_page: bool) -> Result<Outcome> {
        let keys = self.file("keys");
        if !keys.exists() {
            let (users, rows) = (users.to_string(), rows.to_string());
            run(bench()?.args(["fill", &self.database]).arg(&keys).args([users, rows]))?;
        }
        let targets = if first_page {
            keys
        } else {
            let targets = self.file("targets");
            run(bench()?.args(["targets", &self.database]).arg(&keys).arg(&targets))?;
            targets
        };
        let server = Server::start(&self.database)?;
        println!("  idle memory {} MiB", server.memory_mib()?);
        let (mut pages, mut ready_mades) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ready_mades.push(server.load(&self.folder, None)?);
            pages.push(server.load(&self.folder, Some(&targets))?);
        }
        println!("  memory under load {} MiB, mapped pages aside", server.memory_mib()?);
        let outcome = Outcome { page: median(pages), ready_made: median(ready_mades) };
        let Outcome { page, ready_made } = &outcome;
        for (what, rate) in [("ready-made body", ready_made), ("page of 50", page)] {
            let Rate { per_second, cpu_micros } = rate;
            println!("  {what:<16} {per_second:>8.0} a second, {cpu_micros:>5.0} us of CPU each");
        }
        println!("  ratio {:.3}", page.per_second / ready_made.per_second);
        Ok(outcome)
    }
}

/// The folder of the profile that is shipped, which is the one to measure.
const PROFILE: &str = "dist";

pub(crate) fn build() -> Result<()> {
    run(&mut cargo(&["build", "--profile", PROFILE, "--package", "bench"]))
}

pub(crate) fn bench() -> Result<Command> {
    Ok(Command::new(target_folder()?.join(PROFILE).join("bench")))
}

fn median(mut rates: Vec<Rate>) -> Rate {
    rates.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
    rates[rates.len() / 2]
}

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(database: &str) -> Result<Server> {
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let address = format!("127.0.0.1:{port}");
        let mut command = bench()?;
        command.args(["serve", database, &address]).stdin(Stdio::null());
        let server = Server { child: command.spawn().context("starting the server")?, address };
        let began = Instant::now();
        while TcpStream::connect(&server.address).is_err() {
            if began.elapsed() > Duration::from_secs(30) {
                bail!("the server does not listen");
            }
            std::thread::yield_now();
        }
        Ok(server)
    }

    /// One round of load by 32 connections, from a single thread on the same machine.
    fn load(&self, folder: &Path, targets: Option<&Path>) -> Result<Rate> {
        let mut wrk = Command::new("wrk");
        wrk.args(["-t1", "-c32", &format!("-d{ROUND_SECONDS}"), "-s"])
            .arg(folder.join("script.lua"));
        wrk.arg(format!("http://{}/", self.address));
        if let Some(targets) = targets {
            wrk.env("TARGETS", targets);
        }
        let before = self.cpu_micros()?;
        let said = String::from_utf8(output_of(&mut wrk)?)?;
        let spent = self.cpu_micros()? - before;
        if said.contains("Non-2xx") {
            bail!("some requests were refused:\n{said}");
        }
        let number = |words: &str| -> Result<f64> {
            let line = said.lines().find(|it| it.contains(words));
            let words = line.context("wrk said something else")?.split_whitespace();
            words.filter_map(|it| it.parse().ok()).next().context("wrk named no number")
        };
        let requests = number("requests in")?;
        Ok(Rate { per_second: number("Requests/sec")?, cpu_micros: spent / requests })
    }

    /// User and system time so far, from the two fields of `/proc` that count ticks of a hundredth.
    fn cpu_micros(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let after_name = stat.rsplit(") ").next().unwrap_or_default();
        let ticks = after_name.split(' ').skip(11).take(2).filter_map(|it| it.parse::<f64>().ok());
        Ok(ticks.sum::<f64>() * 10_000.0)
    }

    fn memory_mib(&self) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find(|it| it.starts_with("RssAnon:")).unwrap_or_default();
        let kib = line.split_whitespace().nth(1).and_then(|it| it.parse::<u64>().ok());
        Ok(kib.context("the kernel does not tell the memory")? / 1024)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
