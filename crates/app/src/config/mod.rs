//! Configuration: read once, checked once, then just values. The only place that reads the
//! environment.

mod backup_keys;
mod backups;
mod key;
mod keys;
mod layers;
mod mail;
mod mail_keys;
mod otel;
mod provider_keys;
mod show;
mod single_sign_on;
#[cfg(test)]
mod tests;
mod value;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use base::draft::Source;
use service::access::oidc;
use service::backup;
use service::ingest::connections::{ProviderSettings, Secret, plaid};
use service::ingest::imports::files;
use service::ledger::quotes::WhenClosed;
use service::platform::installation;
use service::platform::limits::Policy;

use layers::Settings;

pub(crate) use backups::{BackupSettings, StoreSettings};
pub(crate) use mail::MailSettings;
pub(crate) use otel::Traces;
pub(crate) use show::reference;

/// Settings given on the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) file: Option<PathBuf>,
    /// For each flag: the setting's name, the flag and the value.
    pub(crate) values: Vec<(&'static str, &'static str, String)>,
}

pub(crate) struct Config {
    pub(crate) listen: String,
    pub(crate) public_url: Option<String>,
    pub(crate) proxies: Vec<base::Network>,
    pub(crate) connections_max: usize,
    pub(crate) connections_per_address: Option<usize>,
    pub(crate) stop_delay: Duration,
    pub(crate) drain_max: Duration,
    pub(crate) data_dir: PathBuf,
    /// Whether the data directory was set explicitly.
    pub(crate) data_dir_given: bool,
    pub(crate) installation_key: Option<installation::Key>,
    pub(crate) database_url: Option<String>,
    /// Whether programs migrate the schema when they start.
    pub(crate) database_migrate: bool,
    /// Whether the SQLite file is copied before a migration.
    pub(crate) database_copy: bool,
    pub(crate) database_connections: usize,
    pub(crate) database_listen_url: Option<String>,
    /// Free space on the disk of the database file below which the server is not ready.
    pub(crate) free_bytes_min: u64,
    /// Whether the database password was given as a flag, which others on this machine can see in the process list.
    pub(crate) is_password_exposed: bool,
    pub(crate) rate_limit: Policy,
    pub(crate) metrics_listen: Option<String>,
    pub(crate) metrics_public: bool,
    pub(crate) cors_origins: Vec<String>,
    pub(crate) sign_up_open: bool,
    pub(crate) password_sign_in: bool,
    pub(crate) oidc_ca_file: Option<PathBuf>,
    pub(crate) oidc_providers: Vec<oidc::ProviderSettings>,
    pub(crate) oauth_registration: bool,
    pub(crate) mcp: web::McpMode,
    /// The API key of `evenkeel mcp`.
    pub(crate) mcp_key: Option<String>,
    pub(crate) approvals_life_seconds: i64,
    pub(crate) webhooks_allow_networks: Vec<base::Network>,
    pub(crate) webhooks_ca_file: Option<PathBuf>,
    pub(crate) connections_allow_networks: Vec<base::Network>,
    pub(crate) connections_ca_file: Option<PathBuf>,
    /// The address of the exchange rates; none if the operator does not allow the server to fetch them.
    pub(crate) rates_url: Option<String>,
    pub(crate) bank_providers: Vec<ProviderSettings>,
    pub(crate) imports: files::Limits,
    /// Scheduled backups of a server.
    pub(crate) backups: Option<BackupSettings>,
    pub(crate) backup_store: Option<StoreSettings>,
    pub(crate) backup_encryption: Option<backup::Encryption>,
    /// The passphrase and secret keys with which `evenkeel restore` opens encrypted backups.
    pub(crate) backup_secrets: backup::Secrets,
    pub(crate) mail: Option<MailSettings>,
    pub(crate) market: Market,
    pub(crate) when_closed: WhenClosed,
    pub(crate) when_closed_given: bool,
    pub(crate) slippage_basis_points: u32,
    pub(crate) log_level: String,
    pub(crate) log_level_given: bool,
    pub(crate) log_format: String,
    pub(crate) demo_feed_seconds: u32,
    /// The collector that gets the traces, and how; none if traces are off.
    pub(crate) traces: Option<Traces>,
    settings: Settings,
}

