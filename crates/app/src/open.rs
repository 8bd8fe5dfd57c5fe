//! From settings to an open database and the `App` that every command works with.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use base::{Clock, Entropy, Network};
use db::{Db, Target};
use service::access::oidc::SingleSignOn;
use service::access::passwords::HashCost;
use service::ledger::quotes::Trading;
use service::platform::installation::{self, Key};
use service::platform::mail_queue::Mailer;
use service::platform::readiness::Disk;
use service::{App, Setup, backup, chains, schema};

use net::{Guard, HttpClient, Policy, SmtpClient};
use s3::Store;
use sources::market::csv::CsvMarket;
use sources::market::demo::DemoMarket;
use sources::market::{Alpaca, QuoteProvider};

use trace::Tracer;

use crate::config::{self, Config, StoreSettings};
use crate::{data_dir, traces};

/// Whether to create the database if it does not exist.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfMissing {
    Fail,
    Create,
}

/// Connections of a command to PostgreSQL. A server's are a setting.
const COMMAND_CONNECTIONS: usize = 2;

/// Opens the database, migrates its schema and checks that it belongs to this installation.
pub(crate) async fn app(config: &Config, want: IfMissing) -> Result<App> {
    app_on(config, database(config, want).await?, Clock::System, Tracer::off()).await
}

/// The same for a server, which creates a missing database and has more connections than a command.
pub(crate) async fn server_app(config: &Config, clock: Clock) -> Result<App> {
    data_dir::create(&config.data_dir)?;
    data_dir::create_database_file(config)?;
    let tracer = traces::start(config, &clock)?;
    let db = connect_with(config, config.database_connections).await?;
    app_on(config, (db, data_dir::find_or_create_key(config)?), clock, tracer).await
}

async fn app_on(
    config: &Config,
    (db, key): (Db, Key),
    clock: Clock,
    tracer: Tracer,
) -> Result<App> {
    migrate(&db, config).await?;
    installation::claim(&db, &key).await?;
    let app = App::new(Setup {
        db,
        clock,
        entropy: Entropy::System,
        installation_key: key,
        rate_limit: config.rate_limit,
        trading: Trading {
            market: market(&config.market)?,
            when_closed: config.when_closed,
            slippage_basis_points: config.slippage_basis_points,
        },
        approvals_life_seconds: config.approvals_life_seconds,
        webhook_client: http_client(
            "webhooks",
            &config.webhooks_allow_networks,
            config.webhooks_ca_file.as_deref(),
        )?,
        bank_client: http_client(
            "connections",
            &config.connections_allow_networks,
            config.connections_ca_file.as_deref(),
        )?,
        rates_url: config.rates_url.clone(),
        bank_providers: config.bank_providers.clone(),
        disk: config.database_url.is_none().then(|| Disk {
            folder: config.data_dir.clone(),
            free_bytes_min: config.free_bytes_min,
        }),
        imports: config.imports,
        backups: backup_plan(config)?,
        mail: mailer(config)?,
        password_cost: HashCost::SAFE,
        password_sign_in: config.password_sign_in,
        single_sign_on: single_sign_on(config)?,
        tracer,
    });
    chains::anchor_missing(&app).await?;
    Ok(app)
}

/// Migrates the schema, unless the operator does that with `evenkeel migrate`.
async fn migrate(db: &Db, config: &Config) -> Result<()> {
    if config.database_migrate {
        copy_before_migration(db, config).await?;
        schema::migrate(db).await?;
        return Ok(());
    }
    let pending = schema::state(db).await?.pending.len();
    ensure!(
        pending == 0,
        "the database needs {pending} migrations that have not run, and database.migrate is false; run \
            `evenkeel migrate` first"
    );
    Ok(())
}

