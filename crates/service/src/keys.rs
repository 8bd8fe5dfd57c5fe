//! API keys: made once, shown once, kept as a hash, checked at every request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base::{AccountId, KeyId, Timestamp, UserId};
use db::params;

use crate::{App, Caller, Credential, Error, Result, Scopes, tokens};

const PREFIX: &str = "ek_";
/// How long a process may go on trusting a key that another one revoked. The contract allows a second.
const TRUST_MICROSECONDS: i64 = 500_000;
/// Last use is kept to the minute: it tells a person whether a key is alive, not what it does.
const USAGE_MICROSECONDS: i64 = 60_000_000;
const CACHED_MAX: usize = 10_000;

#[derive(Debug, Clone)]
pub struct ApiKey {
    pub id: KeyId,
    pub name: String,
    /// The last four characters, to tell keys apart.
    pub hint: String,
    pub scopes: Scopes,
    pub limited: bool,
    pub expires_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
    pub last_used_address: Option<String>,
    pub revoked_at: Option<Timestamp>,
    pub created_at: Timestamp,
}

#[derive(Debug, Clone)]
pub struct NewKey {
    pub name: String,
    pub scopes: Scopes,
    /// The only accounts it may see; none means all of them, now and later.
    pub accounts: Option<Vec<AccountId>>,
    pub expires_at: Option<Timestamp>,
}

/// Makes a key and returns the secret with it; it is never to be seen again. Only a person can: a key that could make
/// keys would outlive its own revocation.
pub async fn create(app: &App, caller: &Caller, new: NewKey) -> Result<(ApiKey, String)> {
    caller.require_owner("key")?;
    let name = new.name.trim().to_owned();
    if name.is_empty() || name.chars().count() > 80 || name.contains(char::is_control) {
        return Err(Error::invalid("name", "name must have 1 to 80 characters on one line"));
    }
    let now = app.clock.now();
    if new.expires_at.is_some_and(|at| at <= now) {
        return Err(Error::invalid("expires_at", "expires_at must be in the future"));
    }
    let secret = tokens::make(PREFIX, &app.entropy);
    let key = ApiKey {
        id: app.ids.make(),
        name,
        hint: secret[secret.len() - 4..].to_owned(),
        scopes: new.scopes,
        limited: new.accounts.is_some(),
        expires_at: new.expires_at,
        last_used_at: None,
        last_used_address: None,
        revoked_at: None,
        created_at: now,
    };
    let (row, hash, user) = (key.clone(), tokens::hash(&secret), caller.user);
    app.db
        .write(move |tx| {
            let limited_at = row.limited.then_some(now);
            tx.execute(
                INSERT,
                params![
                    user,
                    row.id,
                    &row.name,
                    &hash[..],
                    &row.hint,
                    &row.scopes.to_words(),
                    limited_at,
                    row.expires_at,
                    now
                ],
            )?;
            for account in new.accounts.unwrap_or_default() {
                match tx.execute(LIMIT, params![user, row.id, account]) {
                    Ok(_) => {}
                    Err(db::Error::ForeignKey) => {
                        return Err(Error::invalid(
                            "accounts",
                            "accounts names an unknown account",
                        ));
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            Ok::<_, Error>(())
        })
        .await?;
    Ok((key, secret))
}

/// The person's keys, newest first.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<ApiKey>> {
    caller.require_owner("key")?;
    Ok(app.db.all(LIST, params![caller.user], read).await?)
}

/// Ends a key at once here, and within a second in every other process.
pub async fn revoke(app: &App, caller: &Caller, id: KeyId) -> Result<()> {
    caller.require_owner("key")?;
    let (user, now) = (caller.user, app.clock.now());
    let touched =
        app.db.write(move |tx| Ok::<_, Error>(tx.execute(REVOKE, params![user, id, now])?)).await?;
    app.key_cache.forget_all();
    if touched == 0 { Err(Error::NotFound("key")) } else { Ok(()) }
}

/// Who a token belongs to. A token that fails its own checksum never reaches the database.
pub async fn authenticate(app: &App, token: &str, address: Option<&str>) -> Result<Caller> {
    if !tokens::is_well_formed(PREFIX, token) {
        return Err(Error::Unauthenticated("the token is malformed"));
    }
    let (hash, now) = (tokens::hash(token), app.clock.now());
    let known = match app.key_cache.find(&hash, now) {
        Some(known) => known,
        None => {
            let known = load(app, &hash).await?;
            app.key_cache.keep(hash, &known, now);
            known
        }
    };
    if known.expires_at.is_some_and(|at| at <= now) {
        return Err(Error::Unauthenticated("the token has expired"));
    }
    app.key_cache.note_use(known.user, known.id, now, address);
    let accounts = known.accounts.clone();
    let credential = Credential::Key { id: known.id, scopes: known.scopes, accounts };
    Ok(Caller { user: known.user, credential })
}

/// Writes down when keys were last used; a background step, so that reading costs no write.
pub async fn save_usage_once(app: &App) -> Result<usize> {
    let uses = app.key_cache.take_uses();
    let count = uses.len();
    if count > 0 {
        let save = move |tx: &mut db::Tx<'_>| {
            for (user, id, used) in &uses {
                tx.execute(USED, params![*user, *id, used.at, &used.address])?;
            }
            Ok::<_, Error>(())
        };
        app.db.write(save).await?;
    }
    Ok(count)
}

async fn load(app: &App, hash: &[u8; 32]) -> Result<Arc<Known>> {
    let found = app
        .db
        .first(BY_HASH, params![&hash[..]], |row| {
            let limited: Option<i64> = row.get(3)?;
            let scopes: String = row.get(2)?;
            Ok((row.get(0)?, row.get(1)?, scopes, limited.is_some(), row.get(4)?))
        })
        .await?;
    let Some((user, id, scopes, limited, expires_at)) = found else {
        return Err(Error::Unauthenticated("the token is unknown or was revoked"));
    };
    let scopes = Scopes::parse(&scopes).map_err(|error| Error::internal(error.to_string()))?;
    let accounts = if limited {
        let ids = app.db.all(ACCOUNTS, params![user, id], |row| row.get(0)).await?;
        Some(ids.into())
    } else {
        None
    };
    Ok(Arc::new(Known { user, id, scopes, accounts, expires_at }))
}

#[derive(Debug)]
struct Known {
    user: UserId,
    id: KeyId,
    scopes: Scopes,
    accounts: Option<Arc<[AccountId]>>,
    expires_at: Option<Timestamp>,
}

struct Loaded {
    at: Timestamp,
    key: Arc<Known>,
}

#[derive(Debug, Clone)]
struct Use {
    at: Timestamp,
    address: Option<String>,
    saved_at: Option<Timestamp>,
}

/// Keys seen lately, so that a busy client costs one look-up every half second and not one a request.
#[derive(Default)]
pub struct Cache {
    known: Mutex<HashMap<[u8; 32], Loaded>>,
    uses: Mutex<HashMap<KeyId, (UserId, Use)>>,
}

impl Cache {
    fn find(&self, hash: &[u8; 32], now: Timestamp) -> Option<Arc<Known>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Loaded { at, key } = known.get(hash)?;
        let age = now.as_microsecond() - at.as_microsecond();
        (0..TRUST_MICROSECONDS).contains(&age).then(|| key.clone())
    }

    fn keep(&self, hash: [u8; 32], key: &Arc<Known>, now: Timestamp) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= CACHED_MAX {
            known.clear();
        }
        known.insert(hash, Loaded { at: now, key: key.clone() });
    }

    pub(crate) fn forget_all(&self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn note_use(&self, user: UserId, id: KeyId, now: Timestamp, address: Option<&str>) {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        match uses.get_mut(&id) {
            // The address is only written anew once a minute: it is the costly part.
            Some((_, used)) if used.at.as_second() / 60 == now.as_second() / 60 => used.at = now,
            Some((_, used)) => {
                used.at = now;
                used.address = address.map(str::to_owned);
            }
            None => {
                let address = address.map(str::to_owned);
                uses.insert(id, (user, Use { at: now, address, saved_at: None }));
            }
        }
    }

    fn take_uses(&self) -> Vec<(UserId, KeyId, Use)> {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let due = |used: &Use| {
            used.saved_at.is_none_or(|saved| {
                used.at.as_microsecond() - saved.as_microsecond() >= USAGE_MICROSECONDS
            })
        };
        let mut taken = Vec::new();
        for (id, (user, used)) in uses.iter_mut().filter(|(_, (_, used))| due(used)) {
            used.saved_at = Some(used.at);
            taken.push((*user, *id, used.clone()));
        }
        taken
    }
}

