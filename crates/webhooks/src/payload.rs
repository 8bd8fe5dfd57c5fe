//! The payload of an event: the body that receivers get, the same bytes at every attempt.

use base::{EventId, KeyId, Timestamp, UserId};
use bytes::Bytes;
use db::{Db, Tx, params};
use wire::json::write_str;
use wire::v1::API_VERSION;

/// A stored event, with the body that receivers get.
#[derive(Debug, Clone)]
pub struct EventPayload {
    pub id: EventId,
    pub event_type: String,
    pub created_at: Timestamp,
    /// None once it has expired: payloads are kept for thirty days, events for ninety.
    pub body: Option<String>,
    /// The JSON of `data`, with the same life.
    pub data: Option<String>,
    /// The key that the event is for, if it is for one key only.
    pub key: Option<KeyId>,
}

/// Writes the body of a delivery.
pub(crate) fn body(id: EventId, name: &str, at: Timestamp, data: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len() + 160);
    out.extend_from_slice(b"{\"id\":\"");
    id.write(&mut out);
    out.extend_from_slice(b"\",\"type\":");
    write_str(&mut out, name);
    out.extend_from_slice(b",\"created_at\":\"");
    base::write_instant(&mut out, at.as_microsecond());
    out.extend_from_slice(b"\",\"api_version\":\"");
    out.extend_from_slice(API_VERSION.as_bytes());
    out.extend_from_slice(b"\",\"data\":");
    out.extend_from_slice(data.as_bytes());
    out.push(b'}');
    out
}

/// The body of a stored event; none once its payload has expired.
pub(crate) async fn find_body(db: &Db, user: UserId, event: EventId) -> db::Result<Option<Bytes>> {
    let read = |row: &db::Row<'_>| {
        let (name, data): (&str, &str) = (row.get(0)?, row.get(1)?);
        let at = row.get(2)?;
        Ok(kept(data).map(|data| Bytes::from(body(event, name, at, data))))
    };
    Ok(db.first(GET, params![user, event], read).await?.flatten())
}

/// The data of an event; none where it was emptied because it has expired.
pub(crate) fn kept(data: &str) -> Option<&str> {
    Some(data).filter(|it| !it.is_empty())
}

/// A stored event; none once it has expired.
pub(crate) async fn find(db: &Db, user: UserId, id: EventId) -> db::Result<Option<EventPayload>> {
    db.first(GET, params![user, id], |row| read(row, id)).await
}

pub(crate) fn find_in(
    tx: &mut Tx<'_>,
    user: UserId,
    id: EventId,
) -> db::Result<Option<EventPayload>> {
    tx.first(GET, params![user, id], |row| read(row, id))
}

fn read(row: &db::Row<'_>, id: EventId) -> db::Result<EventPayload> {
    let (name, data, at): (String, &str, Timestamp) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let data = kept(data);
    let body = data.map(|data| String::from_utf8_lossy(&body(id, &name, at, data)).into_owned());
    let data = data.map(str::to_owned);
    Ok(EventPayload { id, event_type: name, created_at: at, body, data, key: row.get(3)? })
}

const GET: &str =
    "select type, data, created_at, key_id from events where user_id = $1 and id = $2";

pub(crate) const STATEMENTS: &[&str] = &[GET];
