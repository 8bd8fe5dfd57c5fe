//! Tests of the database layer, on the engine that the environment selects.
#![expect(clippy::unwrap_used, reason = "a failed step of a test should panic")]

mod connection_loss;
mod fair_reads;
mod full_disk;
mod large_writes;
mod metrics;
mod migrations;
mod pool;
mod poolers;
mod shrinking;
mod slow_reads;
mod tables;
mod tls;
mod transactions;
mod values;
mod views;

use db::{Db, Error, Migration, Tx, params};
use testkit::Database;

const NOTES: &[Migration] = &[Migration {
    version: 1,
    name: "notes",
    sql: "create table notes (id {int} primary key, word text unique, image {bytes},
        parent {int} references notes (id)) {table};",
}];

/// A database with one table.
struct Notes {
    db: Db,
    database: Database,
}

impl Notes {
    async fn new() -> Notes {
        let database = Database::empty().await;
        let db = database.open().await;
        db.migrate(NOTES).await.unwrap();
        Notes { db, database }
    }

    async fn ids(&self) -> Vec<i64> {
        self.db.all("select id from notes order by id", &[], |row| row.get(0)).await.unwrap()
    }
}

fn add(tx: &mut Tx<'_>, id: i64) -> Result<(), Error> {
    tx.execute("insert into notes (id) values ($1)", params![id])?;
    Ok(())
}
