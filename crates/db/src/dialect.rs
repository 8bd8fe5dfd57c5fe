//! Where the two engines must differ in their words.

use std::borrow::Cow;

/// SQLite numbers `$1` by first appearance and `?1` by its number; we mean the number. No literal of ours holds
/// a dollar, which the statement test checks.
pub(crate) fn for_sqlite(sql: &str) -> Cow<'_, str> {
    if sql.contains('$') { Cow::Owned(sql.replace('$', "?")) } else { Cow::Borrowed(sql) }
}

/// Words of a migration that name a type or a kind of table.
const WORDS: [(&str, &str, &str); 5] = [
    ("{bytes}", "blob", "bytea"),
    ("{int}", "integer", "bigint"),
    ("{table}", "strict", ""),
    // Rows lie in key order in the table itself, so that a page of a user's list is one short read.
    ("{clustered}", "strict, without rowid", ""),
    // Nothing of value is lost with it in a crash, so it need not be written twice.
    ("{unlogged}", "", "unlogged"),
];

pub(crate) fn migration_for_sqlite(sql: &str) -> String {
    WORDS.iter().fold(sql.to_owned(), |sql, (word, sqlite, _)| sql.replace(word, sqlite))
}

pub(crate) fn migration_for_postgres(sql: &str) -> String {
    WORDS.iter().fold(sql.to_owned(), |sql, (word, _, postgres)| sql.replace(word, postgres))
}
