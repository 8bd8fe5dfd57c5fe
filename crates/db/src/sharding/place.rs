//! Sharding a database: each table is placed in a transaction of its own, and a run that was interrupted is continued
//! by the next one.
//!
//! Citus cannot place a table while another refers to it. So all foreign keys are first moved into a table, from which
//! each is added again when all tables are placed. As long as that table exists, the work is unfinished.

use super::{Cluster, Placement, Placements, placement_of};
use crate::database::Db;
use crate::error::{Error, Result};
use crate::params;
use crate::target::Engine;
use crate::tx::Tx;
use crate::views;

use std::time::Duration;

/// The table with the foreign keys that have to be added again.
pub(super) const UNFINISHED: &str = "sharding_foreign_keys";
/// How long a step waits for the locks of others. Servers are stopped, so nobody should hold any.
const LOCK_WAIT: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub enum ShardError {
    #[error(
        "only PostgreSQL with the extension Citus can be sharded, and this database is SQLite; to move it, back it up, \
         and restore the backup with --database-url-file"
    )]
    Sqlite,
    #[error(
        "this PostgreSQL does not have the extension Citus; install it on all nodes, add citus to \
         shared_preload_libraries, restart, and run `create extension citus` in this database on every node"
    )]
    NoCitus,
    #[error(
        "this server is not registered as the coordinator of its cluster; run `select \
         citus_set_coordinator_host('ADDRESS', PORT)` in this database, with an address that the workers reach"
    )]
    NoCoordinator,
    #[error(
        "no node of the cluster can have shards; add workers with `select citus_add_node('ADDRESS', PORT)`, or let this \
         server have them with `select citus_set_node_property('ADDRESS', PORT, 'shouldhaveshards', true)`"
    )]
    NoNodes,
    #[error(
        "the tables are in the schema {0}, and Citus finds them on other nodes only in public; restore a backup into a \
         database without a search_path"
    )]
    Schema(String),
    #[error(
        "the table {0} does not belong to Evenkeel; move it to another schema, so that it is not in the way of a \
         migration"
    )]
    Unknown(String),
    #[error(
        "could not {step}; nothing is lost, and no server can start before `evenkeel shard` has finished: correct the \
         cause and run it again"
    )]
    Failed { step: ShardStep, source: Error },
    #[error("the views could not be created again; the next start of a server creates them")]
    Views(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error(transparent)]
    Db(#[from] Error),
}

/// A part of the work, for progress and errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShardStep {
    TakeOutForeignKeys,
    Place { table: String, placement: Placement, number: usize, of: usize },
    AddForeignKeys { count: usize },
}

impl std::fmt::Display for ShardStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ShardStep::TakeOutForeignKeys => f.write_str("take the foreign keys out"),
            ShardStep::Place { table, placement, number, of } => {
                write!(f, "place the {} table {table} ({number} of {of})", placement.as_str())
            }
            ShardStep::AddForeignKeys { count } => {
                write!(f, "add the foreign keys again ({count} are left)")
            }
        }
    }
}

impl Db {
    /// Places every table as listed, with this number of shards. Returns the number of tables that were placed. The
    /// views are dropped; their owner creates them again.
    pub async fn shard(
        &self,
        placements: Placements,
        shards: u32,
        mut on_step: impl FnMut(&ShardStep) + Send,
    ) -> Result<usize, ShardError> {
        if self.engine() == Engine::Sqlite {
            return Err(ShardError::Sqlite);
        }
        let _lock = self.lock_schema().await?;
        let cluster = self.cluster().await?.ok_or(ShardError::NoCitus)?;
        let todo = self.check_cluster(&cluster, placements).await?;
        if todo.is_empty() && !cluster.is_unfinished {
            return Ok(0);
        }
        if !cluster.is_unfinished {
            let step = ShardStep::TakeOutForeignKeys;
            on_step(&step);
            let taken = self.write_unlimited(LOCK_WAIT, take_out_foreign_keys).await;
            taken.map_err(|source| ShardError::Failed { step, source })?;
        }
        let of = todo.len();
        for (index, Unplaced { table, placement, is_elsewhere }) in todo.into_iter().enumerate() {
            let (number, shards) = (index + 1, format!("set local citus.shard_count = {shards}"));
            let step = ShardStep::Place { table: table.clone(), placement, number, of };
            on_step(&step);
            let take_back = is_elsewhere.then(|| format!("select undistribute_table('{table}')"));
            let place = format!("{shards}; {}", placing(placements, &table, placement));
            for sql in take_back.into_iter().chain([place]) {
                let placed = self.write_unlimited(LOCK_WAIT, move |tx| tx.run_migration(&sql));
                let failed = |source| ShardError::Failed { step: step.clone(), source };
                placed.await.map_err(failed)?;
            }
        }
        self.delete_copies(placements).await?;
        self.add_foreign_keys(&mut on_step).await?;
        Ok(of)
    }

