//! A transaction: synchronous, so that nothing but SQL can happen inside one.

use std::pin::pin;

use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};

use crate::talk::Talk;
use crate::value::{Param, Row};
use crate::{Engine, Error, Result, Signer, batch, dialect, hear, postgres, sqlite};

/// So many rows travel with what comes next; more are copied, which takes turns of its own.
const FEW: usize = 64;

/// Rows that one statement of SQLite inserts. Where a trigger follows each row, SQLite copies the pages that a statement
/// changes before it changes them; row by row that would double the time of an import.
const TOGETHER: usize = 50;

pub struct Tx<'c> {
    on: On<'c>,
    /// The first statement that failed. From there on nothing more is done and nothing is kept, whether or not the
    /// work looked at the error: PostgreSQL would answer a commit by rolling back without a word, and SQLite may
    /// already have left the transaction.
    failed: Option<Error>,
    /// What waits for all this to be kept.
    after: Vec<After>,
    signer: Option<Signer>,
}

pub(crate) type After = Box<dyn FnOnce() + Send>;

enum On<'c> {
    Sqlite(&'c rusqlite::Connection),
    Postgres(Talk<'c>),
}

impl<'c> Tx<'c> {
    pub(crate) fn sqlite(connection: &'c rusqlite::Connection) -> Tx<'c> {
        Tx { on: On::Sqlite(connection), failed: None, after: Vec::new(), signer: None }
    }

    pub(crate) fn postgres(talk: Talk<'c>) -> Tx<'c> {
        Tx { on: On::Postgres(talk), failed: None, after: Vec::new(), signer: None }
    }

    pub fn engine(&self) -> Engine {
        match self.on {
            On::Sqlite(_) => Engine::Sqlite,
            On::Postgres(_) => Engine::Postgres,
        }
    }

    pub(crate) fn set_signer(&mut self, signer: Option<Signer>) {
        self.signer = signer;
    }

    /// Signs bytes as `Db::sign` does.
    pub fn sign(&self, bytes: &[u8]) -> Option<[u8; 32]> {
        self.signer.as_ref().map(|sign| sign(bytes))
    }

    /// Does the whole work of the transaction; an error, also one that the work overlooked, means to roll back.
    pub(crate) fn run<T, E: From<Error>>(
        &mut self,
        work: impl FnOnce(&mut Tx<'c>) -> Result<T, E>,
    ) -> Result<T, E> {
        let value = work(self)?;
        self.failed.take().map_or(Ok(value), |error| Err(E::from(error)))
    }

    /// Does this once all is known to be kept, and drops it otherwise. It must be short and must not wait: on SQLite
    /// every other transaction stands behind it.
    pub fn after(&mut self, then: impl FnOnce() + Send + 'static) {
        self.after.push(Box::new(then));
    }

    pub(crate) fn take_after(&mut self) -> Vec<After> {
        std::mem::take(&mut self.after)
    }

    /// Keeps all of it. SQLite's writer does that itself, for many at a time.
    pub(crate) fn commit(&mut self) -> Result<()> {
        let On::Postgres(talk) = &mut self.on else { return Ok(()) };
        talk.commit().inspect_err(|_| talk.roll_back())
    }

    pub(crate) fn roll_back(&mut self) {
        if let On::Postgres(talk) = &mut self.on {
            talk.roll_back();
        }
    }

    fn attempt<T>(&mut self, statement: impl FnOnce(&mut On<'c>) -> Result<T>) -> Result<T> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        statement(&mut self.on).inspect_err(|error| self.failed = Some(error.clone()))
    }

    /// Runs a statement and says how many rows it touched.
    pub fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64> {
        self.attempt(|on| match on {
            On::Sqlite(connection) => sqlite::execute_on(connection, sql, params),
            On::Postgres(talk) => talk.ask(talk.connection().execute(sql, params)),
        })
    }

    /// Runs one statement with each of these values, and says how many rows each touched. They are different rows, and
    /// values are of one type row by row: in which order they are taken, and whether together, is not said.
    pub fn execute_each<'p>(
        &mut self,
        sql: &str,
        rows: &[impl AsRef<[Param<'p>]>],
    ) -> Result<Vec<u64>> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        self.attempt(|on| match on {
            On::Sqlite(connection) => {
                rows.iter().map(|it| sqlite::execute_on(connection, sql, it.as_ref())).collect()
            }
            On::Postgres(talk) => talk.ask(talk.connection().execute_each(sql, rows)),
        })
    }

    /// Lets other processes on this database know, once this is kept, that there is something to do. SQLite has none.
    pub fn tell(&mut self) -> Result<()> {
        self.attempt(|on| {
            if let On::Postgres(talk) = on {
                talk.say_later(hear::TELL.to_owned(), Vec::new());
            }
            Ok(())
        })
    }

    pub fn each(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        mut visit: impl FnMut(&Row<'_>) -> Result<()> + Send,
    ) -> Result<()> {
        self.attempt(|on| match on {
            On::Sqlite(connection) => sqlite::each_on(connection, sql, params, &mut visit),
            On::Postgres(talk) => talk.ask(talk.connection().each(sql, params, &mut visit)),
        })
    }

    pub fn all<T: Send>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T> + Send,
    ) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        self.each(sql, params, |row| {
            rows.push(read(row)?);
            Ok(())
        })?;
        Ok(rows)
    }

    /// The first row, if there is one.
    pub fn first<T: Send>(
        &mut self,
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
        })?;
        Ok(found)
    }

    /// Inserts rows in the fastest way the engine has. A rule of the schema that they break may be told by the
    /// statement that comes next, or by the commit.
    pub fn insert_many<'p, const N: usize>(
        &mut self,
        table: &str,
        columns: [&str; N],
        rows: impl IntoIterator<Item = [Param<'p>; N]>,
    ) -> Result<()> {
        let mut rows = rows.into_iter().peekable();
        let Some(first) = rows.peek() else { return Ok(()) };
        let types: Vec<Type> = first.iter().map(Param::postgres_type).collect();
        self.insert_rows(table, &columns, &types, rows)
    }

    /// The same for rows whose width only the running program knows.
    pub(crate) fn insert_rows<'p>(
        &mut self,
        table: &str,
        columns: &[&str],
        types: &[Type],
        rows: impl Iterator<Item = impl AsRef<[Param<'p>]>>,
    ) -> Result<()> {
        let names = columns.join(", ");
        self.attempt(|on| match on {
            On::Sqlite(connection) => {
                let values = format!("({})", vec!["?"; columns.len()].join(", "));
                let inserting = |rows: usize| {
                    let values = vec![values.as_str(); rows].join(", ");
                    format!("insert into {table} ({names}) values {values}")
                };
                let (one, many) = (inserting(1), inserting(TOGETHER));
                let mut rows = rows;
                loop {
                    let next: Vec<_> = rows.by_ref().take(TOGETHER).collect();
                    if next.len() < TOGETHER {
                        let mut statement = connection.prepare_cached(&one)?;
                        for row in &next {
                            statement.execute(rusqlite::params_from_iter(row.as_ref()))?;
                        }
                        return Ok(());
                    }
                    let values = next.iter().flat_map(AsRef::as_ref);
                    let mut statement = connection.prepare_cached(&many)?;
                    statement.execute(rusqlite::params_from_iter(values))?;
                }
            }
            On::Postgres(talk) => {
                let mut rows = rows;
                let few: Vec<_> = rows.by_ref().take(FEW + 1).collect();
                if few.len() <= FEW {
                    let values = batch::columns(&few);
                    let values = values.ok_or_else(|| Error::internal("rows are not alike"))?;
                    let sql = batch::inserting(table, &names, values.len());
                    talk.say_later(sql, values);
                    return Ok(());
                }
                let sql = format!("copy {table} ({names}) from stdin with (format binary)");
                let (connection, rows) = (talk.connection(), few.into_iter().chain(rows));
                talk.ask(connection.ask(copy_in(connection, &sql, types, rows)))
            }
        })
    }

    /// Runs the statements of a migration, in the engine's own words for types.
    pub(crate) fn run_migration(&mut self, sql: &str) -> Result<()> {
        self.attempt(|on| match on {
            On::Sqlite(connection) => {
                Ok(connection.execute_batch(&dialect::migration_for_sqlite(sql))?)
            }
            On::Postgres(talk) => {
                let (connection, sql) = (talk.connection(), dialect::migration_for_postgres(sql));
                talk.ask(connection.ask(connection.client().batch_execute(&sql)))
            }
        })
    }

    /// Lets one process at a time migrate. SQLite's writers are already one at a time.
    pub(crate) fn lock_schema(&mut self) -> Result<()> {
        match self.on {
            On::Sqlite(_) => Ok(()),
            On::Postgres(_) => {
                self.each("select 1 from pg_advisory_xact_lock(9172034)", &[], |_| Ok(()))
            }
        }
    }
}

async fn copy_in<'p>(
    connection: &postgres::Connection,
    sql: &str,
    types: &[Type],
    rows: impl Iterator<Item = impl AsRef<[Param<'p>]>>,
) -> Result<()> {
    let statement = connection.prepare_for(sql, &[]).await?;
    let sink = connection.client().copy_in(&statement).await?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, types));
    for row in rows {
        let row: Vec<&(dyn ToSql + Sync)> =
            row.as_ref().iter().map(|it| it as &(dyn ToSql + Sync)).collect();
        writer.as_mut().write(&row).await?;
    }
    writer.finish().await?;
    Ok(())
}
