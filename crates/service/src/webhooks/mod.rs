//! Webhooks: where events are sent, kept by the key that asked for them.

mod attempts;
mod claim;
mod engine;
pub(crate) mod fan_out;
mod letters;
pub mod portal;
pub mod replay;
mod retention;
mod seats;
mod secrets;
mod settle;
mod signatures;
mod trial;

use std::time::Duration;

use base::{EndpointId, KeyId, Timestamp, UserId};
use db::params;
use wire::json::Moment;
use wire::v1::{self, Code, EventType, Scope};

use crate::audit::{self, Note};
use crate::{App, Caller, Credential, Error, Result, Tx, users};

pub use attempts::{Attempt, Filter, Listed, list as deliveries};
pub use engine::{LOOK_AGAIN, deliver_once, run};
pub use letters::{Failed, Letter, Story, Told, event, failed};
pub use replay::replay_once;
pub use retention::forget_once;
pub use signatures::{Secret, Signed, Unverified, verify};
pub use trial::{Trial, Tried, test, try_out};

use secrets::Vault;

/// Active endpoints of one key.
const ACTIVE_MAX: i64 = 5;
const OWNED_MAX: i64 = 1_000;
pub const DESCRIPTION_LENGTH_MAX: usize = 256;
pub const URL_LENGTH_MAX: usize = 2_048;
/// How long an old secret signs beside the new one.
const ROTATION_SECONDS: i64 = 86_400;
/// How long one waits to hear whether an address is allowed.
const VET: Duration = Duration::from_secs(5);

/// What every process needs to send.
pub(crate) struct Post {
    /// None where this machine trusts nobody's certificates, so that nothing can be sent.
    pub(crate) door: Option<net::Door>,
    vault: Vault,
    seats: seats::Seats,
}

impl Post {
    pub(crate) fn new(door: Option<net::Door>, key: &crate::installation::Key) -> Post {
        Post { door, vault: Vault::new(key), seats: seats::Seats::default() }
    }
}

base::words!(Status { Active => "active", Disabled => "disabled" });

base::words!(
    /// Why an endpoint gets nothing.
    Reason {
        /// By whoever keeps it.
        Manual => "manual",
        /// It said so itself.
        Gone => "gone",
        Failing => "failing",
    }
);

