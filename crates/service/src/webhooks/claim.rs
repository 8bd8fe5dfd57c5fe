//! Taking what is due: as much of each endpoint as it has room for, so that none stands in another's way.

use std::collections::HashMap;
use std::sync::Arc;

use base::{EndpointId, EventId, KeyId, Timestamp, UserId};
use bytes::Bytes;
use db::params;
use wire::json::write_str;
use wire::v1::API_VERSION;

use super::secrets::Secret;
use crate::{App, Result, Tx};

/// An attempt takes at most fifteen seconds; whoever has not settled after this long is dead.
const LEASE_SECONDS: i64 = 45;
const ENDPOINTS_MAX: i64 = 2_000;

/// Where to send, as it stands now: a new address or secret counts for what waits, too.
pub(super) struct Address {
    pub(super) user: UserId,
    pub(super) id: EndpointId,
    pub(super) key: KeyId,
    pub(super) url: String,
    pub(super) secrets: Vec<Secret>,
}

/// One attempt to be made.
pub(super) struct Job {
    pub(super) to: Arc<Address>,
    pub(super) event: EventId,
    pub(super) event_type: String,
    /// How many attempts were made before.
    pub(super) attempts: i64,
    pub(super) body: Bytes,
}

/// Claims what is due, up to `room` for each endpoint.
pub(super) async fn claim(
    app: &App,
    room: impl Fn(EndpointId) -> usize,
    most: usize,
) -> Result<Vec<Job>> {
    let now = app.clock.now();
    let ready = app.db.all(READY, params![now, ENDPOINTS_MAX], read_address).await?;
    let mut places = Vec::new();
    let mut left = most;
    for found in ready {
        let take = room(found.id).min(left);
        if take > 0 {
            left -= take;
            places.push((Arc::new(found.open(app, now)?), take));
        }
    }
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let take = move |tx: &mut Tx<'_>| -> Result<Vec<Job>> {
        let mut jobs = Vec::new();
        let mut bodies = HashMap::new();
        for (to, most) in &places {
            take(tx, to, *most, now, &mut bodies, &mut jobs)?;
        }
        Ok(jobs)
    };
    app.db.write(take).await
}

fn take(
    tx: &mut Tx<'_>,
    to: &Arc<Address>,
    most: usize,
    now: Timestamp,
    bodies: &mut HashMap<EventId, Bytes>,
    jobs: &mut Vec<Job>,
) -> Result<()> {
    let until = now.as_microsecond() + LEASE_SECONDS * 1_000_000;
    let values = params![to.user, to.id, now, until, most as i64];
    let read = |row: &db::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let claimed: Vec<(EventId, String, i64)> = tx.all(CLAIM, values, read)?;
    for (event, event_type, attempts) in claimed {
        let body = match bodies.get(&event) {
            Some(body) => body.clone(),
            None => {
                let read = |row: &db::Row<'_>| {
                    let (name, data): (&str, &str) = (row.get(0)?, row.get(1)?);
                    Ok(Bytes::from(envelope(event, name, row.get(2)?, data)))
                };
                let found = tx.first(EVENT, params![to.user, event], read)?;
                // Its payload was kept for thirty days, and is gone.
                let Some(body) = found else {
                    tx.execute(DROP, params![to.user, to.id, event, now])?;
                    continue;
                };
                bodies.insert(event, body.clone());
                body
            }
        };
        jobs.push(Job { to: to.clone(), event, event_type, attempts, body });
    }
    Ok(())
}

/// The body of a delivery: the same bytes at every attempt.
pub(super) fn envelope(id: EventId, name: &str, at: Timestamp, data: &str) -> Vec<u8> {
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

/// An address whose secrets are still sealed.
pub(super) struct Sealed {
    user: UserId,
    id: EndpointId,
    key: KeyId,
    url: String,
    secret: Vec<u8>,
    previous: Option<(Vec<u8>, Timestamp)>,
}

impl Sealed {
    pub(super) fn open(self, app: &App, now: Timestamp) -> Result<Address> {
        let Sealed { user, id, key, url, secret, previous } = self;
        let mut secrets = vec![app.post.vault.open(id, &secret)?];
        if let Some((sealed, until)) = previous
            && until > now
        {
            secrets.push(app.post.vault.open(id, &sealed)?);
        }
        Ok(Address { user, id, key, url, secrets })
    }
}

pub(super) fn read_address(row: &db::Row<'_>) -> db::Result<Sealed> {
    let (previous, until): (Option<Vec<u8>>, Option<Timestamp>) = (row.get(5)?, row.get(6)?);
    Ok(Sealed {
        user: row.get(0)?,
        id: row.get(1)?,
        key: row.get(2)?,
        url: row.get(3)?,
        secret: row.get(4)?,
        previous: previous.zip(until),
    })
}

const READY: &str = "select e.user_id, e.id, e.key_id, e.url, e.secret, e.previous_secret,
    e.previous_until from webhook_endpoints e
    join api_keys k on k.user_id = e.user_id and k.id = e.key_id
    where e.status = 'active' and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > $1) and exists (select 1 from deliveries d where d.endpoint_id = e.id and d.due_at <= $1)
    order by e.id limit $2";
/// The time is asked for again outside: two that claim at once never both have it.
const CLAIM: &str = "update deliveries set due_at = $4 where user_id = $1 and endpoint_id = $2
    and due_at <= $3 and event_id in (select event_id from deliveries
        where endpoint_id = $2 and due_at <= $3 order by due_at, event_id limit $5)
    returning event_id, event_type, attempts";
pub(super) const EVENT: &str =
    "select type, data, created_at from events where user_id = $1 and id = $2";
const DROP: &str = "update deliveries set status = 'failed', due_at = null, updated_at = $4
    where user_id = $1 and endpoint_id = $2 and event_id = $3";

pub(super) const STATEMENTS: &[&str] = &[READY, CLAIM, EVENT, DROP];
