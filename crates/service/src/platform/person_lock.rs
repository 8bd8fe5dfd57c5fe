//! The lock on one person's data, for writers in several processes: the person's row of `person_states`.

use base::UserId;
use db::{Tx, params};

use crate::Result;

/// Creates the row of a new person.
pub(crate) fn create(tx: &mut Tx<'_>, user: UserId) -> Result<()> {
    tx.execute(CREATE, params![user])?;
    Ok(())
}

/// Locks the person's data until the transaction ends. Returns false if the person does not exist. SQLite has only one
/// writer, so there the lock changes nothing. A transaction that also changes the person's row of `users` locks this one first.
pub(crate) fn lock(tx: &mut Tx<'_>, user: UserId) -> Result<bool> {
    Ok(tx.execute(LOCK, params![user])? > 0)
}

const CREATE: &str =
    "insert into person_states (user_id, transactions_stamp, transactions_epoch, swept_at)
    values ($1, 0, 0, 0)";
const LOCK: &str = "update person_states set swept_at = swept_at where user_id = $1";

pub(crate) const STATEMENTS: &[&str] = &[CREATE, LOCK];
