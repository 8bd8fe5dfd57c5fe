//! Logs on standard error: for people on a terminal, as JSON for everything else.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

use crate::config::Config;

/// Log levels of libraries that would otherwise log every packet.
const QUIET: &str = "h2=warn,hyper=warn,hyper_util=warn,rustls=warn,rustls_platform_verifier=off,tokio_postgres=warn";

/// Short commands log warnings and errors only, unless configured otherwise.
pub(crate) fn start(config: &Config, one_off: bool) {
    let level = if one_off && !config.log_level_given { "warn" } else { &config.log_level };
    let filter = EnvFilter::new(format!("{level},{QUIET}"));
    let human = match config.log_format.as_str() {
        "human" => true,
        "json" => false,
        _ => std::io::stderr().is_terminal(),
    };
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if human {
        logs.with_ansi(std::io::stderr().is_terminal()).with_target(false).init();
    } else {
        logs.json().flatten_event(true).with_current_span(true).with_span_list(false).init();
    }
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
}
