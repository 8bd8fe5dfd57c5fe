//! How long a large file takes from the drop to the last figure worked out from it, and how much memory at most.

use std::fs;

use anyhow::{Context as _, ensure};
use base::draft::AccountKind;
use base::{Clock, Currency, Timestamp};
use service::access::users::{self, NewUser};
use service::ingest::imports::files;
use service::{App, Caller, insights};

use crate::files::Ofx;
use crate::households::{self, World};
use crate::insights::cpu_micros;
use crate::open_at;

pub(crate) async fn measure(database: &str, rows: usize) -> anyhow::Result<()> {
    let world = households::big(1, rows);
    let now: Timestamp = format!("{}T12:00:00Z", world.as_of).parse()?;
    let content = ofx(&world)?.into_bytes();
    let rows = world.transactions.len();
    drop(world);
    let app = open_at(database, Clock::frozen_at(&now.to_string())).await?;
    let email = format!("{}@example.com", app.ids.make::<base::kinds::User>());
    let new = NewUser { email, preferred_name: None, base_currency: Currency::USD, password: None };
    let caller = Caller::owner(users::create(&app, new).await?.id);
    println!("  {rows} rows in {} MB", content.len() / 1_000_000);
    forget_peak()?;
    let before = Spent::now()?;
    take(&app, &caller, content, rows).await?;
    before.tell("in all")?;
    let a_second = rows as i64 * 1_000 / before.millis().max(1);
    println!("    {a_second} rows a second, {} MiB at most", peak_kib()? / 1_024);
    Ok(())
}

/// As the page does it: dropped, looked at, agreed to, and worked out behind it.
async fn take(app: &App, caller: &Caller, content: Vec<u8>, rows: usize) -> anyhow::Result<()> {
    let before = Spent::now()?;
    let id = files::stage(app, caller, "statement.ofx", content).await?;
    before.tell("hold")?;
    let before = Spent::now()?;
    let taken = files::commit(app, caller, id).await?;
    ensure!(taken.summary.new == rows, "{} of {rows} rows were taken in", taken.summary.new);
    before.tell("take")?;
    let before = Spent::now()?;
    insights::pipeline::run_all(app).await?;
    before.tell("insights")
}

struct Spent {
    at: Timestamp,
    cpu_micros: u64,
}

impl Spent {
    fn now() -> anyhow::Result<Spent> {
        Ok(Spent { at: Clock::System.now(), cpu_micros: cpu_micros()? })
    }

    fn millis(&self) -> i64 {
        (Clock::System.now().as_microsecond() - self.at.as_microsecond()) / 1_000
    }

    fn tell(&self, what: &str) -> anyhow::Result<()> {
        let (wall, cpu) = (self.millis(), cpu_micros()? - self.cpu_micros);
        println!("    {what:<9}{wall:>6} ms, {:>6} ms of CPU", cpu / 1_000);
        Ok(())
    }
}

/// What this process ever held in memory, with the pages of the database that are mapped into it.
fn peak_kib() -> anyhow::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let kib = line.and_then(|it| it.split_whitespace().next()).and_then(|it| it.parse().ok());
    kib.context("the kernel does not tell the memory")
}

/// Making the file up takes memory too, which is not what is measured.
fn forget_peak() -> anyhow::Result<()> {
    fs::write("/proc/self/clear_refs", "5").context("the kernel does not forget a peak")
}

/// Each account as a bank or a card has it.
fn ofx(world: &World) -> anyhow::Result<String> {
    let mut ofx = Ofx::new(false);
    for (place, account) in world.accounts.iter().enumerate() {
        ofx.begin(&account.external_id, account.kind == AccountKind::Credit, account.currency)?;
        let rows = world.transactions.iter().enumerate().filter(|it| it.1.account == place);
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
