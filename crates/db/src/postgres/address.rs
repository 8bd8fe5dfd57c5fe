//! The address of a PostgreSQL database, parsed from a `postgres://` URL.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use super::tls::{self, Tls};

/// A stock PostgreSQL accepts 97 connections: those of six processes, and a few for commands.
pub const DEFAULT_CONNECTIONS: usize = 15;
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// A machine that does not confirm what it was sent for this long counts as gone.
const SILENT_TIMEOUT: Duration = Duration::from_secs(6);
/// A server that does not answer for this long counts as gone.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// `Debug` prints nothing of it, because it may contain a password.
#[derive(Clone)]
pub struct Address {
    pub(super) config: Config,
    pub(super) tls: Tls,
    /// The most connections that this process opens.
    pub(crate) connections: usize,
    /// The address to listen for notifications at, if not at this address.
    pub(crate) listen: Option<Box<Address>>,
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
        // Lets the operating system detect a dead connection too: one whose server does not even confirm what it was
        // sent, and one on which no query is waiting.
        config.tcp_user_timeout(SILENT_TIMEOUT);
        config.keepalives_idle(ANSWER_TIMEOUT);
        // With several hosts, the one that accepts writes is meant; which one that is changes with a failover.
        if config.get_hosts().len() > 1
            && config.get_target_session_attrs() == TargetSessionAttrs::Any
        {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        let address = Address { config, tls, connections: 0, listen: None };
        Ok(address.with_connections(DEFAULT_CONNECTIONS))
    }

    /// The name that each connection has on the server tells `evenkeel doctor` how many connections each process may
    /// open, and which ones belong to one process.
    pub(crate) fn with_connections(mut self, connections: usize) -> Address {
        self.connections = connections;
        let process = RandomState::new().hash_one(std::process::id());
        self.config.application_name(format!("evenkeel/{connections}/{process:016x}"));
        self
    }

    /// The same address with the name of another one on the server: both belong to one process.
    pub(super) fn named_like(&self, other: &Address) -> Address {
        let mut named = self.clone();
        named.config.application_name(other.config.get_application_name().unwrap_or_default());
        named
    }

    /// How long opening a connection may take, over all hosts.
    pub(super) fn open_timeout(&self) -> Duration {
        let hosts = u32::try_from(self.config.get_hosts().len().max(1)).unwrap_or(1);
        CONNECT_TIMEOUT * hosts + Duration::from_secs(1)
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
