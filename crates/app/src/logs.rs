//! Logs on standard error: for people on a terminal, as JSON for everything else.

use std::io::IsTerminal as _;

use anyhow::Result;
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use crate::config::{self, Config, Flags, Search};

/// Log levels of libraries that would otherwise log every packet.
const QUIET: &str = "h2=warn,hyper=warn,hyper_util=warn,rustls=warn,rustls_platform_verifier=off,tokio_postgres=warn";

/// Changes the level while the program runs.
pub(crate) struct LevelSwitch(Box<dyn Fn(&str) + Send>);

/// Short commands log warnings and errors only, unless configured otherwise.
pub(crate) fn start(config: &Config, one_off: bool) -> LevelSwitch {
    let level = if one_off && !config.log_level_given { "warn" } else { &config.log_level };
    let switch = install(config, filter(level));
    if config.is_password_exposed {
        tracing::warn!(
            "everyone on this machine can see the password in --database-url; set \
                EVENKEEL_DATABASE__URL or use --database-url-file instead"
        );
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "panic: {}", panic.payload_as_str().unwrap_or("no reason given"));
    }));
    switch
}

fn filter(level: &str) -> EnvFilter {
    EnvFilter::new(format!("{level},{QUIET}"))
}

fn install(config: &Config, filter: EnvFilter) -> LevelSwitch {
    let human = match config.log_format.as_str() {
        "human" => true,
        "json" => false,
        _ => std::io::stderr().is_terminal(),
    };
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // An error means that the logs have ended, and then there is nothing to change.
    if human {
        let logs = logs.with_ansi(std::io::stderr().is_terminal()).with_target(false);
        let logs = logs.with_filter_reloading();
        let handle = logs.reload_handle();
        logs.init();
        LevelSwitch(Box::new(move |level| drop(handle.reload(self::filter(level)))))
    } else {
        let logs = logs.json().flatten_event(true).with_current_span(true).with_span_list(false);
        let logs = logs.with_filter_reloading();
        let handle = logs.reload_handle();
        logs.init();
        LevelSwitch(Box::new(move |level| drop(handle.reload(self::filter(level)))))
    }
}

/// Reads the settings again at every SIGHUP, and applies the log level. Other settings need a restart, and those that
/// changed are named.
pub(crate) fn reload_on_hangup(switch: LevelSwitch, config: &Config, flags: Flags) -> Result<()> {
    let mut hangups = signal(SignalKind::hangup())?;
    let mut before = config.to_json();
    tokio::spawn(async move {
        while hangups.recv().await.is_some() {
            match config::load(&flags, Search::DataDir) {
                Ok(config) => {
                    switch.0(&config.log_level);
                    let now = config.to_json();
                    report(&config.log_level, &changed(&before, &now));
                    before = now;
                }
                Err(error) => {
                    let error = crate::sentence(&error);
                    tracing::error!(error, "cannot read the settings again; nothing was changed");
                }
            }
        }
    });
    Ok(())
}

fn report(level: &str, changed: &[String]) {
    tracing::info!(level, "the settings were read again");
    let others: Vec<&str> =
        changed.iter().map(String::as_str).filter(|it| *it != "log.level").collect();
    if !others.is_empty() {
        let settings = others.join(", ");
        tracing::warn!(settings, "some settings changed and take effect at the next start");
    }
}

/// The names of the settings that have other values. Secrets are not compared.
fn changed(before: &Value, now: &Value) -> Vec<String> {
    let names = now.as_object().into_iter().flat_map(|it| it.keys());
    let differs = |name: &&String| before[name.as_str()]["value"] != now[name.as_str()]["value"];
    names.filter(differs).cloned().collect()
}
