//! Which database to open: a SQLite file, or a database on a PostgreSQL server.

use std::path::{Path, PathBuf};

use crate::postgres::Address;
use crate::read_limits::ReadLimits;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    pub fn as_str(self) -> &'static str {
        match self {
            Engine::Sqlite => "sqlite",
            Engine::Postgres => "postgresql",
        }
    }
}

#[derive(Clone, Debug)]
pub enum Target {
    Sqlite(PathBuf),
    Postgres(Box<Address>),
}

impl Target {
    pub fn sqlite(path: &Path) -> Target {
        Target::Sqlite(path.to_owned())
    }

    /// Parses a `postgres://` URL. The error message never repeats the URL, because it may contain a password.
    pub fn postgres(url: &str) -> Result<Target, String> {
        Address::parse(url).map(|it| Target::Postgres(Box::new(it)))
    }

    /// The same database with at most this many connections; for a command, two are enough. No effect on SQLite.
    pub fn with_connections(self, connections: usize) -> Target {
        match self {
            Target::Sqlite(_) => self,
            Target::Postgres(address) => {
                Target::Postgres(Box::new(address.with_connections(connections)))
            }
        }
    }

    /// The same database, listening for notifications at another `postgres://` URL, because poolers pass none on. No
    /// effect on SQLite.
    pub fn with_listen_url(self, url: &str) -> Result<Target, String> {
        match self {
            Target::Sqlite(_) => Ok(self),
            Target::Postgres(mut address) => {
                address.listen = Some(Box::new(Address::parse(url)?));
                Ok(Target::Postgres(address))
            }
        }
    }

    pub fn has_password(&self) -> bool {
        match self {
            Target::Sqlite(_) => false,
            Target::Postgres(address) => address.has_password(),
        }
    }

    /// The default read limits for the engine.
    pub fn read_limits(&self) -> ReadLimits {
        match self {
            Target::Sqlite(_) => ReadLimits::SQLITE,
            Target::Postgres(_) => ReadLimits::POSTGRES,
        }
    }
}
