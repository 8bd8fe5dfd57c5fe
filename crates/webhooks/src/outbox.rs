//! The outbox: events are written in the transaction of the change they describe, so that none is lost.

use base::kinds;
use base::{EventId, KeyId, Timestamp, UserId};
use db::{Db, Tx, params};
use wire::v1::Event;

use crate::context::Webhooks;
use crate::error::{Error, Result};
use crate::fan_out::{AppendedEvent, Subscribers, fan_out};

/// An event as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    pub id: EventId,
    pub event_type: String,
    pub data: String,
    pub created_at: Timestamp,
}

/// Appends events in the order they happened, and a delivery of each for every endpoint that subscribes to it.
pub fn append(webhooks: &Webhooks, tx: &mut Tx<'_>, user: UserId, events: &[Event]) -> Result<()> {
    let now = webhooks.clock.now();
    let subscribers = Subscribers::of_person(webhooks, tx, user, now)?;
    let appended = insert(webhooks, tx, user, events, now)?;
    if subscribers.is_empty() {
        return Ok(());
    }
    fan_out(webhooks, tx, user, subscribers, &appended, now)
}

/// Appends an event that only the endpoints of one key receive.
pub(crate) fn append_for_key(
    webhooks: &Webhooks,
    tx: &mut Tx<'_>,
    user: UserId,
    key: KeyId,
    event: &Event,
) -> Result<()> {
    let now = webhooks.clock.now();
    let subscribers = Subscribers::of_person(webhooks, tx, user, now)?.only_of_key(key);
    let appended = insert(webhooks, tx, user, std::slice::from_ref(event), now)?;
    for it in &appended {
        tx.execute(SET_KEY, params![user, it.id, key])?;
    }
    fan_out(webhooks, tx, user, subscribers, &appended, now)
}

fn insert<'e>(
    webhooks: &Webhooks,
    tx: &mut Tx<'_>,
    user: UserId,
    events: &'e [Event],
    now: Timestamp,
) -> Result<Vec<AppendedEvent<'e>>> {
    let mut rows = Vec::with_capacity(events.len());
    for event in events {
        let data = serde_json::to_string(event);
        let data = data.map_err(|error| Error::internal(format!("writing an event: {error}")))?;
        rows.push(AppendedEvent { id: webhooks.ids.make::<kinds::Event>(), event, data });
    }
    let columns = ["user_id", "id", "type", "data", "created_at"];
    let values = rows.iter().map(|it| {
        let name = it.event.event_type().name;
        [user.into(), it.id.into(), name.into(), (&it.data).into(), now.into()]
    });
    tx.insert_many("events", columns, values)?;
    if !rows.is_empty() {
        let (count, webhooks) = (rows.len(), webhooks.clone());
        tx.on_commit(move || webhooks.meters.count_events(count));
    }
    Ok(rows)
}

/// The events of a person after a given one, oldest first.
pub async fn list(
    db: &Db,
    user: UserId,
    after: Option<EventId>,
    limit: usize,
) -> Result<Vec<StoredEvent>> {
    let after = after.unwrap_or(EventId::from_bytes([0; 16]));
    let events = db
        .all(LIST, params![user, after, limit as i64], |row| {
            Ok(StoredEvent {
                id: row.get(0)?,
                event_type: row.get(1)?,
                data: row.get(2)?,
                created_at: row.get(3)?,
            })
        })
        .await?;
    Ok(events)
}

const LIST: &str = "select id, type, data, created_at from events
    where user_id = $1 and id > $2 order by id limit $3";

const SET_KEY: &str = "update events set key_id = $3 where user_id = $1 and id = $2";

pub(crate) const STATEMENTS: &[&str] = &[LIST, SET_KEY];