fn read(row: &db::Row<'_>) -> db::Result<ApiKey> {
    let scopes: &str = row.get(3)?;
    let limited: Option<i64> = row.get(4)?;
    let unknown = |error: Error| db::Error::Decode { column: 3, reason: error.to_string() };
    Ok(ApiKey {
        id: row.get(0)?,
        name: row.get(1)?,
        hint: row.get(2)?,
        scopes: Scopes::parse(scopes).map_err(unknown)?,
        limited: limited.is_some(),
        expires_at: row.get(5)?,
        last_used_at: row.get(6)?,
        last_used_address: row.get(7)?,
        revoked_at: row.get(8)?,
        created_at: row.get(9)?,
    })
}

const INSERT: &str = "insert into api_keys
    (user_id, id, name, key_hash, hint, scopes, limited_at, expires_at, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const LIMIT: &str = "insert into api_key_accounts (user_id, key_id, account_id) values ($1, $2, $3)
    on conflict do nothing";
const LIST: &str =
    "select id, name, hint, scopes, limited_at, expires_at, last_used_at, last_used_address,
    revoked_at, created_at from api_keys where user_id = $1 order by id desc";
const REVOKE: &str = "update api_keys set revoked_at = $3
    where user_id = $1 and id = $2 and revoked_at is null";
const BY_HASH: &str = "select user_id, id, scopes, limited_at, expires_at
    from api_keys where key_hash = $1 and revoked_at is null";
const ACCOUNTS: &str = "select account_id from api_key_accounts where user_id = $1 and key_id = $2";
const USED: &str = "update api_keys set last_used_at = $3, last_used_address = $4
    where user_id = $1 and id = $2 and (last_used_at is null or last_used_at < $3)";

pub(crate) const STATEMENTS: &[&str] = &[INSERT, LIMIT, LIST, REVOKE, BY_HASH, ACCOUNTS, USED];
