//! API keys: shown once when created, stored as a hash, and checked at every request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base::{AccountId, KeyId, TimeZone, Timestamp, UserId, days_from_date};
use db::params;
use wire::v1::Code;

use crate::access::scopes::read_scopes;
use crate::access::{sessions, tokens};
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Credential, Error, Result, Scopes};

const PREFIX: &str = "ek_";
/// How long a cached key is trusted. Another process may have revoked it; the API promises an effect within a second.
const TRUST_MICROSECONDS: i64 = 500_000;
/// The time of last use is saved at most this often. It shows people whether a key is still in use.
const USAGE_MICROSECONDS: i64 = 60_000_000;
const CACHED_MAX: usize = 10_000;
/// The most active keys of one person.
const ACTIVE_MAX: i64 = 100;
/// How long a revoked or expired key is still listed.
const SHOWN_DAYS: i64 = 30;
const DAY_MICROSECONDS: i64 = 86_400_000_000;

#[derive(Debug, Clone)]
pub struct ApiKey {
    pub id: KeyId,
    pub name: String,
    /// The last four characters of the secret, to tell keys apart.
    pub hint: String,
    pub scopes: Scopes,
    pub limited: bool,
    /// The accounts that a limited key may see.
    pub accounts: Vec<AccountId>,
    pub expires_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
    pub last_used_address: Option<String>,
    pub requests_today: i64,
    pub revoked_at: Option<Timestamp>,
    pub created_at: Timestamp,
}

impl ApiKey {
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|at| at > now)
    }
}

#[derive(Debug, Clone)]
pub struct NewKey {
    pub name: String,
    pub scopes: Scopes,
    /// The accounts that the key may see; `None` means all, including future ones.
    pub accounts: Option<Vec<AccountId>>,
    pub expires_at: Option<Timestamp>,
}

/// Creates a key and returns its secret, which is shown only once. Keys cannot create keys, because such a key could
/// outlive its own revocation.
pub async fn create(app: &App, caller: &Caller, new: NewKey) -> Result<(ApiKey, String)> {
    caller.require_owner("key")?;
    sessions::require_proof(app, caller).await?;
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
        accounts: new.accounts.unwrap_or_default(),
        expires_at: new.expires_at,
        last_used_at: None,
        last_used_address: None,
        requests_today: 0,
        revoked_at: None,
        created_at: now,
    };
    let (row, hash, caller) = (key.clone(), tokens::hash(&secret), caller.clone());
    app.db.write(move |tx| insert(tx, &caller, &row, &hash)).await?;
    Ok((key, secret))
}

fn insert(tx: &mut db::Tx<'_>, caller: &Caller, row: &ApiKey, hash: &[u8; 32]) -> Result<()> {
    let (user, now) = (caller.user, row.created_at);
    let active = tx.first(COUNT, params![user, now], |it| it.get::<i64>(0))?.unwrap_or_default();
    if active >= ACTIVE_MAX {
        let message =
            format!("you already have {ACTIVE_MAX} keys; revoke one that you no longer use");
        return Err(Error::Conflict { code: Code::Conflict, message });
    }
    tx.execute(
        INSERT,
        params![
            user,
            row.id,
            &row.name,
            &hash[..],
            &row.hint,
            &row.scopes.to_words(),
            row.limited.then_some(now),
            row.expires_at,
            now
        ],
    )?;
    for account in &row.accounts {
        match tx.execute(LIMIT, params![user, row.id, *account]) {
            Ok(_) => {}
            Err(db::Error::ForeignKey) => {
                return Err(Error::invalid("accounts", "accounts names an unknown account"));
            }
            Err(error) => return Err(error.into()),
        }
    }
    let details = format!("Created the API key \"{}\"", row.name);
    audit::note(tx, user, now, Note::new(caller, "key.create", details).about(row.id))
}

/// Lists the person's active keys, newest first, then those that ended recently.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<ApiKey>> {
    caller.require_owner("key")?;
    let (now, today) = (app.clock.now(), days_from_date(app.today(caller)));
    let since = now.as_microsecond() - SHOWN_DAYS * DAY_MICROSECONDS;
    let read_key = |row: &db::Row<'_>| read(row, today);
    let mut keys = app.db.all(LIST, params![caller.user, since], read_key).await?;
    app.db
        .each(ALL_ACCOUNTS, params![caller.user], |row| {
            let (id, account): (KeyId, AccountId) = (row.get(0)?, row.get(1)?);
            if let Some(key) = keys.iter_mut().find(|it| it.id == id) {
                key.accounts.push(account);
            }
            Ok(())
        })
        .await?;
    for key in &mut keys {
        key.requests_today += app.key_cache.unsaved(key.id, today);
    }
    Ok(keys)
}

