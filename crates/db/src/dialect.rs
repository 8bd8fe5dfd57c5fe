//! Where the two engines must differ in their words.

use std::borrow::Cow;

/// At the end of a statement: what was read of `e` is not deleted, or not changed either, before the end of the transaction.
const LOCKS: [&str; 2] = [" for key share of e", " for share of e"];

/// SQLite numbers `$1` by first appearance and `?1` by its number; we mean the number. No literal of ours holds
/// a dollar, which the statement test checks.
///
/// Nobody else writes while a transaction of SQLite does, so rows need no lock.
pub(crate) fn for_sqlite(sql: &str) -> Cow<'_, str> {
    let sql = LOCKS.iter().find_map(|it| sql.strip_suffix(it)).unwrap_or(sql);
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
