//! Indexes that PostgreSQL builds outside of a transaction, while others go on reading and writing.

use super::{LockWait, MigrateError, Migration};
use crate::database::{Db, Driver};
use crate::error::{Error, Result};
use crate::params;
use crate::postgres::Postgres;

/// An index of a migration, and the statement that builds it without blocking writers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConcurrentIndex {
    pub(super) name: String,
    sql: String,
}

impl ConcurrentIndex {
    /// From `create index NAME on ...` or `create unique index NAME on ...`.
    pub(super) fn parse(sql: &str) -> ConcurrentIndex {
        let (head, definition) = sql.split_once(" on ").unwrap_or((sql, ""));
        let (create, name) = head.rsplit_once(' ').unwrap_or(("create index", head));
        let sql = format!("{create} concurrently {name} on {definition}");
        ConcurrentIndex { name: name.to_owned(), sql }
    }
}

impl Db {
    /// Builds the indexes of a step that was applied, and records it as finished. On SQLite they were built with it. The
    /// log names them if the database is not new.
    pub(super) async fn build_indexes(
        &self,
        migration: &'static Migration,
        wait: LockWait,
        is_new: bool,
    ) -> Result<(), MigrateError> {
        let (Driver::Postgres(postgres), indexes) = (&self.driver, migration.concurrent_indexes())
        else {
            return Ok(());
        };
        let version = migration.version;
        for index in &indexes {
            if !is_new {
                tracing::info!(index = index.name, "building an index");
            }
            let built = self.build_index(postgres, index, wait).await;
            let index = index.name.clone();
            built.map_err(|source| MigrateError::Index { version, index, source })?;
        }
        if !indexes.is_empty() {
            self.write_unlimited(wait.timeout, move |tx| {
                tx.execute(FINISH, params![version]).map(drop)
            })
            .await?;
        }
        Ok(())
    }

    async fn build_index(
        &self,
        postgres: &Postgres,
        index: &ConcurrentIndex,
        wait: LockWait,
    ) -> Result<()> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.is_valid(&index.name).await? {
                Some(true) => return Ok(()),
                // A build that was interrupted leaves an index that costs writes and serves no read.
                Some(false) => {
                    let sql = format!("drop index concurrently if exists {}", index.name);
                    postgres.run_unlimited(&sql).await?;
                }
                None => {}
            }
            match postgres.run_unlimited(&index.sql).await {
                Err(error) if error.is_lock_conflict() && tries < wait.tries => {
                    tokio::time::sleep(wait.pause).await;
                }
                outcome => return outcome,
            }
        }
    }

    /// Whether the index is complete; none if there is no such index.
    async fn is_valid(&self, name: &str) -> Result<Option<bool>> {
        let found = self.first(IS_VALID, params![name], |row| row.get::<i64>(0)).await?;
        Ok::<_, Error>(found.map(|it| it != 0))
    }
}

const IS_VALID: &str =
    "select cast(case when i.indisvalid then 1 else 0 end as bigint) from pg_index i
    join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = current_schema() and c.relname = $1";
const FINISH: &str = "update schema_migrations set is_finished = 1 where version = $1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_rewritten_to_be_built_concurrently() {
        for (sql, name, rewritten) in [
            ("create index a_b on a (b)", "a_b", "create index concurrently a_b on a (b)"),
            (
                "create unique index a_c\n    on a (c) where d on e",
                "a_c",
                "create unique index concurrently a_c on a (c) where d on e",
            ),
        ] {
            let sql = sql.split_whitespace().collect::<Vec<_>>().join(" ");
            let index = ConcurrentIndex::parse(&sql);
            assert_eq!((index.name.as_str(), index.sql.as_str()), (name, rewritten));
        }
    }
}