/// Copies the SQLite file beside itself if its schema is about to be migrated, and deletes older copies.
pub(crate) async fn copy_before_migration(db: &Db, config: &Config) -> Result<()> {
    let state = schema::state(db).await?;
    let (Some(_), Some(next)) = (state.found, state.pending.first()) else { return Ok(()) };
    if !config.database_copy || config.database_url.is_some() {
        return Ok(());
    }
    let database = data_dir::database_file(config);
    let copy = config.data_dir.join(format!("{COPIES}{:04}", next.version));
    let (temporary, file) = data_dir::create_temporary(&copy)?;
    let copied = db.copy_file(&temporary).await.map_err(anyhow::Error::from);
    let placed = copied.and_then(|_| {
        file.sync_all()?;
        Ok(std::fs::rename(&temporary, &copy)?)
    });
    placed.inspect_err(|_| drop(std::fs::remove_file(&temporary))).with_context(|| {
        format!(
            "cannot copy {} before its schema is migrated; free some space, or set \
             database.copy_before_migration to false after making a backup",
            database.display()
        )
    })?;
    tracing::info!(copy = %copy.display(), "copied the database before its schema is migrated");
    delete_older_copies(config);
    Ok(())
}

/// The beginning of the names of copies; the number of the migration follows.
const COPIES: &str = "evenkeel.db.before-";
/// Copies that are kept, the newest ones.
const COPIES_KEPT: usize = 2;

/// A copy that cannot be deleted only takes space, so that is not an error.
fn delete_older_copies(config: &Config) {
    let listed = std::fs::read_dir(&config.data_dir).into_iter().flatten().flatten();
    let is_copy = |name: &str| {
        name.strip_prefix(COPIES).is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()))
    };
    let names = listed.map(|it| it.file_name().to_string_lossy().into_owned());
    let mut copies: Vec<String> = names.filter(|it| is_copy(it)).collect();
    copies.sort_unstable();
    copies.reverse();
    for name in copies.iter().skip(COPIES_KEPT) {
        let _ = std::fs::remove_file(config.data_dir.join(name));
    }
}

/// The HTTP client for addresses that people enter. Without certificate authorities on this machine the server still
/// starts, and sends no requests.
fn http_client(
    what: &'static str,
    allow: &[Network],
    ca_file: Option<&Path>,
) -> Result<Option<HttpClient>> {
    let extra_ca = read_ca_file(what, ca_file)?;
    let given = extra_ca.is_some();
    let guard = Guard::Public { allow: allow.to_vec() };
    match HttpClient::new(Policy { guard, extra_ca }) {
        Ok(client) => Ok(Some(client)),
        Err(error) if given => Err(error).with_context(|| format!("{what}.ca_file cannot be used")),
        Err(error) => {
            tracing::warn!(%error, what, "outgoing requests are not possible on this machine");
            Ok(None)
        }
    }
}

/// The scheduled backups of a server.
pub(crate) fn backup_plan(config: &Config) -> Result<Option<backup::Plan>> {
    let Some(settings) = &config.backups else { return Ok(None) };
    let target = match &settings.folder {
        Some(folder) => backup::Target::Folder(folder.clone()),
        None => backup::Target::Store(backup_store(config)?),
    };
    Ok(Some(backup::Plan {
        target,
        every_hours: settings.every_hours,
        hour: settings.hour,
        keep: settings.keep,
        encryption: config.backup_encryption.clone(),
    }))
}

/// The store of backups. The operator chose its address, so private networks are allowed.
pub(crate) fn backup_store(config: &Config) -> Result<Store> {
    let Some(StoreSettings { settings, ca_file }) = &config.backup_store else {
        bail!(
            "no store is set; set backups.s3.endpoint, backups.s3.bucket and the key to reach it"
        );
    };
    let extra_ca = read_ca_file("backups.s3", ca_file.as_deref())?;
    let client = HttpClient::new(Policy { guard: Guard::Any, extra_ca })
        .context("cannot prepare requests to the store of backups; check backups.s3.ca_file")?;
    Store::new(client, Clock::System, settings.clone()).context("backups.s3")
}

/// The client of the mail server. The operator chose its address, so private networks are allowed.
pub(crate) fn mailer(config: &Config) -> Result<Option<Mailer>> {
    let Some(settings) = &config.mail else { return Ok(None) };
    let extra_ca = read_ca_file("mail", settings.ca_file.as_deref())?;
    let client = SmtpClient::new(settings.smtp.clone(), extra_ca.as_deref())
        .context("cannot prepare connections to the mail server; check mail.ca_file")?;
    let (from, public_url) = (settings.from.clone(), settings.public_url.clone());
    Ok(Some(Mailer { client, from, public_url }))
}

