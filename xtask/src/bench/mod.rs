//! Benchmarks as ratios within one run: a page of transactions against a prebuilt body of its size, and approvals
//! against plain transactions. Webhooks are measured in absolute numbers.
#![expect(clippy::float_arithmetic, reason = "rates are measured, not money")]

pub(crate) mod mcp;

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::dist::{self, program};
use crate::{cargo, install, output_of, postgres, run, target_folder};

const USERS: u64 = 500;
const ROUNDS: usize = 5;
const ROUND_SECONDS: u64 = 6;
const DELIVERED: &str = "20000";
const PROTOCOLS: [&str; 2] = ["http/1.1", "h2"];

/// Sends one of the prepared requests at random. Without targets, the same script requests the prebuilt body.
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
    let sqlite =
        BenchDatabase::new(&folder, "sqlite", folder.join("sqlite.db").display().to_string());
    let big = sqlite.measure(rows, USERS, false)?;

    println!("SQLite, the first page of 10000 rows");
    let small = BenchDatabase::new(&folder, "small", folder.join("small.db").display().to_string());
    let first = small.measure(10_000, 1, true)?;
    let cost = |it: &Outcome| it.page.cpu_micros - it.ready_made.cpu_micros;
    println!(
        "a page deep in {rows} rows costs {:.2} times the first page of 10000",
        cost(&big) / cost(&first)
    );

    println!("reading files");
    run(bench()?.args(["files", "100000"]))?;

    println!("SQLite, importing a large file");
    import(&folder.join("import.db").display().to_string())?;

    banks(&folder)?;

    println!("SQLite, insights of one large household");
    let large = folder.join("insights.db");
    insights(&large.display().to_string())?;

    println!("SQLite, pages of one person");
    pages(&folder)?;

    println!("SQLite, approvals of paper trades");
    approvals(&folder.join("approvals.db").display().to_string())?;
    webhooks_on_sqlite(&folder)?;

    println!("PostgreSQL, {rows} rows of {USERS} people");
    let cluster = postgres::Cluster::start()?;
    let postgres_database = BenchDatabase::new(&folder, "postgres", cluster.url());
    postgres_database.remove_files()?;
    postgres_database.measure(rows, USERS, false)?;
    postgres_database.remove_files()?;
    println!("PostgreSQL, importing a large file, without the CPU time of the server");
    import(&cluster.url())?;
    println!("PostgreSQL, insights of one large household, without the CPU time of the server");
    insights(&cluster.url())?;
    println!("PostgreSQL, approvals of paper trades");
    approvals(&cluster.url())?;
    drop(cluster);
    webhooks_on_postgres()
}

/// Measures only the pages for people.
pub(crate) fn measure_pages() -> Result<()> {
    build()?;
    pages(&target_folder()?.join("bench"))
}

fn pages(folder: &Path) -> Result<()> {
    let folder = folder.join("pages");
    fs::create_dir_all(&folder)?;
    run(bench()?.args(["pages", &folder.join("evenkeel.db").display().to_string()]))?;
    Ok(fs::remove_dir_all(&folder)?)
}

/// Measures only syncs with banks.
pub(crate) fn measure_banks() -> Result<()> {
    build()?;
    banks(&target_folder()?.join("bench"))
}

fn banks(folder: &Path) -> Result<()> {
    println!("SQLite, syncs with banks");
    let folder = folder.join("banks");
    fs::create_dir_all(&folder)?;
    run(bench()?.args(["banks", &folder.join("evenkeel.db").display().to_string()]))?;
    Ok(fs::remove_dir_all(&folder)?)
}

/// Measures only webhooks, which need no load generator.
pub(crate) fn measure_webhooks() -> Result<()> {
    build()?;
    let folder = target_folder()?.join("bench");
    fs::create_dir_all(&folder)?;
    webhooks_on_sqlite(&folder)?;
    webhooks_on_postgres()
}

