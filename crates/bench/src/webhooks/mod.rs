//! Measures webhook deliveries: their rate, the delay after the commit, the CPU time of each, and whether events are
//! lost when the sender is killed.

mod killed;
mod receive;
mod receiver;
mod usage;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::Duration;

use ::webhooks::outbox;
use anyhow::{Context as _, ensure};
use base::{Clock, Currency, TimeZone, UserId};
use service::access::keys::{self, NewKey};
use service::access::users::{self, NewUser};
use service::webhooks::{self, NewEndpoint};
use service::{App, Scopes, Tx};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;
use wire::v1::Event;

use crate::open_with;
use receiver::Receiver;

pub(crate) use killed::send;
pub(crate) use receive::receive;

/// Changes in flight at the same time, each with one event.
const AT_ONCE: usize = 64;
const PER_KEY: usize = 5;
const STEADY_PER_SECOND: u64 = 200;
const STEADY_SECONDS: u64 = 20;

pub(crate) async fn measure(database: &str, events: usize, protocol: &str) -> anyhow::Result<()> {
    let receiver = Receiver::start(protocol)?;
    let app = open_with(database, Clock::System, Some(receiver.http_client()?)).await?;
    for endpoints in [1, 10] {
        burst(&app, &receiver, endpoints, events).await?;
    }
    backlog(&app, &receiver, events).await?;
    steady(&app, &receiver).await?;
    drop(app);
    killed::measure(database, events, protocol).await
}

/// A person whose events are sent to a number of endpoints.
struct Sender {
    app: App,
    user: UserId,
    postmaster: Option<u32>,
    /// When each change was committed, in microseconds.
    committed_at: Arc<Vec<AtomicI64>>,
}

impl Sender {
    async fn new(
        app: &App,
        receiver: &Receiver,
        endpoints: usize,
        events: usize,
    ) -> anyhow::Result<Sender> {
        let email = format!("{}@example.com", app.ids.make::<base::kinds::User>());
        let (base_currency, timezone) = (Currency::USD, TimeZone::utc());
        let new = NewUser { email, preferred_name: None, base_currency, timezone, password: None };
        let owner = users::create(app, new).await?.owner();
        let mut key = None;
        for number in 0..endpoints {
            if number % PER_KEY == 0 {
                let new = NewKey {
                    name: "bench".to_owned(),
                    scopes: Scopes::all(),
                    accounts: None,
                    expires_at: None,
                };
                key = Some(keys::create(app, &owner, new).await?.0.id);
            }
            let key = key.context("no key")?;
            let new = NewEndpoint {
                url: format!("https://localhost:{}/{number}", receiver.port),
                description: None,
                filter_types: Vec::new(),
            };
            let (mine, owner) = (app.clone(), owner.clone());
            let create =
                move |tx: &mut Tx<'_>| webhooks::create_for_key(&mine, tx, &owner, key, &new);
            app.db.write(create).await?;
        }
        Sender::of(app, owner.user, events).await
    }

    async fn of(app: &App, user: UserId, events: usize) -> anyhow::Result<Sender> {
        let committed_at = Arc::new((0..events).map(|_| AtomicI64::new(0)).collect());
        Ok(Sender {
            app: app.clone(),
            user,
            postmaster: usage::postmaster(app).await?,
            committed_at,
        })
    }

    /// Commits one change with one event.
    fn change(&self, number: usize) -> impl Future<Output = anyhow::Result<()>> + use<> {
        let (app, user, committed_at) = (self.app.clone(), self.user, self.committed_at.clone());
        async move {
            let mine = app.clone();
            let append =
                move |tx: &mut Tx<'_>| outbox::append(&mine.webhooks, tx, user, &[event(number)]);
            app.db.write(append).await?;
            committed_at[number].store(micros(), Relaxed);
            Ok(())
        }
    }

    async fn changes(&self) -> anyhow::Result<()> {
        let mut in_flight = JoinSet::new();
        for number in 0..self.committed_at.len() {
            if in_flight.len() >= AT_ONCE {
                in_flight.join_next().await.context("no change")???;
            }
            in_flight.spawn(self.change(number));
        }
        while let Some(done) = in_flight.join_next().await {
            done??;
        }
        Ok(())
    }

    fn measure_usage(&self, receiver: &Receiver) -> anyhow::Result<Usage> {
        Ok(Usage {
            at: micros(),
            ours: usage::cpu_micros(std::process::id())?,
            database: usage::cpu_micros_of_postgres(self.postmaster)?,
            theirs: usage::cpu_micros(receiver.process())?,
        })
    }

