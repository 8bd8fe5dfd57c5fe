//! Endpoints: listing, creating, changing and deleting them, and rotating their secrets.
//!
//! Functions that write expect the caller to hold the lock on the person's row, which makes their limits exact.

use std::time::Duration;

use base::{EndpointId, KeyId, Timestamp, UserId};
use db::{Tx, params};
use wire::v1::{Code, EventType, Scopes};

use crate::context::Webhooks;
use crate::delivery::{EncryptedDestination, read_destination};
use crate::disable::{fail_pending, invalidate_queue};
use crate::endpoint::{DisabledReason, Endpoint, EndpointOwner, EndpointStatus};
use crate::error::{Error, Result};
use crate::signatures::SigningSecret;

/// Active endpoints of one key.
const ACTIVE_MAX: i64 = 5;
/// Endpoints of one key, with disabled ones.
const PER_KEY_MAX: i64 = 100;
/// Endpoints that a list returns.
const LIST_MAX: i64 = 1_000;
/// Replaced secrets that may sign at the same time as the newest.
const PREVIOUS_SECRETS_MAX: usize = 4;
pub const DESCRIPTION_LENGTH_MAX: usize = 256;
pub const URL_LENGTH_MAX: usize = 2_048;
/// How long a replaced secret signs beside the new one.
const ROTATION_SECONDS: i64 = 86_400;
/// How long checking the address of a new URL may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub struct NewEndpoint {
    pub url: String,
    pub description: Option<String>,
    pub filter_types: Vec<String>,
}

/// A change of an endpoint. Absent fields keep their value.
#[derive(Debug, Clone, Default)]
pub struct EndpointChange {
    pub url: Option<String>,
    /// `Some(None)` clears it.
    pub description: Option<Option<String>>,
    pub filter_types: Option<Vec<String>>,
    pub status: Option<EndpointStatus>,
}

pub async fn list(webhooks: &Webhooks, owner: &EndpointOwner) -> Result<Vec<Endpoint>> {
    let (all, key) = owner.key_params();
    Ok(webhooks.db.all(LIST, params![owner.user, all, key, LIST_MAX], read).await?)
}

pub async fn get(webhooks: &Webhooks, owner: &EndpointOwner, id: EndpointId) -> Result<Endpoint> {
    let found = webhooks.db.first(GET, params![owner.user, id], read).await?;
    require_owned(found, owner)
}

pub fn get_in(tx: &mut Tx<'_>, owner: &EndpointOwner, id: EndpointId) -> Result<Endpoint> {
    require_owned(tx.first(GET, params![owner.user, id], read)?, owner)
}

/// The active endpoints of an owner.
pub(crate) fn list_active_in(tx: &mut Tx<'_>, owner: &EndpointOwner) -> Result<Vec<Endpoint>> {
    let (all, key) = owner.key_params();
    Ok(tx.all(LIST_ACTIVE, params![owner.user, all, key, LIST_MAX], read)?)
}

fn require_owned(found: Option<Endpoint>, owner: &EndpointOwner) -> Result<Endpoint> {
    let found = found.filter(|it| owner.key.is_none_or(|key| it.key == key));
    found.ok_or(Error::NotFound("webhook endpoint"))
}

/// The URL and secrets of an endpoint.
pub(crate) async fn get_destination(
    webhooks: &Webhooks,
    user: UserId,
    id: EndpointId,
) -> Result<EncryptedDestination> {
    let found = webhooks.db.first(DESTINATION, params![user, id], read_destination).await?;
    found.ok_or(Error::NotFound("webhook endpoint"))
}

