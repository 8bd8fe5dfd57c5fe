//! Exports and imports of whole tables, for backups and for moving between the engines.

use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use tokio::sync::mpsc;
use tokio_postgres::types::{ToSql, Type};

use crate::database::{Db, Driver};
use crate::error::{Error, Result};
use crate::postgres::{Connection, Postgres};
use crate::sqlite::statement;
use crate::tx::Tx;
use crate::value::{Param, Row, RowSource};

/// A table and its columns, sorted by name so that both engines agree on the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub name: String,
    pub columns: Vec<Column>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub kind: ColumnKind,
}

/// The type of a column. PostgreSQL needs it also for null values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    Int,
    Text,
    Bytes,
}

/// Pages copied at a time, and the pause in which others can write. A change by another process begins the copy anew.
const COPY_PAGES: i32 = 1 << 20;
const COPY_PAUSE: Duration = Duration::from_millis(20);
/// Rows that PostgreSQL's reader passes on at a time, and how many such batches wait.
const BATCH_ROWS: usize = 256;
const BATCHES_AHEAD: usize = 2;

impl Db {
    /// The tables that a backup contains, parents before children. Excludes the engine's own tables, unlogged tables,
    /// and tables that triggers fill when rows are restored.
    pub async fn tables(&self) -> Result<Vec<Table>> {
        let (sql, foreign_keys) = match self.driver {
            Driver::Sqlite(_) => (SQLITE_COLUMNS, SQLITE_FOREIGN_KEYS),
            Driver::Postgres(_) => (POSTGRES_COLUMNS, POSTGRES_FOREIGN_KEYS),
        };
        let read = |row: &Row<'_>| Ok((row.get::<String>(0)?, read_column(row)?));
        let mut tables: Vec<Table> = Vec::new();
        for (name, column) in self.all(sql, &[], read).await? {
            match tables.last_mut() {
                Some(table) if table.name == name => table.columns.push(column),
                _ => tables.push(Table { name, columns: vec![column] }),
            }
        }
        for table in &mut tables {
            table.columns.sort_by(|a, b| a.name.cmp(&b.name));
        }
        let read = |row: &Row<'_>| Ok(ForeignKey { child: row.get(0)?, parent: row.get(1)? });
        Ok(parents_first(tables, &self.all(foreign_keys, &[], read).await?))
    }

    /// Copies the SQLite file, as of one moment, while others keep working. The target is empty or does not exist.
    /// Returns false for PostgreSQL, which is not a file.
    pub async fn copy_file(&self, target: &Path) -> Result<bool> {
        let Driver::Sqlite(sqlite) = &self.driver else { return Ok(false) };
        let (source, target) = (sqlite.connection()?, target.to_owned());
        let copying = tokio::task::spawn_blocking(move || {
            let mut target = rusqlite::Connection::open(target)?;
            let copy = rusqlite::backup::Backup::new(&source, &mut target)?;
            copy.run_to_completion(COPY_PAGES, COPY_PAUSE, None)?;
            Ok(true)
        });
        copying.await.map_err(|_| Error::internal("the copy of the database panicked"))?
    }

