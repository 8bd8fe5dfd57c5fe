//! Webhooks: where events are sent, kept by the key that asked for them.

mod attempts;
mod claim;
mod deliveries;
mod disable;
mod dispatch;
pub(crate) mod fan_out;
mod limiter;
pub mod portal;
pub mod replay;
mod retention;
mod secrets;
mod send;
mod settle;
mod signatures;
mod test_event;

use std::time::Duration;

use base::{EndpointId, KeyId, Timestamp, UserId};
use db::params;
use wire::json::Moment;
use wire::v1::{self, Code, EventType, Scope};

use crate::access::{sessions, users};
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Credential, Error, Result, Scopes, Tx};

pub use attempts::{Attempt, AttemptFilter, AttemptPage, list as list_attempts};
pub use deliveries::{
    DeliveryDetail, EventDetail, EventPayload, FailedPage, get_event, list_failed,
};
pub use disable::disable_ended_once;
pub(crate) use disable::disable_for_key;
pub use dispatch::{POLL_INTERVAL, SEND_LOOP, deliver_once, run};
pub use replay::{REPLAY_LOOP, replay_once, run_replays};
pub use retention::delete_expired_once;
pub use signatures::{SignedMessage, SigningSecret, VerificationError, verify};
pub use test_event::{SentTest, TestResult, send_test, test};

use secrets::SecretCipher;

/// Active endpoints of one key.
const ACTIVE_MAX: i64 = 5;
/// Older secrets that may sign beside the newest at the same time.
const PREVIOUS_SECRETS_MAX: usize = 4;
/// Of one key, with those that are off.
const OF_KEY_MAX: i64 = 100;
const OWNED_MAX: i64 = 1_000;
pub const DESCRIPTION_LENGTH_MAX: usize = 256;
pub const URL_LENGTH_MAX: usize = 2_048;
/// How long an old secret signs beside the new one.
const ROTATION_SECONDS: i64 = 86_400;
/// How long one waits to hear whether an address is allowed.
const VET: Duration = Duration::from_secs(5);

/// What every process needs to send.
pub(crate) struct Webhooks {
    /// None where this machine trusts nobody's certificates, so that nothing can be sent.
    pub(crate) client: Option<net::HttpClient>,
    cipher: SecretCipher,
    limiter: limiter::DeliveryLimiter,
}

impl Webhooks {
    pub(crate) fn new(
        client: Option<net::HttpClient>,
        key: &crate::platform::installation::Key,
    ) -> Webhooks {
        Webhooks {
            client,
            cipher: SecretCipher::new(key),
            limiter: limiter::DeliveryLimiter::default(),
        }
    }
}

base::words!(EndpointStatus { Active => "active", Disabled => "disabled" });