/// The place to look for a configuration file if none was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// `evenkeel.toml` in the data directory.
    DataDir,
    /// The same, but not in the default directory: the demo must not pick up the settings, and so
    /// the database, of the real installation in the folder it happens to be started from.
    GivenDataDir,
}

pub(crate) fn load(flags: &Flags, search: Search) -> Result<Config> {
    load_with(flags, search, std::env::vars_os().collect())
}

fn load_with(
    flags: &Flags,
    search: Search,
    variables: Vec<(OsString, OsString)>,
) -> Result<Config> {
    // The flags and variables, which take precedence over the file, also say where the file is.
    let mut above = Settings::defaults()?;
    above.add_environment(variables.iter().cloned())?;
    above.add_flags(&flags.values)?;

    let mut settings = Settings::defaults()?;
    if let Some(file) = &flags.file {
        settings.add_file(file)?;
    } else if search == Search::DataDir || above.is_given("data_dir") {
        let file = Path::new(&above.text("data_dir")?).join("evenkeel.toml");
        if file.exists() {
            settings.add_file(&file)?;
        }
        ensure!(
            !settings.is_given("data_dir"),
            "data_dir cannot be set by the file inside the data directory; use --data-dir, \
             EVENKEEL_DATA_DIR, or a file elsewhere that --config names"
        );
    }
    let traces = otel::parse(&variables)?;
    settings.add_environment(variables.into_iter())?;
    settings.add_flags(&flags.values)?;
    Ok(Config { traces, ..Config::new(settings)? })
}

/// The settings of Plaid: keys, if the operator has some, and its address, if it is another.
fn plaid(all: &Settings) -> Result<ProviderSettings> {
    let (id, secret) = (all.maybe_text("plaid.client_id"), all.maybe_text("plaid.secret"));
    ensure!(
        id.is_some() == secret.is_some(),
        "plaid.client_id and plaid.secret belong together; set both or neither"
    );
    let environment = plaid::Environment::parse(&all.text("plaid.environment")?);
    let environment = environment.unwrap_or(plaid::Environment::Production);
    let read = |(client_id, secret)| -> Result<Secret> {
        let keys = plaid::Keys { client_id, secret, environment }.to_secret();
        let checked = plaid::Keys::read(&keys);
        checked.context("plaid.client_id and plaid.secret cannot be used")?;
        Ok(keys)
    };
    let keys = id.zip(secret).map(read).transpose()?.map(Arc::new);
    let url = all.maybe_text("plaid.url").map(Arc::from);
    Ok(ProviderSettings { source: Source::Plaid, keys, url })
}

/// The settings of Enable Banking: its address, if it is another. Applications are each person's own.
fn enable_banking(all: &Settings) -> ProviderSettings {
    let url = all.maybe_text("enable_banking.url").map(Arc::from);
    ProviderSettings { source: Source::EnableBanking, keys: None, url }
}

/// The provider of market prices.
#[derive(Debug, Clone)]
pub(crate) enum Market {
    Demo,
    File(PathBuf),
    Alpaca { url: String, key_id: String, secret_key: String },
}

impl Market {
    fn new(all: &Settings) -> Result<Market> {
        let needed = |name: &str, source: &str| {
            all.maybe_text(name).with_context(|| {
                format!("market.source is {source}, which needs {name}; set it, or use demo")
            })
        };
        match all.text("market.source")?.as_str() {
            "file" => Ok(Market::File(PathBuf::from(needed("market.path", "file")?))),
            "alpaca" => Ok(Market::Alpaca {
                url: all.text("market.alpaca_url")?,
                key_id: needed("market.alpaca_key_id", "alpaca")?,
                secret_key: needed("market.alpaca_secret_key", "alpaca")?,
            }),
            _ => Ok(Market::Demo),
        }
    }
}

fn import_limits(all: &Settings) -> Result<files::Limits> {
    let mib = |name: &str| Ok::<i64, anyhow::Error>(all.count(name)? << 20);
    Ok(files::Limits {
        reading: files::ReadingLimits {
            unpacked_bytes: u64::try_from(mib("imports.unpacked_mib")?)?,
            rows: usize::try_from(all.count("imports.rows")?)?,
        },
        staged_bytes_per_person: mib("imports.staged_mib_per_person")?,
        staged_bytes: mib("imports.staged_mib")?,
        readers: usize::try_from(all.count("imports.readers")?)?,
    })
}