/// Revokes a key: immediately in this process, and within a second in every other.
pub async fn revoke(app: &App, caller: &Caller, id: KeyId) -> Result<()> {
    caller.require_owner("key")?;
    let (mine, caller, now) = (app.clone(), caller.clone(), app.clock.now());
    let end = move |tx: &mut db::Tx<'_>| {
        let name = tx.first(NAME, params![caller.user, id], |row| row.get::<String>(0))?;
        let ended = tx.execute(REVOKE, params![caller.user, id, now])?;
        let name = name.filter(|_| ended > 0).ok_or(Error::NotFound("key"))?;
        tx.execute(REMEMBER_REVOKED, params![id, now])?;
        webhooks::disable::disable_for_key(&mine.webhooks, tx, caller.user, id)?;
        let note = Note::new(&caller, "key.revoke", format!("Revoked the API key \"{name}\""));
        audit::note(tx, caller.user, now, note.about(id))
    };
    let ended = app.db.write(end).await;
    app.key_cache.clear();
    ended
}

/// The caller that an API key stands for. A malformed token is refused without a query.
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
    app.key_cache.record_use(&known, now, address);
    let accounts = known.accounts.clone();
    let credential = Credential::Key { id: known.id, scopes: known.scopes, accounts };
    Ok(Caller { user: known.user, timezone: known.timezone, credential })
}

/// Background step: saves when keys were last used, so that requests themselves cost no write.
pub async fn save_usage_once(app: &App) -> Result<usize> {
    let uses: Arc<[UnsavedUsage]> = app.key_cache.take_uses().into();
    if uses.is_empty() {
        return Ok(0);
    }
    let rows = uses.clone();
    let save = move |tx: &mut db::Tx<'_>| {
        for (user, id, used) in rows.iter() {
            let KeyUsage { at, address, day, count, .. } = used;
            tx.execute(USED, params![*user, *id, *at, address, *day, *count])?;
        }
        Ok::<_, Error>(())
    };
    if let Err(error) = app.db.write(save).await {
        app.key_cache.restore_uses(&uses);
        return Err(error);
    }
    Ok(uses.len())
}

async fn load(app: &App, hash: &[u8; 32]) -> Result<Arc<ActiveKey>> {
    let found = app
        .db
        .first(BY_HASH, params![&hash[..]], |row| {
            let limited: Option<i64> = row.get(3)?;
            let scopes = read_scopes(row, 2)?;
            let key = (row.get(0)?, row.get(1)?, row.get(5)?);
            Ok((key, scopes, limited.is_some(), row.get(4)?))
        })
        .await?;
    let Some(((user, id, timezone), scopes, limited, expires_at)) = found else {
        return Err(Error::Unauthenticated("the token is unknown or was revoked"));
    };
    let accounts = if limited {
        let ids = app.db.all(ACCOUNTS, params![user, id], |row| row.get(0)).await?;
        Some(ids.into())
    } else {
        None
    };
    Ok(Arc::new(ActiveKey { user, id, timezone, scopes, accounts, expires_at }))
}

#[derive(Debug)]
struct ActiveKey {
    user: UserId,
    id: KeyId,
    timezone: TimeZone,
    scopes: Scopes,
    accounts: Option<Arc<[AccountId]>>,
    expires_at: Option<Timestamp>,
}

struct CachedKey {
    at: Timestamp,
    key: Arc<ActiveKey>,
}

#[derive(Debug, Clone)]
struct KeyUsage {
    at: Timestamp,
    address: Option<String>,
    saved_at: Option<Timestamp>,
    /// The person's date of the last use, and the requests of that day that are not saved yet.
    day: i64,
    count: i64,
}

type UnsavedUsage = (UserId, KeyId, KeyUsage);

/// Recently used keys and their unsaved usage. A busy client costs one query every half second instead of one per
/// request.
#[derive(Default)]
pub struct KeyCache {
    known: Mutex<HashMap<[u8; 32], CachedKey>>,
    uses: Mutex<HashMap<KeyId, (UserId, KeyUsage)>>,
}

