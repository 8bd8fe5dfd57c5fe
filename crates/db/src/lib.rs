//! One SQL text over SQLite and PostgreSQL: values, statements, transactions, migrations.

mod backup;
mod batch;
mod dialect;
mod disk;
mod error;
mod hear;
mod migrate;
mod postgres;
mod sqlite;
mod talk;
mod tls;
mod tx;
mod value;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::watch;

pub use backup::{Column, ColumnKind, Table};
pub use disk::free_bytes;
pub use error::Error;
pub use migrate::{MigrateError, Migration, schema_version};
pub use tx::Tx;
pub use value::{FromColumn, Param, Row, Value};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Where the data is: a file of our own, or a PostgreSQL server's database.
#[derive(Clone, Debug)]
pub enum Target {
    Sqlite(PathBuf),
    Postgres(Box<postgres::Address>),
}

impl Target {
    pub fn sqlite(path: &Path) -> Target {
        Target::Sqlite(path.to_owned())
    }

    /// Whether it holds a password.
    pub fn has_password(&self) -> bool {
        match self {
            Target::Sqlite(_) => false,
            Target::Postgres(address) => address.has_password(),
        }
    }

    /// Reads a `postgres://` address. The message never repeats it: it may hold a password.
    pub fn postgres(url: &str) -> std::result::Result<Target, String> {
        postgres::Address::parse(url).map(|it| Target::Postgres(Box::new(it)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

/// Signs bytes with a key that the database itself does not hold.
pub type Signer = Arc<dyn Fn(&[u8]) -> [u8; 32] + Send + Sync>;

/// A handle to the database; clones share it.
#[derive(Clone)]
pub struct Db {
    driver: Driver,
    signer: Option<Signer>,
}

#[derive(Clone)]
enum Driver {
    Sqlite(sqlite::Sqlite),
    Postgres(postgres::Postgres),
}

impl Db {
    pub async fn open(target: &Target) -> Result<Db> {
        let driver = match target {
            Target::Sqlite(path) => Driver::Sqlite(sqlite::Sqlite::open(path).await?),
            Target::Postgres(address) => {
                Driver::Postgres(postgres::Postgres::connect(address).await?)
            }
        };
        Ok(Db { driver, signer: None })
    }

    /// The same database for transactions that sign what they write.
    pub fn with_signer(self, signer: Signer) -> Db {
        Db { signer: Some(signer), ..self }
    }

    /// None where nobody said what to sign with.
    pub fn sign(&self, bytes: &[u8]) -> Option<[u8; 32]> {
        self.signer.as_ref().map(|sign| sign(bytes))
    }

    pub fn engine(&self) -> Engine {
        match &self.driver {
            Driver::Sqlite(_) => Engine::Sqlite,
            Driver::Postgres(_) => Engine::Postgres,
        }
    }

    /// Runs a bounded query and hands each row, borrowed, to `visit`.
    ///
    /// On SQLite this runs on the calling thread: a hop to another costs more than the query (docs/performance.md).
    pub async fn each(
        &self,
        sql: &str,
        params: &[Param<'_>],
        mut visit: impl FnMut(&Row<'_>) -> Result<()> + Send,
    ) -> Result<()> {
        match &self.driver {
            Driver::Sqlite(sqlite) => sqlite.each(sql, params, &mut visit),
            Driver::Postgres(postgres) => postgres.each(sql, params, &mut visit).await,
        }
    }

    pub async fn all<T: Send>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T> + Send,
    ) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        self.each(sql, params, |row| {
            rows.push(read(row)?);
            Ok(())
        })
        .await?;
        Ok(rows)
    }

    /// The first row, if there is one.
    pub async fn first<T: Send>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T> + Send,
    ) -> Result<Option<T>> {
        let mut found = None;
        self.each(sql, params, |row| {
            if found.is_none() {
                found = Some(read(row)?);
            }
            Ok(())
        })
        .await?;
        Ok(found)
    }

    /// Runs `work` in one transaction: all of it happens, or none. The closure is synchronous, so nothing but SQL
    /// can happen inside a transaction; an error rolls back.
    pub async fn write<T, E>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let signer = self.signer.clone();
        let work = move |tx: &mut Tx<'_>| {
            tx.set_signer(signer);
            work(tx)
        };
        match &self.driver {
            Driver::Sqlite(sqlite) => sqlite.write(work).await,
            Driver::Postgres(postgres) => postgres.write(work).await,
        }
    }

    /// Changes whenever another process has told of something to do (`Tx::tell`), or may have. Never on SQLite.
    pub fn told(&self) -> watch::Receiver<u64> {
        let (sender, told) = watch::channel(0);
        if let Driver::Postgres(postgres) = &self.driver {
            tokio::spawn(hear::hear(postgres.address().clone(), sender));
        }
        told
    }

    /// Prepares a statement without running it: how a test checks every statement on both engines.
    pub async fn check(&self, sql: &str) -> Result<()> {
        match &self.driver {
            Driver::Sqlite(sqlite) => sqlite.check(sql),
            Driver::Postgres(postgres) => postgres.check(sql).await,
        }
    }
}
