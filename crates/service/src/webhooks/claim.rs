//! Taking what is due: as much of each endpoint as it has room for, so that none stands in another's way.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::{EndpointId, EventId, KeyId, Timestamp, UserId};
use bytes::Bytes;
use db::{Param, params};
use futures_util::{StreamExt as _, TryStreamExt as _};
use wire::json::write_str;
use wire::v1::API_VERSION;

use super::disable::EndpointRef;
use super::signatures::SigningSecret;
use crate::{App, Result, Tx};

/// An attempt takes at most fifteen seconds; whoever has not settled after this long is dead.
pub(super) const LEASE: i64 = 45 * 1_000_000;
const ENDPOINTS_MAX: i64 = 2_000;
/// Of each endpoint, when there is not enough room for all that is due.
const SHARE_MIN: usize = 8;
/// Endpoints that are looked at side by side.
const READS_AT_ONCE: usize = 16;

/// Where to send, as it stands now: a new address or secret counts for what waits, too.
pub(super) struct Destination {
    pub(super) user: UserId,
    pub(super) id: EndpointId,
    pub(super) key: KeyId,
    pub(super) url: String,
    pub(super) secrets: Vec<SigningSecret>,
}

impl Destination {
    pub(super) fn endpoint_ref(&self) -> EndpointRef {
        EndpointRef { user: self.user, key: self.key, id: self.id }
    }
}

/// One attempt to be made.
pub(super) struct Delivery {
    pub(super) to: Arc<Destination>,
    pub(super) event: EventId,
    pub(super) event_type: String,
    /// How many attempts were made before.
    pub(super) attempts: i64,
    pub(super) body: Bytes,
}

/// What was claimed of one endpoint.
pub(super) struct Batch {
    pub(super) endpoint: EndpointId,
    pub(super) deliveries: Vec<Delivery>,
    /// From then on others may take them.
    pub(super) leased_until: i64,
    /// Whether more is due than there was room for.
    pub(super) has_more: bool,
}

/// An endpoint with what is due there.
struct Due {
    to: Arc<Destination>,
    rows: Vec<Row>,
    has_more: bool,
}

struct Row {
    event: EventId,
    event_type: String,
    attempts: i64,
    /// None where the payload was kept for thirty days, and is gone.
    body: Option<Bytes>,
}

/// Claims what is due, up to `room` for each endpoint.
pub(super) async fn claim(
    app: &App,
    limit_of: impl Fn(EndpointId) -> usize,
    limit: usize,
) -> Result<Vec<Batch>> {
    let now = app.clock.now();
    let ready = app.db.all(READY, params![now, ENDPOINTS_MAX], read_destination).await?;
    let until = leased_until(now);
    let (mut batches, mut reading, mut left) = (Vec::new(), Vec::new(), limit);
    let fair = (limit / ready.len().max(1)).max(SHARE_MIN);
    for found in ready {
        let share = limit_of(found.id).min(left).min(fair);
        if share == 0 {
            let (endpoint, deliveries) = (found.id, Vec::new());
            batches.push(Batch { endpoint, deliveries, leased_until: until, has_more: true });
        } else if let Some(to) = found.decrypt_or_log(app, now) {
            left -= share;
            reading.push(read_due(app, Arc::new(to), share, now));
        }
    }
    let reading = futures_util::stream::iter(reading).buffer_unordered(READS_AT_ONCE);
    let mut due: Vec<Due> = reading.try_collect().await?;
    // In one order everywhere: two processes that want the same must not each wait for the other.
    due.sort_by_key(|it| it.to.id);
    if !due.is_empty() {
        batches.extend(app.db.write(move |tx| claim_due(tx, due, now)).await?);
    }
    Ok(batches)
}

async fn read_due(app: &App, to: Arc<Destination>, limit: usize, now: Timestamp) -> Result<Due> {
    let read = |row: &db::Row<'_>| {
        let (event, event_type): (EventId, String) = (row.get(0)?, row.get(1)?);
        let (data, at): (Option<&str>, Option<Timestamp>) = (row.get(3)?, row.get(4)?);
        let body = data.zip(at).map(|(data, at)| envelope(event, &event_type, at, data).into());
        Ok(Row { event, event_type, attempts: row.get(2)?, body })
    };
    let rows = app.db.all(DUE, params![to.id, now, limit as i64], read).await?;
    let has_more = rows.len() == limit;
    Ok(Due { to, rows, has_more })
}

/// Each is asked for once more, by its key and the time that was seen: of two who want the same, one has it.
fn claim_due(tx: &mut Tx<'_>, due: Vec<Due>, now: Timestamp) -> Result<Vec<Batch>> {
    let until = leased_until(now);
    tx.all(LOCK, params![now, ENDPOINTS_MAX], |_| Ok(()))?;
    let values: Vec<[Param<'_>; 6]> = due
        .iter()
        .flat_map(|it| it.rows.iter().map(move |row| (&it.to, row)))
        .map(|(to, row)| {
            let (user, endpoint, event) = (to.user.into(), to.id.into(), row.event.into());
            [user, endpoint, event, now.into(), until.into(), row.attempts.into()]
        })
        .collect();
    let mut claimed = tx.execute_each(CLAIM, &values)?.into_iter();
    let mut batches = Vec::with_capacity(due.len());
    for Due { to, rows, has_more } in due {
        let mut deliveries = Vec::with_capacity(rows.len());
        for row in rows {
            if claimed.next() != Some(1) {
                continue;
            }
            let Row { event, event_type, attempts, body } = row;
            match body {
                Some(body) => {
                    deliveries.push(Delivery { to: to.clone(), event, event_type, attempts, body })
                }
                None => drop(tx.execute(FAIL, params![to.user, to.id, event, now])?),
            }
        }
        batches.push(Batch { endpoint: to.id, deliveries, leased_until: until, has_more });
    }
    Ok(batches)
}

/// What was claimed and not tried is for whoever looks next.
pub(super) async fn release(app: &App, released: Vec<(Delivery, i64)>) -> Result<()> {
    let now = app.clock.now();
    let write = move |tx: &mut Tx<'_>| {
        let endpoints: BTreeSet<_> =
            released.iter().map(|(it, _)| (it.to.id, it.to.user)).collect();
        for (id, user) in endpoints {
            tx.first(LOCK_ONE, params![user, id], |_| Ok(()))?;
        }
        let each = released.iter().map(|(it, until)| -> [Param<'_>; 5] {
            let (user, endpoint, event) = (it.to.user.into(), it.to.id.into(), it.event.into());
            [user, endpoint, event, now.into(), (*until).into()]
        });
        tx.execute_each(RELEASE, &each.collect::<Vec<_>>()).map(drop)?;
        Ok(tx.notify()?)
    };
    app.db.write(write).await
}

