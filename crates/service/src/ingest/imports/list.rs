//! The list of past imports, newest first.

use base::draft::Source;
use base::{AccountId, ConnectionId, ImportId, Timestamp};
use db::params;

use super::request::Summary;
use super::undo;
use crate::{App, Caller, Error, Result};

/// A past import.
#[derive(Debug, Clone)]
pub struct Import {
    pub id: ImportId,
    pub connection: ConnectionId,
    pub source: Source,
    /// The file's name, if it came from a file.
    pub name: Option<String>,
    pub format: Option<String>,
    pub imported_at: Timestamp,
    pub summary: Summary,
    /// Rows of the file that could not be read.
    pub rejected: usize,
    /// Accounts in which something changed.
    pub accounts: usize,
    pub undone_at: Option<Timestamp>,
}

impl Import {
    /// Whether it was not undone yet, and still can be.
    pub fn can_be_undone(&self, now: Timestamp) -> bool {
        self.undone_at.is_none() && undo::is_in_time(self.imported_at, now)
    }
}

/// Imports that changed something or came from a file, of one connection or of all.
pub async fn list(
    app: &App,
    caller: &Caller,
    connection: Option<ConnectionId>,
    limit: usize,
) -> Result<Vec<Import>> {
    caller.require_owner("import")?;
    let limit = limit as i64;
    Ok(match connection {
        Some(connection) => {
            app.db.all(OF_CONNECTION, params![caller.user, connection, limit], read).await?
        }
        None => app.db.all(ALL, params![caller.user, limit], read).await?,
    })
}

pub async fn get(app: &App, caller: &Caller, id: ImportId) -> Result<Import> {
    caller.require_owner("import")?;
    let found = app.db.first(BY_ID, params![caller.user, id], read).await?;
    found.ok_or(Error::NotFound("import"))
}

/// The accounts in which an import changed something.
pub async fn list_accounts(app: &App, caller: &Caller, id: ImportId) -> Result<Vec<AccountId>> {
    caller.require_owner("import")?;
    Ok(app.db.all(ACCOUNTS, params![caller.user, id], |row| row.get(0)).await?)
}

fn read(row: &db::Row<'_>) -> db::Result<Import> {
    let count = |column: usize| Ok::<_, db::Error>(row.get::<i64>(column)?.max(0) as usize);
    Ok(Import {
        id: row.get(0)?,
        connection: row.get(1)?,
        source: row.get(2)?,
        name: row.get(3)?,
        format: row.get(4)?,
        imported_at: row.get(5)?,
        summary: Summary {
            new: count(6)?,
            changed: count(7)?,
            seen: count(8)?,
            removed: count(9)?,
        },
        rejected: count(10)?,
        accounts: count(11)?,
        undone_at: row.get(12)?,
    })
}

const ALL: &str =
    "select i.id, i.connection_id, c.source, i.name, i.format, i.imported_at, i.new_count,
    i.changed_count, i.seen_count, i.removed_count, i.rejected_count, i.account_count, i.undone_at
    from imports i join connections c on c.user_id = i.user_id and c.id = i.connection_id
    where i.user_id = $1 and (i.account_count > 0 or i.name is not null)
    order by i.id desc limit $2";
const OF_CONNECTION: &str =
    "select i.id, i.connection_id, c.source, i.name, i.format, i.imported_at, i.new_count,
    i.changed_count, i.seen_count, i.removed_count, i.rejected_count, i.account_count, i.undone_at
    from imports i join connections c on c.user_id = i.user_id and c.id = i.connection_id
    where i.user_id = $1 and i.connection_id = $2 and (i.account_count > 0 or i.name is not null)
    order by i.id desc limit $3";
const BY_ID: &str =
    "select i.id, i.connection_id, c.source, i.name, i.format, i.imported_at, i.new_count,
    i.changed_count, i.seen_count, i.removed_count, i.rejected_count, i.account_count, i.undone_at
    from imports i join connections c on c.user_id = i.user_id and c.id = i.connection_id
    where i.user_id = $1 and i.id = $2";
const ACCOUNTS: &str = "select account_id from import_accounts
    where user_id = $1 and import_id = $2 order by account_id";

pub(super) const STATEMENTS: &[&str] = &[ALL, OF_CONNECTION, BY_ID, ACCOUNTS];
