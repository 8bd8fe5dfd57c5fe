//! Several PostgreSQL servers as one database, with the extension Citus: how tables are placed on its nodes, sharding a
//! database, and migrating one that is sharded.

mod cluster;
mod migration;
mod place;
mod statements;

pub use cluster::Cluster;
pub(crate) use migration::run_migration;
pub use place::{ShardError, ShardStep};

/// The nodes that have the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// On the workers, by `user_id`: all rows of one person are on one node.
    Distributed,
    /// Copied to all nodes, so that other tables can refer to it. Each change is made on all of them.
    Reference,
    /// On the coordinator alone.
    Local,
}

impl Placement {
    pub fn as_str(self) -> &'static str {
        match self {
            Placement::Distributed => "distributed",
            Placement::Reference => "reference",
            Placement::Local => "local",
        }
    }
}

/// Every table with its placement.
pub type Placements = &'static [(&'static str, Placement)];

/// The placement of a table; none for one that is not listed.
fn placement_of(placements: Placements, table: &str) -> Option<Placement> {
    placements.iter().find(|(name, _)| *name == table).map(|(_, placement)| *placement)
}
