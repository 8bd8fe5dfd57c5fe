//! The end of a connection: its access is forgotten, and what it brought stays.

use base::{AccountId, ConnectionId};
use db::params;
use webhooks::outbox;

use super::{alive, lock};
use crate::ingest::imports;
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Result};

/// Forgets how to get in. The person may want to end it at SimpleFIN, too; a new token takes it up again.
pub async fn disconnect(app: &App, caller: &Caller, connection: ConnectionId) -> Result<()> {
    caller.require_owner("connection")?;
    let (mine, caller, now) = (app.clone(), caller.clone(), app.clock.now());
    let work = move |tx: &mut db::Tx<'_>| {
        let user = caller.user;
        lock(tx, user)?;
        let name = alive(tx, user, connection)?;
        let held = tx.all(ACCOUNTS, params![user, connection], |row| row.get::<AccountId>(0))?;
        let mut events = Vec::new();
        for account in held {
            events.extend(imports::disconnected(tx, user, account)?);
        }
        tx.execute(FORGET, params![user, connection, now])?;
        tx.execute(CALM, params![user, connection, now])?;
        outbox::append(&mine.webhooks, tx, user, &events)?;
        let details = format!("Disconnected {name}; its access is forgotten");
        let note = Note::new(&caller, "connection.disconnect", details).about(connection);
        audit::note(tx, user, now, note)
    };
    app.db.write(work).await
}

const ACCOUNTS: &str =
    "select id from accounts where user_id = $1 and connection_id = $2 order by id";
const FORGET: &str = "update connections set access = null, status = 'disconnected',
    attention = null, failures = 0, next_sync_at = null,
    leased_until = null, disconnected_at = $3 where user_id = $1 and id = $2";
const CALM: &str = "update accounts set attention = null, updated_at = $3
    where user_id = $1 and connection_id = $2";

pub(super) const STATEMENTS: &[&str] = &[ACCOUNTS, FORGET, CALM];
