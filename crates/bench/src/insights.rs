//! Measures the CPU time of computing all insights of a large household, and of updating them for fifty new rows.

use std::fs;

use base::draft::{Source, Statement};
use base::{Clock, Currency, TimeZone, Timestamp};
use service::access::users::{self, NewUser};
use service::ingest::imports;
use service::insights::spending::{self, GroupBy, Query};
use service::{App, Caller, insights};

use crate::households::{self, World};
use crate::open_at;

const ROWS_LATE: usize = 50;
const ROUNDS: usize = 7;
const READS: u64 = 51;

pub(crate) async fn measure(database: &str, rows: usize) -> anyhow::Result<()> {
    let world = households::large_household(1, rows);
    let now: Timestamp = format!("{}T12:00:00Z", world.as_of).parse()?;
    let app = open_at(database, Clock::frozen_at(&now.to_string())).await?;
    let caller = new_person(&app).await?;
    let mut newest: Vec<usize> = (0..world.transactions.len()).collect();
    newest.sort_by_key(|it| world.transactions[*it].draft.posted_on);
    let late = newest.split_off(newest.len() - ROUNDS * ROWS_LATE);
    imports::commit(&app, &caller, statement(&world, &newest, now)).await?;
    println!("  {} rows, everything: {}", newest.len(), run_and_measure(&app).await?);
    service::platform::dirty_queue::request_recompute(&app, caller.user).await?;
    println!("  everything again, nothing new: {}", run_and_measure(&app).await?);
    for rows in late.chunks(ROWS_LATE) {
        imports::commit(&app, &caller, statement(&world, rows, now)).await?;
        println!("  {ROWS_LATE} new rows: {}", run_and_measure(&app).await?);
    }
    measure_spending(&app, &caller, world.as_of).await
}

/// A new person with a random email.
pub(crate) async fn new_person(app: &App) -> anyhow::Result<Caller> {
    let email = format!("{}@example.com", app.ids.make::<base::kinds::User>());
    let new = NewUser {
        email,
        preferred_name: None,
        base_currency: Currency::USD,
        timezone: TimeZone::utc(),
        password: None,
    };
    Ok(users::create(app, new).await?.owner())
}

/// Measures sums over two years, as the mean of many reads.
async fn measure_spending(app: &App, caller: &Caller, end: base::Date) -> anyhow::Result<()> {
    let start = base::date_from_days(base::days_from_date(end) - 729);
    for group_by in GroupBy::ALL {
        let (start_on, end_on, group_by) = (Some(start), Some(end), *group_by);
        let query = Query { start_on, end_on, group_by, limit: 50, ..Query::default() };
        let before = cpu_micros()?;
        for _ in 0..READS {
            spending::get(app, caller, &query).await?;
        }
        let micros = (cpu_micros()? - before) / READS;
        println!("  spending over 24 months by {}: {micros} us of CPU", group_by.as_str());
    }
    Ok(())
}

pub(crate) fn statement(world: &World, rows: &[usize], as_of: Timestamp) -> Statement {
    let mut accounts = world.accounts.clone();
    for row in rows {
        let labeled = &world.transactions[*row];
        let mut draft = labeled.draft.clone();
        draft.external_id = Some(row.to_string());
        accounts[labeled.account].transactions.push(draft);
    }
    Statement {
        source: Source::File,
        connection: "bank".to_owned(),
        institution: None,
        as_of,
        accounts,
        rates: Vec::new(),
    }
}

/// Runs the queued work. Returns the CPU time it took.
async fn run_and_measure(app: &App) -> anyhow::Result<String> {
    let before = cpu_micros()?;
    insights::pipeline::run_all(app).await?;
    Ok(format!("{:>5} ms of CPU", (cpu_micros()? - before) / 1000))
}

/// CPU time of all threads of this process, from the scheduler's statistics.
pub(crate) fn cpu_micros() -> anyhow::Result<u64> {
    let mut nanos = 0;
    for task in fs::read_dir("/proc/self/task")? {
        // A thread may end after it was listed.
        let Ok(text) = fs::read_to_string(task?.path().join("schedstat")) else { continue };
        nanos += text.split(' ').next().unwrap_or("0").parse::<u64>()?;
    }
    Ok(nanos / 1000)
}
