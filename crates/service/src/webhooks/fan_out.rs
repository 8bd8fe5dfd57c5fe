//! From an event to what is to be sent, in the transaction that made the event.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use base::{AccountId, EndpointId, EventId, KeyId, Timestamp, UserId};
use db::params;
use wire::v1::Event;

use crate::{App, Result, Tx};

/// Who wants to hear of this person's events.
pub(crate) struct Listeners(Vec<Listener>);

struct Listener {
    id: EndpointId,
    key: KeyId,
    filter_types: String,
    is_limited: bool,
}

impl Listeners {
    pub(crate) fn of(tx: &mut Tx<'_>, user: UserId, now: Timestamp) -> Result<Listeners> {
        let read = |row: &db::Row<'_>| {
            let limited: Option<i64> = row.get(3)?;
            Ok(Listener {
                id: row.get(0)?,
                key: row.get(1)?,
                filter_types: row.get(2)?,
                is_limited: limited.is_some(),
            })
        };
        Ok(Listeners(tx.all(LISTENERS, params![user, now], read)?))
    }

    /// Only those of this key. Its own endpoints hear of each other whatever accounts it may see.
    pub(crate) fn of_key(mut self, key: KeyId) -> Listeners {
        self.0.retain(|it| it.key == key);
        self.0.iter_mut().for_each(|it| it.is_limited = false);
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// One delivery for each event and each endpoint that wants it. A key that may see only some accounts hears of those
/// alone, and of nothing that is about no account.
pub(crate) fn fan_out(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    listeners: &Listeners,
    events: &[(EventId, &Event)],
    now: Timestamp,
) -> Result<()> {
    let mut seen: HashMap<KeyId, Vec<AccountId>> = HashMap::new();
    let mut rows = Vec::new();
    for listener in &listeners.0 {
        if listener.is_limited && !seen.contains_key(&listener.key) {
            let accounts = tx.all(ACCOUNTS, params![user, listener.key], |row| row.get(0))?;
            seen.insert(listener.key, accounts);
        }
        for (id, event) in events {
            let name = event.event_type().name;
            let wanted = listener.filter_types.is_empty()
                || listener.filter_types.contains(&format!(" {name} "));
            let allowed = !listener.is_limited
                || event.account_id().and_then(|it| AccountId::parse(it).ok()).is_some_and(|it| {
                    seen.get(&listener.key).is_some_and(|accounts| accounts.contains(&it))
                });
            if wanted && allowed {
                rows.push((listener.id, *id, name));
            }
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    insert(tx, user, &rows, now)?;
    app.post.news.store(true, Ordering::Release);
    Ok(())
}

pub(super) fn insert(
    tx: &mut Tx<'_>,
    user: UserId,
    rows: &[(EndpointId, EventId, &str)],
    now: Timestamp,
) -> Result<()> {
    let columns = [
        "user_id",
        "endpoint_id",
        "event_id",
        "event_type",
        "status",
        "attempts",
        "due_at",
        "created_at",
        "updated_at",
    ];
    let values = rows.iter().map(|(endpoint, event, name)| {
        [
            user.into(),
            (*endpoint).into(),
            (*event).into(),
            (*name).into(),
            "pending".into(),
            0_i64.into(),
            now.into(),
            now.into(),
            now.into(),
        ]
    });
    tx.insert_many("deliveries", columns, values)?;
    Ok(())
}

const LISTENERS: &str = "select e.id, e.key_id, e.filter_types, k.limited_at
    from webhook_endpoints e join api_keys k on k.user_id = e.user_id and k.id = e.key_id
    where e.user_id = $1 and e.status = 'active' and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > $2) order by e.id limit 1000";
const ACCOUNTS: &str = "select account_id from api_key_accounts
    where user_id = $1 and key_id = $2 order by account_id limit 10000";

pub(super) const STATEMENTS: &[&str] = &[LISTENERS, ACCOUNTS];