    /// Calls `visit` with the table's index and each row, for all tables in one consistent snapshot. Does not block
    /// writers.
    pub async fn dump<F>(&self, tables: Vec<Table>, mut visit: F) -> Result<()>
    where
        F: FnMut(usize, &Row<'_>) -> Result<()> + Send + 'static,
    {
        match &self.driver {
            Driver::Sqlite(sqlite) => {
                let connection = sqlite.connection()?;
                let reading = tokio::task::spawn_blocking(move || {
                    connection.execute_batch("begin")?;
                    for (index, table) in tables.iter().enumerate() {
                        let sql = table.select();
                        statement::each(&connection, &sql, &[], &mut |row| visit(index, row))?;
                    }
                    Ok(connection.execute_batch("commit")?)
                });
                reading.await.map_err(|_| Error::internal("the read for a backup panicked"))?
            }
            Driver::Postgres(postgres) => {
                let connection = postgres.connection().await?;
                begin_snapshot(postgres, &connection).await?;
                // `visit` may wait, such as for a slow network, so it gets a thread on which that is allowed.
                let (sender, mut receiver) = mpsc::channel::<(usize, Vec<_>)>(BATCHES_AHEAD);
                let visiting = tokio::task::spawn_blocking(move || {
                    while let Some((index, rows)) = receiver.blocking_recv() {
                        for row in &rows {
                            visit(index, &Row(RowSource::Postgres(row)))?;
                        }
                    }
                    Ok::<(), Error>(())
                });
                let read = read_tables(&connection, &tables, sender).await;
                let visited = visiting.await;
                visited.map_err(|_| Error::internal("the read for a backup panicked"))??;
                read?;
                connection.execute_batch("commit").await
            }
        }
    }
}

/// Begins a transaction that sees all tables as of one moment.
///
/// With Citus, each node has a moment of its own, so that rows of one person are as of one moment. Nobody may add or
/// delete what they refer to on other nodes, such as a person, between the first of these moments and the last: it
/// would be missing in the backup, which then could not be restored.
async fn begin_snapshot(postgres: &Postgres, connection: &Connection) -> Result<()> {
    if !connection.is_citus() {
        return connection.execute_batch(BEGIN).await;
    }
    let none: [(&(dyn ToSql + Sync), Type); 0] = [];
    let placed = connection.with_timeout(connection.client().query_typed(PLACED, &none)).await?;
    let names = |is_reference: bool| -> Result<Vec<String>> {
        let chosen = placed.iter().filter(|it| it.get::<_, bool>(1) == is_reference);
        Ok(chosen.map(|it| it.try_get(0)).collect::<std::result::Result<_, _>>()?)
    };
    let (references, distributed) = (names(true)?, names(false)?);
    let Some(any) = distributed.first() else { return connection.execute_batch(BEGIN).await };
    let lock = postgres.connection().await?;
    let references = references.join(", ");
    lock.execute_batch(&format!("begin; lock table {references} in share mode")).await?;
    let pool = "set local citus.max_adaptive_executor_pool_size = 1";
    let probe = format!("select 1 from {any} limit 1");
    connection.execute_batch(&format!("{BEGIN}; {pool}")).await?;
    connection.execute_batch(&probe).await?;
    lock.execute_batch("rollback").await
}

const BEGIN: &str = "begin transaction isolation level repeatable read, read only;
    set local statement_timeout = 0";

/// Sends the rows of all tables in batches, until they are all sent or the receiver is closed.
async fn read_tables(
    connection: &Connection,
    tables: &[Table],
    sender: mpsc::Sender<(usize, Vec<tokio_postgres::Row>)>,
) -> Result<()> {
    let client = connection.client();
    for (index, table) in tables.iter().enumerate() {
        let none: [(i64, Type); 0] = [];
        let sql = table.select();
        let reading = client.query_typed_raw(&sql, none);
        let mut rows = pin!(connection.with_timeout(reading).await?);
        let mut batch = Vec::new();
        while let Some(row) = connection.with_timeout(rows.try_next()).await? {
            batch.push(row);
            if batch.len() == BATCH_ROWS
                && sender.send((index, std::mem::take(&mut batch))).await.is_err()
            {
                return Ok(());
            }
        }
        if sender.send((index, batch)).await.is_err() {
            return Ok(());
        }
    }
    Ok(())
}

impl Table {
    fn select(&self) -> String {
        format!("select {} from {}", self.names().join(", "), self.name)
    }

    fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|it| it.name.as_str()).collect()
    }

    /// Inserts rows from `dump`, of this or another database. One call has a time limit, so large tables must be
    /// inserted in parts.
    pub fn insert_many<'p>(
        &self,
        tx: &mut Tx<'_>,
        rows: impl Iterator<Item = Vec<Param<'p>>>,
    ) -> Result<()> {
        let types: Vec<Type> = self.columns.iter().map(|it| it.kind.postgres_type()).collect();
        tx.insert_rows(&self.name, &self.names(), &types, rows)
    }
}

impl ColumnKind {
    fn postgres_type(self) -> Type {
        match self {
            ColumnKind::Int => Type::INT8,
            ColumnKind::Text => Type::TEXT,
            ColumnKind::Bytes => Type::BYTEA,
        }
    }
}

/// A table whose rows refer to rows of another.
struct ForeignKey {
    child: String,
    parent: String,
}