/// The providers of single sign-on. The operator chose their addresses, so private networks are allowed.
pub(crate) fn single_sign_on(config: &Config) -> Result<SingleSignOn> {
    if config.oidc_providers.is_empty() {
        return Ok(SingleSignOn::default());
    }
    let extra_ca = read_ca_file("oidc", config.oidc_ca_file.as_deref())?;
    let client = HttpClient::new(Policy { guard: Guard::Any, extra_ca }).context(
        "cannot prepare requests to the providers of single sign-on; check oidc.ca_file",
    )?;
    Ok(SingleSignOn::new(&client, config.oidc_providers.clone()))
}

fn read_ca_file(what: &str, path: Option<&Path>) -> Result<Option<Vec<u8>>> {
    let read = |path: &Path| {
        let read = std::fs::read(path);
        read.with_context(|| format!("cannot read {what}.ca_file {}", path.display()))
    };
    path.map(read).transpose()
}

fn market(from: &config::Market) -> Result<Arc<dyn QuoteProvider>> {
    Ok(match from {
        config::Market::Demo => Arc::new(DemoMarket),
        config::Market::File(path) => Arc::new(CsvMarket::new(path.clone())),
        config::Market::Alpaca { url, key_id, secret_key } => {
            // The operator chose this address, so private networks are allowed.
            let client = HttpClient::new(Policy { guard: Guard::Any, extra_ca: None })
                .context("cannot prepare requests to Alpaca")?;
            Arc::new(Alpaca::new(client, url, key_id.clone(), secret_key.clone()))
        }
    })
}

/// The database without migrating it, and the installation key.
pub(crate) async fn database(config: &Config, want: IfMissing) -> Result<(Db, Key)> {
    let db = match want {
        IfMissing::Fail => existing(config).await?,
        IfMissing::Create => {
            data_dir::create(&config.data_dir)?;
            data_dir::create_database_file(config)?;
            connect(config).await?
        }
    };
    let key = match want {
        IfMissing::Create => data_dir::find_or_create_key(config)?,
        IfMissing::Fail => data_dir::find_key(config)?.with_context(|| {
            format!(
                "{} is missing; restore it from your backup, or set installation_key",
                data_dir::key_file(config).display()
            )
        })?,
    };
    Ok((db, key))
}

/// Refuses a data directory that does not exist: a mistyped path must not become an empty installation.
async fn existing(config: &Config) -> Result<Db> {
    let nothing = |place: String| {
        format!(
            "there is no Evenkeel database in {place}; check --data-dir and --database-url, or \
                create one with `evenkeel serve` or `evenkeel user create`"
        )
    };
    if config.database_url.is_none() && !data_dir::database_file(config).exists() {
        bail!(nothing(config.data_dir.display().to_string()));
    }
    let db = connect(config).await?;
    if db::schema_version(&db).await?.is_none() {
        bail!(nothing("that place".to_owned()));
    }
    Ok(db)
}

/// Opens the database for a command.
pub(crate) async fn connect(config: &Config) -> Result<Db> {
    connect_with(config, COMMAND_CONNECTIONS).await
}

async fn connect_with(config: &Config, connections: usize) -> Result<Db> {
    let Some(url) = &config.database_url else {
        let path = data_dir::database_file(config);
        return Db::open(&Target::sqlite(&path))
            .await
            .with_context(|| format!("cannot open {}", path.display()));
    };
    let target = Target::postgres(url).map_err(|reason| anyhow!("database.url {reason}"))?;
    let mut target = target.with_connections(connections);
    if let Some(url) = &config.database_listen_url {
        let direct = target.with_listen_url(url);
        target = direct.map_err(|reason| anyhow!("database.listen_url {reason}"))?;
    }
    let opened = Db::open(&target).await;
    opened.map_err(|error| {
        let says_what_to_do =
            matches!(error, db::Error::Unsupported(_)) || error.is_out_of_connections();
        let context = match says_what_to_do {
            true => "cannot use PostgreSQL",
            false => {
                "cannot connect to PostgreSQL; check database.url, that the server is running and that it accepts \
                 your login"
            }
        };
        anyhow::Error::new(error).context(context)
    })
}
