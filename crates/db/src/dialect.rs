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

/// Around statements of a migration that only one engine runs, such as a trigger.
const ONLY_SQLITE: [&str; 2] = ["{only sqlite}", "{end sqlite}"];
const ONLY_POSTGRES: [&str; 2] = ["{only postgres}", "{end postgres}"];

pub(crate) fn migration_for_sqlite(sql: &str) -> String {
    let sql =
        without_blocks(sql, ONLY_POSTGRES).replace(ONLY_SQLITE[0], "").replace(ONLY_SQLITE[1], "");
    WORDS.iter().fold(sql, |sql, (word, sqlite, _)| sql.replace(word, sqlite))
}

pub(crate) fn migration_for_postgres(sql: &str) -> String {
    let sql = without_blocks(sql, ONLY_SQLITE)
        .replace(ONLY_POSTGRES[0], "")
        .replace(ONLY_POSTGRES[1], "");
    WORDS.iter().fold(sql, |sql, (word, _, postgres)| sql.replace(word, postgres))
}

fn without_blocks(sql: &str, [begin, end]: [&str; 2]) -> String {
    let mut parts = sql.split(begin);
    let before = parts.next().unwrap_or_default().to_owned();
    parts.fold(before, |kept, part| kept + part.split_once(end).map_or("", |(_, after)| after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_for_one_engine() {
        let sql = "a {int};\n{only sqlite}b;{end sqlite} {only postgres}c;{end postgres}\nd;{only sqlite}e;{end sqlite}";
        assert_eq!(migration_for_sqlite(sql), "a integer;\nb; \nd;e;");
        assert_eq!(migration_for_postgres(sql), "a bigint;\n c;\nd;");
    }
}
