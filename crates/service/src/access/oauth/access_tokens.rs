//! Authentication by access token, with a cache that looks up each token at most twice a second.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base::{GrantId, PairId, TimeZone, Timestamp, UserId};
use db::params;

use super::scopes::{Audience, covers};
use super::token_pairs::ACCESS_PREFIX;
use crate::access::scopes::read_scopes;
use crate::access::tokens;
use crate::{App, Caller, Credential, Error, Result, Scopes, Tx};

/// How long a cached token is trusted. Another process may have revoked its grant; the API promises an effect within a
/// second.
const TRUST_MICROSECONDS: i64 = 500_000;
/// The time of last use is saved at most this often. It shows people whether an app still uses its access.
const USAGE_SECONDS: i64 = 60;
const CACHED_MAX: usize = 10_000;

/// Whether a token has the prefix of access tokens.
pub fn is_access_token(token: &str) -> bool {
    token.starts_with(ACCESS_PREFIX)
}

/// The caller that an access token stands for, at the API.
pub async fn authenticate(
    app: &App,
    issuer: &str,
    token: &str,
    address: Option<&str>,
) -> Result<Caller> {
    authenticate_for(app, (issuer, Audience::Api), token, address).await
}

/// The caller that an access token stands for. `issuer` is this installation's address; a token issued for another
/// address, or for another part of the installation, is refused.
pub async fn authenticate_for(
    app: &App,
    (issuer, audience): (&str, Audience),
    token: &str,
    address: Option<&str>,
) -> Result<Caller> {
    if !tokens::is_well_formed(ACCESS_PREFIX, token) {
        return Err(Error::Unauthenticated("the token is malformed"));
    }
    let (hash, now) = (tokens::hash(token), app.clock.now());
    let token = match app.access_cache.find(&hash, now) {
        Some(token) => token,
        None => {
            let generation = app.access_cache.generation();
            let token = Arc::new(load(app, &hash, now, address).await?);
            app.access_cache.insert(hash, &token, now, generation);
            token
        }
    };
    if token.expires_at <= now {
        return Err(Error::Unauthenticated("the token has expired"));
    }
    if token.resource.as_deref().is_some_and(|it| !covers(issuer, it, audience)) {
        return Err(Error::Unauthenticated("the token was issued for another address"));
    }
    let credential = Credential::Grant { id: token.grant, scopes: token.scopes };
    Ok(Caller { user: token.user, timezone: token.timezone, credential })
}

async fn load(
    app: &App,
    hash: &[u8; 32],
    now: Timestamp,
    address: Option<&str>,
) -> Result<ActiveToken> {
    let unknown = Error::Unauthenticated("the token is unknown or was revoked");
    let found = app.db.first(BY_HASH, params![&hash[..]], read).await?;
    let Some(found) = found else { return Err(unknown) };
    let StoredToken { token, pair, used_at, last_used_at } = found;
    let is_recent = |at: Timestamp| now.as_second() - at.as_second() < USAGE_SECONDS;
    if token.expires_at > now && (used_at.is_none() || !last_used_at.is_some_and(is_recent)) {
        let (user, grant, address) = (token.user, token.grant, address.map(str::to_owned));
        // Saved before the first response: a used pair cannot be one whose response was lost.
        let save = move |tx: &mut Tx<'_>| {
            // The grant is locked first, as everywhere, to avoid deadlocks.
            tx.execute(LAST_USED, params![user, grant, now, &address])?;
            let updated = tx.execute(USED, params![user, grant, pair, now])?;
            if updated == 0 { Err(unknown) } else { Ok(()) }
        };
        app.db.write(save).await?;
    }
    Ok(token)
}

struct ActiveToken {
    user: UserId,
    timezone: TimeZone,
    grant: GrantId,
    scopes: Scopes,
    resource: Option<String>,
    expires_at: Timestamp,
}

struct StoredToken {
    token: ActiveToken,
    pair: PairId,
    used_at: Option<Timestamp>,
    last_used_at: Option<Timestamp>,
}

fn read(row: &db::Row<'_>) -> db::Result<StoredToken> {
    Ok(StoredToken {
        token: ActiveToken {
            user: row.get(0)?,
            timezone: row.get(8)?,
            grant: row.get(1)?,
            scopes: read_scopes(row, 3)?,
            resource: row.get(4)?,
            expires_at: row.get(5)?,
        },
        pair: row.get(2)?,
        used_at: row.get(6)?,
        last_used_at: row.get(7)?,
    })
}

/// Recently used tokens.
#[derive(Default)]
pub struct TokenCache(Mutex<CachedTokens>);

#[derive(Default)]
struct CachedTokens {
    /// Counts how often the cache was cleared.
    generation: u64,
    tokens: HashMap<[u8; 32], (Timestamp, Arc<ActiveToken>)>,
}

impl TokenCache {
    fn find(&self, hash: &[u8; 32], now: Timestamp) -> Option<Arc<ActiveToken>> {
        let cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, token) = cached.tokens.get(hash)?;
        let age = now.as_microsecond() - at.as_microsecond();
        (0..TRUST_MICROSECONDS).contains(&age).then(|| token.clone())
    }

    fn generation(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).generation
    }

    /// Adds a token that was read in this generation. One that was read before the cache was cleared may belong to a
    /// grant that has been revoked since.
    fn insert(&self, hash: [u8; 32], token: &Arc<ActiveToken>, now: Timestamp, generation: u64) {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.generation != generation {
            return;
        }
        if cached.tokens.len() >= CACHED_MAX {
            cached.tokens.clear();
        }
        cached.tokens.insert(hash, (now, token.clone()));
    }

    pub(crate) fn clear(&self) {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cached.generation += 1;
        cached.tokens.clear();
    }
}

const BY_HASH: &str = "select t.user_id, t.grant_id, t.id, t.scopes, g.resource,
    t.access_expires_at, t.used_at, g.last_used_at, u.timezone from oauth_tokens t
    join oauth_grants g on g.user_id = t.user_id and g.id = t.grant_id
    join users u on u.id = t.user_id
    where t.access_hash = $1 and g.revoked_at is null and t.replaced_at is null";
const USED: &str = "update oauth_tokens set used_at = coalesce(used_at, $4)
    where user_id = $1 and grant_id = $2 and id = $3 and replaced_at is null";
const LAST_USED: &str = "update oauth_grants set last_used_at = $3, last_used_address = $4
    where user_id = $1 and id = $2 and (last_used_at is null or last_used_at < $3)";

pub(super) const STATEMENTS: &[&str] = &[BY_HASH, USED, LAST_USED];
