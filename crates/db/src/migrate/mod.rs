//! Migrations: numbered SQL texts that are applied once, in order, each in a transaction of its own, and recorded with a
//! checksum. `docs/decisions/0019-migrations.md` has the rules for writing one.

mod indexes;
mod state;

use std::time::Duration;

use crate::database::Db;
use crate::dialect;
use crate::error::Error;
use crate::params;
use crate::sharding::{self, Placements};
use crate::target::Engine;
use crate::tx::Tx;
use crate::views;

use state::Applied;
pub use state::{PendingStep, SchemaState, schema_version};

/// One step of the schema. `sql` is one text for both engines, with placeholders such as `{bytes}` for types.
///
/// `{works with 18}` in the text says that programs which know the schema up to version 18 keep working after this
/// step. Without it, only programs that know this step do. Indexes between `{concurrently}` and `{end concurrently}`
/// are built on PostgreSQL after the step's transaction, without blocking writers.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    pub version: i64,
    pub name: &'static str,
    pub sql: &'static str,
}

impl Migration {
    /// The oldest program that works with the schema after this step, by the last step that it knows.
    pub fn oldest_program(&self) -> i64 {
        dialect::works_with(self.sql).unwrap_or(self.version)
    }

    /// The indexes that PostgreSQL builds after the step's transaction.
    fn concurrent_indexes(&self) -> Vec<indexes::ConcurrentIndex> {
        let statements = dialect::concurrent_statements(self.sql);
        statements.iter().map(|it| indexes::ConcurrentIndex::parse(it)).collect()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    #[error(
        "this database was last used by a newer Evenkeel (its schema is at version {found}, this program knows \
         {known}, and version {needed} is needed to use it); update the program, or restore an older backup"
    )]
    Newer { found: i64, known: i64, needed: i64 },
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
    #[error(
        "migration {version} ({name}) waited too long for other work on its tables; nothing of it was applied: end \
         long-running queries and transactions on this database, then run `evenkeel migrate`"
    )]
    Locked { version: i64, name: &'static str, source: Error },
    #[error(
        "migration {version} ({name}) failed, and nothing of it was applied; correct the cause, then run \
         `evenkeel migrate`"
    )]
    Failed { version: i64, name: &'static str, source: Error },
    #[error(
        "the index {index} of migration {version} could not be built; the database can be used without it, but slowly: \
         correct the cause, then run `evenkeel migrate`"
    )]
    Index { version: i64, index: String, source: Error },
    #[error("the database is only partly sharded; run `evenkeel shard` again, which continues")]
    PartlySharded,
    #[error(transparent)]
    Db(#[from] Error),
}

/// How long a step waits for locks on tables that others use. While it waits, all others wait behind it, so it waits
/// only briefly, gives way, and tries again.
#[derive(Clone, Copy, Debug)]
pub struct LockWait {
    pub timeout: Duration,
    pub tries: usize,
    /// The pause between two tries.
    pub pause: Duration,
}

impl Default for LockWait {
    /// About three minutes in all.
    fn default() -> LockWait {
        LockWait { timeout: Duration::from_secs(2), tries: 60, pause: Duration::from_secs(1) }
    }
}

impl Db {
    /// Applies the missing migrations and returns their number. A database that a newer program has migrated is left
    /// as it is, if this program can work with it.
    pub async fn migrate(&self, migrations: &'static [Migration]) -> Result<usize, MigrateError> {
        self.migrate_with(migrations, LockWait::default()).await
    }

    pub async fn migrate_with(
        &self,
        migrations: &'static [Migration],
        wait: LockWait,
    ) -> Result<usize, MigrateError> {
        self.migrate_placed(migrations, &[], wait).await
    }

    /// `migrate` for a database that may be sharded: new tables are placed as listed.
    pub async fn migrate_placed(
        &self,
        migrations: &'static [Migration],
        placements: Placements,
        wait: LockWait,
    ) -> Result<usize, MigrateError> {
        if self.schema_state(migrations).await?.pending.is_empty() {
            return Ok(0);
        }
        let lock = self.lock_schema().await?;
        let done = self.migrate_locked(migrations, placements, wait).await;
        drop(lock);
        done
    }

    async fn migrate_locked(
        &self,
        migrations: &'static [Migration],
        placements: Placements,
        wait: LockWait,
    ) -> Result<usize, MigrateError> {
        self.write_unlimited(wait.timeout, state::create_table).await?;
        // Another process may have migrated while this one waited for the lock.
        let SchemaState { found, pending, .. } = self.schema_state(migrations).await?;
        let is_pending = |it: &&Migration| pending.iter().any(|step| step.version == it.version);
        let mut applied = 0;
        for migration in migrations.iter().filter(is_pending) {
            let Migration { version, name, .. } = migration;
            // The first start of an installation is no news.
            if found.is_some() {
                tracing::info!(version, name, "applying a migration");
            }
            applied += usize::from(self.apply(migration, placements, wait).await?);
            self.build_indexes(migration, wait, found.is_none()).await?;
        }
        Ok(applied)
    }

    /// Applies a step in one transaction, and tries again while others use its tables.
    async fn apply(
        &self,
        migration: &'static Migration,
        placements: Placements,
        wait: LockWait,
    ) -> Result<bool, MigrateError> {
        let Migration { version, name, .. } = *migration;
        let mut tries = 0;
        loop {
            tries += 1;
            let work = move |tx: &mut Tx<'_>| apply_in(tx, migration, placements);
            match self.write_unlimited(wait.timeout, work).await {
                Err(MigrateError::Db(error)) if error.is_lock_conflict() => {
                    if tries >= wait.tries {
                        return Err(MigrateError::Locked { version, name, source: error });
                    }
                    tracing::info!(
                        version,
                        name,
                        "waiting for other work on the tables of a migration"
                    );
                    tokio::time::sleep(wait.pause).await;
                }
                Err(MigrateError::Db(source)) => {
                    return Err(MigrateError::Failed { version, name, source });
                }
                outcome => return outcome,
            }
        }
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

/// Runs a step and records it. Returns false if another process has just done so, which only SQLite allows.
fn apply_in(
    tx: &mut Tx<'_>,
    migration: &Migration,
    placements: Placements,
) -> Result<bool, MigrateError> {
    let Migration { version, name, sql } = *migration;
    if Applied::list_in(tx)?.iter().any(|it| it.version == version) {
        return Ok(false);
    }
    drop_views(tx)?;
    sharding::run_migration(tx, sql, placements)?;
    let has_indexes = tx.engine() == Engine::Postgres && !migration.concurrent_indexes().is_empty();
    let is_finished = i64::from(!has_indexes);
    tx.execute(
        "insert into schema_migrations (version, name, checksum, oldest_program, is_finished)
        values ($1, $2, $3, $4, $5)",
        params![version, name, checksum(sql), migration.oldest_program(), is_finished],
    )?;
    Ok(true)
}

/// Drops the views, so that the tables below them can be changed.
fn drop_views(tx: &mut Tx<'_>) -> Result<(), MigrateError> {
    let names = views::listed(tx)?.into_iter().map(|it| it.0);
    for name in names.chain([views::LIST.to_owned()]) {
        let dropped = tx.run_migration(&format!("drop view if exists {name}"));
        dropped.map_err(|error| match error.is_lock_conflict() {
            true => MigrateError::Db(error),
            false => MigrateError::ViewInUse { name, error },
        })?;
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
