//! Configuration: read once, checked once, then just values. The only place that reads the
//! environment.

mod keys;
mod layers;
mod show;
#[cfg(test)]
mod tests;
mod value;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use service::installation;
use service::limits::Policy;

use layers::Settings;

pub(crate) use show::reference;

/// What the command line says about settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) file: Option<PathBuf>,
    /// A setting's name, the flag that set it, and what it was set to.
    pub(crate) values: Vec<(&'static str, &'static str, String)>,
}

pub(crate) struct Config {
    pub(crate) listen: String,
    pub(crate) public_url: Option<String>,
    pub(crate) proxies: Vec<web::Network>,
    pub(crate) data_dir: PathBuf,
    /// Whether anyone named the data directory.
    pub(crate) data_dir_given: bool,
    pub(crate) installation_key: Option<installation::Key>,
    pub(crate) database_url: Option<String>,
    pub(crate) rate_limit: Policy,
    pub(crate) metrics_listen: Option<String>,
    pub(crate) cors_origins: Vec<String>,
    pub(crate) sign_up_open: bool,
    pub(crate) oauth_registration: bool,
    pub(crate) log_level: String,
    pub(crate) log_level_given: bool,
    pub(crate) log_format: String,
    pub(crate) demo_feed_seconds: u32,
    settings: Settings,
}

/// Where to look for a configuration file that nobody named.
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
    // What lies above the file says where the file is.
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
    settings.add_environment(variables.into_iter())?;
    settings.add_flags(&flags.values)?;
    Config::new(settings)
}

impl Config {
    fn new(all: Settings) -> Result<Config> {
        let key = all.maybe_text("installation_key");
        Ok(Config {
            listen: all.text("listen")?,
            public_url: all.maybe_text("public_url"),
            proxies: all.list("proxies").iter().filter_map(|it| it.parse().ok()).collect(),
            data_dir: PathBuf::from(all.text("data_dir")?),
            data_dir_given: all.is_given("data_dir"),
            installation_key: key.and_then(|it| installation::Key::parse(&it)),
            database_url: all.maybe_text("database.url"),
            rate_limit: Policy {
                requests: all.count("rate_limit.requests")?,
                window_seconds: all.count("rate_limit.window_seconds")?,
            },
            metrics_listen: all.maybe_text("metrics.listen"),
            cors_origins: all.list("cors.origins"),
            sign_up_open: all.text("sign_up.open")? == "true",
            oauth_registration: all.text("oauth.registration")? == "true",
            log_level: all.text("log.level")?,
            log_level_given: all.is_given("log.level"),
            log_format: all.text("log.format")?,
            demo_feed_seconds: u32::try_from(all.count("demo.feed_seconds")?)?,
            settings: all,
        })
    }
}