/// Checks that a URL may be sent to, before it is written anywhere.
pub async fn check_url(webhooks: &Webhooks, url: &str) -> Result<()> {
    if url.len() > URL_LENGTH_MAX {
        let message = format!("url must have at most {URL_LENGTH_MAX} characters");
        return Err(Error::invalid("url", message));
    }
    let Some(client) = &webhooks.client else {
        return Err(Error::conflict(
            "this server trusts no certificate authority, so it cannot send webhooks",
        ));
    };
    match client.vet(url, CHECK_TIMEOUT).await {
        // A name that cannot be resolved now may be later; each attempt resolves it again.
        Ok(()) | Err(net::Failure::Dns | net::Failure::Timeout) => Ok(()),
        Err(failure) => {
            let hint = match failure {
                net::Failure::NotHttps => {
                    "; to receive events on your own machine, run `evenkeel listen --forward`"
                }
                net::Failure::BlockedAddress => {
                    "; the operator of this server can allow a network with webhooks.allow_networks"
                }
                _ => "",
            };
            Err(Error::invalid("url", format!("url cannot be used: {failure}{hint}")))
        }
    }
}

/// Creates an endpoint of a key, and returns it with its secret, which is not shown again.
pub fn create(
    webhooks: &Webhooks,
    tx: &mut Tx<'_>,
    user: UserId,
    key: KeyId,
    new: &NewEndpoint,
) -> Result<(Endpoint, String)> {
    check_description(new.description.as_deref())?;
    let filter = filter_column(&new.filter_types)?;
    let now = webhooks.clock.now();
    require_scopes(scopes_of_active_key(tx, user, key, now)?, &new.filter_types)?;
    check_active_limit(tx, user, key)?;
    check_total_limit(tx, user, key)?;
    let id: EndpointId = webhooks.ids.make();
    let secret = SigningSecret::generate(&webhooks.entropy);
    let encrypted = webhooks.cipher.encrypt(&webhooks.entropy, id, &secret)?;
    let description = new.description.as_deref();
    let values =
        params![user, id, key, &new.url, description, filter.as_str(), &encrypted[..], now];
    tx.execute(INSERT, values)?;
    Ok((get_in(tx, &EndpointOwner::person(user), id)?, secret.text()))
}