base::words!(
    /// Why an endpoint gets nothing.
    DisabledReason {
        /// By whoever keeps it.
        Manual => "manual",
        /// It said so itself.
        Gone => "gone",
        Failing => "failing",
        /// Its key was revoked, or its time is over.
        KeyEnded => "key_ended",
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
    pub status: EndpointStatus,
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
pub struct EndpointChange {
    pub url: Option<String>,
    /// `Some(None)` clears it.
    pub description: Option<Option<String>>,
    pub filter_types: Option<Vec<String>>,
    pub status: Option<EndpointStatus>,
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
    let (all, key) = deliveries::scope(key);
    Ok(app.db.all(LIST, params![caller.user, all, key, OWNED_MAX], read).await?)
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
    let Some(client) = &app.webhooks.client else {
        let message = "this server trusts no certificate authority, so that nothing can be sent";
        return Err(Error::Conflict { code: Code::Conflict, message: message.to_owned() });
    };
    match client.vet(url, VET).await {
        // A name that does not answer now may do so later; each attempt asks again.
        Ok(()) | Err(net::Failure::Dns | net::Failure::Timeout) => Ok(()),
        Err(failure) => {
            let hint = match failure {
                net::Failure::NotHttps => {
                    "; to hear of events on your own machine, start `evenkeel listen --forward`"
                }
                net::Failure::BlockedAddress => {
                    "; whoever runs this server can allow a network by webhooks.allow_networks"
                }
                _ => "",
            };
            Err(Error::invalid("url", format!("url cannot be used: {failure}{hint}")))
        }
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
    create_for_key(app, tx, caller, key, new)
}

/// The same for a key that the person chose. A key makes endpoints for itself alone.
pub fn create_for_key(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    key: KeyId,
    new: &NewEndpoint,
) -> Result<(Endpoint, String)> {
    if whose(caller)?.is_some_and(|own| own != key) {
        return Err(Error::NotFound("key"));
    }
    sessions::require_proof_in(tx, app, caller)?;
    checked_description(new.description.as_deref())?;
    let filter = written(&new.filter_types)?;
    users::lock(tx, caller.user)?;
    require_scopes(is_in_use(tx, caller.user, key, app.clock.now())?, &new.filter_types)?;
    has_room(tx, caller.user, key)?;
    owns_few(tx, caller.user, key)?;
    let (id, now): (EndpointId, Timestamp) = (app.ids.make(), app.clock.now());
    let secret = SigningSecret::generate(&app.entropy);
    let sealed = app.webhooks.cipher.encrypt(&app.entropy, id, &secret)?;
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
    change: &EndpointChange,
) -> Result<Endpoint> {
    users::lock(tx, caller.user)?;
    let before = get_in(tx, caller, id)?;
    // Another address sends everything from now on to somebody else.
    if change.url.as_ref().is_some_and(|url| *url != before.url) {
        sessions::require_proof_in(tx, app, caller)?;
    }
    let description = change.description.clone().unwrap_or(before.description);
    checked_description(description.as_deref())?;
    let types = change.filter_types.as_ref().unwrap_or(&before.filter_types);
    let filter = written(types)?;
    let in_use = is_in_use(tx, caller.user, before.key, app.clock.now());
    if let (Some(types), Ok(scopes)) = (&change.filter_types, &in_use) {
        require_scopes(*scopes, types)?;
    }
    let status = change.status.unwrap_or(before.status);
    let is_woken = status == EndpointStatus::Active && before.status == EndpointStatus::Disabled;
    if is_woken {
        let has_ended = |_| {
            let message = "status: its key has ended; make an endpoint for a key that is in use";
            Error::invalid("status", message)
        };
        in_use.map_err(has_ended)?;
        has_room(tx, caller.user, before.key)?;
    }
    let reason = match (status, before.disabled_reason) {
        (EndpointStatus::Active, _) => None,
        (EndpointStatus::Disabled, Some(reason)) => Some(reason),
        (EndpointStatus::Disabled, None) => Some(DisabledReason::Manual.as_str().to_owned()),
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
    match status {
        EndpointStatus::Disabled => disable::fail_pending(app, tx, caller.user, id, now)?,
        EndpointStatus::Active if change.url.is_some() => disable::invalidate_queue(app, tx, id),
        EndpointStatus::Active => {}
    }
    let note = Note::new(caller, "webhook.update", "Changed a webhook endpoint").about(id);
    audit::note(tx, caller.user, now, note)?;
    get_in(tx, caller, id)
}

pub fn delete(app: &App, tx: &mut Tx<'_>, caller: &Caller, id: EndpointId) -> Result<()> {
    users::lock(tx, caller.user)?;
    get_in(tx, caller, id)?;
    tx.execute(DELETE, params![caller.user, id])?;
    disable::invalidate_queue(app, tx, id);
    let note = Note::new(caller, "webhook.delete", "Deleted a webhook endpoint").about(id);
    audit::note(tx, caller.user, app.clock.now(), note)
}

/// A new secret; each older one signs beside it for a day from when it was replaced.
pub fn rotate_secret(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    id: EndpointId,
) -> Result<(String, Timestamp)> {
    sessions::require_proof_in(tx, app, caller)?;
    users::lock(tx, caller.user)?;
    get_in(tx, caller, id)?;
    let now = app.clock.now();
    let sealed =
        tx.first(test_event::DESTINATION, params![caller.user, id], claim::read_destination)?;
    let sealed = sealed.ok_or(Error::NotFound("webhook endpoint"))?;
    let until = now.as_microsecond() + ROTATION_SECONDS * 1_000_000;
    let until = Timestamp::from_microsecond(until).unwrap_or(Timestamp::MAX);
    let previous = sealed.previous_after_rotation(app, now, until)?;
    if previous.len() > PREVIOUS_SECRETS_MAX {
        let message = format!(
            "the secret was changed {PREVIOUS_SECRETS_MAX} times within a day; wait until one of them ends"
        );
        return Err(Error::Conflict { code: Code::Conflict, message });
    }
    let previous = app.webhooks.cipher.encrypt_previous(&app.entropy, id, &previous)?;
    let secret = SigningSecret::generate(&app.entropy);
    let sealed = app.webhooks.cipher.encrypt(&app.entropy, id, &secret)?;
    tx.execute(ROTATE, params![caller.user, id, &sealed[..], &previous[..], until, now])?;
    disable::invalidate_queue(app, tx, id);
    let note = Note::new(caller, "webhook.rotate", "Changed the secret of a webhook endpoint");
    audit::note(tx, caller.user, now, note.about(id))?;
    Ok((secret.text(), until))
}

/// A key that has ended, or is somebody else's, would never hear of anything.
fn is_in_use(tx: &mut Tx<'_>, user: UserId, key: KeyId, now: Timestamp) -> Result<Scopes> {
    let found = tx.first(KEY, params![user, key, now], |row| row.get::<String>(0))?;
    let none = || Error::invalid("key", "choose a key of yours that is in use");
    Scopes::parse(&found.ok_or_else(none)?)
}

/// Who asks for what the key may not see would wait for it in vain.
fn require_scopes(scopes: Scopes, types: &[String]) -> Result<()> {
    for it in types.iter().filter_map(|it| EventType::find(it)) {
        if let Some(scope) = it.scope.filter(|scope| !scopes.has(*scope)) {
            let (name, scope) = (it.name, scope.as_str());
            let message = format!("filter_types: to hear of {name}, the key needs {scope}");
            return Err(Error::invalid("filter_types", message));
        }
    }
    Ok(())
}

fn has_room(tx: &mut Tx<'_>, user: UserId, key: KeyId) -> Result<()> {
    let count = tx.first(COUNT, params![user, key], |row| row.get::<i64>(0))?.unwrap_or(0);
    if count < ACTIVE_MAX {
        return Ok(());
    }
    let message =
        format!("this key has {ACTIVE_MAX} active endpoints already; disable or delete one first");
    Err(Error::Conflict { code: Code::EndpointLimitReached, message })
}

/// Those that are off count here, so that lists stay short.
fn owns_few(tx: &mut Tx<'_>, user: UserId, key: KeyId) -> Result<()> {
    let count = tx.first(OWNED, params![user, key], |row| row.get::<i64>(0))?.unwrap_or(0);
    if count < OF_KEY_MAX {
        return Ok(());
    }
    let message = format!("this key has {OF_KEY_MAX} endpoints already; delete one first");
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
        status: EndpointStatus::parse(row.get(6)?).ok_or_else(unknown)?,
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

const LIST: &str =
    select!("where user_id = $1 and ($2 = 'all' or key_id = $3) order by id limit $4");
const GET: &str = select!("where user_id = $1 and id = $2");
const INSERT: &str = "insert into webhook_endpoints (user_id, id, key_id, url, description,
    filter_types, status, secret, created_at, updated_at)
    values ($1, $2, $3, $4, $5, $6, 'active', $7, $8, $8)";
const UPDATE: &str = "update webhook_endpoints set url = $3, description = $4, filter_types = $5,
    status = $6, disabled_reason = $7, failing_since = $8, updated_at = $9
    where user_id = $1 and id = $2";
const DELETE: &str = "delete from webhook_endpoints where user_id = $1 and id = $2";
const ROTATE: &str = "update webhook_endpoints set secret = $3, previous_secret = $4,
    previous_until = $5, updated_at = $6 where user_id = $1 and id = $2";
const KEY: &str =
    "select scopes from api_keys where user_id = $1 and id = $2 and revoked_at is null
    and (expires_at is null or expires_at > $3)";
const COUNT: &str = "select cast(count(*) as bigint) from webhook_endpoints
    where user_id = $1 and key_id = $2 and status = 'active'";

const OWNED: &str = "select cast(count(*) as bigint) from webhook_endpoints
    where user_id = $1 and key_id = $2";

pub(crate) fn statements() -> Vec<&'static str> {
    let own: &[&str] = &[LIST, GET, INSERT, UPDATE, DELETE, ROTATE, KEY, COUNT, OWNED];
    [
        own,
        attempts::STATEMENTS,
        claim::STATEMENTS,
        disable::STATEMENTS,
        fan_out::STATEMENTS,
        deliveries::STATEMENTS,
        portal::STATEMENTS,
        replay::STATEMENTS,
        retention::STATEMENTS,
        settle::STATEMENTS,
        test_event::STATEMENTS,
    ]
    .concat()
}
