//! Restoring a backup: all of it in one transaction, and only into a database without people.

use std::io::Read;

use base::Timestamp;
use db::{Db, Param, Table, Tx, params};

use super::format::{Cell, Contents, Lines, TableHeader, damaged, read_row};
use super::{RestoredAccess, access, refused, upgrade};
use crate::platform::anchors;
use crate::{Error, Result};

/// The most rows inserted by one statement.
const BATCH: usize = 2_000;
/// The most bytes inserted by one statement, because a row may hold a file.
const BATCH_BYTES: usize = 4 * 1_024 * 1_024;

/// Restores a backup that `check` found complete. `input` is the same file, read again. The database must have the
/// schema already. Everyone is signed out afterwards; the result lists the access that still works.
pub async fn restore<R: Read + Send + 'static>(
    db: &Db,
    contents: Contents,
    input: R,
    now: Timestamp,
    mut on_rows: impl FnMut(u64) + Send + 'static,
) -> Result<RestoredAccess> {
    let known = db::schema_version(db).await?.unwrap_or(0);
    if contents.header.schema > known {
        return Err(refused(format!(
            "the backup was made by a newer Evenkeel (its schema is at version {}, this program \
             knows {known}); update the program first",
            contents.header.schema
        )));
    }
    let tables = targets(&contents.header.tables, &db.tables().await?)?;
    // New entries of audit trails are anchored with the backup's own installation key.
    let db = db.clone().with_signer(anchors::signer(&contents.key));
    db.write(move |tx| {
        tx.allow_long_statements()?;
        if tx.first(ANYONE, &[], |_| Ok(()))?.is_some() {
            return Err(not_empty());
        }
        // The backup brings its own rows about the installation.
        tx.execute(DELETE_INSTALLATION, &[])?;
        let revoked = access::take_revoked_keys(tx)?;
        let mut lines = Lines::new(input);
        lines.next()?;
        let mut batch = Batch::default();
        let mut written = 0;
        while let Some(line) = lines.next()? {
            if line.starts_with(b"{") {
                break;
            }
            let bytes = line.len();
            let (table, cells) = read_row(line).ok_or_else(damaged)?;
            let is_full = batch.rows.len() >= BATCH || batch.bytes >= BATCH_BYTES;
            if table != batch.table || is_full {
                written += batch.save(tx, &tables)?;
                on_rows(written);
                batch.table = table;
            }
            batch.bytes += bytes;
            batch.rows.push(cells);
        }
        written += batch.save(tx, &tables)?;
        // `check` counted the rows. With another count the file was replaced meanwhile, and nothing is committed.
        if written != contents.rows {
            return Err(damaged());
        }
        upgrade::upgrade_rows(tx, contents.header.schema)?;
        // Cursors of change feeds from after the backup would miss what the restore took back.
        tx.execute(RESTART_FEEDS, params![now])?;
        access::end_stale_access(tx, &revoked, contents.made_at(), now)
    })
    .await
}

/// The tables to insert into, each with exactly the columns that the backup has.
fn targets(backed_up: &[TableHeader], known: &[Table]) -> Result<Vec<Table>> {
    let target = |source: &TableHeader| {
        let table = known.iter().find(|it| it.name == source.name);
        let table = table.ok_or_else(|| differs(&format!("a table {}", source.name)))?;
        let column = |name: &String| {
            let found = table.columns.iter().find(|it| it.name == *name).cloned();
            found.ok_or_else(|| differs(&format!("a column {name} in {}", table.name)))
        };
        let columns = source.columns.iter().map(column).collect::<Result<_>>()?;
        Ok(Table { name: table.name.clone(), columns })
    };
    backed_up.iter().map(target).collect()
}

fn differs(what: &str) -> Error {
    refused(format!(
        "the backup has {what} that this version does not know; restore it with the version \
         that made it, then update"
    ))
}

/// Checks that the database has no people, before anything is changed. `restore` checks again in its transaction.
pub async fn must_be_empty(db: &Db) -> Result<()> {
    match db.first(ANYONE, &[], |_| Ok(())).await? {
        Some(()) => Err(not_empty()),
        None => Ok(()),
    }
}

fn not_empty() -> Error {
    refused(
        "this database already has people in it; restore into an empty database, so that no data \
         is lost",
    )
}

/// Rows of one table that are inserted together.
#[derive(Default)]
struct Batch {
    table: usize,
    rows: Vec<Vec<Cell>>,
    /// The length of their lines in the file.
    bytes: usize,
}

impl Batch {
    /// Inserts the rows and returns how many there were.
    fn save(&mut self, tx: &mut Tx<'_>, tables: &[Table]) -> Result<u64> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        if rows.is_empty() {
            return Ok(0);
        }
        let table = tables.get(self.table).ok_or_else(damaged)?;
        let params: Option<Vec<Vec<Param<'_>>>> =
            rows.iter().map(|cells| row_params(cells, table)).collect();
        table.insert_many(tx, params.ok_or_else(damaged)?.into_iter())?;
        Ok(rows.len() as u64)
    }
}

/// The parameters of a row; `None` if it does not match the table's columns.
fn row_params<'c>(cells: &'c [Cell], table: &Table) -> Option<Vec<Param<'c>>> {
    if cells.len() != table.columns.len() {
        return None;
    }
    cells.iter().zip(&table.columns).map(|(cell, column)| cell.param(column.kind)).collect()
}

const ANYONE: &str = "select id from users limit 1";
const DELETE_INSTALLATION: &str = "delete from installation";
const RESTART_FEEDS: &str = "update person_states set transactions_epoch = $1";

pub(super) const STATEMENTS: &[&str] = &[ANYONE, DELETE_INSTALLATION, RESTART_FEEDS];
