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

/// Settings of PostgreSQL that lose acknowledged changes, or damage the database, at a power cut. Ours for SQLite are
/// safe, because the program sets them itself.
pub async fn unsafe_settings(db: &Db) -> Result<Vec<String>> {
    if db.engine() == Engine::Sqlite {
        return Ok(Vec::new());
    }
    Ok(db.all(UNSAFE_SETTINGS, &[], |row| row.get(0)).await?)
}

/// The connections that a PostgreSQL server accepts, and those that running servers of Evenkeel may open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionUse {
    /// Connections that the server accepts from a user without special rights.
    pub accepted: i64,
    /// Connections that other programs have open now, and Evenkeel for other databases.
    pub others_open: i64,
    /// Servers of Evenkeel on this database.
    pub servers: i64,
    /// Connections that those servers may open together.
    pub servers_may_open: i64,
}

/// `None` for SQLite.
pub async fn connections(db: &Db) -> Result<Option<ConnectionUse>> {
    if db.engine() == Engine::Sqlite {
        return Ok(None);
    }
    let read = |row: &db::Row<'_>| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?));
    let (accepted, others_open) = db.first(CONNECTIONS, &[], read).await?.unwrap_or_default();
    let names: Vec<String> = db.all(SERVERS, &[], |row| row.get(0)).await?;
    // `evenkeel/16/0123456789abcdef`: how many connections the process may open, and which process it is.
    let counts = names.iter().filter_map(|it| it.split('/').nth(1)?.parse::<i64>().ok());
    let counts: Vec<i64> = counts.filter(|it| *it >= db::SERVER_CONNECTIONS_MIN as i64).collect();
    let (servers, servers_may_open) = (counts.len() as i64, counts.iter().sum());
    Ok(Some(ConnectionUse { accepted, others_open, servers, servers_may_open }))
}

const SQLITE_VERSION: &str = "select sqlite_version()";
const POSTGRES_VERSION: &str = "select current_setting('server_version')";
const CONNECTIONS: &str = "select
    cast(current_setting('max_connections') as bigint)
        - cast(current_setting('superuser_reserved_connections') as bigint)
        - cast(coalesce(current_setting('reserved_connections', true), '0') as bigint),
    (select cast(count(*) as bigint) from pg_stat_activity where backend_type = 'client backend'
        and (datname is distinct from current_database() or application_name not like 'evenkeel/%'))";
const UNSAFE_SETTINGS: &str = "select name || ' is ' || setting from pg_settings
    where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off' order by name limit 3";
const SERVERS: &str = "select distinct application_name from pg_stat_activity
    where datname = current_database() and application_name like 'evenkeel/%' limit 1000";
const QUICK_CHECK: &str = "pragma quick_check(20)";
const FOREIGN_KEY_CHECK: &str = "pragma foreign_key_check";
const MISCOUNTED: &str = "select cast(count(*) as bigint) from accounts a
    left join (select user_id, account_id, count(*) as counted from transactions
        where state not in ('removed', 'hidden') group by user_id, account_id) t
    on t.user_id = a.user_id and t.account_id = a.id
    where a.transaction_count <> coalesce(t.counted, 0)";

pub(crate) const STATEMENTS: &[&str] = &[MISCOUNTED];
