//! Checks of the database, for `evenkeel doctor`.

use db::{Db, Engine};

use crate::Result;

/// The database's engine and schema.
#[derive(Debug, Clone)]
pub struct Health {
    /// The engine and its version, such as "SQLite 3.50.4".
    pub engine: String,
    /// The schema version; `None` for an empty database.
    pub schema: Option<i64>,
}

pub async fn get(db: &Db) -> Result<Health> {
    let (name, version) = match db.engine() {
        Engine::Sqlite => ("SQLite", SQLITE_VERSION),
        Engine::Postgres => ("PostgreSQL", POSTGRES_VERSION),
    };
    let version: Option<String> = db.first(version, &[], |row| row.get(0)).await?;
    let engine = format!("{name} {}", version.unwrap_or_default());
    Ok(Health { engine, schema: db::schema_version(db).await? })
}

/// Checks the whole SQLite file, and returns the problems that SQLite reports. PostgreSQL checks its pages itself.
pub async fn find_damage(db: &Db) -> Result<Vec<String>> {
    if db.engine() == Engine::Postgres {
        return Ok(Vec::new());
    }
    let mut found: Vec<String> = db.all(QUICK_CHECK, &[], |row| row.get(0)).await?;
    found.retain(|it| it != "ok");
    let dangling = |row: &db::Row<'_>| {
        let (child, parent): (&str, &str) = (row.get(0)?, row.get(2)?);
        Ok(format!("a row of {child} refers to a missing row of {parent}"))
    };
    found.extend(db.all(FOREIGN_KEY_CHECK, &[], dangling).await?);
    Ok(found)
}

/// Counts the accounts whose stored transaction count is wrong. Imports update both in one transaction, so any such
/// account means a bug or a manual change.
pub async fn count_miscounted_accounts(db: &Db) -> Result<i64> {
    Ok(db.first(MISCOUNTED, &[], |row| row.get(0)).await?.unwrap_or(0))
}

const SQLITE_VERSION: &str = "select sqlite_version()";
const POSTGRES_VERSION: &str = "select current_setting('server_version')";
const QUICK_CHECK: &str = "pragma quick_check(20)";
const FOREIGN_KEY_CHECK: &str = "pragma foreign_key_check";
const MISCOUNTED: &str = "select cast(count(*) as bigint) from accounts a
    left join (select user_id, account_id, count(*) as counted from transactions
        where state not in ('removed', 'hidden') group by user_id, account_id) t
    on t.user_id = a.user_id and t.account_id = a.id
    where a.transaction_count <> coalesce(t.counted, 0)";

pub(crate) const STATEMENTS: &[&str] = &[MISCOUNTED];
