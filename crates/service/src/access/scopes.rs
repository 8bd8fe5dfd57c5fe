//! Reading stored scopes.

use crate::Scopes;

/// Reads a column of scopes separated by spaces. An unknown scope is an error.
pub(crate) fn read_scopes(row: &db::Row<'_>, column: usize) -> db::Result<Scopes> {
    let words: &str = row.get(column)?;
    Scopes::parse(words).map_err(|error| db::Error::Decode { column, reason: error.to_string() })
}