/// Sorts tables by name, and puts every table behind those that it refers to. The order in which they were created
/// would not do: Citus creates tables anew.
fn parents_first(mut tables: Vec<Table>, foreign_keys: &[ForeignKey]) -> Vec<Table> {
    tables.sort_by(|a, b| a.name.cmp(&b.name));
    let mut ordered = Vec::with_capacity(tables.len());
    while !tables.is_empty() {
        let is_left = |name: &str| tables.iter().any(|it| it.name == name);
        let waits = |table: &Table| {
            let mut own = foreign_keys.iter().filter(|it| it.child == table.name);
            own.any(|it| it.parent != it.child && is_left(&it.parent))
        };
        // Tables that refer to each other in a circle have no right order; ours do not.
        let next = tables.iter().position(|it| !waits(it)).unwrap_or(0);
        ordered.push(tables.remove(next));
    }
    ordered
}

fn read_column(row: &Row<'_>) -> Result<Column> {
    let kind = match row.get::<&str>(2)? {
        "integer" | "bigint" => ColumnKind::Int,
        "text" => ColumnKind::Text,
        "blob" | "bytea" => ColumnKind::Bytes,
        other => {
            let reason = format!("the type {other} is not one both engines share");
            return Err(Error::Decode { column: 2, reason });
        }
    };
    Ok(Column { name: row.get(1)?, kind })
}

// Each column with its table's name first, and the columns of a table together.
const SQLITE_COLUMNS: &str = "select t.name, c.name, lower(c.type)
    from sqlite_schema t, pragma_table_info(t.name) c
    where t.type = 'table' and t.name not like 'sqlite%' and t.name not in ('schema_migrations',
    'request_marks', 'processes', 'transaction_search', 'transaction_search_dirty')
    order by t.name";
const POSTGRES_COLUMNS: &str = "select cast(t.relname as text), cast(c.attname as text),
    format_type(c.atttypid, null)
    from pg_class t join pg_namespace n on n.oid = t.relnamespace
    join pg_attribute c on c.attrelid = t.oid
    where n.nspname = current_schema() and t.relkind = 'r' and t.relpersistence = 'p'
    and t.relname not in ('schema_migrations', 'transaction_search', 'transaction_search_dirty')
    and c.attnum > 0 and not c.attisdropped
    order by t.oid";

// The tables that Citus has placed: their names, and whether every node has a copy.
const PLACED: &str = "select cast(t.relname as text), p.partmethod = 'n' from pg_dist_partition p
    join pg_class t on t.oid = p.logicalrelid join pg_namespace n on n.oid = t.relnamespace
    where n.nspname = current_schema() and (p.partmethod = 'h' or p.repmodel = 't')
    order by t.relname";

// Each table with a table that it refers to.
const SQLITE_FOREIGN_KEYS: &str = "select t.name, k.\"table\"
    from sqlite_schema t, pragma_foreign_key_list(t.name) k where t.type = 'table'";
const POSTGRES_FOREIGN_KEYS: &str = "select cast(t.relname as text), cast(p.relname as text)
    from pg_constraint k join pg_class t on t.oid = k.conrelid
    join pg_class p on p.oid = k.confrelid join pg_namespace n on n.oid = t.relnamespace
    where n.nspname = current_schema() and k.contype = 'f'";

#[cfg(test)]
mod tests {
    use super::*;

    fn order(names: &[&str], foreign_keys: &[(&str, &str)]) -> Vec<String> {
        let table = |it: &&str| Table { name: (*it).to_owned(), columns: Vec::new() };
        let foreign_key = |(child, parent): &(&str, &str)| ForeignKey {
            child: (*child).to_owned(),
            parent: (*parent).to_owned(),
        };
        let foreign_keys: Vec<_> = foreign_keys.iter().map(foreign_key).collect();
        let ordered = parents_first(names.iter().map(table).collect(), &foreign_keys);
        ordered.into_iter().map(|it| it.name).collect()
    }

    #[test]
    fn tables_come_after_those_that_they_refer_to_whatever_the_order_of_creation() {
        let keys = [("a", "c"), ("c", "d"), ("b", "b"), ("c", "elsewhere")];
        assert_eq!(order(&["a", "b", "c", "d"], &keys), ["b", "d", "c", "a"]);
        assert_eq!(order(&["d", "c", "b", "a"], &keys), ["b", "d", "c", "a"]);
        assert_eq!(order(&["b", "a"], &[("a", "b"), ("b", "a")]), ["a", "b"], "a circle");
    }
}
