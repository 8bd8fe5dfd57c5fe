//! The few places where the SQL of the two engines differs.

use std::borrow::Cow;

/// Lock clauses at the end of a statement: until the transaction ends, the rows of `e` that were read cannot be
/// deleted, cannot be changed, or are about to be changed by this transaction.
const LOCKS: [&str; 3] = [" for key share of e", " for share of e", " for update of e"];

/// Translates a statement for SQLite.
///
/// `$1` becomes `?1`, because SQLite binds `$1` by order of appearance and `?1` by number. No literal in our statements
/// contains a dollar sign; the statement test checks that. Lock clauses are removed: SQLite has only one writer.
pub(crate) fn for_sqlite(sql: &str) -> Cow<'_, str> {
    let sql = LOCKS.iter().find_map(|it| sql.strip_suffix(it)).unwrap_or(sql);
    if sql.contains('$') { Cow::Owned(sql.replace('$', "?")) } else { Cow::Borrowed(sql) }
}

/// Placeholders in migrations for a type or a kind of table: placeholder, SQLite, PostgreSQL.
const PLACEHOLDERS: [(&str, &str, &str); 5] = [
    ("{bytes}", "blob", "bytea"),
    ("{int}", "integer", "bigint"),
    ("{table}", "strict", ""),
    // Rows are stored in key order, so that a page of a user's list is one short read.
    ("{clustered}", "strict, without rowid", ""),
    // Its content may be lost in a crash, so it is not written to the write-ahead log.
    ("{unlogged}", "", "unlogged"),
];

/// Markers around the statements of a migration that only one engine runs, such as a trigger.
const ONLY_SQLITE: [&str; 2] = ["{only sqlite}", "{end sqlite}"];
const ONLY_POSTGRES: [&str; 2] = ["{only postgres}", "{end postgres}"];

pub(crate) fn migration_for_sqlite(sql: &str) -> String {
    let sql =
        without_blocks(sql, ONLY_POSTGRES).replace(ONLY_SQLITE[0], "").replace(ONLY_SQLITE[1], "");
    PLACEHOLDERS.iter().fold(sql, |sql, (name, sqlite, _)| sql.replace(name, sqlite))
}

pub(crate) fn migration_for_postgres(sql: &str) -> String {
    let sql = without_blocks(sql, ONLY_SQLITE)
        .replace(ONLY_POSTGRES[0], "")
        .replace(ONLY_POSTGRES[1], "");
    PLACEHOLDERS.iter().fold(sql, |sql, (name, _, postgres)| sql.replace(name, postgres))
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
    fn a_marked_block_runs_on_one_engine_only() {
        let sql = "a {int};\n{only sqlite}b;{end sqlite} {only postgres}c;{end postgres}\nd;{only sqlite}e;{end sqlite}";
        assert_eq!(migration_for_sqlite(sql), "a integer;\nb; \nd;e;");
        assert_eq!(migration_for_postgres(sql), "a bigint;\n c;\nd;");
    }
}
