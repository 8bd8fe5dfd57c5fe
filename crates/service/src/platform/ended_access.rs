//! The queue of bank access that has ended here and is still to be revoked at its provider.
//!
//! It is separate from the connections, because the deletion of a person fills it, too.

use base::{ConnectionId, UserId};
use db::{Tx, params};
use sources::banks;

use crate::Result;

/// Queues the access of a connection, in the transaction that ends or replaces it.
pub(crate) fn queue(tx: &mut Tx<'_>, user: UserId, connection: ConnectionId) -> Result<()> {
    let now = tx.now()?;
    tx.execute(QUEUE, params![user, connection, now])?;
    Ok(())
}

/// Queues all access of a person, in the transaction that deletes them.
pub(crate) fn queue_all(tx: &mut Tx<'_>, user: UserId) -> Result<()> {
    let now = tx.now()?;
    for provider in banks::PROVIDERS.iter().filter(|it| it.revokes()) {
        tx.execute(QUEUE_ALL, params![user, provider.source().as_str(), now])?;
    }
    Ok(())
}

const QUEUE: &str = "insert into connection_removals
    (user_id, connection_id, created_at, source, access, keys, tries, next_try_at)
    select c.user_id, c.id, $3, c.source, c.access, k.sealed, 0, $3 from connections c
    left join provider_keys k on k.user_id = c.user_id and k.source = c.source
    where c.user_id = $1 and c.id = $2 and c.access is not null";
const QUEUE_ALL: &str = "insert into connection_removals
    (user_id, connection_id, created_at, source, access, keys, tries, next_try_at)
    select c.user_id, c.id, $3, c.source, c.access, k.sealed, 0, $3 from connections c
    left join provider_keys k on k.user_id = c.user_id and k.source = c.source
    where c.user_id = $1 and c.source = $2 and c.access is not null";

pub(crate) const STATEMENTS: &[&str] = &[QUEUE, QUEUE_ALL];
