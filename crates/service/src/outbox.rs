//! The outbox: events written in the transaction of the change they tell of, so that none is lost.

use base::kinds;
use base::{EventId, KeyId, Timestamp, UserId};
use db::{Db, Tx, params};
use wire::v1::Event;

use crate::webhooks::fan_out::{self, AppendedEvent, Subscribers};
use crate::{App, Error, Result};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    pub id: EventId,
    pub event_type: String,
    pub data: String,
    pub created_at: Timestamp,
}

/// Appends events in the order they happened, and what is to be sent of them.
pub fn append(app: &App, tx: &mut Tx<'_>, user: UserId, events: &[Event]) -> Result<()> {
    let now = app.clock.now();
    let subscribers = Subscribers::of(app, tx, user, now)?;
    let written = write(app, tx, user, events, now)?;
    if subscribers.is_empty() {
        return Ok(());
    }
    fan_out::fan_out(app, tx, user, subscribers, &written, now)
}

/// The same for the endpoints of one key alone.
pub(crate) fn append_for_key(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    key: KeyId,
    event: &Event,
) -> Result<()> {
    let now = app.clock.now();
    let subscribers = Subscribers::of(app, tx, user, now)?.of_key(key);
    let written = write(app, tx, user, std::slice::from_ref(event), now)?;
    fan_out::fan_out(app, tx, user, subscribers, &written, now)
}

fn write<'e>(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    events: &'e [Event],
    now: Timestamp,
) -> Result<Vec<AppendedEvent<'e>>> {
    let mut rows = Vec::with_capacity(events.len());
    for event in events {
        let data = serde_json::to_string(event);
        let data = data.map_err(|error| Error::internal(format!("writing an event: {error}")))?;
        rows.push(AppendedEvent { id: app.ids.make::<kinds::Event>(), event, data });
    }
    let columns = ["user_id", "id", "type", "data", "created_at"];
    let values = rows.iter().map(|it| {
        let name = it.event.event_type().name;
        [user.into(), it.id.into(), name.into(), (&it.data).into(), now.into()]
    });
    tx.insert_many("events", columns, values)?;
    Ok(rows)
}

/// The events after one, oldest first.
pub async fn list(
    db: &Db,
    user: UserId,
    after: Option<EventId>,
    limit: usize,
) -> Result<Vec<StoredEvent>> {
    let after = after.unwrap_or(EventId::from_bytes([0; 16]));
    let stored = db
        .all(LIST, params![user, after, limit as i64], |row| {
            Ok(StoredEvent {
                id: row.get(0)?,
                event_type: row.get(1)?,
                data: row.get(2)?,
                created_at: row.get(3)?,
            })
        })
        .await?;
    Ok(stored)
}

const LIST: &str = "select id, type, data, created_at from events
    where user_id = $1 and id > $2 order by id limit $3";

pub(crate) const STATEMENTS: &[&str] = &[LIST];
