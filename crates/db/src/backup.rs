//! Exports and imports of whole tables, for backups and for moving between the engines.

use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use tokio::sync::mpsc;
use tokio_postgres::types::Type;

use crate::database::{Db, Driver};
use crate::error::{Error, Result};
use crate::postgres::Connection;
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
        let sql = match self.driver {
            Driver::Sqlite(_) => SQLITE_COLUMNS,
            Driver::Postgres(_) => POSTGRES_COLUMNS,
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
        Ok(tables)
    }

    /// Copies the SQLite file, as of one moment, while others go on working. The target is empty or does not exist.
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
                let begin = "begin transaction isolation level repeatable read, read only;
                    set local statement_timeout = 0";
                connection.execute_batch(begin).await?;
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

/// Sends the rows of all tables in batches, until they are all sent or nobody takes them any more.
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

// Each column with its table's name first. Both engines number tables in order of creation, and a parent is always created
// before its child.
const SQLITE_COLUMNS: &str = "select t.name, c.name, lower(c.type)
    from sqlite_schema t, pragma_table_info(t.name) c
    where t.type = 'table' and t.name not like 'sqlite%' and t.name not in ('schema_migrations',
    'request_marks', 'processes', 'transaction_search', 'transaction_search_dirty')
    order by t.rowid";
const POSTGRES_COLUMNS: &str = "select cast(t.relname as text), cast(c.attname as text),
    format_type(c.atttypid, null)
    from pg_class t join pg_namespace n on n.oid = t.relnamespace
    join pg_attribute c on c.attrelid = t.oid
    where n.nspname = current_schema() and t.relkind = 'r' and t.relpersistence = 'p'
    and t.relname not in ('schema_migrations', 'transaction_search', 'transaction_search_dirty')
    and c.attnum > 0 and not c.attisdropped
    order by t.oid";
