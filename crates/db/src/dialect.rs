//! The few places where the SQL of the two engines differs.

use std::borrow::Cow;

/// Lock clauses at the end of a statement: until the transaction ends, the rows that were read cannot be deleted, cannot
/// be changed, or are about to be changed by this transaction. The last one leaves out rows that others have locked.
const LOCKS: [&str; 4] = [
    " for key share of e",
    " for share of e",
    " for update of e",
    "\n    for no key update of w, p skip locked",
];

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

/// Markers around indexes that PostgreSQL builds after the migration's transaction. SQLite builds them inside of it.
const CONCURRENTLY: [&str; 2] = ["{concurrently}", "{end concurrently}"];
const WORKS_WITH: &str = "{works with ";

/// The oldest program that works with the schema after a migration, if its text names one.
pub(crate) fn works_with(sql: &str) -> Option<i64> {
    let (_, after) = sql.split_once(WORKS_WITH)?;
    after.split_once('}')?.0.parse().ok()
}

/// The statements between the markers of concurrent indexes, each on one line.
pub(crate) fn concurrent_statements(sql: &str) -> Vec<String> {
    let blocks = sql.split(CONCURRENTLY[0]).skip(1);
    let statements =
        blocks.filter_map(|it| it.split_once(CONCURRENTLY[1])).flat_map(|(block, _)| {
            let lines = block.lines().filter(|it| !it.trim_start().starts_with("--"));
            let text = lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
            text.split(';').map(|it| it.trim().to_owned()).collect::<Vec<_>>()
        });
    statements.filter(|it| !it.is_empty()).collect()
}

fn without_works_with(sql: &str) -> String {
    works_with(sql).map_or_else(
        || sql.to_owned(),
        |version| sql.replace(&format!("{WORKS_WITH}{version}}}"), ""),
    )
}

pub(crate) fn migration_for_sqlite(sql: &str) -> String {
    let sql = [ONLY_SQLITE, CONCURRENTLY]
        .as_flattened()
        .iter()
        .fold(without_blocks(&without_works_with(sql), ONLY_POSTGRES), |sql, marker| {
            sql.replace(marker, "")
        });
    PLACEHOLDERS.iter().fold(sql, |sql, (name, sqlite, _)| sql.replace(name, sqlite))
}

pub(crate) fn migration_for_postgres(sql: &str) -> String {
    let sql = without_blocks(&without_works_with(sql), ONLY_SQLITE);
    let sql = without_blocks(&sql, CONCURRENTLY)
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

    #[test]
    fn concurrent_indexes_are_part_of_the_migration_on_sqlite_only() {
        let sql = "{works with 7}a;\n{concurrently}\n-- Two; of them.\ncreate index b\n  on a (b);\ncreate index c on a (c);\n{end concurrently}d;";
        assert_eq!(works_with(sql), Some(7));
        assert_eq!(works_with("a {int}"), None);
        assert_eq!(
            concurrent_statements(sql),
            ["create index b on a (b)", "create index c on a (c)"]
        );
        assert_eq!(migration_for_postgres(sql), "a;\nd;");
        let sqlite = migration_for_sqlite(sql);
        assert!(sqlite.starts_with("a;") && sqlite.contains("create index c"), "{sqlite}");
        assert!(!sqlite.contains('{'), "{sqlite}");
    }
}
