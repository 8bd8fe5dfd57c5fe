//! Stamps of transactions: `updated_at` rises with every database transaction that changes a person's transactions, in
//! the order of the commits. The change feed relies on it: whoever has read up to a stamp has missed nothing before it.
//! Lists keep accounts and totals in memory until it changes, so what counts as spending changes with a new stamp too
//! (decision 39).

use base::{AccountId, ImportId, Timestamp, UserId};
use db::{Tx, params};

use crate::{Error, Result};

/// The stamp for all changes of this database transaction. It locks the person until the commit, so no later
/// stamp can be committed before this one. It is the present time, or later if stamps are ahead of the clock.
pub(crate) fn next(tx: &mut Tx<'_>, user: UserId, now: Timestamp) -> Result<Timestamp> {
    let stamp = tx.first(NEXT, params![user, now], |row| row.get(0))?;
    stamp.ok_or(Error::NotFound("user"))
}

/// Marks all visible transactions of an account as changed, because something that they show of it changed: its name,
/// or whether it is hidden.
pub(crate) fn mark_account(
    tx: &mut Tx<'_>,
    user: UserId,
    account: AccountId,
    stamp: Timestamp,
) -> Result<()> {
    tx.execute(MARK_ACCOUNT, params![user, account, stamp])?;
    Ok(())
}

/// Records that the transactions of an import are about to be deleted.
pub(crate) fn record_removal_of_import(
    tx: &mut Tx<'_>,
    user: UserId,
    import: ImportId,
    stamp: Timestamp,
) -> Result<()> {
    tx.execute(REMOVE_IMPORT, params![user, import, stamp])?;
    Ok(())
}

/// Records that an account and its transactions are about to be deleted, and which keys could see it.
pub(crate) fn record_removal_of_account(
    tx: &mut Tx<'_>,
    user: UserId,
    account: AccountId,
    stamp: Timestamp,
) -> Result<()> {
    tx.execute(REMOVE_ACCOUNT, params![user, account, stamp])?;
    tx.execute(KEEP_KEYS, params![user, account])?;
    Ok(())
}

const NEXT: &str = "update person_states set transactions_stamp =
    case when transactions_stamp >= $2 then transactions_stamp + 1 else $2 end
    where user_id = $1 returning transactions_stamp";
const MARK_ACCOUNT: &str = "update transactions set updated_at = $3
    where user_id = $1 and account_id = $2 and state not in ('removed', 'hidden')";
const REMOVE_IMPORT: &str =
    "insert into transaction_removals (user_id, removed_at, id, account_id)
    select user_id, cast($3 as bigint), id, account_id from transactions where user_id = $1 and import_id = $2";
const REMOVE_ACCOUNT: &str =
    "insert into transaction_removals (user_id, removed_at, id, account_id)
    select user_id, cast($3 as bigint), id, account_id from transactions where user_id = $1 and account_id = $2";
const KEEP_KEYS: &str = "insert into deleted_account_keys (user_id, key_id, account_id)
    select user_id, key_id, account_id from api_key_accounts where user_id = $1 and account_id = $2";

pub(crate) const STATEMENTS: &[&str] =
    &[NEXT, MARK_ACCOUNT, REMOVE_IMPORT, REMOVE_ACCOUNT, KEEP_KEYS];
