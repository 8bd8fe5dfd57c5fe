//! The schema of a database compared with the one that a program knows.

use super::{MigrateError, Migration, checksum};
use crate::database::Db;
use crate::error::{Error, Result};
use crate::target::Engine;
use crate::tx::Tx;
use crate::value::Row;

/// A database's schema, as a program sees it that can work with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaState {
    /// The last applied step; none for a new database.
    pub found: Option<i64>,
    /// The last step that the program knows.
    pub known: i64,
    /// The steps that `Db::migrate` would apply or finish.
    pub pending: Vec<PendingStep>,
}

impl SchemaState {
    /// Whether a newer program has migrated the database.
    pub fn is_newer(&self) -> bool {
        self.found.is_some_and(|it| it > self.known)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingStep {
    pub version: i64,
    pub name: &'static str,
    /// Its transaction was committed, and some of its indexes may still be missing.
    pub is_begun: bool,
    /// The indexes that are built after its transaction.
    pub indexes: Vec<String>,
    /// Whether programs from before this migration keep working.
    pub keeps_older_programs: bool,
}

/// A step that was applied to the database.
#[derive(Clone, Copy, Debug)]
pub(super) struct Applied {
    pub(super) version: i64,
    checksum: i64,
    oldest_program: i64,
    is_finished: bool,
}

/// The columns of `schema_migrations`, which a database of an older program may lack.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Catalog {
    Missing,
    /// From before a step recorded the programs that work with it.
    WithoutPrograms,
    Complete,
}

impl Catalog {
    fn new(columns: &[String]) -> Catalog {
        match columns {
            [] => Catalog::Missing,
            names if names.iter().any(|it| it == "is_finished") => Catalog::Complete,
            _ => Catalog::WithoutPrograms,
        }
    }

    fn columns(engine: Engine) -> &'static str {
        match engine {
            Engine::Sqlite => "select name from pragma_table_info('schema_migrations')",
            Engine::Postgres => {
                "select cast(column_name as text) from information_schema.columns
                where table_schema = current_schema() and table_name = 'schema_migrations'"
            }
        }
    }

    fn list(self) -> Option<&'static str> {
        match self {
            Catalog::Missing => None,
            Catalog::WithoutPrograms => Some(LIST_WITHOUT_PROGRAMS),
            Catalog::Complete => Some(LIST),
        }
    }
}

// A step of a program that did not record it takes a program that knows it.
const LIST: &str = "select version, checksum, coalesce(oldest_program, version), is_finished
    from schema_migrations order by version";
const LIST_WITHOUT_PROGRAMS: &str = "select version, checksum, version, cast(1 as bigint)
    from schema_migrations order by version";
const TABLE: &str =
    "create table if not exists schema_migrations (version {int} primary key, name text not null,
    checksum {int} not null, oldest_program {int}, is_finished {int} not null default 1) {table}";
const COLUMNS: &str = "alter table schema_migrations add column oldest_program {int};
    alter table schema_migrations add column is_finished {int} not null default 1";

/// Creates the table of applied steps, or adds the columns that it lacks.
pub(super) fn create_table(tx: &mut Tx<'_>) -> Result<()> {
    match read_catalog(tx)? {
        Catalog::Missing => tx.run_migration(TABLE),
        Catalog::WithoutPrograms => tx.run_migration(COLUMNS),
        Catalog::Complete => Ok(()),
    }
}

fn read_catalog(tx: &mut Tx<'_>) -> Result<Catalog> {
    let columns: Vec<String> = tx.all(Catalog::columns(tx.engine()), &[], |row| row.get(0))?;
    Ok(Catalog::new(&columns))
}

impl Applied {
    fn read(row: &Row<'_>) -> Result<Applied> {
        Ok(Applied {
            version: row.get(0)?,
            checksum: row.get(1)?,
            oldest_program: row.get(2)?,
            is_finished: row.get::<i64>(3)? != 0,
        })
    }

    pub(super) fn list_in(tx: &mut Tx<'_>) -> Result<Vec<Applied>> {
        match read_catalog(tx)?.list() {
            Some(sql) => tx.all(sql, &[], Applied::read),
            None => Ok(Vec::new()),
        }
    }
}

impl Db {
    /// Compares the schema with these migrations, without changing anything. An error if a program that knows only
    /// them cannot use the database.
    pub async fn schema_state(
        &self,
        migrations: &'static [Migration],
    ) -> Result<SchemaState, MigrateError> {
        if self.is_partly_sharded().await? {
            return Err(MigrateError::PartlySharded);
        }
        let columns = self.all(Catalog::columns(self.engine()), &[], |row| row.get(0)).await?;
        let applied = match Catalog::new(&columns).list() {
            Some(sql) => self.all(sql, &[], Applied::read).await?,
            None => Vec::new(),
        };
        compare(&applied, migrations)
    }
}

fn compare(
    applied: &[Applied],
    migrations: &'static [Migration],
) -> Result<SchemaState, MigrateError> {
    let known = migrations.last().map_or(0, |it| it.version);
    let found = applied.last().map(|it| it.version);
    let newer = applied.iter().filter(|it| it.version > known);
    let needed = newer.map(|it| it.oldest_program).max();
    if let (Some(found), Some(needed)) = (found, needed.filter(|it| *it > known)) {
        return Err(MigrateError::Newer { found, known, needed });
    }
    for (it, migration) in applied.iter().zip(migrations) {
        if it.version != migration.version || it.checksum != checksum(migration.sql) {
            return Err(MigrateError::Differs { version: it.version });
        }
    }
    let pending = migrations.iter().enumerate().filter_map(|(index, migration)| {
        let is_begun = match applied.get(index) {
            Some(it) if it.is_finished => return None,
            it => it.is_some(),
        };
        let indexes = migration.concurrent_indexes().into_iter().map(|it| it.name).collect();
        let keeps_older_programs = migration.oldest_program() < migration.version;
        let Migration { version, name, .. } = *migration;
        Some(PendingStep { version, name, is_begun, indexes, keeps_older_programs })
    });
    Ok(SchemaState { found, known, pending: pending.collect() })
}

impl Db {
    /// The oldest program that can use the database, by the last migration that it knows; none for a new database.
    pub async fn oldest_program(&self) -> Result<Option<i64>> {
        let columns = self.all(Catalog::columns(self.engine()), &[], |row| row.get(0)).await?;
        let sql = match Catalog::new(&columns) {
            Catalog::Missing => return Ok(None),
            Catalog::WithoutPrograms => "select max(version) from schema_migrations",
            Catalog::Complete => {
                "select max(coalesce(oldest_program, version)) from schema_migrations"
            }
        };
        Ok(self.first(sql, &[], |row| row.get::<Option<i64>>(0)).await?.flatten())
    }
}

/// The version of the last applied migration; none for a new database.
pub async fn schema_version(db: &Db) -> Result<Option<i64>> {
    match db.first("select max(version) from schema_migrations", &[], |row| row.get(0)).await {
        Ok(version) => Ok(version.flatten()),
        Err(Error::Internal(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
