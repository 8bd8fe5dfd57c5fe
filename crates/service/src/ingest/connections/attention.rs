//! Events about accounts that need the person: one when an account begins to, none while it goes on.

use std::collections::BTreeSet;

use base::draft::AccountKind;
use base::{AccountId, ConnectionId, UserId};
use db::{Row, Tx, params};
use webhooks::outbox;
use wire::v1::Event;

use crate::{App, Result};

/// The accounts of a connection that need the person at one moment of a transaction.
pub(super) struct NeedingAccounts {
    user: UserId,
    connection: ConnectionId,
    accounts: BTreeSet<AccountId>,
}

impl NeedingAccounts {
    pub(super) fn read(
        tx: &mut Tx<'_>,
        user: UserId,
        connection: ConnectionId,
    ) -> Result<NeedingAccounts> {
        let accounts = tx.all(NEEDING, params![user, connection], |row| row.get::<AccountId>(0))?;
        Ok(NeedingAccounts { user, connection, accounts: accounts.into_iter().collect() })
    }

    /// Publishes an event for each account that needs the person now and did not before.
    pub(super) fn publish_new(&self, tx: &mut Tx<'_>, app: &App) -> Result<()> {
        let read = |row: &Row<'_>| {
            let (id, kind): (AccountId, AccountKind) = (row.get(0)?, row.get(1)?);
            let institution_name = row.get(2)?;
            let (account_id, kind) = (id.to_string(), kind.as_str());
            Ok((id, Event::AccountNeedsAttention { account_id, institution_name, r#type: kind }))
        };
        let now = tx.all(NEEDING, params![self.user, self.connection], read)?;
        let new = now.into_iter().filter(|(id, _)| !self.accounts.contains(id));
        let events: Vec<Event> = new.map(|(_, event)| event).collect();
        if !events.is_empty() {
            outbox::append(&app.webhooks, tx, self.user, &events)?;
        }
        Ok(())
    }
}

// The same as `connection_status` of an account in the API.
const NEEDING: &str = "select a.id, a.kind, a.institution_name from accounts a
    join connections c on c.user_id = a.user_id and c.id = a.connection_id
    where a.user_id = $1 and a.connection_id = $2
    and (c.status = 'needs_attention' or c.status = 'connected' and a.attention is not null)
    order by a.id limit 1000";

pub(super) const STATEMENTS: &[&str] = &[NEEDING];