/// Until when nobody else takes what is claimed now.
pub(super) fn leased_until(now: Timestamp) -> i64 {
    now.as_microsecond() + LEASE
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
pub(super) struct EncryptedDestination {
    user: UserId,
    pub(super) id: EndpointId,
    pub(super) key: KeyId,
    url: String,
    secret: Vec<u8>,
    previous: Option<(Vec<u8>, Timestamp)>,
}

impl EncryptedDestination {
    pub(super) fn decrypt(&self, app: &App, now: Timestamp) -> Result<Destination> {
        let EncryptedDestination { user, id, key, url, secret, .. } = self;
        let newest = app.webhooks.cipher.decrypt(*id, secret)?;
        let previous_secrets = self.previous_secrets(app, now)?.into_iter().map(|it| it.0);
        let secrets = std::iter::once(newest).chain(previous_secrets).collect();
        Ok(Destination { user: *user, id: *id, key: *key, url: url.clone(), secrets })
    }

    /// Secrets that were replaced and still sign, the newest first, each until its time.
    fn previous_secrets(
        &self,
        app: &App,
        now: Timestamp,
    ) -> Result<Vec<(SigningSecret, Timestamp)>> {
        let Some((sealed, until)) = &self.previous else { return Ok(Vec::new()) };
        let mut all = app.webhooks.cipher.decrypt_previous(self.id, sealed, *until)?;
        all.retain(|it| it.1 > now);
        Ok(all)
    }

    /// The same once the secret of now is replaced too.
    pub(super) fn previous_after_rotation(
        &self,
        app: &App,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<(SigningSecret, Timestamp)>> {
        let mut all = vec![(app.webhooks.cipher.decrypt(self.id, &self.secret)?, until)];
        all.extend(self.previous_secrets(app, now)?);
        Ok(all)
    }

    /// One that cannot be opened stands in nobody's way: what it is to hear waits until it can be.
    pub(super) fn decrypt_or_log(&self, app: &App, now: Timestamp) -> Option<Destination> {
        let decrypted = self.decrypt(app, now);
        if let Err(error) = &decrypted {
            tracing::error!(%error, endpoint = %self.id, "the secret of a webhook endpoint cannot be decrypted; nothing is sent to it");
        }
        decrypted.ok()
    }
}

pub(super) fn read_destination(row: &db::Row<'_>) -> db::Result<EncryptedDestination> {
    let (previous, until): (Option<Vec<u8>>, Option<Timestamp>) = (row.get(5)?, row.get(6)?);
    Ok(EncryptedDestination {
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
    and (k.expires_at is null or k.expires_at > $1)
    and exists (select 1 from deliveries d where d.endpoint_id = e.id and d.due_at <= $1)
    order by e.id limit $2";
const DUE: &str = "select d.event_id, d.event_type, d.attempts,
    (select e.data from events e where e.user_id = d.user_id and e.id = d.event_id),
    (select e.created_at from events e where e.user_id = d.user_id and e.id = d.event_id)
    from deliveries d where d.endpoint_id = $1 and d.due_at <= $2
    order by d.due_at, d.event_id limit $3";
/// As `READY` finds them: nobody switches them off or deletes them while their deliveries are being claimed.
const LOCK: &str = "select e.id from webhook_endpoints e where e.status = 'active'
    and exists (select 1 from deliveries d where d.endpoint_id = e.id and d.due_at <= $1)
    order by e.id limit $2 for share of e";
const LOCK_ONE: &str =
    "select e.id from webhook_endpoints e where e.user_id = $1 and e.id = $2 for share of e";
/// Nothing here fits the index of what is due: without statistics PostgreSQL would walk that for every row.
const CLAIM: &str = "update deliveries set due_at = $5 where user_id = $1 and endpoint_id = $2
    and event_id = $3 and coalesce(due_at, $5) <= $4 and attempts = $6";
const RELEASE: &str = "update deliveries set due_at = $4 where user_id = $1 and endpoint_id = $2
    and event_id = $3 and coalesce(due_at, $4) = $5";
pub(super) const EVENT: &str =
    "select type, data, created_at from events where user_id = $1 and id = $2";
const FAIL: &str = "update deliveries set status = 'failed', due_at = null, updated_at = $4
    where user_id = $1 and endpoint_id = $2 and event_id = $3";

pub(super) const STATEMENTS: &[&str] = &[READY, DUE, LOCK, LOCK_ONE, CLAIM, RELEASE, EVENT, FAIL];
