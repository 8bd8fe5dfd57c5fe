//! Words that migrations renamed. A restore writes rows into a database whose migrations have already run, so rows from
//! an older backup must be changed in the same way afterwards.

use crate::{Result, Tx};

/// A statement that a migration ran, and the schema version that came out of it.
struct RenamedWord {
    schema: i64,
    sql: &'static str,
}

const RENAMED_WORDS: [RenamedWord; 1] = [RenamedWord { schema: 11, sql: KEEPER_TO_ADMIN }];

/// Changes rows from a backup of that schema version to the words that this version knows.
pub(super) fn rename_words(tx: &mut Tx<'_>, backup_schema: i64) -> Result<()> {
    for renamed in RENAMED_WORDS.iter().filter(|it| it.schema > backup_schema) {
        tx.execute(renamed.sql, &[])?;
    }
    Ok(())
}

const KEEPER_TO_ADMIN: &str = "update users set role = 'admin' where role = 'keeper'";

pub(super) const STATEMENTS: &[&str] = &[KEEPER_TO_ADMIN];
