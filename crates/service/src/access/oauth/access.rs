//! Access tokens at the API: whose they are, looked up twice a second at most.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base::{GrantId, PairId, Timestamp, UserId};
use db::params;

use super::pairs::ACCESS_PREFIX;
use super::{is_ours, stored_scopes};
use crate::access::tokens;
use crate::{App, Caller, Credential, Error, Result, Scopes, Tx};

/// How long a process may go on trusting a token whose grant another one ended. The contract allows a second.
const TRUST_MICROSECONDS: i64 = 500_000;
/// Last use is kept to the minute: it tells a person whether an app still comes, not what it does.
const USAGE_SECONDS: i64 = 60;
const CACHED_MAX: usize = 10_000;

/// Whether a token claims to be an app's.
pub fn is_access_token(token: &str) -> bool {
    token.starts_with(ACCESS_PREFIX)
}

/// Who an app's token stands for. `issuer` is this installation's address, which the token must have been made for.
pub async fn authenticate(
    app: &App,
    issuer: &str,
    token: &str,
    address: Option<&str>,
) -> Result<Caller> {
    if !tokens::is_well_formed(ACCESS_PREFIX, token) {
        return Err(Error::Unauthenticated("the token is malformed"));
    }
    let (hash, now) = (tokens::hash(token), app.clock.now());
    let known = match app.access_cache.find(&hash, now) {
        Some(known) => known,
        None => {
            let round = app.access_cache.round();
            let known = Arc::new(load(app, &hash, now, address).await?);
            app.access_cache.keep(hash, &known, now, round);
            known
        }
    };
    if known.expires_at <= now {
        return Err(Error::Unauthenticated("the token has expired"));
    }
    if known.resource.as_deref().is_some_and(|it| !is_ours(issuer, it)) {
        return Err(Error::Unauthenticated("the token was made for another address"));
    }
    let credential = Credential::Grant { id: known.grant, scopes: known.scopes };
    Ok(Caller { user: known.user, credential })
}

async fn load(app: &App, hash: &[u8; 32], now: Timestamp, address: Option<&str>) -> Result<Known> {
    let unknown = Error::Unauthenticated("the token is unknown or was revoked");
    let found = app.db.first(BY_HASH, params![&hash[..]], read).await?;
    let Some(found) = found else { return Err(unknown) };
    let Found { known, pair, used_at, last_used_at } = found;
    let lately = |at: Timestamp| now.as_second() - at.as_second() < USAGE_SECONDS;
    if known.expires_at > now && (used_at.is_none() || !last_used_at.is_some_and(lately)) {
        let (user, grant, address) = (known.user, known.grant, address.map(str::to_owned));
        // Written before the first answer: a pair that was used can no longer be taken for a lost one.
        let note = move |tx: &mut Tx<'_>| {
            // The grant first, as everywhere, so that no two wait for each other.
            tx.execute(LAST_USED, params![user, grant, now, &address])?;
            let touched = tx.execute(USED, params![user, grant, pair, now])?;
            if touched == 0 { Err(unknown) } else { Ok(()) }
        };
        app.db.write(note).await?;
    }
    Ok(known)
}

struct Known {
    user: UserId,
    grant: GrantId,
    scopes: Scopes,
    resource: Option<String>,
    expires_at: Timestamp,
}

struct Found {
    known: Known,
    pair: PairId,
    used_at: Option<Timestamp>,
    last_used_at: Option<Timestamp>,
}

fn read(row: &db::Row<'_>) -> db::Result<Found> {
    Ok(Found {
        known: Known {
            user: row.get(0)?,
            grant: row.get(1)?,
            scopes: stored_scopes(3, row.get(3)?)?,
            resource: row.get(4)?,
            expires_at: row.get(5)?,
        },
        pair: row.get(2)?,
        used_at: row.get(6)?,
        last_used_at: row.get(7)?,
    })
}

/// Tokens seen lately, and how often everything was forgotten.
#[derive(Default)]
pub struct Cache(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    round: u64,
    known: HashMap<[u8; 32], (Timestamp, Arc<Known>)>,
}

impl Cache {
    fn find(&self, hash: &[u8; 32], now: Timestamp) -> Option<Arc<Known>> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, known) = seen.known.get(hash)?;
        let age = now.as_microsecond() - at.as_microsecond();
        (0..TRUST_MICROSECONDS).contains(&age).then(|| known.clone())
    }

    fn round(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).round
    }

    /// Keeps what was read in this round; what was read before everything was forgotten may be of a grant that has
    /// ended since.
    fn keep(&self, hash: [u8; 32], known: &Arc<Known>, now: Timestamp, round: u64) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.round != round {
            return;
        }
        if seen.known.len() >= CACHED_MAX {
            seen.known.clear();
        }
        seen.known.insert(hash, (now, known.clone()));
    }

    pub(crate) fn forget_all(&self) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.round += 1;
        seen.known.clear();
    }
}

const BY_HASH: &str = "select t.user_id, t.grant_id, t.id, t.scopes, g.resource,
    t.access_expires_at, t.used_at, g.last_used_at from oauth_tokens t
    join oauth_grants g on g.user_id = t.user_id and g.id = t.grant_id
    where t.access_hash = $1 and g.revoked_at is null and t.replaced_at is null";
const USED: &str = "update oauth_tokens set used_at = coalesce(used_at, $4)
    where user_id = $1 and grant_id = $2 and id = $3 and replaced_at is null";
const LAST_USED: &str = "update oauth_grants set last_used_at = $3, last_used_address = $4
    where user_id = $1 and id = $2 and (last_used_at is null or last_used_at < $3)";

pub(super) const STATEMENTS: &[&str] = &[BY_HASH, USED, LAST_USED];
