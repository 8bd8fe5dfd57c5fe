//! Benchmarks: speed on load-test data, compared with a prebuilt body of the same size, and quality of the results.

mod approvals;
mod banks;
mod files;
mod fill;
mod households;
mod import;
mod insight_processes;
mod insights;
mod pages;
mod plaid_sandbox;
mod quality;
mod serve;
mod webhooks;

use std::path::Path;
use std::sync::Arc;

use anyhow::{bail, ensure};
use base::{Clock, Entropy};
// Links the memory functions of the shipped program.
use memops as _;
use service::ledger::quotes::{Trading, WhenClosed};
use service::platform::installation;
use service::platform::limits::Policy;
use service::{App, Setup, schema};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "usage: bench fill DATABASE KEYS USERS ROWS
       bench targets DATABASE KEYS FILE   a key and a cursor per line
       bench serve DATABASE LISTEN        the server, and /ready-made for comparison
       bench insights DATABASE ROWS       CPU time of the insights of a large household
       bench pages DATABASE               CPU time and size of the pages with 10,000 and 100,000 transactions
       bench insight-processes DATABASE PEOPLE ROWS
                                          recomputes per second with one process and with three
       bench approvals DATABASE N         approvals per second, and a busy account's holdings
       bench import DATABASE ROWS [csv]   time and memory of importing a large file, and how long others wait; as CSV,
                                          250000 rows have 52 MB
       bench banks DATABASE               the first sync of a large account, and 1000 connections due at once; the
                                          name of a SQLite database
       bench files ROWS                   speed of parsing statements of that many rows
       bench webhooks DATABASE EVENTS PROTOCOL
                                          deliveries per second over http/1.1 or h2, their delay and cost, and a
                                          sender that is killed
       bench quality SEEDS ORIGIN [FILE]  quality of the results; fails below the goals";

fn main() -> anyhow::Result<()> {
    // Like the product: more threads than cores, because SQLite is read on them.
    let threads = std::thread::available_parallelism().map_or(4, |it| 4.max(2 * it.get()));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["fill", database, keys, users, rows] => {
            let (users, rows) = (users.parse()?, rows.parse()?);
            runtime.block_on(fill::fill(database, Path::new(keys), users, rows))
        }
        ["targets", database, keys, file] => {
            runtime.block_on(fill::targets(database, Path::new(keys), Path::new(file)))
        }
        ["serve", database, listen] => runtime.block_on(serve::serve(database, listen)),
        ["insights", database, rows] => {
            runtime.block_on(insights::measure(database, rows.parse()?))
        }
        ["pages", database] => runtime.block_on(pages::measure(database)),
        ["insight-processes", database, people, rows] => {
            let (people, rows) = (people.parse()?, rows.parse()?);
            runtime.block_on(insight_processes::measure(database, people, rows))
        }
        // Started as a child process by `bench insight-processes`.
        ["recompute", database] => runtime.block_on(insight_processes::recompute(database)),
        ["approvals", database, count] => {
            runtime.block_on(approvals::measure(database, count.parse()?))
        }
        ["import", database, rows, "csv"] => {
            runtime.block_on(import::measure_csv(database, rows.parse()?))
        }
        ["import", database, rows] => runtime.block_on(import::measure(database, rows.parse()?)),
        ["banks", database] => runtime.block_on(banks::measure(database)),
        // Started as a child process by `bench banks`.
        ["plaid-server", rows, hanging_every] => {
            runtime.block_on(banks::serve(rows.parse()?, hanging_every.parse()?))
        }
        // Started by `cargo xtask plaid-sandbox`.
        ["plaid-sandbox"] => runtime.block_on(plaid_sandbox::run_with_keys_from_input()),
        ["files", rows] => files::measure(rows.parse()?),
        ["webhooks", database, events, protocol @ ("http/1.1" | "h2")] => {
            runtime.block_on(webhooks::measure(database, events.parse()?, protocol))
        }
        // These two are started as child processes by `bench webhooks`.
        ["receive", protocol] => runtime.block_on(webhooks::receive(protocol)),
        ["send", database, certificate, user, events] => {
            runtime.block_on(webhooks::send(database, certificate, user, events.parse()?))
        }
        ["quality", seeds, origin, outside @ ..] if outside.len() < 2 => {
            let outside = outside.first().map(Path::new);
            let reached = runtime.block_on(quality::measure(seeds.parse()?, origin, outside))?;
            ensure!(reached, "a goal is missed");
            Ok(())
        }
        _ => bail!("{USAGE}"),
    }
}

/// Opens the app without a practical rate limit, and with a key that all runs share, so that cursors stay valid.
async fn open(database: &str) -> anyhow::Result<App> {
    open_at(database, Clock::System).await
}

async fn open_at(database: &str, clock: Clock) -> anyhow::Result<App> {
    open_with(database, clock, None).await
}

async fn open_with(
    database: &str,
    clock: Clock,
    webhook_client: Option<net::HttpClient>,
) -> anyhow::Result<App> {
    Ok(App::new(Setup { webhook_client, ..setup(database, clock).await? }))
}

async fn setup(database: &str, clock: Clock) -> anyhow::Result<Setup> {
    let target = if database.starts_with("postgres://") {
        db::Target::postgres(database).map_err(anyhow::Error::msg)?
    } else {
        db::Target::sqlite(Path::new(database))
    };
    let db = db::Db::open(&target).await?;
    db.migrate(schema::MIGRATIONS).await?;
    let installation_key = installation::Key::generate(&Entropy::seeded(1));
    installation::claim(&db, &installation_key).await?;
    Ok(Setup {
        db,
        clock,
        entropy: Entropy::System,
        installation_key,
        // No request is refused, and the window of a key holds about as many requests as the default limit allows: each is a
        // row in PostgreSQL, and the rows of a window are read for each request.
        rate_limit: Policy { requests: 1_000_000_000, window_seconds: 8 },
        trading: Trading {
            market: Arc::new(sources::market::demo::DemoMarket),
            when_closed: WhenClosed::LastPrice,
            slippage_basis_points: 0,
        },
        approvals_life_seconds: 86_400,
        webhook_client: None,
        bank_client: None,
        bank_providers: Vec::new(),
        disk: None,
        imports: Default::default(),
        backups: None,
        mail: None,
        password_cost: service::access::passwords::HashCost::SAFE,
        password_sign_in: true,
        single_sign_on: Default::default(),
        tracer: Default::default(),
        rates_url: None,
    })
}
