//! Filters of the transaction list that the person saved under a name.

use base::FilterId;
use db::{Tx, params};

use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result};

pub const NAME_LENGTH_MAX: usize = 40;
/// How many filters a person can save.
pub const FILTERS_MAX: i64 = 30;
/// A query string with every filter of the page is much shorter.
const QUERY_LENGTH_MAX: usize = 2_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedFilter {
    pub id: FilterId,
    pub name: String,
    /// The query string of the list, with its question mark.
    pub query: String,
}

/// Saves a filter. One with the same name is replaced.
pub async fn save(app: &App, caller: &Caller, name: &str, query: &str) -> Result<FilterId> {
    caller.require_owner("filter")?;
    let name = name.trim().to_owned();
    let length = name.chars().count();
    if length == 0 || length > NAME_LENGTH_MAX || name.contains(char::is_control) {
        let message = format!("name must have 1 to {NAME_LENGTH_MAX} characters on one line");
        return Err(Error::invalid("name", message));
    }
    let is_query = query.starts_with('?') && query.len() > 1;
    if !is_query || query.len() > QUERY_LENGTH_MAX || query.contains(char::is_control) {
        return Err(Error::invalid("query", "filter the list first, then save the filter"));
    }
    let (caller, now, query) = (caller.clone(), app.clock.now(), query.to_owned());
    let id: FilterId = app.ids.make();
    let write = move |tx: &mut Tx<'_>| {
        let user = caller.user;
        let note = Note::new(&caller, "filter.save", format!("Saved the filter {name}"));
        audit::note(tx, user, now, note.about(id))?;
        tx.execute(DELETE_NAMED, params![user, &name])?;
        tx.execute(INSERT, params![user, id, &name, &query, now])?;
        let count = tx.first(COUNT, params![user], |row| row.get::<i64>(0))?.unwrap_or_default();
        if count > FILTERS_MAX {
            let message = format!("you can save up to {FILTERS_MAX} filters; delete one first");
            return Err(Error::invalid("name", message));
        }
        Ok(id)
    };
    app.db.write(write).await
}

/// All saved filters, by name.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<SavedFilter>> {
    caller.require_owner("filter")?;
    let read = |row: &db::Row<'_>| {
        Ok(SavedFilter { id: row.get(0)?, name: row.get(1)?, query: row.get(2)? })
    };
    let mut filters = app.db.all(LIST, params![caller.user, FILTERS_MAX], read).await?;
    filters.sort_by_key(|it| it.name.to_lowercase());
    Ok(filters)
}

pub async fn delete(app: &App, caller: &Caller, id: FilterId) -> Result<()> {
    caller.require_owner("filter")?;
    let (caller, now) = (caller.clone(), app.clock.now());
    let delete = move |tx: &mut Tx<'_>| {
        if tx.execute(DELETE, params![caller.user, id])? == 0 {
            return Err(Error::NotFound("filter"));
        }
        let note = Note::new(&caller, "filter.delete", "Deleted a saved filter");
        audit::note(tx, caller.user, now, note.about(id))
    };
    app.db.write(delete).await
}

const DELETE_NAMED: &str = "delete from saved_filters where user_id = $1 and name = $2";
const INSERT: &str = "insert into saved_filters (user_id, id, name, query, created_at)
    values ($1, $2, $3, $4, $5)";
const COUNT: &str = "select cast(count(*) as bigint) from saved_filters where user_id = $1";
const LIST: &str =
    "select id, name, query from saved_filters where user_id = $1 order by id limit $2";
const DELETE: &str = "delete from saved_filters where user_id = $1 and id = $2";

pub(crate) const STATEMENTS: &[&str] = &[DELETE_NAMED, INSERT, COUNT, LIST, DELETE];