    /// The delays from the commit of each event to its receipts, sorted.
    async fn delays(&self, receiver: &Receiver) -> anyhow::Result<Vec<i64>> {
        let mut committed_at = HashMap::new();
        let mut after = None;
        loop {
            let page = outbox::list(&self.app.db, self.user, after, 1_000).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            for event in &page {
                let (_, rest) =
                    event.data.split_once("txn_").context("an event of another kind")?;
                let number: usize = rest.split('"').next().unwrap_or_default().parse()?;
                committed_at.insert(event.id.to_string(), self.committed_at[number].load(Relaxed));
            }
        }
        let receipts = receiver.take()?;
        let known = receipts.iter().filter_map(|it| Some(it.at - committed_at.get(&it.event)?));
        let mut delays: Vec<i64> = known.map(|it| it.max(0)).collect();
        delays.sort_unstable();
        Ok(delays)
    }
}

struct Usage {
    at: i64,
    ours: i64,
    database: i64,
    theirs: i64,
}

fn micros() -> i64 {
    Clock::System.now().as_microsecond()
}

/// An event about as long as that of an account's sync.
fn event(number: usize) -> Event {
    Event::TransactionsCreated {
        account_id: "acc_00000000000000000000000000".to_owned(),
        transaction_ids: vec![format!("txn_{number:026}")],
        count: 1,
    }
}

/// Runs the webhook engine like the product does, until `work` is done.
async fn while_sending<T>(
    app: &App,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    let (stop, stopped) = watch::channel(false);
    let engine = tokio::spawn(webhooks::run(app.clone(), webhooks::POLL_INTERVAL, stopped));
    let done = work.await;
    let _ = stop.send(true);
    engine.await?;
    done
}

/// Commits changes as fast as possible, and delivers them meanwhile.
async fn burst(
    app: &App,
    receiver: &Receiver,
    endpoints: usize,
    events: usize,
) -> anyhow::Result<()> {
    let sender = Sender::new(app, receiver, endpoints, events).await?;
    let before = sender.measure_usage(receiver)?;
    let after = while_sending(app, async {
        tokio::try_join!(sender.changes(), receiver.wait_for_events(events * endpoints))?;
        sender.measure_usage(receiver)
    });
    let after = after.await?;
    let name = format!("{endpoints} endpoint(s), as events come");
    print_result(&sender, receiver, &name, (&before, &after), events * endpoints).await
}

/// Delivers a backlog of events that were committed while nothing was sent.
async fn backlog(app: &App, receiver: &Receiver, events: usize) -> anyhow::Result<()> {
    let sender = Sender::new(app, receiver, 1, events).await?;
    sender.changes().await?;
    let before = sender.measure_usage(receiver)?;
    let after = while_sending(app, async {
        receiver.wait_for_events(events).await?;
        sender.measure_usage(receiver)
    });
    let after = after.await?;
    print_result(&sender, receiver, "1 endpoint, all at once", (&before, &after), events).await
}

/// Commits changes at a rate so low that no delivery waits for another.
async fn steady(app: &App, receiver: &Receiver) -> anyhow::Result<()> {
    let events = (STEADY_PER_SECOND * STEADY_SECONDS) as usize;
    let sender = Sender::new(app, receiver, 1, events).await?;
    let before = sender.measure_usage(receiver)?;
    let after = while_sending(app, async {
        let mut ticks = tokio::time::interval(Duration::from_micros(1_000_000 / STEADY_PER_SECOND));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let mut in_flight = JoinSet::new();
        for number in 0..events {
            ticks.tick().await;
            in_flight.spawn(sender.change(number));
        }
        for done in in_flight.join_all().await {
            done?;
        }
        receiver.wait_for_events(events).await?;
        sender.measure_usage(receiver)
    });
    let after = after.await?;
    print_result(&sender, receiver, "1 endpoint, 200 a second", (&before, &after), events).await
}

async fn print_result(
    sender: &Sender,
    receiver: &Receiver,
    name: &str,
    (before, after): (&Usage, &Usage),
    deliveries: usize,
) -> anyhow::Result<()> {
    let delays = sender.delays(receiver).await?;
    ensure!(delays.len() >= deliveries, "{} of {deliveries} arrived", delays.len());
    let count = deliveries as i64;
    let percentile = |percent: usize| delays[(delays.len() - 1) * percent / 100];
    println!(
        "  {:<8} {name:<30} {:>6} deliveries/s, delay {:>7} us median {:>8} us 99th, CPU for each {:>4} us \
         ours {:>4} us database ({:>3} us the receiver's), {:>3} MiB, {} twice",
        receiver.protocol,
        count * 1_000_000 / (after.at - before.at).max(1),
        percentile(50),
        percentile(99),
        (after.ours - before.ours) / count,
        (after.database - before.database) / count,
        (after.theirs - before.theirs) / count,
        usage::memory_mib(std::process::id())?,
        delays.len() - deliveries,
    );
    Ok(())
}
