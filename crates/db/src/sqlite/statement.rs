//! Statements on one SQLite connection.

use rusqlite::{Connection, params_from_iter};

use crate::dialect::for_sqlite;
use crate::error::Result;
use crate::value::{Param, Row, RowSource};

/// Rows per insert statement. Where a trigger follows each row, SQLite copies the pages that a statement changes before
/// it changes them; with one row per statement that would double the time of an import.
const ROWS_PER_INSERT: usize = 50;
/// Rows per statement while there are as many. Each page is then copied a tenth as often. Its text is not kept prepared.
const ROWS_PER_LARGE_INSERT: usize = 500;
/// Values that SQLite allows in one statement.
const VALUES_MAX: usize = 32_766;

pub(crate) fn each(
    connection: &Connection,
    sql: &str,
    params: &[Param<'_>],
    visit: &mut dyn FnMut(&Row<'_>) -> Result<()>,
) -> Result<()> {
    let mut statement = connection.prepare_cached(&for_sqlite(sql))?;
    let mut rows = statement.query(params_from_iter(params))?;
    while let Some(row) = rows.next()? {
        visit(&Row(RowSource::Sqlite(row)))?;
    }
    Ok(())
}

pub(crate) fn execute(connection: &Connection, sql: &str, params: &[Param<'_>]) -> Result<u64> {
    let mut statement = connection.prepare_cached(&for_sqlite(sql))?;
    Ok(statement.execute(params_from_iter(params))? as u64)
}

pub(crate) fn insert_rows<'p>(
    connection: &Connection,
    table: &str,
    columns: &[&str],
    mut rows: impl Iterator<Item = impl AsRef<[Param<'p>]>>,
) -> Result<()> {
    let names = columns.join(", ");
    let values = format!("({})", vec!["?"; columns.len()].join(", "));
    let insert_of = |rows: usize| {
        let values = vec![values.as_str(); rows].join(", ");
        format!("insert into {table} ({names}) values {values}")
    };
    let large = ROWS_PER_LARGE_INSERT.min(VALUES_MAX / columns.len().max(1));
    let mut statement = None;
    let mut rest: Vec<_> = rows.by_ref().take(large).collect();
    while rest.len() == large {
        let values = rest.iter().flat_map(AsRef::as_ref);
        let prepared = match &mut statement {
            Some(prepared) => prepared,
            none => none.insert(connection.prepare(&insert_of(large))?),
        };
        prepared.execute(params_from_iter(values))?;
        rest = rows.by_ref().take(large).collect();
    }
    let mut rows = rest.into_iter();
    let (one, many) = (insert_of(1), insert_of(ROWS_PER_INSERT));
    loop {
        let next: Vec<_> = rows.by_ref().take(ROWS_PER_INSERT).collect();
        if next.len() < ROWS_PER_INSERT {
            let mut statement = connection.prepare_cached(&one)?;
            for row in &next {
                statement.execute(params_from_iter(row.as_ref()))?;
            }
            return Ok(());
        }
        let values = next.iter().flat_map(AsRef::as_ref);
        let mut statement = connection.prepare_cached(&many)?;
        statement.execute(params_from_iter(values))?;
    }
}
