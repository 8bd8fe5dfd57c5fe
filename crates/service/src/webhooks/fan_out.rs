//! From an event to what is to be sent, in the transaction that made the event.

use std::collections::HashMap;
use std::sync::Arc;

use base::{AccountId, EndpointId, EventId, KeyId, Timestamp, UserId};
use db::params;
use wire::v1::{Event, EventType, Scope};

use super::claim::{Delivery, EncryptedDestination, envelope, leased_until, read_destination};
use super::limiter::DispatchedDelivery;
use crate::{App, Result, Scopes, Tx};

/// Who wants to hear of this person's events.
pub(crate) struct Subscribers {
    all: Vec<Subscriber>,
    /// Recalls of lines before they were read.
    generation: u64,
}

struct Subscriber {
    at: EncryptedDestination,
    filter_types: String,
    /// To some accounts.
    is_limited: bool,
    /// What its key may see.
    scopes: Scopes,
}

/// An event as it was written.
pub(crate) struct AppendedEvent<'e> {
    pub(crate) id: EventId,
    pub(crate) event: &'e Event,
    pub(crate) data: String,
}

impl Subscribers {
    pub(crate) fn of(
        app: &App,
        tx: &mut Tx<'_>,
        user: UserId,
        now: Timestamp,
    ) -> Result<Subscribers> {
        let generation = app.webhooks.limiter.generation();
        let read = |row: &db::Row<'_>| {
            let (limited, scopes): (Option<i64>, &str) = (row.get(8)?, row.get(9)?);
            // A word that is none of ours opens nothing.
            let scopes = scopes.split(' ').filter_map(Scope::parse).collect();
            Ok(Subscriber {
                at: read_destination(row)?,
                filter_types: row.get(7)?,
                is_limited: limited.is_some(),
                scopes,
            })
        };
        Ok(Subscribers { all: tx.all(SUBSCRIBERS, params![user, now], read)?, generation })
    }

    /// Only those of this key. Its own endpoints hear of each other whatever accounts it may see.
    pub(crate) fn of_key(mut self, key: KeyId) -> Subscribers {
        self.all.retain(|it| it.at.key == key);
        self.all.iter_mut().for_each(|it| it.is_limited = false);
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// One delivery for each event and each endpoint that wants it, as far as its key may see what the event is about. A key
/// that may see only some accounts hears of those alone, and of nothing that is about no account.
pub(crate) fn fan_out(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    subscribers: Subscribers,
    events: &[AppendedEvent<'_>],
    now: Timestamp,
) -> Result<()> {
    let mut seen: HashMap<KeyId, Vec<AccountId>> = HashMap::new();
    let (mut rows, mut dispatched) = (Vec::new(), Vec::new());
    for Subscriber { at, filter_types, is_limited, scopes } in subscribers.all {
        if is_limited && !seen.contains_key(&at.key) {
            let accounts = tx.all(ACCOUNTS, params![user, at.key], |row| row.get(0))?;
            seen.insert(at.key, accounts);
        }
        let accounts = seen.get(&at.key).filter(|_| is_limited);
        let wanted: Vec<&AppendedEvent<'_>> = events
            .iter()
            .filter(|it| is_for(it.event, (&filter_types, scopes), accounts))
            .collect();
        let (id, mut to) = (at.id, None);
        for it in wanted {
            let name = it.event.event_type().name;
            let slot = app.webhooks.limiter.reserve_new(id, subscribers.generation);
            // Opened when it is first needed.
            let dispatched_to = slot.and_then(|slot| {
                let to = to.get_or_insert_with(|| at.decrypt_or_log(app, now).map(Arc::new));
                to.clone().map(|to| (slot, to))
            });
            rows.push(Row {
                endpoint: id,
                event: it.id,
                name,
                is_claimed: dispatched_to.is_some(),
            });
            if let Some((slot, to)) = dispatched_to {
                let body = envelope(it.id, name, now, &it.data).into();
                let event_type = name.to_owned();
                let delivery = Delivery { to, event: it.id, event_type, attempts: 0, body };
                dispatched.push(DispatchedDelivery {
                    delivery,
                    slot,
                    leased_until: leased_until(now),
                });
            }
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    insert(tx, user, &rows, now)?;
    announce(app, tx, rows.len() > dispatched.len(), dispatched)
}

fn is_for(
    event: &Event,
    (filter_types, scopes): (&str, Scopes),
    accounts: Option<&Vec<AccountId>>,
) -> bool {
    let EventType { name, scope, .. } = event.event_type();
    let wanted = filter_types.is_empty() || filter_types.contains(&format!(" {name} "));
    let about = || event.account_id().and_then(|it| AccountId::parse(it).ok());
    wanted
        && scope.is_none_or(|it| scopes.has(it))
        && accounts.is_none_or(|all| about().is_some_and(|it| all.contains(&it)))
}

/// Once all of it is kept, what has a seat sets out, and the rest is claimed by whoever has room: here, or, where this
/// process sends nothing, elsewhere. A process that sends does not wake the others, which costs each commit a turn in a
/// queue of the whole server, and would only make them reach for the same rows.
fn announce(
    app: &App,
    tx: &mut Tx<'_>,
    some_wait: bool,
    dispatched: Vec<DispatchedDelivery>,
) -> Result<()> {
    if !app.webhooks.limiter.is_sending() {
        tx.notify()?;
    }
    // Also then: it may begin to send, and have looked already, before this is kept.
    let limiter = app.webhooks.limiter.clone();
    tx.on_commit(move || {
        limiter.dispatch(dispatched);
        if some_wait {
            limiter.request_claim();
        }
    });
    Ok(())
}

struct Row {
    endpoint: EndpointId,
    event: EventId,
    name: &'static str,
    /// By this process, as if it had claimed it.
    is_claimed: bool,
}

fn insert(tx: &mut Tx<'_>, user: UserId, rows: &[Row], now: Timestamp) -> Result<()> {
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
    let (at_once, after_lease) = (now.as_microsecond(), leased_until(now));
    let values = rows.iter().map(|it| {
        [
            user.into(),
            it.endpoint.into(),
            it.event.into(),
            it.name.into(),
            "pending".into(),
            0_i64.into(),
            if it.is_claimed { after_lease } else { at_once }.into(),
            now.into(),
            now.into(),
        ]
    });
    tx.insert_many("deliveries", columns, values)?;
    Ok(())
}

/// None of them is deleted before what is written for it is kept.
const SUBSCRIBERS: &str = "select e.user_id, e.id, e.key_id, e.url, e.secret, e.previous_secret,
    e.previous_until, e.filter_types, k.limited_at, k.scopes
    from webhook_endpoints e join api_keys k on k.user_id = e.user_id and k.id = e.key_id
    where e.user_id = $1 and e.status = 'active' and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > $2) order by e.id limit 1000 for key share of e";
const ACCOUNTS: &str = "select account_id from api_key_accounts
    where user_id = $1 and key_id = $2 order by account_id limit 10000";

pub(super) const STATEMENTS: &[&str] = &[SUBSCRIBERS, ACCOUNTS];
