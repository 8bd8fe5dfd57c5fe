//! Disconnecting: the stored access is deleted, while accounts and transactions stay. A provider that has to be told is
//! told by a background step.

use base::{AccountId, ConnectionId};
use db::params;
use webhooks::outbox;

use super::connection::{active, lock_user};
use crate::ingest::imports;
use crate::platform::audit::{self, Note};
use crate::platform::ended_access;
use crate::{App, Caller, Result};

/// Disconnects. If the provider can end access, it is told, again and again until it succeeded. Otherwise the person may
/// want to revoke access there.
pub async fn disconnect(app: &App, caller: &Caller, connection: ConnectionId) -> Result<()> {
    caller.require_owner("connection")?;
    let (mine, caller, now) = (app.clone(), caller.clone(), app.clock.now());
    let work = move |tx: &mut db::Tx<'_>| {
        let user = caller.user;
        lock_user(tx, user)?;
        let found = active(tx, user, connection)?;
        if found.provider.revokes() {
            ended_access::queue(tx, user, connection)?;
        }
        let accounts =
            tx.all(ACCOUNTS, params![user, connection], |row| row.get::<AccountId>(0))?;
        let mut events = Vec::new();
        for account in accounts {
            events.extend(imports::disconnected_event(tx, user, account)?);
        }
        tx.execute(DELETE_ACCESS, params![user, connection, now])?;
        tx.execute(CLEAR_ATTENTION, params![user, connection, now])?;
        outbox::append(&mine.webhooks, tx, user, &events)?;
        let details = format!("Disconnected {} and deleted its access", found.name);
        let note = Note::new(&caller, "connection.disconnect", details).about(connection);
        audit::note(tx, user, now, note)
    };
    app.db.write(work).await?;
    app.bank_client.revocation_queued.notify_one();
    Ok(())
}

const ACCOUNTS: &str =
    "select id from accounts where user_id = $1 and connection_id = $2 order by id";
const DELETE_ACCESS: &str = "update connections set access = null, status = 'disconnected',
    attention = null, remedy = null, sync_state = null, failures = 0, next_sync_at = null,
    leased_until = null, access_ends_at = null, disconnected_at = $3
    where user_id = $1 and id = $2";
const CLEAR_ATTENTION: &str = "update accounts set attention = null, updated_at = $3
    where user_id = $1 and connection_id = $2";

pub(super) const STATEMENTS: &[&str] = &[ACCOUNTS, DELETE_ACCESS, CLEAR_ATTENTION];