/// Uses a PostgreSQL that syncs to disk, because events that survive a kill must be on disk.
fn webhooks_on_postgres() -> Result<()> {
    println!("PostgreSQL with fsync, {DELIVERED} events to webhooks");
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

/// Each run has its own database, so that none is slowed by the data of another.
fn webhooks(database: &str, protocol: &str) -> Result<()> {
    run(bench()?.args(["webhooks", database, DELIVERED, protocol]))
}

/// Runs in a separate process, so that its peak memory can be measured.
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
struct BenchDatabase {
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

impl BenchDatabase {
    fn new(folder: &Path, name: &'static str, database: String) -> BenchDatabase {
        BenchDatabase { folder: folder.to_owned(), name, database }
    }

    fn file(&self, end: &str) -> PathBuf {
        self.folder.join(format!("{}.{end}", self.name))
    }

    /// Removes the keys and targets of a database that no longer exists.
    fn remove_files(&self) -> Result<()> {
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

    /// Fills the database, unless an earlier run has.
    fn fill(&self, rows: u64, users: u64) -> Result<()> {
        let keys = self.file("keys");
        if keys.exists() {
            return Ok(());
        }
        let (users, rows) = (users.to_string(), rows.to_string());
        run(bench()?.args(["fill", &self.database]).arg(&keys).args([users, rows]))
    }

    /// Measures the database, and fills it first if necessary. SQLite data is kept for the next run, PostgreSQL data is
    /// not.
    fn measure(&self, rows: u64, users: u64, first_page: bool) -> Result<Outcome> {
        self.fill(rows, users)?;
        let keys = self.file("keys");
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
        println!("  memory under load {} MiB, without mapped pages", server.memory_mib()?);
        let outcome = Outcome { page: median(pages), ready_made: median(ready_mades) };
        let Outcome { page, ready_made } = &outcome;
        for (what, rate) in [("ready-made body", ready_made), ("page of 50", page)] {
            let Rate { per_second, cpu_micros } = rate;
            println!("  {what:<16} {per_second:>8.0} per second, {cpu_micros:>5.0} us of CPU each");
        }
        println!("  ratio {:.3}", page.per_second / ready_made.per_second);
        Ok(outcome)
    }
}

/// The build profile that is shipped.
const PROFILE: &str = "dist";

/// Builds the benchmarks as the product is shipped: as a static program on Linux, for this system elsewhere.
pub(crate) fn build() -> Result<()> {
    match dist::own_target() {
        Some(target) => {
            program::compile(target, "bench", program::commit_seconds()?)?;
            Ok(())
        }
        None => run(&mut cargo(&["build", "--profile", PROFILE, "--package", "bench"])),
    }
}

pub(crate) fn bench() -> Result<Command> {
    let path = match dist::own_target() {
        Some(target) => program::path(target, "bench")?,
        None => target_folder()?.join(PROFILE).join("bench"),
    };
    Ok(Command::new(path))
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

    fn load(&self, folder: &Path, targets: Option<&Path>) -> Result<Rate> {
        let targets = targets.map(|it| it.display().to_string());
        let environment: Vec<(&str, &str)> = targets.iter().map(|it| ("TARGETS", &**it)).collect();
        self.load_with(&folder.join("script.lua"), &environment)
    }

    /// One round of load with 32 connections, from a single thread on the same machine.
    fn load_with(&self, script: &Path, environment: &[(&str, &str)]) -> Result<Rate> {
        let mut wrk = Command::new("wrk");
        wrk.args(["-t1", "-c32", &format!("-d{ROUND_SECONDS}"), "-s"]).arg(script);
        wrk.arg(format!("http://{}/", self.address)).envs(environment.iter().copied());
        let before = self.cpu_micros()?;
        let output = String::from_utf8(output_of(&mut wrk)?)?;
        let cpu_used = self.cpu_micros()? - before;
        if output.contains("Non-2xx") {
            bail!("some requests were refused:\n{output}");
        }
        let number = |words: &str| -> Result<f64> {
            let line = output.lines().find(|it| it.contains(words));
            let words = line.context("the output of wrk is not as expected")?.split_whitespace();
            words.filter_map(|it| it.parse().ok()).next().context("wrk printed no number")
        };
        let requests = number("requests in")?;
        Ok(Rate { per_second: number("Requests/sec")?, cpu_micros: cpu_used / requests })
    }

    /// User and system time so far, from two fields of `/proc` that count hundredths of a second.
    fn cpu_micros(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let after_name = stat.rsplit(") ").next().unwrap_or_default();
        let ticks = after_name.split(' ').skip(11).take(2).filter_map(|it| it.parse::<f64>().ok());
        Ok(ticks.sum::<f64>() * 10_000.0)
    }

    fn memory_mib(&self) -> Result<u64> {
        Ok(self.status("RssAnon:")? / 1024)
    }

    /// A number that the kernel reports about the process.
    fn status(&self, name: &str) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find(|it| it.starts_with(name)).unwrap_or_default();
        let number = line.split_whitespace().nth(1).and_then(|it| it.parse().ok());
        number.with_context(|| format!("the kernel does not report {name}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
