//! `evenkeel shard`: distributes the tables of a PostgreSQL with Citus over the nodes of its cluster.

use anyhow::{Result, ensure};
use db::{Cluster, Placement, ShardError};
use service::placement::PLACEMENTS;
use service::platform::health;
use service::schema;

use super::print;
use crate::cli::Shard;
use crate::config::Config;
use crate::open;
use crate::progress::counted;

/// Neither reads nor creates the installation key, like `evenkeel migrate`.
pub(crate) async fn run(config: &Config, args: &Shard) -> Result<()> {
    if config.database_url.is_none() {
        return Err(ShardError::Sqlite.into());
    }
    let db = open::connect(config).await?;
    let cluster = db.cluster().await?.ok_or(ShardError::NoCitus)?;
    if args.check {
        return print(&plan(&cluster));
    }
    let servers = health::connections(&db).await?.map_or(0, |it| it.servers);
    ensure!(
        servers == 0,
        "a server uses this database ({servers} in all); stop every server first, so that nobody waits for a table \
         that is being copied"
    );
    if !cluster.is_unfinished {
        schema::migrate(&db).await?;
    }
    let on_step = |step: &db::ShardStep| eprintln!("evenkeel: {step}");
    let placed = schema::shard(&db, args.shards, on_step).await?;
    let cluster = db.cluster().await?.ok_or(ShardError::NoCitus)?;
    let done = match placed {
        0 => "Every table is placed already.".to_owned(),
        placed => format!("Placed {}.", counted(placed, "table")),
    };
    print(&format!("{done} {}\n", summary(&cluster)))
}

/// How the tables are placed, in one sentence.
pub(crate) fn summary(cluster: &Cluster) -> String {
    let count = |it| cluster.count(it);
    format!(
        "{} distributed over {}, {} copied to every node, {} on the coordinator alone (Citus {}).",
        counted(count(Placement::Distributed), "table"),
        counted(usize::try_from(cluster.shard_nodes).unwrap_or(0), "node"),
        count(Placement::Reference),
        count(Placement::Local),
        cluster.version,
    )
}

/// Each table with the placement that it would get, and whether it has it.
fn plan(cluster: &Cluster) -> String {
    let misplaced = cluster.misplaced(PLACEMENTS);
    let line = |(table, placement): &(&str, Placement)| {
        let state = if misplaced.contains(table) { "to do" } else { "done" };
        format!("{state:6} {:12} {table}\n", placement.as_str())
    };
    let mut text: String = PLACEMENTS.iter().map(line).collect();
    text += &format!("{}\n", summary(cluster));
    text
}
