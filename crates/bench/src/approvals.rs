//! Measures approvals executed per second against plain transactions of the same writer, and the time to list the
//! holdings of a busy paper account against reading one row.

use anyhow::{Context as _, ensure};
use base::{Clock, Currency, Fixed9, PaperAccountId, TimeZone};
use calc::paper::{Side, Size};
use service::access::sessions::{self, Method, Visit};
use service::access::users::{self, NewUser};
use service::actions::{self, Action, ActionPayload, SeenProposal, Status};
use service::trading::paper;
use service::{App, Caller, Error, Tx};
use tokio::task::JoinSet;
use wire::v1;

use crate::open_at;

/// Approvals in flight at the same time.
const AT_ONCE: usize = 32;
const PEOPLE: usize = 16;
const ROUNDS: usize = 5;
const TRADES: usize = 10_000;
const READS: i64 = 300;
const ROW: &str = "select trade_count from paper_accounts where user_id = $1 and id = $2";
/// Symbols of the demo market.
const SYMBOLS: [&str; 8] = ["AAPL", "MSFT", "VTI", "SPY", "NVDA", "AMZN", "KO", "JNJ"];

/// A person with a session and a paper account with enough cash for all trades.
struct Trader {
    caller: Caller,
    account: PaperAccountId,
}

pub(crate) async fn measure(database: &str, count: usize) -> anyhow::Result<()> {
    // A Tuesday on which the market is open.
    let app = open_at(database, Clock::frozen_at("2026-03-10T15:00:00Z")).await?;
    let mut traders = Vec::with_capacity(PEOPLE);
    for _ in 0..PEOPLE {
        traders.push(trader(&app).await?);
    }
    for (label, traders) in [("16 people", &traders[..]), ("one person", &traders[..1])] {
        let (mut approvals, mut plain) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let proposals = proposals(&app, traders, count).await?;
            plain.push(rate(count, two_writes_each(&app, &proposals)).await?);
            approvals.push(rate(count, approve_all(&app, proposals)).await?);
        }
        let (approvals, plain) = (median(approvals), median(plain));
        let percent = approvals * 100 / plain.max(1);
        println!(
            "  {label:<10} {approvals:>6} approvals executed per second, {plain:>6} pairs of plain \
             transactions, ratio {}.{:02}",
            percent / 100,
            percent % 100
        );
    }
    holdings(&app, &traders[0]).await
}

async fn trader(app: &App) -> anyhow::Result<Trader> {
    let email = format!("{}@example.com", app.ids.make::<base::kinds::User>());
    let new = NewUser {
        email,
        preferred_name: None,
        base_currency: Currency::USD,
        timezone: TimeZone::utc(),
        password: None,
    };
    let user = users::create(app, new).await?;
    let token = sessions::create(app, &user, Method::Password, Visit::default()).await?;
    let (_, caller) = sessions::find(app, &token, None).await?.context("no session")?;
    let payload =
        ActionPayload::PaperAccount { name: "Practice".to_owned(), cash_minor: 100_000_000_000 };
    let action = actions::propose(app, &caller, payload.into()).await?;
    let result = approve(app, &caller, &action).await?.result.context("no account")?;
    let (_, id) = result.split_once(":\"").context("no account")?;
    let account = PaperAccountId::parse(id.trim_end_matches("\"}"))?;
    Ok(Trader { caller, account })
}

async fn approve(app: &App, caller: &Caller, action: &Action) -> anyhow::Result<Action> {
    let seen = SeenProposal::now(app, action).await?;
    let done = actions::approve(app, caller, action.id, seen, None).await?;
    ensure!(
        done.status == Status::Executed,
        "the action was not executed: {:?}",
        done.error_message
    );
    Ok(done)
}

async fn proposals(
    app: &App,
    traders: &[Trader],
    count: usize,
) -> anyhow::Result<Vec<(Caller, Action)>> {
    let mut proposals = Vec::with_capacity(count);
    for number in 0..count {
        let Trader { caller, account } = &traders[number % traders.len()];
        let payload = ActionPayload::Trade {
            account: *account,
            symbol: SYMBOLS[number % SYMBOLS.len()].to_owned(),
            side: Side::Buy,
            size: Size::Shares(Fixed9::ONE),
        };
        proposals.push((caller.clone(), actions::propose(app, caller, payload.into()).await?));
    }
    Ok(proposals)
}

async fn approve_all(app: &App, proposals: Vec<(Caller, Action)>) -> anyhow::Result<()> {
    let mut approvals_in_flight = JoinSet::new();
    for (caller, action) in proposals {
        if approvals_in_flight.len() >= AT_ONCE {
            approvals_in_flight.join_next().await.context("no approval")???;
        }
        let app = app.clone();
        approvals_in_flight.spawn(async move { approve(&app, &caller, &action).await.map(|_| ()) });
    }
    while let Some(done) = approvals_in_flight.join_next().await {
        done??;
    }
    Ok(())
}

/// The best that the writer can do: two transactions in a row, of one statement each.
async fn two_writes_each(app: &App, proposals: &[(Caller, Action)]) -> anyhow::Result<()> {
    const TOUCH: &str = "update users set updated_at = updated_at where id = $1";
    let mut writes = JoinSet::new();
    for (caller, _) in proposals {
        if writes.len() >= AT_ONCE {
            writes.join_next().await.context("no write")???;
        }
        let (app, user) = (app.clone(), caller.user);
        writes.spawn(async move {
            for _ in 0..2 {
                let touch = move |tx: &mut Tx<'_>| Ok(tx.execute(TOUCH, db::params![user])?);
                app.db.write::<u64, Error>(touch).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(done) = writes.join_next().await {
        done??;
    }
    Ok(())
}

async fn rate(count: usize, work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<i64> {
    let began = micros();
    work.await?;
    Ok(count as i64 * 1_000_000 / (micros() - began).max(1))
}

fn micros() -> i64 {
    Clock::System.now().as_microsecond()
}

fn median(mut rates: Vec<i64>) -> i64 {
    rates.sort_unstable();
    rates[rates.len() / 2]
}

/// Measures the work of the endpoint: holdings are read, priced, and written as JSON.
async fn holdings(app: &App, trader: &Trader) -> anyhow::Result<()> {
    let Trader { caller, account } = trader;
    let booked = paper::list_accounts(app, caller).await?.first().map_or(0, |it| it.trade_count);
    let missing = TRADES.saturating_sub(booked as usize);
    let more = proposals(app, std::slice::from_ref(trader), missing).await?;
    approve_all(app, more).await?;
    let (mut bytes, began) = (0, micros());
    for _ in 0..READS {
        let held = paper::list_holdings(app, caller, *account).await?;
        let shown: Vec<v1::PaperHolding> = held.iter().map(v1::PaperHolding::from).collect();
        bytes = serde_json::to_vec(&shown)?.len();
    }
    let listing_micros = (micros() - began) / READS;
    let (values, began) = (db::params![caller.user, *account], micros());
    for _ in 0..READS {
        app.db.first(ROW, values, |row| row.get::<i64>(0)).await?.context("no account")?;
    }
    let row_micros = (micros() - began) / READS;
    println!(
        "  holdings of an account with {TRADES} trades: {listing_micros} us for {bytes} bytes of JSON, reading \
         one row {row_micros} us, ratio {}",
        listing_micros / row_micros.max(1)
    );
    Ok(())
}
