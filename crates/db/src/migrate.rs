//! Migrations: numbered SQL texts that are applied once, in order, and recorded with a checksum.

use crate::database::Db;
use crate::error::Error;
use crate::params;
use crate::tx::Tx;
use crate::views;

/// One step of the schema. `sql` is one text for both engines, with placeholders such as `{bytes}` for types.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    pub version: i64,
    pub name: &'static str,
    pub sql: &'static str,
}

#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    #[error(
        "this database was last used by a newer Evenkeel (its schema is at version {found}, this program knows \
         {known}); update the program, or restore an older backup"
    )]
    Newer { found: i64, known: i64 },
    #[error(
        "migration {version} in this database differs from the one in this program; the database was created by \
         another build: use that build, or restore a backup made with this one"
    )]
    Differs { version: i64 },
    #[error(
        "the view {name} cannot be replaced, because another view of this database reads from it ({error}); drop that \
         view, start again, and create it anew"
    )]
    ViewInUse { name: String, error: Error },
    #[error(transparent)]
    Db(#[from] Error),
}

const TABLE: &str = "create table if not exists schema_migrations (
    version {int} primary key, name text not null, checksum {int} not null) {table}";

impl Db {
    /// Applies the missing migrations and returns their number.
    pub async fn migrate(&self, migrations: &'static [Migration]) -> Result<usize, MigrateError> {
        self.write(move |tx| {
            tx.lock_schema()?;
            tx.run_migration(TABLE)?;
            let applied = applied(tx)?;
            check(&applied, migrations)?;
            if applied.len() < migrations.len() {
                drop_views(tx)?;
            }
            for migration in &migrations[applied.len()..] {
                tx.run_migration(migration.sql)?;
                tx.execute(
                    "insert into schema_migrations (version, name, checksum) values ($1, $2, $3)",
                    params![migration.version, migration.name, checksum(migration.sql)],
                )?;
            }
            Ok(migrations.len() - applied.len())
        })
        .await
    }

    /// Creates the views of this text, unless the database has exactly them. Returns whether it did.
    pub async fn create_views(&self, text: &'static str) -> Result<bool, MigrateError> {
        self.write(move |tx| {
            tx.lock_schema()?;
            let sum = checksum(text);
            if views::listed(tx)?.first().is_some_and(|it| it.1 == sum) {
                return Ok(false);
            }
            drop_views(tx)?;
            let sql = views::sql_of(text, sum, tx.engine());
            tx.run_migration(&sql)?;
            Ok(true)
        })
        .await
    }
}

/// Drops the views, so that the tables below them can be changed.
fn drop_views(tx: &mut Tx<'_>) -> Result<(), MigrateError> {
    let names = views::listed(tx)?.into_iter().map(|it| it.0);
    for name in names.chain([views::LIST.to_owned()]) {
        let dropped = tx.run_migration(&format!("drop view if exists {name}"));
        dropped.map_err(|error| MigrateError::ViewInUse { name, error })?;
    }
    Ok(())
}

/// The version of the last applied migration; none for a new database.
pub async fn schema_version(db: &Db) -> crate::error::Result<Option<i64>> {
    match db.first("select max(version) from schema_migrations", &[], |row| row.get(0)).await {
        Ok(version) => Ok(version.flatten()),
        Err(Error::Internal(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn applied(tx: &mut Tx<'_>) -> Result<Vec<(i64, i64)>, Error> {
    tx.all("select version, checksum from schema_migrations order by version", &[], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

fn check(applied: &[(i64, i64)], migrations: &[Migration]) -> Result<(), MigrateError> {
    let known = migrations.last().map_or(0, |it| it.version);
    if let Some((found, _)) = applied.last().filter(|(found, _)| *found > known) {
        return Err(MigrateError::Newer { found: *found, known });
    }
    for ((version, sum), migration) in applied.iter().zip(migrations) {
        if *version != migration.version || *sum != checksum(migration.sql) {
            return Err(MigrateError::Differs { version: *version });
        }
    }
    Ok(())
}

/// FNV-1a. It detects an edited migration; it does not need to resist attacks.
fn checksum(sql: &str) -> i64 {
    let hash = sql.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    hash as i64
}
