//! The nodes of a Citus cluster, and how its tables are placed.

use super::{Placement, Placements, placement_of};
use crate::database::Db;
use crate::error::Result;
use crate::params;
use crate::target::Engine;
use crate::tx::Tx;

/// A database with the extension Citus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The version of the extension.
    pub version: String,
    /// Nodes that can have shards.
    pub shard_nodes: i64,
    /// Whether the node that this program is connected to is listed as the coordinator.
    pub has_coordinator: bool,
    /// Whether sharding was begun and is not finished.
    pub is_unfinished: bool,
    /// The tables of the schema, in order of their names. None for a table that is distributed in another way.
    pub tables: Vec<(String, Option<Placement>)>,
}

impl Cluster {
    /// Whether any table is distributed.
    pub fn is_sharded(&self) -> bool {
        self.count(Placement::Distributed) > 0
    }

    pub fn count(&self, placement: Placement) -> usize {
        self.tables.iter().filter(|(_, it)| *it == Some(placement)).count()
    }

    /// The tables that are not placed as listed. A table that is not listed counts as local.
    pub fn misplaced(&self, placements: Placements) -> Vec<&str> {
        let wanted = |table: &str| placement_of(placements, table).unwrap_or(Placement::Local);
        let misplaced = self.tables.iter().filter(|(table, it)| *it != Some(wanted(table)));
        misplaced.map(|(table, _)| table.as_str()).collect()
    }
}

impl Db {
    /// The cluster; none for SQLite and for a PostgreSQL without Citus.
    pub async fn cluster(&self) -> Result<Option<Cluster>> {
        if self.engine() == Engine::Sqlite {
            return Ok(None);
        }
        let version = self.first(VERSION, &[], |row| row.get::<String>(0)).await?;
        let Some(version) = version else { return Ok(None) };
        let nodes = self.first(NODES, &[], |row| Ok((row.get(0)?, row.get::<i64>(1)? > 0))).await?;
        let (shard_nodes, has_coordinator) = nodes.unwrap_or_default();
        let tables = self
            .all(TABLES, &[], |row| {
                let placement = match row.get::<&str>(1)? {
                    "distributed" => Some(Placement::Distributed),
                    "reference" => Some(Placement::Reference),
                    "local" => Some(Placement::Local),
                    _ => None,
                };
                Ok((row.get::<String>(0)?, placement))
            })
            .await?;
        let is_unfinished = tables.iter().any(|(name, _)| name == super::place::UNFINISHED);
        Ok(Some(Cluster { version, shard_nodes, has_coordinator, is_unfinished, tables }))
    }
}

impl Db {
    /// Whether sharding was begun and is not finished. Until then, foreign keys are missing.
    pub(crate) async fn is_partly_sharded(&self) -> Result<bool> {
        if self.engine() == Engine::Sqlite {
            return Ok(false);
        }
        let table = params![super::place::UNFINISHED];
        Ok(self.first(EXISTS, table, |row| row.get::<String>(0)).await?.is_some())
    }
}

/// Whether the database is sharded.
pub(super) fn is_sharded(tx: &mut Tx<'_>) -> Result<bool> {
    if tx.engine() == Engine::Sqlite || tx.first(VERSION, &[], |_| Ok(()))?.is_none() {
        return Ok(false);
    }
    Ok(tx.first(ANY_DISTRIBUTED, &[], |_| Ok(()))?.is_some())
}

const VERSION: &str = "select cast(extversion as text) from pg_extension where extname = 'citus'";
const EXISTS: &str = "select cast(tablename as text) from pg_tables
    where schemaname = current_schema() and tablename = $1";
const NODES: &str = "select cast(count(*) filter (where shouldhaveshards) as bigint),
    cast(count(*) filter (where groupid = 0) as bigint)
    from pg_dist_node where isactive and noderole = 'primary'";
const ANY_DISTRIBUTED: &str = "select 1 from pg_dist_partition where partmethod = 'h' limit 1";
// Ordinary tables that Citus manages because they refer to reference tables count as local. Citus hides shards itself.
const TABLES: &str = "select cast(t.relname as text), case
        when p.logicalrelid is null or (p.partmethod = 'n' and p.repmodel = 's') then 'local'
        when p.partmethod = 'n' and p.repmodel = 't' then 'reference'
        when p.partmethod = 'h' and column_to_column_name(p.logicalrelid, p.partkey) = 'user_id'
            then 'distributed'
        else 'other' end
    from pg_class t join pg_namespace n on n.oid = t.relnamespace
    left join pg_dist_partition p on p.logicalrelid = t.oid
    where n.nspname = current_schema() and t.relkind in ('r', 'p')
    order by t.relname";