fn mcp_mode(all: &Settings) -> Result<web::McpMode> {
    let is_true = |name: &str| -> Result<bool> { Ok(all.text(name)? == "true") };
    Ok(match (is_true("mcp.enabled")?, is_true("mcp.read_only")?) {
        (false, _) => web::McpMode::Off,
        (true, true) => web::McpMode::ReadOnly,
        (true, false) => web::McpMode::On,
    })
}

fn installation_key(all: &Settings) -> Option<installation::Key> {
    installation::Key::parse(&all.maybe_text("installation_key")?)
}

impl Config {
    fn new(all: Settings) -> Result<Config> {
        let seconds = |name: &str| -> Result<Duration> {
            Ok(Duration::from_secs(u64::try_from(all.count(name)?)?))
        };
        let networks =
            |name: &str| all.list(name).iter().filter_map(|it| it.parse().ok()).collect();
        Ok(Config {
            listen: all.text("listen")?,
            public_url: all.maybe_text("public_url"),
            proxies: networks("proxies"),
            connections_max: usize::try_from(all.count("server.connections")?)?,
            connections_per_address: all
                .maybe_count("server.connections_per_address")
                .map(usize::try_from)
                .transpose()?,
            stop_delay: seconds("server.stop_delay_seconds")?,
            drain_max: seconds("server.drain_seconds")?,
            data_dir: PathBuf::from(all.text("data_dir")?),
            data_dir_given: all.is_given("data_dir"),
            installation_key: installation_key(&all),
            is_password_exposed: all.flag_of("database.url") == Some("--database-url")
                && all.maybe_text("database.url").is_some_and(|it| has_password(&it)),
            database_url: all.maybe_text("database.url"),
            database_migrate: all.text("database.migrate")? == "true",
            database_copy: all.text("database.copy_before_migration")? == "true",
            database_connections: usize::try_from(all.count("database.connections")?)?,
            database_listen_url: all.maybe_text("database.listen_url"),
            free_bytes_min: u64::try_from(all.count("database.free_mib_min")?)? << 20,
            rate_limit: Policy {
                requests: all.count("rate_limit.requests")?,
                window_seconds: all.count("rate_limit.window_seconds")?,
            },
            metrics_listen: all.maybe_text("metrics.listen"),
            metrics_public: all.text("metrics.public")? == "true",
            cors_origins: all.list("cors.origins"),
            sign_up_open: all.text("sign_up.open")? == "true",
            password_sign_in: all.text("sign_in.password")? == "true",
            oidc_ca_file: all.maybe_text("oidc.ca_file").map(PathBuf::from),
            oidc_providers: single_sign_on::providers(&all)?,
            oauth_registration: all.text("oauth.registration")? == "true",
            mcp: mcp_mode(&all)?,
            mcp_key: all.maybe_text("mcp.key"),
            approvals_life_seconds: all.count("approvals.life_seconds")?,
            webhooks_allow_networks: networks("webhooks.allow_networks"),
            webhooks_ca_file: all.maybe_text("webhooks.ca_file").map(PathBuf::from),
            connections_allow_networks: networks("connections.allow_networks"),
            connections_ca_file: all.maybe_text("connections.ca_file").map(PathBuf::from),
            rates_url: match all.text("exchange_rates.fetch")? == "true" {
                true => Some(all.text("exchange_rates.url")?),
                false => None,
            },
            bank_providers: vec![plaid(&all)?, enable_banking(&all)],
            imports: import_limits(&all)?,
            backups: backups::schedule(&all)?,
            backup_store: backups::store(&all)?,
            backup_encryption: backups::encryption(&all)?,
            backup_secrets: backups::secrets(&all)?,
            mail: mail::settings(&all)?,
            market: Market::new(&all)?,
            when_closed: WhenClosed::parse(&all.text("trading.when_closed")?)
                .unwrap_or(WhenClosed::Queue),
            when_closed_given: all.is_given("trading.when_closed"),
            slippage_basis_points: u32::try_from(all.count("trading.slippage_basis_points")?)?,
            log_level: all.text("log.level")?,
            log_level_given: all.is_given("log.level"),
            log_format: all.text("log.format")?,
            demo_feed_seconds: u32::try_from(all.count("demo.feed_seconds")?)?,
            traces: None,
            settings: all,
        })
    }
}

fn has_password(url: &str) -> bool {
    db::Target::postgres(url).is_ok_and(|it| it.has_password())
}
