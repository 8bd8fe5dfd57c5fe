//! The steps of a migration on a sharded database.

use super::statements::{NewTable, split};
use super::{Placement, Placements, cluster, place, placement_of};
use crate::dialect;
use crate::error::{Error, Result};
use crate::tx::Tx;

/// Runs a migration. On a sharded database, each new table is placed before it gets its foreign keys, and everything
/// else is left to Citus, which makes the change on every node.
pub(crate) fn run_migration(tx: &mut Tx<'_>, sql: &str, placements: Placements) -> Result<()> {
    if !cluster::is_sharded(tx)? {
        return tx.run_migration(sql);
    }
    for statement in split(&dialect::migration_for_postgres(sql)) {
        let Some(table) = NewTable::parse(&statement) else {
            tx.run_migration(&statement)?;
            continue;
        };
        tx.run_migration(&table.create)?;
        let placement = placement_of(placements, &table.name).ok_or_else(|| {
            let name = &table.name;
            Error::internal(format!("the table {name} has no placement for a sharded database"))
        })?;
        if placement != Placement::Local {
            tx.run_migration(&place::placing(placements, &table.name, placement))?;
        }
        for foreign_key in &table.foreign_keys {
            tx.run_migration(foreign_key)?;
        }
    }
    Ok(())
}
