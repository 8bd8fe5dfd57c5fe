//! The fan-out of events into deliveries, in the transaction that appends the events.

use std::collections::HashMap;
use std::sync::Arc;

use base::{AccountId, EndpointId, EventId, KeyId, Timestamp, UserId};
use db::{Tx, params};
use wire::v1::{Event, Scopes};

use crate::context::Webhooks;
use crate::delivery::{Delivery, EncryptedDestination, Lease, Trigger, read_destination};
use crate::error::Result;
use crate::event_access::{accounts_in, may_see, parse_scopes};
use crate::limiter::DispatchedDelivery;
use crate::payload;

/// The active endpoints of a person.
pub(crate) struct Subscribers {
    all: Vec<Subscriber>,
    /// The limiter's generation before the endpoints were read.
    generation: u64,
    /// The database's time when they were read.
    read_at: Timestamp,
}

/// An endpoint and the events that it may receive.
struct Subscriber {
    to: EncryptedDestination,
    filter_types: String,
    /// Whether its key is limited to some accounts.
    is_limited: bool,
    /// The scopes of its key.
    scopes: Scopes,
}

/// An event that the transaction has appended to the outbox.
pub(crate) struct AppendedEvent<'e> {
    pub(crate) id: EventId,
    pub(crate) event: &'e Event,
    pub(crate) data: String,
}

impl Subscribers {
    pub(crate) fn of_person(
        webhooks: &Webhooks,
        tx: &mut Tx<'_>,
        user: UserId,
        now: Timestamp,
    ) -> Result<Subscribers> {
        let generation = webhooks.limiter.generation();
        let read = |row: &db::Row<'_>| {
            let (limited, scopes): (Option<i64>, &str) = (row.get(9)?, row.get(10)?);
            Ok(Subscriber {
                to: read_destination(row)?,
                filter_types: row.get(8)?,
                is_limited: limited.is_some(),
                scopes: parse_scopes(scopes),
            })
        };
        tx.prefetch_now();
        let all = tx.all(SUBSCRIBERS, params![user, now], read)?;
        Ok(Subscribers { all, generation, read_at: tx.now()? })
    }

    /// Keeps the endpoints of one key. Events about each other reach them whatever accounts the key is limited to.
    pub(crate) fn only_of_key(mut self, key: KeyId) -> Subscribers {
        self.all.retain(|it| it.to.key == key);
        self.all.iter_mut().for_each(|it| it.is_limited = false);
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// Writes one delivery for each event and each endpoint that subscribes to it, as far as the endpoint's key may see the
/// event. `now` is the time of the events, read from this process's clock before the transaction's statements. A key that is limited to some accounts receives only events about those accounts.
pub(crate) fn fan_out(
    webhooks: &Webhooks,
    tx: &mut Tx<'_>,
    user: UserId,
    subscribers: Subscribers,
    events: &[AppendedEvent<'_>],
    now: Timestamp,
) -> Result<()> {
    let due_at = subscribers.read_at;
    let lease = Lease::new(due_at, now);
    let mut accounts_of_key: HashMap<KeyId, Vec<AccountId>> = HashMap::new();
    let (mut rows, mut dispatched) = (Vec::new(), Vec::new());
    for Subscriber { to, filter_types, is_limited, scopes } in subscribers.all {
        if is_limited && !accounts_of_key.contains_key(&to.key) {
            let accounts = accounts_in(tx, user, to.key)?;
            accounts_of_key.insert(to.key, accounts);
        }
        let accounts = accounts_of_key.get(&to.key).filter(|_| is_limited);
        let matching: Vec<&AppendedEvent<'_>> = events
            .iter()
            .filter(|it| is_subscribed(it.event, (&filter_types, scopes), accounts))
            .collect();
        let (endpoint, mut decrypted) = (to.id, None);
        for it in matching {
            let name = it.event.event_type().name;
            let slot = webhooks.limiter.reserve_new(endpoint, subscribers.generation);
            // Secrets are decrypted only if this process sends something.
            let ready = slot.and_then(|slot| {
                let decrypt = || to.decrypt_or_log(&webhooks.cipher, now).map(Arc::new);
                let to = decrypted.get_or_insert_with(decrypt);
                to.clone().map(|to| (slot, to))
            });
            rows.push(Row { endpoint, event: it.id, name, is_claimed: ready.is_some() });
            if let Some((slot, to)) = ready {
                let body = payload::body(it.id, name, now, &it.data).into();
                let event_type = name.to_owned();
                let trigger = Trigger::Scheduled;
                let delivery =
                    Delivery { to, event: it.id, event_type, attempts: 0, body, trigger };
                dispatched.push(DispatchedDelivery { delivery, slot, lease });
            }
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    insert(tx, user, &rows, due_at, lease)?;
    dispatch_on_commit(webhooks, tx, rows.len() > dispatched.len(), dispatched)
}

fn is_subscribed(
    event: &Event,
    (filter_types, scopes): (&str, Scopes),
    accounts: Option<&Vec<AccountId>>,
) -> bool {
    let event_type = event.event_type();
    let padded = || format!(" {} ", event_type.name);
    let is_wanted = filter_types.is_empty() || filter_types.contains(&padded());
    let account = || event.account_id().and_then(|it| AccountId::parse(it).ok());
    is_wanted && may_see(event_type, scopes, accounts, account)
}

/// After the commit, deliveries with a slot are dispatched, and the others (`has_unclaimed`) are claimed by this
/// process or, if it sends nothing, by another. A process that sends does not notify the others: every notification
/// takes a lock of the whole PostgreSQL server at commit, and would only make them compete for the same rows.
pub(crate) fn dispatch_on_commit(
    webhooks: &Webhooks,
    tx: &mut Tx<'_>,
    has_unclaimed: bool,
    dispatched: Vec<DispatchedDelivery>,
) -> Result<()> {
    if !webhooks.limiter.is_sending() {
        tx.notify()?;
    }
    // Done even if this process sends nothing yet: it may start, and look for due deliveries, before this commit.
    let limiter = webhooks.limiter.clone();
    tx.on_commit(move || {
        limiter.dispatch(dispatched);
        if has_unclaimed {
            limiter.request_claim();
        }
    });
    Ok(())
}

/// A delivery to insert.
struct Row {
    endpoint: EndpointId,
    event: EventId,
    name: &'static str,
    /// Whether it is inserted as if this process had already claimed it.
    is_claimed: bool,
}

fn insert(tx: &mut Tx<'_>, user: UserId, rows: &[Row], now: Timestamp, lease: Lease) -> Result<()> {
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
    let (at_once, after_lease) = (now.as_microsecond(), lease.until);
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

/// Locks the endpoints, so that none is deleted before its deliveries are committed.
const SUBSCRIBERS: &str = "select e.user_id, e.id, e.key_id, e.url, e.secret, e.previous_secret,
    e.previous_until, e.version, e.filter_types, k.limited_at, k.scopes
    from webhook_endpoints e join api_keys k on k.user_id = e.user_id and k.id = e.key_id
    where e.user_id = $1 and e.status = 'active' and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > $2) order by e.id limit 1000 for key share of e";

pub(crate) const STATEMENTS: &[&str] = &[SUBSCRIBERS];
