//! Starts a run: a fresh database, the receiver, the people and the servers.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use base::{Clock, Entropy};
use db::{Db, Target};
use service::ledger::quotes::{Trading, WhenClosed};
use service::platform::{installation, limits};
use service::{App, Setup};
use sources::market::demo::DemoMarket;
use testkit::Database;
use testkit::receiver::{self, Receiver};

use crate::Storm;
use crate::history::History;
use crate::people::Person;
use crate::server::{Server, ServerSettings};
use crate::work::floods::{REQUESTS, WINDOW};

const PEOPLE: usize = 3;
/// How long a receiver takes to answer, so that deliveries are in flight when a process is killed or paused.
const RECEIVER_DELAY: Duration = Duration::from_millis(300);

/// Starts everything, and returns the database, which is deleted when it is dropped.
pub(crate) async fn start(
    folder: &Path,
    seed: u64,
    processes: usize,
    length: Duration,
) -> Result<(Arc<Storm>, Database)> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let history = History::new(&folder.join("history.jsonl"))?;
    let database = testkit::postgres_database().await;
    let database = database.context("set EVENKEEL_TEST_POSTGRES to the URL of a PostgreSQL")?;
    let url = database.url().context("the database has no URL")?;
    let key = installation::Key::generate(&Entropy::System);
    let settings = server_settings(folder, &key)?;
    let mut servers = Vec::new();
    for index in 0..processes {
        servers.push(Server::new(index, seed, url).await);
    }
    // All at once on an empty database, so that they compete for the migration.
    for server in &servers {
        server.launch(&settings)?;
    }
    for server in &servers {
        server.wait_until_ready(&settings).await?;
    }
    let app = open_app(url, key).await?;
    let receiver = Receiver::start().await;
    receiver.respond_after(RECEIVER_DELAY);
    let receiver_url = receiver.url.trim_end_matches("/hook").to_owned();
    let mut people = Vec::new();
    for index in 0..PEOPLE {
        people.push(Person::create(&app, index, &receiver_url).await?);
    }
    let storm = Storm {
        seed,
        servers,
        settings,
        people,
        app,
        receiver,
        receiver_url,
        history,
        length,
        ends_at: Instant::now() + length,
        attempted: Default::default(),
        acknowledged: Default::default(),
        decided: Default::default(),
        expected_status: Default::default(),
        left_addresses: Default::default(),
        revoked: Default::default(),
        accepted: Default::default(),
        imported: Default::default(),
    };
    count_clocks(&storm);
    Ok((Arc::new(storm), database))
}

fn count_clocks(storm: &Storm) {
    for server in &storm.servers {
        storm.count_clock(server.clock_offset());
    }
}

impl Storm {
    /// Counts the start of a process whose clock is wrong.
    pub(crate) fn count_clock(&self, offset: i64) {
        match offset {
            1.. => self.history.count("fault: clock ahead"),
            0 => {}
            _ => self.history.count("fault: clock behind"),
        }
    }
}

fn server_settings(folder: &Path, key: &installation::Key) -> Result<ServerSettings> {
    let program = std::env::current_exe()?.with_file_name("evenkeel");
    let folder = folder.canonicalize()?;
    let authority = folder.join("authority.pem");
    fs::write(&authority, receiver::authority())?;
    let environment = [
        ("EVENKEEL_INSTALLATION_KEY", key.to_hex()),
        ("EVENKEEL_WEBHOOKS__CA_FILE", authority.display().to_string()),
        ("EVENKEEL_WEBHOOKS__ALLOW_NETWORKS", "127.0.0.0/8,::1".to_owned()),
        ("EVENKEEL_RATE_LIMIT__REQUESTS", REQUESTS.to_string()),
        ("EVENKEEL_RATE_LIMIT__WINDOW_SECONDS", WINDOW.as_secs().to_string()),
        ("EVENKEEL_TRADING__WHEN_CLOSED", "last_price".to_owned()),
    ];
    let environment = environment.map(|(name, value)| (name.to_owned(), value)).to_vec();
    Ok(ServerSettings { program, folder, environment })
}

/// An app on the servers' database, to prepare and inspect it. It sends no webhooks and runs no background steps.
async fn open_app(url: &str, installation_key: installation::Key) -> Result<App> {
    let target = Target::postgres(url).map_err(anyhow::Error::msg)?;
    Ok(App::new(Setup {
        db: Db::open(&target).await?,
        clock: Clock::System,
        entropy: Entropy::System,
        installation_key,
        rate_limit: limits::Policy {
            requests: i64::try_from(REQUESTS)?,
            window_seconds: i64::try_from(WINDOW.as_secs())?,
        },
        trading: Trading {
            market: Arc::new(DemoMarket),
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
    }))
}