    /// The tables that have to be placed. An error if the cluster is not ready.
    async fn check_cluster(
        &self,
        cluster: &Cluster,
        placements: Placements,
    ) -> Result<Vec<Unplaced>, ShardError> {
        if !cluster.has_coordinator {
            return Err(ShardError::NoCoordinator);
        }
        if cluster.shard_nodes == 0 {
            return Err(ShardError::NoNodes);
        }
        let schema =
            self.first("select cast(current_schema() as text)", &[], |it| it.get(0)).await?;
        let schema: String = schema.unwrap_or_default();
        if schema != "public" {
            return Err(ShardError::Schema(schema));
        }
        let mut todo = Vec::new();
        for (table, found) in cluster.tables.iter().filter(|(it, _)| it != UNFINISHED) {
            let wanted = placement_of(placements, table);
            let wanted = wanted.ok_or_else(|| ShardError::Unknown(table.clone()))?;
            if *found != Some(wanted) {
                let is_elsewhere = *found != Some(Placement::Local);
                todo.push(Unplaced { table: table.clone(), placement: wanted, is_elsewhere });
            }
        }
        // Reference tables are small, and the first distributed table decides where the others go.
        todo.sort_by_key(|it| {
            (it.placement == Placement::Distributed, Some(it.table.as_str()) != first(placements))
        });
        Ok(todo)
    }

    /// Deletes the rows that Citus left in the tables on this node after it copied them to the shards.
    async fn delete_copies(&self, placements: Placements) -> Result<(), ShardError> {
        for (table, _) in placements.iter().filter(|(_, it)| *it != Placement::Local) {
            let sql = format!("select truncate_local_data_after_distributing_table('{table}')");
            self.write_unlimited(LOCK_WAIT, move |tx| tx.run_migration(&sql)).await?;
        }
        Ok(())
    }

    async fn add_foreign_keys(
        &self,
        on_step: &mut (impl FnMut(&ShardStep) + Send),
    ) -> Result<(), ShardError> {
        let read = |row: &crate::value::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let mut left: Vec<(String, String, String)> = self.all(LEFT, &[], read).await?;
        while let Some((table, name, definition)) = left.pop() {
            let step = ShardStep::AddForeignKeys { count: left.len() + 1 };
            on_step(&step);
            let work = move |tx: &mut Tx<'_>| {
                tx.run_migration(&format!(
                    "alter table {table} add constraint {name} {definition}"
                ))?;
                tx.execute(ADDED, params![&table, &name]).map(drop)
            };
            let added = self.write_unlimited(LOCK_WAIT, work).await;
            added.map_err(|source: Error| ShardError::Failed { step, source })?;
        }
        let finish = |tx: &mut Tx<'_>| tx.run_migration(&format!("drop table {UNFINISHED}"));
        Ok(self.write_unlimited(LOCK_WAIT, finish).await?)
    }
}

/// A table that is not placed as listed.
struct Unplaced {
    table: String,
    placement: Placement,
    /// It is distributed or copied already, in another way, as an older version had it.
    is_elsewhere: bool,
}

/// Moves the foreign keys of all tables into a table, and drops the views, which Citus would have to create anew.
fn take_out_foreign_keys(tx: &mut Tx<'_>) -> Result<()> {
    let names = views::listed(tx)?.into_iter().map(|it| it.0);
    for name in names.chain([views::LIST.to_owned()]) {
        tx.run_migration(&format!("drop view if exists {name}"))?;
    }
    tx.run_migration(CREATE_LEFT)?;
    let read = |row: &crate::value::Row<'_>| Ok((row.get::<String>(0)?, row.get::<String>(1)?));
    for (table, name) in tx.all(LEFT_NAMES, &[], read)? {
        tx.run_migration(&format!("alter table {table} drop constraint {name}"))?;
    }
    Ok(())
}

/// The distributed table that decides where the shards of the others go.
fn first(placements: Placements) -> Option<&'static str> {
    placements.iter().find(|(_, it)| *it == Placement::Distributed).map(|(table, _)| *table)
}

/// The statement that places a table.
pub(super) fn placing(placements: Placements, table: &str, placement: Placement) -> String {
    match placement {
        Placement::Local => String::new(),
        Placement::Reference => format!("select create_reference_table('{table}')"),
        Placement::Distributed => {
            let beside = first(placements).filter(|it| *it != table).unwrap_or("none");
            format!(
                "select create_distributed_table('{table}', 'user_id', colocate_with => '{beside}')"
            )
        }
    }
}

const CREATE_LEFT: &str =
    "create table sharding_foreign_keys (table_name text not null, name text not null,
    definition text not null, primary key (table_name, name));
    insert into sharding_foreign_keys (table_name, name, definition)
    select t.relname, k.conname, pg_get_constraintdef(k.oid) from pg_constraint k
    join pg_class t on t.oid = k.conrelid join pg_namespace n on n.oid = t.relnamespace
    where n.nspname = current_schema() and k.contype = 'f' and k.conparentid = 0";
const LEFT_NAMES: &str =
    "select table_name, name from sharding_foreign_keys order by table_name, name";
const LEFT: &str = "select table_name, name, definition from sharding_foreign_keys
    order by table_name desc, name desc";
const ADDED: &str = "delete from sharding_foreign_keys where table_name = $1 and name = $2";
