//! Measures syncs with banks: the first sync of a large account, and many connections that are due at once while some
//! banks hang.

mod server;

use std::time::Duration;

use anyhow::{bail, ensure};
use base::draft::Source;
use base::{Clock, ConnectionId};
use service::ingest::connections::{
    self, AddAccount, Choice, LinkAddresses, LinkState, LinkTarget, ProviderSettings, Selection,
    plaid,
};
use service::{App, Caller, Setup, insights};
use tokio::sync::watch;

use crate::import::{Measurement, create_person, peak_kib, reset_peak_memory};
use crate::setup;
use server::PlaidServer;
pub(crate) use server::serve;

const FIRST_SYNC_ROWS: usize = 10_000;
const CONNECTIONS: usize = 1_000;
/// One bank in so many never answers.
const HANGING_EVERY: usize = 50;
const ROWS_OF_EACH: usize = 20;
/// A run that takes longer has failed.
const WITHIN: Duration = Duration::from_secs(600);

pub(crate) async fn measure(database: &str) -> anyhow::Result<()> {
    first_sync(&format!("{database}-first")).await?;
    many_at_once(&format!("{database}-many")).await
}

async fn open(database: &str, server: &PlaidServer) -> anyhow::Result<App> {
    let keys = plaid::Keys {
        client_id: "5f1c0ffee0000000000000aa".to_owned(),
        secret: "c0ffee5ecret00000000000000bb".to_owned(),
        environment: plaid::Environment::Sandbox,
    };
    let provider = ProviderSettings {
        source: Source::Plaid,
        keys: Some(keys.to_secret().into()),
        url: Some(server.url().into()),
    };
    let setup = setup(database, Clock::System).await?;
    let bank_client = Some(server.http_client()?);
    Ok(App::new(Setup { bank_client, bank_providers: vec![provider], ..setup }))
}

/// Connects a bank on the simulated page and chooses its account, so that it is due.
async fn connect(app: &App, caller: &Caller) -> anyhow::Result<ConnectionId> {
    let addresses = LinkAddresses { return_url: None, webhook_url: None };
    let target = LinkTarget::New(Source::Plaid);
    let link = connections::start_link(app, caller, target, addresses).await?;
    let connection = match connections::check_link(app, caller, &link.id, None).await? {
        LinkState::Done { connection } => connection,
        other => bail!("not connected: {other:?}"),
    };
    let offered = connections::list_offers(app, caller, connection).await?;
    let choices = offered.iter().map(|it| Choice {
        external_id: it.external_id.clone(),
        selection: Selection::Add(AddAccount {
            kind: it.kind,
            subtype: it.subtype.clone(),
            name: None,
            owed: it.owed,
        }),
    });
    connections::choose(app, caller, connection, choices.collect()).await?;
    Ok(connection)
}

async fn first_sync(database: &str) -> anyhow::Result<()> {
    let server = PlaidServer::start(FIRST_SYNC_ROWS, 0)?;
    let app = open(database, &server).await?;
    let caller = create_person(&app).await?;
    let connection = connect(&app, &caller).await?;
    println!("  first sync of {FIRST_SYNC_ROWS} transactions over {} pages", FIRST_SYNC_ROWS / 500);
    reset_peak_memory()?;
    let before = Measurement::now()?;
    let synced = connections::sync(&app, &caller, connection).await?;
    before.print("sync")?;
    println!("    {} MiB at most", peak_kib()? / 1_024);
    let new = synced.summary.new;
    ensure!(new == FIRST_SYNC_ROWS, "{new} of {FIRST_SYNC_ROWS} rows were stored");
    let before = Measurement::now()?;
    insights::pipeline::run_all(&app).await?;
    before.print("insights")
}

const SYNCED: &str = "select cast(count(*) as bigint) from connections where synced_at is not null";

async fn many_at_once(database: &str) -> anyhow::Result<()> {
    let server = PlaidServer::start(ROWS_OF_EACH, HANGING_EVERY)?;
    let app = open(database, &server).await?;
    for _ in 0..CONNECTIONS {
        let caller = create_person(&app).await?;
        connect(&app, &caller).await?;
    }
    let hanging = CONNECTIONS / HANGING_EVERY;
    let good = CONNECTIONS - hanging;
    println!(
        "  {CONNECTIONS} connections due at once, {hanging} of them at banks that never answer"
    );
    reset_peak_memory()?;
    let before = Measurement::now()?;
    let (_stop, stopped) = watch::channel(false);
    let running = tokio::spawn(connections::run_syncs(app.clone(), stopped));
    let all_synced = async {
        while app.db.first(SYNCED, &[], |row| row.get::<i64>(0)).await? < Some(good as i64) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok::<_, anyhow::Error>(())
    };
    tokio::time::timeout(WITHIN, all_synced).await??;
    before.print("synced")?;
    let a_second = good as i64 * 1_000 / before.millis().max(1);
    println!("    {a_second} syncs a second, {} MiB at most", peak_kib()? / 1_024);
    running.abort();
    Ok(())
}
