//! Finds out whether a pooler such as PgBouncer stands before PostgreSQL, and whether Evenkeel can work through it.
//!
//! A pooler in transaction mode gives each transaction of a client any of its server connections. Evenkeel prepares
//! statements once per connection. A pooler that does not keep track of them runs whatever statement another client
//! prepared under the same name on that server connection, so it must be refused.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use tokio_postgres::Statement;

use super::connection::Connection;
use crate::error::{Error, Result};

/// How long one of two clients may wait for a server connection while the other holds one.
const TURN_MAX: Duration = Duration::from_secs(3);
/// How often a prepared statement is tried on changing server connections.
const TRIES: usize = 5;

const UNTRACKED: &str = "database.url leads to a connection pooler in transaction mode that does not keep track of \
    prepared statements, so statements of other clients would be run; use PgBouncer 1.21 or newer with \
    max_prepared_statements above 0, or pool_mode = session, or connect to PostgreSQL directly";
const TOO_SMALL: &str = "database.url leads to a connection pooler that has only one connection to PostgreSQL free; \
    raise its default_pool_size to at least 10, or connect to PostgreSQL directly";
const BY_STATEMENT: &str = "database.url leads to a connection pooler that allows no transactions; use pool_mode = \
    session, or transaction with PgBouncer 1.21 or newer, or connect to PostgreSQL directly";

/// Whether transactions of one connection run on changing server connections. An error if Evenkeel cannot work that way.
pub(super) async fn pools_transactions(first: &Connection, second: &Connection) -> Result<bool> {
    let before = first.server_process().await?;
    let begun = second.execute_batch("begin").await;
    begun.map_err(|error| match error.server_says("statement pooling") {
        true => Error::Unsupported(BY_STATEMENT.to_owned()),
        false => error,
    })?;
    // Two connections that are open at the same time never share a server process, unless a pooler lends it to them.
    let is_lent = second.server_process().await? == before
        || tokio::time::timeout(TURN_MAX, first.server_process()).await.map_err(too_small)??
            != before;
    second.execute_batch("rollback").await?;
    if is_lent {
        check_prepared_statements(first, second).await?;
    }
    Ok(is_lent)
}

/// Prepares a statement on one server process and runs it on another.
async fn check_prepared_statements(first: &Connection, second: &Connection) -> Result<()> {
    // The name of a statement is the same in every program with this driver, so its answer must be unmistakable.
    let marker = format!("{:016x}", RandomState::new().hash_one(std::process::id()));
    let sql = format!("select cast(pg_backend_pid() as bigint), '{marker}'");
    let untracked = |_| Error::Unsupported(UNTRACKED.to_owned());
    let statement = first.client().prepare(&sql).await.map_err(untracked)?;
    let run = async || -> Result<i64> {
        let answer = run_marked(first, &statement, &marker).await;
        answer.ok_or_else(|| Error::Unsupported(UNTRACKED.to_owned()))
    };
    for _ in 0..TRIES {
        let before = run().await?;
        second.execute_batch("begin").await?;
        second.server_process().await?;
        let now = tokio::time::timeout(TURN_MAX, run()).await.map_err(too_small)?;
        second.execute_batch("rollback").await?;
        if now? != before {
            return Ok(());
        }
    }
    // It was never run on another server process, so nothing is known.
    Err(Error::Unsupported(UNTRACKED.to_owned()))
}

/// The server process that ran the statement; none if it was not this statement that ran.
async fn run_marked(connection: &Connection, statement: &Statement, marker: &str) -> Option<i64> {
    let row = connection.client().query_one(statement, &[]).await.ok()?;
    let found: &str = row.try_get(1).ok()?;
    (found == marker).then(|| row.try_get(0).ok()).flatten()
}

fn too_small(_: tokio::time::error::Elapsed) -> Error {
    Error::Unsupported(TOO_SMALL.to_owned())
}
