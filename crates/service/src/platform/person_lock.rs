//! The lock on one person's data, for writers in several processes.

use base::UserId;
use db::{Tx, params};

use crate::Result;

/// Locks the person's row until the transaction ends. Returns false if the person does not exist. SQLite has only one
/// writer, so there the lock changes nothing.
pub(crate) fn lock(tx: &mut Tx<'_>, user: UserId) -> Result<bool> {
    Ok(tx.execute(LOCK, params![user])? > 0)
}

const LOCK: &str = "update users set updated_at = updated_at where id = $1";

pub(crate) const STATEMENTS: &[&str] = &[LOCK];