/// Changes an endpoint that was read in the same transaction.
pub fn update(
    webhooks: &Webhooks,
    tx: &mut Tx<'_>,
    before: Endpoint,
    change: &EndpointChange,
) -> Result<Endpoint> {
    let (user, id, now) = (before.user, before.id, webhooks.clock.now());
    let description = change.description.clone().unwrap_or(before.description);
    check_description(description.as_deref())?;
    let types = change.filter_types.as_ref().unwrap_or(&before.filter_types);
    let filter = filter_column(types)?;
    let scopes = scopes_of_active_key(tx, user, before.key, now);
    if let (Some(types), Ok(scopes)) = (&change.filter_types, &scopes) {
        require_scopes(*scopes, types)?;
    }
    let status = change.status.unwrap_or(before.status);
    let is_enabled = status == EndpointStatus::Active && before.status == EndpointStatus::Disabled;
    if is_enabled {
        let key_has_ended = |_| {
            let message =
                "status cannot be active: the key has ended; create an endpoint for an active key";
            Error::invalid("status", message)
        };
        scopes.map_err(key_has_ended)?;
        check_active_limit(tx, user, before.key)?;
    }
    let reason = match (status, before.disabled_reason) {
        (EndpointStatus::Active, _) => None,
        (EndpointStatus::Disabled, Some(reason)) => Some(reason),
        (EndpointStatus::Disabled, None) => Some(DisabledReason::Manual.as_str().to_owned()),
    };
    // An endpoint that is enabled again starts without a history of failures.
    let failing = before.failing_since.filter(|_| !is_enabled);
    let url = change.url.as_deref().unwrap_or(&before.url);
    tx.execute(
        UPDATE,
        params![
            user,
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
        EndpointStatus::Disabled => fail_pending(webhooks, tx, user, id, now)?,
        EndpointStatus::Active if change.url.is_some() => invalidate_queue(webhooks, tx, id)?,
        EndpointStatus::Active => {}
    }
    get_in(tx, &EndpointOwner::person(user), id)
}

pub fn delete(
    webhooks: &Webhooks,
    tx: &mut Tx<'_>,
    owner: &EndpointOwner,
    id: EndpointId,
) -> Result<()> {
    get_in(tx, owner, id)?;
    tx.execute(DELETE, params![owner.user, id])?;
    invalidate_queue(webhooks, tx, id)
}

/// Replaces the secret of an endpoint, and returns the new one with the moment until which the old one signs beside it.
pub fn rotate_secret(
    webhooks: &Webhooks,
    tx: &mut Tx<'_>,
    owner: &EndpointOwner,
    id: EndpointId,
) -> Result<(String, Timestamp)> {
    get_in(tx, owner, id)?;
    let (user, now, cipher) = (owner.user, webhooks.clock.now(), &webhooks.cipher);
    let stored = tx.first(DESTINATION, params![user, id], read_destination)?;
    let stored = stored.ok_or(Error::NotFound("webhook endpoint"))?;
    let until = now.as_microsecond() + ROTATION_SECONDS * 1_000_000;
    let until = Timestamp::from_microsecond(until).unwrap_or(Timestamp::MAX);
    let previous = stored.previous_after_rotation(cipher, now, until)?;
    if previous.len() > PREVIOUS_SECRETS_MAX {
        return Err(Error::conflict(format!(
            "the secret was rotated {PREVIOUS_SECRETS_MAX} times within a day; wait until an old one expires"
        )));
    }
    let previous = cipher.encrypt_previous(&webhooks.entropy, id, &previous)?;
    let secret = SigningSecret::generate(&webhooks.entropy);
    let encrypted = cipher.encrypt(&webhooks.entropy, id, &secret)?;
    tx.execute(ROTATE_SECRET, params![user, id, &encrypted[..], &previous[..], until, now])?;
    invalidate_queue(webhooks, tx, id)?;
    Ok((secret.text(), until))
}

/// The scopes of a key. An ended key, or somebody else's, is refused: its endpoint would never receive anything.
fn scopes_of_active_key(
    tx: &mut Tx<'_>,
    user: UserId,
    key: KeyId,
    now: Timestamp,
) -> Result<Scopes> {
    let found = tx.first(ACTIVE_KEY, params![user, key, now], |row| row.get::<String>(0))?;
    let inactive = || Error::invalid("key", "choose an active API key");
    let parsed = Scopes::parse(&found.ok_or_else(inactive)?);
    parsed.map_err(|error| Error::invalid("scopes", error.to_string()))
}

/// Refuses types of events that the key may not see: the endpoint would never receive them.
fn require_scopes(scopes: Scopes, types: &[String]) -> Result<()> {
    for it in types.iter().filter_map(|it| EventType::find(it)) {
        if let Some(scope) = it.scope.filter(|scope| !scopes.has(*scope)) {
            let (name, scope) = (it.name, scope.as_str());
            let message =
                format!("filter_types contains {name}, for which the key needs the scope {scope}");
            return Err(Error::invalid("filter_types", message));
        }
    }
    Ok(())
}

fn check_active_limit(tx: &mut Tx<'_>, user: UserId, key: KeyId) -> Result<()> {
    let count = tx.first(COUNT_ACTIVE, params![user, key], |row| row.get::<i64>(0))?.unwrap_or(0);
    if count < ACTIVE_MAX {
        return Ok(());
    }
    let message =
        format!("this key has {ACTIVE_MAX} active endpoints already; disable or delete one first");
    Err(Error::Conflict { code: Code::EndpointLimitReached, message })
}

/// Refuses one more endpoint if the key has too many. Disabled ones count too, so that lists stay short.
fn check_total_limit(tx: &mut Tx<'_>, user: UserId, key: KeyId) -> Result<()> {
    let count = tx.first(COUNT, params![user, key], |row| row.get::<i64>(0))?.unwrap_or(0);
    if count < PER_KEY_MAX {
        return Ok(());
    }
    let message = format!("this key has {PER_KEY_MAX} endpoints already; delete one first");
    Err(Error::Conflict { code: Code::EndpointLimitReached, message })
}

fn check_description(description: Option<&str>) -> Result<()> {
    let is_bad =
        |it: &str| it.chars().count() > DESCRIPTION_LENGTH_MAX || it.contains(char::is_control);
    if description.is_some_and(is_bad) {
        let message = format!(
            "description must have at most {DESCRIPTION_LENGTH_MAX} characters on one line"
        );
        return Err(Error::invalid("description", message));
    }
    Ok(())
}

/// A name that the caller typed, no longer than a type of event can be, for an error message.
pub(crate) fn shorten_name(name: &str) -> String {
    name.chars().take(64).collect()
}

/// The types of events as they are stored: each with a space on both sides, so that one can be searched for.
fn filter_column(types: &[String]) -> Result<String> {
    for name in types {
        if EventType::find(name).is_none() {
            let known: Vec<&str> = EventType::ALL.iter().map(|it| it.name).collect();
            let name = shorten_name(name);
            let near = base::nearest(&name, known.iter().copied(), name.chars().count() / 2);
            let hint = match near {
                Some(it) => format!("did you mean {it}?"),
                None => "see GET /webhooks/events".to_owned(),
            };
            let message = format!("filter_types contains an unknown event type: {name}; {hint}");
            return Err(Error::invalid("filter_types", message));
        }
    }
    let mut types = types.to_vec();
    types.sort_unstable();
    types.dedup();
    Ok(types.iter().map(|it| format!(" {it} ")).collect())
}

fn read(row: &db::Row<'_>) -> db::Result<Endpoint> {
    let types: &str = row.get(5)?;
    Ok(Endpoint {
        user: row.get(0)?,
        id: row.get(1)?,
        key: row.get(2)?,
        url: row.get(3)?,
        description: row.get(4)?,
        filter_types: types.split_ascii_whitespace().map(str::to_owned).collect(),
        status: row.get(6)?,
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
const LIST_ACTIVE: &str = select!(
    "where user_id = $1 and ($2 = 'all' or key_id = $3) and status = 'active'
    order by id limit $4"
);
const GET: &str = select!("where user_id = $1 and id = $2");
const DESTINATION: &str =
    "select user_id, id, key_id, url, secret, previous_secret, previous_until,
    version from webhook_endpoints where user_id = $1 and id = $2";
const INSERT: &str = "insert into webhook_endpoints (user_id, id, key_id, url, description,
    filter_types, status, secret, created_at, updated_at)
    values ($1, $2, $3, $4, $5, $6, 'active', $7, $8, $8)";
const UPDATE: &str = "update webhook_endpoints set url = $3, description = $4, filter_types = $5,
    version = version + case when url <> $3 or status <> $6 then 1 else 0 end,
    status = $6, disabled_reason = $7, failing_since = $8, updated_at = $9
    where user_id = $1 and id = $2";
const DELETE: &str = "delete from webhook_endpoints where user_id = $1 and id = $2";
const ROTATE_SECRET: &str = "update webhook_endpoints set secret = $3, previous_secret = $4,
    previous_until = $5, updated_at = $6, version = version + 1 where user_id = $1 and id = $2";
const ACTIVE_KEY: &str =
    "select scopes from api_keys where user_id = $1 and id = $2 and revoked_at is null
    and (expires_at is null or expires_at > $3)";
const COUNT_ACTIVE: &str = "select cast(count(*) as bigint) from webhook_endpoints
    where user_id = $1 and key_id = $2 and status = 'active'";
const COUNT: &str = "select cast(count(*) as bigint) from webhook_endpoints
    where user_id = $1 and key_id = $2";

pub(crate) const STATEMENTS: &[&str] = &[
    LIST,
    LIST_ACTIVE,
    GET,
    DESTINATION,
    INSERT,
    UPDATE,
    DELETE,
    ROTATE_SECRET,
    ACTIVE_KEY,
    COUNT_ACTIVE,
    COUNT,
];
