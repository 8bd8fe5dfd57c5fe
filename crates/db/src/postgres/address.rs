//! The address of a PostgreSQL database, parsed from a `postgres://` URL.

use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::tls::{self, Tls};

pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// A server that does not answer for this long counts as gone.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// `Debug` prints nothing of it, because it may contain a password.
#[derive(Clone)]
pub struct Address {
    pub(super) config: Config,
    pub(super) tls: Tls,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Address(..)")
    }
}

impl Address {
    pub(crate) fn parse(url: &str) -> Result<Address, String> {
        let (url, tls_params) = tls::split_tls_params(url);
        let mut config: Config = url
            .parse()
            .map_err(|_| "must look like postgres://user:password@host:5432/database".to_owned())?;
        let tls = tls_params.resolve(is_local(&config))?;
        config.ssl_mode(if tls == Tls::Off { SslMode::Disable } else { SslMode::Require });
        config.connect_timeout(CONNECT_TIMEOUT);
        // Lets the operating system detect a dead connection too, even while no query is waiting.
        config.tcp_user_timeout(ANSWER_TIMEOUT);
        config.keepalives_idle(ANSWER_TIMEOUT);
        config.application_name("evenkeel");
        Ok(Address { config, tls })
    }

    pub(crate) fn has_password(&self) -> bool {
        self.config.get_password().is_some()
    }
}

fn is_local(config: &Config) -> bool {
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
        Host::Unix(_) => true,
    })
}
