//! One SQL text over SQLite and PostgreSQL: values, statements, transactions, migrations.

mod backup;
mod batch;
mod dialect;
mod disk;
mod error;
mod hear;
mod migrate;
mod postgres;
mod slow;
mod sqlite;
mod talk;
mod tls;
mod tx;
mod value;
mod words;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::watch;

pub use backup::{Column, ColumnKind, Table};
pub use disk::free_bytes;
pub use error::Error;
pub use migrate::{MigrateError, Migration, schema_version};
pub use slow::ReadLimits;
pub use tx::Tx;
pub use value::{FromColumn, Param, Row, Value};
pub use words::unknown_word;

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

    /// True if the address holds a password.
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

    /// The limits on reads that fit the engine.
    pub fn read_limits(&self) -> ReadLimits {
        match self {
            Target::Sqlite(_) => ReadLimits::SQLITE,
            Target::Postgres(_) => ReadLimits::POSTGRES,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

/// Signs bytes with a key that the database itself does not hold.
pub type Signer = Arc<dyn Fn(&[u8]) -> [u8; 32] + Send + Sync>;

/// How far a query came that can be taken up again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Done,
    Stopped,
}

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
        Db::open_with(target, target.read_limits()).await
    }

    pub async fn open_with(target: &Target, limits: ReadLimits) -> Result<Db> {
        let driver = match target {
            Target::Sqlite(path) => Driver::Sqlite(sqlite::Sqlite::open(path, limits).await?),
            Target::Postgres(address) => {
                Driver::Postgres(postgres::Postgres::connect(address, limits).await?)
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

    pub fn read_limits(&self) -> ReadLimits {
        match &self.driver {
            Driver::Sqlite(sqlite) => sqlite.limits(),
            Driver::Postgres(postgres) => postgres.limits(),
        }
    }

    /// Runs a bounded query and hands each row, borrowed, to `visit`.
    ///
    /// On SQLite this runs on the calling thread: a hop to another costs more than the query (docs/performance.md).
    /// A read that does not come to its first row soon is begun anew in the pool of slow reads.
    pub async fn each(
        &self,
        sql: &str,
        params: &[Param<'_>],
        mut visit: impl FnMut(&Row<'_>) -> Result<()> + Send,
    ) -> Result<()> {
        match &self.driver {
            Driver::Sqlite(sqlite) => {
                let mut is_visited = false;
                let read = sqlite.each_once(sql, params, &mut |row| {
                    is_visited = true;
                    visit(row)
                });
                match read {
                    Err(Error::TimedOut) if !is_visited => {
                        sqlite.each_slow(sql, params, &mut visit).await
                    }
                    outcome => outcome,
                }
            }
            Driver::Postgres(postgres) => postgres.each(sql, params, &mut visit).await,
        }
    }

    /// The same for a query that is known to be slow at times: it goes to the pool of slow reads at once.
    pub async fn each_slow(
        &self,
        sql: &str,
        params: &[Param<'_>],
        mut visit: impl FnMut(&Row<'_>) -> Result<()> + Send,
    ) -> Result<()> {
        match &self.driver {
            Driver::Sqlite(sqlite) => sqlite.each_slow(sql, params, &mut visit).await,
            Driver::Postgres(postgres) => postgres.each_slow(sql, params, &mut visit).await,
        }
    }

    /// The same for a query that its caller can take up again behind the last row visited. `Stopped` means that it took
    /// long, and that the rest belongs in the pool of slow reads.
    pub async fn each_resumable(
        &self,
        sql: &str,
        params: &[Param<'_>],
        mut visit: impl FnMut(&Row<'_>) -> Result<()> + Send,
    ) -> Result<Progress> {
        let read = match &self.driver {
            Driver::Sqlite(sqlite) => sqlite.each_inline(sql, params, &mut visit),
            Driver::Postgres(postgres) => postgres.each(sql, params, &mut visit).await,
        };
        match (read, self.engine()) {
            (Ok(()), _) => Ok(Progress::Done),
            (Err(Error::TimedOut), Engine::Sqlite) => Ok(Progress::Stopped),
            (Err(error), _) => Err(error),
        }
    }

    /// Every row. A query that takes long is begun anew in the pool of slow reads, so that `read` may see a row twice.
    pub async fn all<T: Send>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T> + Send,
    ) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        let mut visit = |row: &Row<'_>| {
            rows.push(read(row)?);
            Ok(())
        };
        if self.each_resumable(sql, params, &mut visit).await? == Progress::Stopped {
            rows = Vec::new();
            let visit = |row: &Row<'_>| {
                rows.push(read(row)?);
                Ok(())
            };
            self.each_slow(sql, params, visit).await?;
        }
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
        let mut visit = |row: &Row<'_>| {
            if found.is_none() {
                found = Some(read(row)?);
            }
            Ok(())
        };
        match self.each_resumable(sql, params, &mut visit).await? {
            // The first row stands, although it took long to find that it is the last one.
            Progress::Stopped if found.is_none() => {}
            _ => return Ok(found),
        }
        let visit = |row: &Row<'_>| {
            if found.is_none() {
                found = Some(read(row)?);
            }
            Ok(())
        };
        self.each_slow(sql, params, visit).await?;
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