#[derive(Debug, Clone)]
pub struct Endpoint {
    pub user: UserId,
    pub id: EndpointId,
    pub key: KeyId,
    pub url: String,
    pub description: Option<String>,
    pub filter_types: Vec<String>,
    pub status: Status,
    pub disabled_reason: Option<String>,
    pub failing_since: Option<Timestamp>,
    pub last_delivery_at: Option<Timestamp>,
    /// Until when the secret before this one signs beside it.
    pub previous_until: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl From<&Endpoint> for v1::Endpoint {
    fn from(it: &Endpoint) -> v1::Endpoint {
        v1::Endpoint {
            id: it.id.to_string(),
            url: it.url.clone(),
            description: it.description.clone(),
            filter_types: it.filter_types.clone(),
            status: it.status.as_str(),
            disabled_reason: it.disabled_reason.clone(),
            failing_since: it.failing_since.map(Moment),
            last_delivery_at: it.last_delivery_at.map(Moment),
            created_at: Moment(it.created_at),
            updated_at: Moment(it.updated_at),
        }
    }
}

#[derive(Debug, Clone)]
pub struct NewEndpoint {
    pub url: String,
    pub description: Option<String>,
    pub filter_types: Vec<String>,
}

/// What is to be different; what is absent stays.
#[derive(Debug, Clone, Default)]
pub struct Change {
    pub url: Option<String>,
    /// `Some(None)` clears it.
    pub description: Option<Option<String>>,
    pub filter_types: Option<Vec<String>>,
    pub status: Option<Status>,
}

/// A key sees the endpoints that it made, a person all of theirs.
fn whose(caller: &Caller) -> Result<Option<KeyId>> {
    caller.require(Scope::WebhooksManage)?;
    match &caller.credential {
        Credential::Key { id, .. } => Ok(Some(*id)),
        Credential::Grant { .. } => Err(Error::KeyRequired),
        Credential::Session { .. } | Credential::Owner => Ok(None),
    }
}

pub async fn list(app: &App, caller: &Caller) -> Result<Vec<Endpoint>> {
    let key = whose(caller)?;
    let mut all = app.db.all(LIST, params![caller.user, OWNED_MAX], read).await?;
    all.retain(|it| key.is_none_or(|key| it.key == key));
    Ok(all)
}

pub async fn get(app: &App, caller: &Caller, id: EndpointId) -> Result<Endpoint> {
    let key = whose(caller)?;
    let found = app.db.first(GET, params![caller.user, id], read).await?;
    owned(found, key)
}

fn get_in(tx: &mut Tx<'_>, caller: &Caller, id: EndpointId) -> Result<Endpoint> {
    let key = whose(caller)?;
    owned(tx.first(GET, params![caller.user, id], read)?, key)
}

fn owned(found: Option<Endpoint>, key: Option<KeyId>) -> Result<Endpoint> {
    let found = found.filter(|it| key.is_none_or(|key| it.key == key));
    found.ok_or(Error::NotFound("webhook endpoint"))
}

/// Whether an address may be sent to, asked before anything is written.
pub async fn check_url(app: &App, url: &str) -> Result<()> {
    if url.len() > URL_LENGTH_MAX {
        let message = format!("url must have at most {URL_LENGTH_MAX} characters");
        return Err(Error::invalid("url", message));
    }
    let Some(door) = &app.post.door else {
        let message = "this server trusts no certificate authority, so that nothing can be sent";
        return Err(Error::Conflict { code: Code::Conflict, message: message.to_owned() });
    };
    match door.vet(url, VET).await {
        // A name that does not answer now may do so later; each attempt asks again.
        Ok(()) | Err(net::Failure::Dns | net::Failure::Timeout) => Ok(()),
        Err(failure) => Err(Error::invalid("url", format!("url cannot be used: {failure}"))),
    }
}

/// Makes an endpoint for the calling key. The secret is handed back this once.
pub fn create(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    new: &NewEndpoint,
) -> Result<(Endpoint, String)> {
    let Some(key) = whose(caller)? else { return Err(Error::KeyRequired) };
    create_for(app, tx, caller, key, new)
}

/// The same for a key that the person chose. A key makes endpoints for itself alone.
pub fn create_for(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    key: KeyId,
    new: &NewEndpoint,
) -> Result<(Endpoint, String)> {
    if whose(caller)?.is_some_and(|own| own != key) {
        return Err(Error::NotFound("key"));
    }
    checked_description(new.description.as_deref())?;
    let filter = written(&new.filter_types)?;
    users::lock(tx, caller.user)?;
    is_in_use(tx, caller.user, key, app.clock.now())?;
    has_room(tx, caller.user, key)?;
    let (id, now): (EndpointId, Timestamp) = (app.ids.make(), app.clock.now());
    let secret = Secret::generate(&app.entropy);
    let sealed = app.post.vault.seal(&app.entropy, id, &secret)?;
    let description = new.description.as_deref();
    let values =
        params![caller.user, id, key, &new.url, description, filter.as_str(), &sealed[..], now];
    tx.execute(INSERT, values)?;
    let note = Note::new(caller, "webhook.create", "Made a webhook endpoint").about(id);
    audit::note(tx, caller.user, now, note)?;
    Ok((get_in(tx, caller, id)?, secret.text()))
}

pub fn update(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    id: EndpointId,
    change: &Change,
) -> Result<Endpoint> {
    users::lock(tx, caller.user)?;
    let before = get_in(tx, caller, id)?;
    let description = change.description.clone().unwrap_or(before.description);
    checked_description(description.as_deref())?;
    let types = change.filter_types.as_ref().unwrap_or(&before.filter_types);
    let filter = written(types)?;
    let status = change.status.unwrap_or(before.status);
    let is_woken = status == Status::Active && before.status == Status::Disabled;
    if is_woken {
        has_room(tx, caller.user, before.key)?;
    }
    let reason = match (status, before.disabled_reason) {
        (Status::Active, _) => None,
        (Status::Disabled, Some(reason)) => Some(reason),
        (Status::Disabled, None) => Some(Reason::Manual.as_str().to_owned()),
    };
    // Whoever switches it on again wants a new start.
    let failing = before.failing_since.filter(|_| !is_woken);
    let url = change.url.as_deref().unwrap_or(&before.url);
    let now = app.clock.now();
    tx.execute(
        UPDATE,
        params![
            caller.user,
            id,
            url,
            description.as_deref(),
            filter.as_str(),
            status.as_str(),
            reason.as_deref(),
            failing,
            now
        ],
    )?;
    if status == Status::Disabled {
        tx.execute(STOP, params![caller.user, id, now])?;
    }
    let note = Note::new(caller, "webhook.update", "Changed a webhook endpoint").about(id);
    audit::note(tx, caller.user, now, note)?;
    get_in(tx, caller, id)
}

pub fn delete(app: &App, tx: &mut Tx<'_>, caller: &Caller, id: EndpointId) -> Result<()> {
    get_in(tx, caller, id)?;
    tx.execute(DELETE, params![caller.user, id])?;
    let note = Note::new(caller, "webhook.delete", "Deleted a webhook endpoint").about(id);
    audit::note(tx, caller.user, app.clock.now(), note)
}

/// A new secret; the old one signs beside it for a day.
pub fn rotate(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    id: EndpointId,
) -> Result<(String, Timestamp)> {
    get_in(tx, caller, id)?;
    let secret = Secret::generate(&app.entropy);
    let sealed = app.post.vault.seal(&app.entropy, id, &secret)?;
    let now = app.clock.now();
    let until = now.as_microsecond() + ROTATION_SECONDS * 1_000_000;
    tx.execute(ROTATE, params![caller.user, id, &sealed[..], until, now])?;
    let note = Note::new(caller, "webhook.rotate", "Changed the secret of a webhook endpoint");
    audit::note(tx, caller.user, now, note.about(id))?;
    Ok((secret.text(), Timestamp::from_microsecond(until).unwrap_or(Timestamp::MAX)))
}

/// A key that has ended, or is somebody else's, would never hear of anything.
fn is_in_use(tx: &mut Tx<'_>, user: UserId, key: KeyId, now: Timestamp) -> Result<()> {
    let found = tx.first(KEY, params![user, key, now], |row| row.get::<KeyId>(0))?;
    found.map(|_| ()).ok_or_else(|| Error::invalid("key", "choose a key of yours that is in use"))
}

fn has_room(tx: &mut Tx<'_>, user: UserId, key: KeyId) -> Result<()> {
    let count = tx.first(COUNT, params![user, key], |row| row.get::<i64>(0))?.unwrap_or(0);
    if count < ACTIVE_MAX {
        return Ok(());
    }
    let message = format!("this key has {ACTIVE_MAX} active endpoints already");
    Err(Error::Conflict { code: Code::EndpointLimitReached, message })
}

fn checked_description(description: Option<&str>) -> Result<()> {
    let bad =
        |it: &str| it.chars().count() > DESCRIPTION_LENGTH_MAX || it.contains(char::is_control);
    if description.is_some_and(bad) {
        let message = format!(
            "description must have at most {DESCRIPTION_LENGTH_MAX} characters on one line"
        );
        return Err(Error::invalid("description", message));
    }
    Ok(())
}

/// What was typed, no longer than a type can be.
fn shown(name: &str) -> String {
    name.chars().take(64).collect()
}

/// With a space around each, so that one can be looked for.
fn written(types: &[String]) -> Result<String> {
    for name in types {
        if EventType::find(name).is_none() {
            let known: Vec<&str> = EventType::ALL.iter().map(|it| it.name).collect();
            let name = shown(name);
            let near = base::nearest(&name, known.iter().copied(), name.chars().count() / 2);
            let hint = match near {
                Some(it) => format!("did you mean {it}?"),
                None => "see GET /webhooks/events".to_owned(),
            };
            let message = format!("filter_types knows no {name}; {hint}");
            return Err(Error::invalid("filter_types", message));
        }
    }
    let mut types = types.to_vec();
    types.sort_unstable();
    types.dedup();
    Ok(types.iter().map(|it| format!(" {it} ")).collect())
}

fn read(row: &db::Row<'_>) -> db::Result<Endpoint> {
    let unknown = || db::Error::Decode { column: 6, reason: "an unknown status".to_owned() };
    let types: &str = row.get(5)?;
    Ok(Endpoint {
        user: row.get(0)?,
        id: row.get(1)?,
        key: row.get(2)?,
        url: row.get(3)?,
        description: row.get(4)?,
        filter_types: types.split_ascii_whitespace().map(str::to_owned).collect(),
        status: Status::parse(row.get(6)?).ok_or_else(unknown)?,
        disabled_reason: row.get(7)?,
        failing_since: row.get(8)?,
        last_delivery_at: row.get(9)?,
        created_at: row.get(10)?,
        updated_at: row.get(11)?,
        previous_until: row.get(12)?,
    })
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "select user_id, id, key_id, url, description, filter_types, status, disabled_reason,
            failing_since, last_delivery_at, created_at, updated_at, previous_until
            from webhook_endpoints ",
            $rest
        )
    };
}

