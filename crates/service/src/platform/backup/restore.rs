//! Taking a backup in: all of it in one transaction, and only into a database that nobody uses yet.

use std::io::Read;

use base::Timestamp;
use db::{Db, Param, Table, Tx};

use super::format::{Cell, Contents, Lines, TableHeader, damaged, read_row};
use super::{Access, access, refused};
use crate::platform::anchors;
use crate::{Error, Result};

/// Rows that go to the database together.
const BATCH: usize = 2_000;
/// Rows may hold files; of such a few at once are enough.
const BATCH_BYTES: usize = 4 * 1_024 * 1_024;

/// Takes in a backup that `check` found whole; `input` is the same file again. The schema must be
/// there already. Nobody is signed in afterwards; says what else that means for access.
pub async fn restore<R: Read + Send + 'static>(
    db: &Db,
    contents: Contents,
    input: R,
    now: Timestamp,
    mut on_rows: impl FnMut(u64) + Send + 'static,
) -> Result<Access> {
    let known = db::schema_version(db).await?.unwrap_or(0);
    if contents.header.schema > known {
        return Err(refused(format!(
            "the backup was made by a newer Evenkeel (its schema is at version {}, this program \
             knows {known}); update the program first",
            contents.header.schema
        )));
    }
    let tables = targets(&contents.header.tables, &db.tables().await?)?;
    // What is written into people's trails is anchored with the key that the backup brings.
    let db = db.clone().with_signer(anchors::signer(&contents.key));
    db.write(move |tx| {
        if tx.first(ANYONE, &[], |_| Ok(()))?.is_some() {
            return Err(not_empty());
        }
        // The backup brings its own mark of whose installation it is.
        tx.execute(FORGET_INSTALLATION, &[])?;
        let ended = access::take_ended(tx)?;
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
        // The file was whole a moment ago; if it is another one now, nothing of it stays.
        if written != contents.rows {
            return Err(damaged());
        }
        access::settle(tx, &ended, contents.made_at(), now)
    })
    .await
}

/// Where each table of the backup goes, with exactly the columns it brings.
fn targets(backed_up: &[TableHeader], known: &[Table]) -> Result<Vec<Table>> {
    let target = |wanted: &TableHeader| {
        let table = known.iter().find(|it| it.name == wanted.name);
        let table = table.ok_or_else(|| differs(&format!("a table {}", wanted.name)))?;
        let column = |name: &String| {
            let found = table.columns.iter().find(|it| it.name == *name).cloned();
            found.ok_or_else(|| differs(&format!("a column {name} in {}", table.name)))
        };
        let columns = wanted.columns.iter().map(column).collect::<Result<_>>()?;
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

/// Looks before anything is touched; `restore` looks again inside its transaction.
pub async fn must_be_empty(db: &Db) -> Result<()> {
    match db.first(ANYONE, &[], |_| Ok(())).await? {
        Some(()) => Err(not_empty()),
        None => Ok(()),
    }
}

fn not_empty() -> Error {
    refused(
        "there are people in this database already; restore only into an empty one, so that \
         nothing of theirs is lost",
    )
}

/// Rows of one table, waiting to be written.
#[derive(Default)]
struct Batch {
    table: usize,
    rows: Vec<Vec<Cell>>,
    /// As many as their lines had.
    bytes: usize,
}

impl Batch {
    /// Says how many there were.
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

/// None when the row has other columns than its table.
fn row_params<'c>(cells: &'c [Cell], table: &Table) -> Option<Vec<Param<'c>>> {
    if cells.len() != table.columns.len() {
        return None;
    }
    cells.iter().zip(&table.columns).map(|(cell, column)| cell.param(column.kind)).collect()
}

const ANYONE: &str = "select id from users limit 1";
const FORGET_INSTALLATION: &str = "delete from installation";

pub(super) const STATEMENTS: &[&str] = &[ANYONE, FORGET_INSTALLATION];
