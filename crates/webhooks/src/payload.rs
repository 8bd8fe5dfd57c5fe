//! The payload of an event: the body that receivers get, the same bytes at every attempt.

use base::{EventId, Timestamp, UserId};
use bytes::Bytes;
use db::{Db, params};
use wire::json::write_str;
use wire::v1::API_VERSION;

/// An event as receivers get it.
#[derive(Debug, Clone)]
pub struct EventPayload {
    pub id: EventId,
    pub event_type: String,
    pub created_at: Timestamp,
    pub body: String,
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
        Ok(Bytes::from(body(event, name, row.get(2)?, data)))
    };
    db.first(GET, params![user, event], read).await
}

/// A stored event; none once its payload has expired.
pub(crate) async fn find(db: &Db, user: UserId, id: EventId) -> db::Result<Option<EventPayload>> {
    let read = |row: &db::Row<'_>| {
        let (name, data, at): (String, &str, Timestamp) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let body = body(id, &name, at, data);
        let body = String::from_utf8_lossy(&body).into_owned();
        Ok(EventPayload { id, event_type: name, created_at: at, body })
    };
    db.first(GET, params![user, id], read).await
}

const GET: &str = "select type, data, created_at from events where user_id = $1 and id = $2";

pub(crate) const STATEMENTS: &[&str] = &[GET];