impl KeyCache {
    fn find(&self, hash: &[u8; 32], now: Timestamp) -> Option<Arc<ActiveKey>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let CachedKey { at, key } = known.get(hash)?;
        let age = now.as_microsecond() - at.as_microsecond();
        (0..TRUST_MICROSECONDS).contains(&age).then(|| key.clone())
    }

    fn keep(&self, hash: [u8; 32], key: &Arc<ActiveKey>, now: Timestamp) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= CACHED_MAX {
            known.clear();
        }
        known.insert(hash, CachedKey { at: now, key: key.clone() });
    }

    pub(crate) fn clear(&self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn record_use(&self, key: &ActiveKey, now: Timestamp, address: Option<&str>) {
        let (user, id) = (key.user, key.id);
        let day = days_from_date(key.timezone.date_at(now));
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((_, used)) = uses.get_mut(&id) else {
            let address = address.map(str::to_owned);
            uses.insert(id, (user, KeyUsage { at: now, address, saved_at: None, day, count: 1 }));
            return;
        };
        // Copying the address is the costly part, so it is done once a minute.
        if used.at.as_second() / 60 != now.as_second() / 60 {
            used.address = address.map(str::to_owned);
        }
        used.at = now;
        // Only the current day's requests are counted.
        used.count = if used.day == day { used.count + 1 } else { 1 };
        used.day = day;
    }

    fn unsaved(&self, id: KeyId, day: i64) -> i64 {
        let uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        uses.get(&id).filter(|(_, used)| used.day == day).map_or(0, |(_, used)| used.count)
    }

    /// Takes the usage that is due for saving, in the order of the keys: processes that save the same keys in different
    /// orders would lock their rows against each other.
    fn take_uses(&self) -> Vec<UnsavedUsage> {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let due = |used: &KeyUsage| {
            used.saved_at.is_none_or(|saved| {
                used.at.as_microsecond() - saved.as_microsecond() >= USAGE_MICROSECONDS
            })
        };
        let mut due_uses = Vec::new();
        for (id, (user, used)) in uses.iter_mut().filter(|(_, (_, used))| due(used)) {
            used.saved_at = Some(used.at);
            due_uses.push((*user, *id, used.clone()));
            used.count = 0;
        }
        due_uses.sort_unstable_by_key(|(user, id, _)| (*user, *id));
        due_uses
    }

    /// Puts back what could not be saved, so that it is counted by the next save.
    fn restore_uses(&self, unsaved: &[UnsavedUsage]) {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, id, before) in unsaved {
            let Some((_, used)) = uses.get_mut(id) else { continue };
            used.saved_at = None;
            if used.day == before.day {
                used.count += before.count;
            }
        }
    }
}

fn read(row: &db::Row<'_>, today: i64) -> db::Result<ApiKey> {
    let limited: Option<i64> = row.get(4)?;
    let (used_on, count): (Option<i64>, Option<i64>) = (row.get(10)?, row.get(11)?);
    Ok(ApiKey {
        id: row.get(0)?,
        name: row.get(1)?,
        hint: row.get(2)?,
        scopes: read_scopes(row, 3)?,
        limited: limited.is_some(),
        accounts: Vec::new(),
        expires_at: row.get(5)?,
        last_used_at: row.get(6)?,
        last_used_address: row.get(7)?,
        requests_today: count.filter(|_| used_on == Some(today)).unwrap_or(0),
        revoked_at: row.get(8)?,
        created_at: row.get(9)?,
    })
}

const INSERT: &str = "insert into api_keys
    (user_id, id, name, key_hash, hint, scopes, limited_at, expires_at, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const LIMIT: &str = "insert into api_key_accounts (user_id, key_id, account_id) values ($1, $2, $3)
    on conflict do nothing";
const COUNT: &str = "select cast(count(*) as bigint) from api_keys
    where user_id = $1 and revoked_at is null and (expires_at is null or expires_at > $2)";
// Active keys come first, so that the limit never cuts one of them off.
const LIST: &str =
    "select id, name, hint, scopes, limited_at, expires_at, last_used_at, last_used_address,
    revoked_at, created_at, used_on, used_on_count from api_keys
    where user_id = $1 and (revoked_at is null or revoked_at > $2)
    and (expires_at is null or expires_at > $2)
    order by case when revoked_at is null then 0 else 1 end, id desc limit 500";
const ALL_ACCOUNTS: &str =
    "select key_id, account_id from api_key_accounts where user_id = $1 limit 10000";
const NAME: &str =
    "select name from api_keys where user_id = $1 and id = $2 and revoked_at is null";
const REMEMBER_REVOKED: &str = "insert into ended_keys (key_id, ended_at) values ($1, $2)
    on conflict (key_id) do nothing";
const REVOKE: &str = "update api_keys set revoked_at = $3
    where user_id = $1 and id = $2 and revoked_at is null";
const BY_HASH: &str = "select k.user_id, k.id, k.scopes, k.limited_at, k.expires_at, u.timezone
    from api_keys k join users u on u.id = k.user_id
    where k.key_hash = $1 and k.revoked_at is null";
const ACCOUNTS: &str = "select account_id from api_key_accounts where user_id = $1 and key_id = $2";
// Several processes add to the same count, and the time of last use never goes back.
const USED: &str = "update api_keys set
    last_used_address = case when last_used_at >= $3 then last_used_address else $4 end,
    last_used_at = case when last_used_at >= $3 then last_used_at else $3 end,
    used_on_count = case when used_on = $5 then used_on_count + $6
        when used_on > $5 then used_on_count else $6 end,
    used_on = case when used_on > $5 then used_on else $5 end
    where user_id = $1 and id = $2";

pub(crate) const STATEMENTS: &[&str] = &[
    INSERT,
    LIMIT,
    COUNT,
    LIST,
    ALL_ACCOUNTS,
    NAME,
    REMEMBER_REVOKED,
    REVOKE,
    BY_HASH,
    ACCOUNTS,
    USED,
];