const LIST: &str = select!("where user_id = $1 order by id limit $2");
const GET: &str = select!("where user_id = $1 and id = $2");
const INSERT: &str = "insert into webhook_endpoints (user_id, id, key_id, url, description,
    filter_types, status, secret, created_at, updated_at)
    values ($1, $2, $3, $4, $5, $6, 'active', $7, $8, $8)";
const UPDATE: &str = "update webhook_endpoints set url = $3, description = $4, filter_types = $5,
    status = $6, disabled_reason = $7, failing_since = $8, updated_at = $9
    where user_id = $1 and id = $2";
/// What waits for an endpoint that gets nothing more goes to the dead letters.
const STOP: &str = "update deliveries set status = 'failed', due_at = null, updated_at = $3
    where user_id = $1 and endpoint_id = $2 and due_at is not null";
const DELETE: &str = "delete from webhook_endpoints where user_id = $1 and id = $2";
const ROTATE: &str = "update webhook_endpoints set previous_secret = secret, previous_until = $4,
    secret = $3, updated_at = $5 where user_id = $1 and id = $2";
const KEY: &str = "select id from api_keys where user_id = $1 and id = $2 and revoked_at is null
    and (expires_at is null or expires_at > $3)";
const COUNT: &str = "select cast(count(*) as bigint) from webhook_endpoints
    where user_id = $1 and key_id = $2 and status = 'active'";

pub(crate) fn statements() -> Vec<&'static str> {
    let own: &[&str] = &[LIST, GET, INSERT, UPDATE, STOP, DELETE, ROTATE, KEY, COUNT];
    [
        own,
        attempts::STATEMENTS,
        claim::STATEMENTS,
        fan_out::STATEMENTS,
        letters::STATEMENTS,
        portal::STATEMENTS,
        replay::STATEMENTS,
        retention::STATEMENTS,
        settle::STATEMENTS,
        trial::STATEMENTS,
    ]
    .concat()
}
