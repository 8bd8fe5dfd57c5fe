//! A person's own keys of a provider, encrypted. Without them, those of the installation are used.

use std::sync::Arc;

use base::UserId;
use base::draft::Source;
use db::{Tx, params};
use sources::provider::{Context, ErrorKind, Institution, Provider, Secret};

use super::connection::{conflict, lock_user, provider_of};
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result};

/// Which keys for a provider a person can use: their own, those of the installation, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeysStatus {
    pub is_own: bool,
    pub is_installations: bool,
    /// The bank logins that were connected with the person's own keys, also those that have ended.
    pub logins: i64,
}

impl KeysStatus {
    pub fn is_any(self) -> bool {
        self.is_own || self.is_installations
    }
}

pub async fn keys_status(app: &App, caller: &Caller, source: Source) -> Result<KeysStatus> {
    caller.require_owner("connection")?;
    provider_of(source)?;
    let key = params![caller.user, source.as_str()];
    let own = app.db.first(LOGINS, key, |row| row.get::<i64>(0)).await?;
    let is_installations = app.bank_client.settings(source).is_some_and(|it| it.keys.is_some());
    Ok(KeysStatus { is_own: own.is_some(), is_installations, logins: own.unwrap_or(0) })
}

/// Saves the person's own keys. Connections that waited for other keys are synced at once.
pub async fn save_keys(app: &App, caller: &Caller, source: Source, keys: &Secret) -> Result<()> {
    caller.require_owner("connection")?;
    let provider = provider_of(source)?;
    provider.check_keys(keys).map_err(|error| Error::invalid("keys", error.message))?;
    let bound = bound_to(caller.user, source.as_str());
    let sealed = app.bank_client.vault.encrypt(&app.entropy, &bound, keys)?;
    let (caller, now) = (caller.clone(), app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        let user = caller.user;
        lock_user(tx, user)?;
        tx.execute(SAVE, params![user, source.as_str(), &sealed, now])?;
        let due_at = tx.now()?;
        tx.execute(DUE, params![user, source.as_str(), due_at])?;
        let details = format!("Saved keys of {}", provider.name());
        audit::note(tx, user, now, Note::new(&caller, "connection.keys", details))
    };
    app.db.write(work).await
}

/// Deletes the person's own keys, unless a connection still needs them.
pub async fn delete_keys(app: &App, caller: &Caller, source: Source) -> Result<()> {
    caller.require_owner("connection")?;
    let provider = provider_of(source)?;
    let (caller, now) = (caller.clone(), app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        let user = caller.user;
        lock_user(tx, user)?;
        let key = params![user, source.as_str()];
        let in_use = tx.first(IN_USE, key, |row| row.get::<Vec<u8>>(0))?;
        if in_use.is_some() {
            return Err(conflict(format!(
                "Disconnect your {} banks first. They need these keys.",
                provider.name()
            )));
        }
        if tx.execute(DELETE, key)? == 0 {
            return Err(Error::NotFound("keys"));
        }
        let details = format!("Deleted keys of {}", provider.name());
        audit::note(tx, user, now, Note::new(&caller, "connection.keys", details))
    };
    app.db.write(work).await
}

/// Counts a bank login that was connected with the person's own keys, if they have some.
pub(super) fn count_login(tx: &mut Tx<'_>, user: UserId, source: Source) -> Result<()> {
    tx.execute(COUNT_LOGIN, params![user, source.as_str()])?;
    Ok(())
}

/// The banks of a country, for a provider that has no page to choose one.
pub async fn list_banks(
    app: &App,
    caller: &Caller,
    source: Source,
    country: &str,
) -> Result<Vec<Institution>> {
    caller.require_owner("connection")?;
    let provider = provider_of(source)?;
    let context = context(app, caller.user, provider).await?;
    let banks = provider.list_banks(&context, country).await;
    banks.map_err(|error| match error.kind {
        ErrorKind::InvalidInput => Error::invalid("country", error.message),
        _ => conflict(error.message),
    })
}

/// The HTTP client, keys and address for requests to a provider on behalf of a person.
pub(super) async fn context(app: &App, user: UserId, provider: &dyn Provider) -> Result<Context> {
    let mut own = None;
    if provider.needs_keys() {
        let key = params![user, provider.source().as_str()];
        own = app.db.first(KEYS, key, |row| row.get::<Vec<u8>>(0)).await?;
    }
    context_of(app, user, provider, own.as_deref())
}

/// `context` for a caller that has read the person's own encrypted keys. Without them it has those of the installation.
pub(super) fn context_of(
    app: &App,
    user: UserId,
    provider: &dyn Provider,
    own: Option<&[u8]>,
) -> Result<Context> {
    let source = provider.source();
    let settings = app.bank_client.settings(source);
    let mut keys = settings.and_then(|it| it.keys.clone());
    if let Some(sealed) = own {
        let opened = app.bank_client.vault.decrypt(&bound_to(user, source.as_str()), sealed);
        keys = Some(Arc::new(opened.ok_or_else(|| conflict(provider.unreadable_message()))?));
    }
    Ok(Context {
        http: app.bank_client.http()?.clone(),
        keys,
        url: settings.and_then(|it| it.url.clone()),
        now: app.clock.now(),
    })
}

/// The associated data of a person's encrypted keys for a source, so that they cannot be read as another person's.
pub(super) fn bound_to(user: UserId, source: &str) -> Vec<u8> {
    [user.as_bytes().as_slice(), source.as_bytes()].concat()
}

const KEYS: &str = "select sealed from provider_keys where user_id = $1 and source = $2";
const LOGINS: &str = "select logins from provider_keys where user_id = $1 and source = $2";
const COUNT_LOGIN: &str =
    "update provider_keys set logins = logins + 1 where user_id = $1 and source = $2";
const SAVE: &str = "insert into provider_keys (user_id, source, sealed, updated_at)
    values ($1, $2, $3, $4) on conflict (user_id, source)
    do update set sealed = excluded.sealed, updated_at = excluded.updated_at";
const DUE: &str = "update connections set next_sync_at = $3 where user_id = $1 and source = $2
    and access is not null and remedy = 'change_keys' and next_sync_at is not null";
const IN_USE: &str = "select id from connections where user_id = $1 and source = $2
    and access is not null limit 1";
const DELETE: &str = "delete from provider_keys where user_id = $1 and source = $2";

pub(super) const STATEMENTS: &[&str] = &[KEYS, LOGINS, COUNT_LOGIN, SAVE, DUE, IN_USE, DELETE];
