//! Token pairs: an access token for the API, valid for 15 minutes, and a refresh token that is exchanged once for the
//! next pair.

use base::{CLOCK_SKEW_MICROSECONDS, ClientId, GrantId, PairId, Timestamp, UserId};
use db::params;

use super::clients::Client;
use super::errors::{OAuthError, OAuthErrorCode, OAuthFailure, OAuthResult};
use super::scopes::{is_subset, parse_resource, parse_scopes};
use super::{DAY, SECOND, grants};
use crate::access::scopes::read_scopes;
use crate::access::tokens;
use crate::{App, Result, Scopes, Tx};

pub(super) const ACCESS_PREFIX: &str = "eka_";
pub(super) const REFRESH_PREFIX: &str = "ekr_";
pub const ACCESS_SECONDS: i64 = 15 * 60;
/// A grant ends after this long without a refresh.
const IDLE_DAYS: i64 = 30;
/// How long, and how often, a pair can be issued again because the response with it was lost.
const LOST_SECONDS: i64 = 60;
const LOST_MAX: i64 = 10;

/// A new pair in plain text, which only the app gets to see.
#[derive(Debug, Clone)]
pub struct TokenPair {
    pub access: String,
    pub refresh: String,
    pub scopes: Scopes,
}

/// The answer to a token request. A refusal is not an error of the transaction, because it may revoke a grant, which must
/// be committed.
pub(super) enum TokenResponse {
    Issued(TokenPair),
    Refused(OAuthError),
}

impl TokenResponse {
    pub(super) fn into_result(self) -> OAuthResult<TokenPair> {
        match self {
            TokenResponse::Issued(pair) => Ok(pair),
            TokenResponse::Refused(error) => Err(OAuthFailure::Refused(error)),
        }
    }
}

impl From<OAuthError> for TokenResponse {
    fn from(error: OAuthError) -> TokenResponse {
        TokenResponse::Refused(error)
    }
}

/// The primary key of a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GrantKey {
    pub(super) user: UserId,
    pub(super) grant: GrantId,
}

pub(super) fn issue(
    tx: &mut Tx<'_>,
    app: &App,
    key: GrantKey,
    scopes: Scopes,
    follows: Option<PairId>,
) -> Result<TokenPair> {
    let now = app.clock.now().as_microsecond();
    let access = tokens::make(ACCESS_PREFIX, &app.entropy);
    let refresh = tokens::make(REFRESH_PREFIX, &app.entropy);
    tx.execute(
        INSERT,
        params![
            key.user,
            key.grant,
            app.ids.make::<base::kinds::Pair>(),
            follows,
            &scopes.to_words(),
            &tokens::hash(&access)[..],
            now + ACCESS_SECONDS * SECOND,
            &tokens::hash(&refresh)[..],
            now + IDLE_DAYS * DAY
        ],
    )?;
    Ok(TokenPair { access, refresh, scopes })
}

/// An app's request to exchange a refresh token for the next pair.
#[derive(Debug, Clone, Default)]
pub struct RefreshRequest {
    pub token: String,
    /// Optionally fewer scopes for the new access token.
    pub scope: Option<String>,
    pub resource: Option<String>,
}

/// Exchanges a refresh token for a new pair. A second use of the same refresh token revokes the whole grant, unless the
/// response to its first use may have been lost: the second use comes within a minute, and neither token of the new pair
/// was used. Then another pair replaces that one, so that a refresh token never leads to two valid pairs.
pub async fn refresh(
    app: &App,
    issuer: &str,
    client: &Client,
    request: RefreshRequest,
) -> OAuthResult<TokenPair> {
    if let Some(text) = &request.resource {
        parse_resource(issuer, text)?;
    }
    let scopes = request.scope.as_deref().map(parse_scopes).transpose()?;
    if !tokens::is_well_formed(REFRESH_PREFIX, &request.token) {
        return Err(refused("the refresh token is malformed").into());
    }
    let (hash, mine, client) = (tokens::hash(&request.token), app.clone(), client.id);
    let response = app.db.write(move |tx| refresh_in(tx, &mine, client, &hash, scopes)).await?;
    // A pair may have been replaced, or the grant revoked.
    app.access_cache.clear();
    response.into_result()
}

fn refused(message: &str) -> OAuthError {
    OAuthError::new(OAuthErrorCode::InvalidGrant, message)
}

fn refresh_in(
    tx: &mut Tx<'_>,
    app: &App,
    client: ClientId,
    hash: &[u8; 32],
    asked: Option<Scopes>,
) -> Result<TokenResponse> {
    let read_key = |row: &db::Row<'_>| {
        Ok((GrantKey { user: row.get(0)?, grant: row.get(1)? }, row.get::<ClientId>(2)?))
    };
    let found = tx.first(GRANT_KEY, params![&hash[..]], read_key)?;
    let Some((key, _)) = found.filter(|(_, owner)| *owner == client) else {
        return Ok(refused("the refresh token is unknown").into());
    };
    // Locks the grant: of two requests at once, the second waits here and then sees what the first did.
    if tx.execute(LOCK, params![key.user, key.grant])? == 0 {
        return Ok(refused("the access of this token was revoked").into());
    }
    let Some(pair) = tx.first(BY_REFRESH, params![&hash[..]], read)? else {
        return Ok(refused("the refresh token is unknown").into());
    };
    let now = app.clock.now();
    if pair.refreshed_at.is_none() && pair.replaced_at.is_none() && pair.expires_at <= now {
        return Ok(refused("the refresh token has expired").into());
    }
    let scopes = asked.unwrap_or(pair.granted);
    if !is_subset(scopes, pair.granted) {
        let message = "scope asks for more than was granted";
        return Ok(OAuthError::new(OAuthErrorCode::InvalidScope, message).into());
    }
    let is_first_use = tx.execute(MARK_USED, params![key.user, key.grant, pair.id, now])? > 0;
    if is_first_use || replace_lost(tx, key, &pair, now)? {
        let issued = issue(tx, app, key, scopes, Some(pair.id))?;
        return Ok(TokenResponse::Issued(issued));
    }
    let why = "A refresh token was used a second time, so somebody else may have it.";
    grants::revoke_for_reuse(tx, app, key.user, key.grant, why)?;
    Ok(refused("the refresh token was used before; ask the person again").into())
}

/// Ends the pair that this one was exchanged for, if the response with it may have been lost. Returns whether it did.
fn replace_lost(tx: &mut Tx<'_>, key: GrantKey, pair: &StoredPair, now: Timestamp) -> Result<bool> {
    let age = |at: Timestamp| now.as_microsecond() - at.as_microsecond();
    // A use in the future was recorded before the clock was set back, so its age is unknown.
    let recent = -CLOCK_SKEW_MICROSECONDS..LOST_SECONDS * SECOND;
    let is_recent = pair.refreshed_at.is_some_and(|at| recent.contains(&age(at)));
    if !is_recent || pair.replaced_at.is_some() {
        return Ok(false);
    }
    let successors = params![key.user, key.grant, pair.id];
    let issued = tx.first(ISSUED, successors, |row| row.get::<i64>(0))?.unwrap_or_default();
    if issued > LOST_MAX {
        return Ok(false);
    }
    Ok(tx.execute(REPLACE, params![key.user, key.grant, pair.id, now])? > 0)
}

struct StoredPair {
    id: PairId,
    granted: Scopes,
    expires_at: Timestamp,
    refreshed_at: Option<Timestamp>,
    replaced_at: Option<Timestamp>,
}

fn read(row: &db::Row<'_>) -> db::Result<StoredPair> {
    Ok(StoredPair {
        id: row.get(0)?,
        granted: read_scopes(row, 1)?,
        expires_at: row.get(2)?,
        refreshed_at: row.get(3)?,
        replaced_at: row.get(4)?,
    })
}

const INSERT: &str = "insert into oauth_tokens (user_id, grant_id, id, follows, scopes,
    access_hash, access_expires_at, refresh_hash, refresh_expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const GRANT_KEY: &str = "select t.user_id, t.grant_id, g.client_id from oauth_tokens t
    join oauth_grants g on g.user_id = t.user_id and g.id = t.grant_id
    where t.refresh_hash = $1";
const LOCK: &str = "update oauth_grants set created_at = created_at
    where user_id = $1 and id = $2 and revoked_at is null";
const BY_REFRESH: &str =
    "select t.id, g.scopes, t.refresh_expires_at, t.refreshed_at, t.replaced_at
    from oauth_tokens t join oauth_grants g on g.user_id = t.user_id and g.id = t.grant_id
    where t.refresh_hash = $1";
const MARK_USED: &str = "update oauth_tokens set refreshed_at = $4 where user_id = $1
    and grant_id = $2 and id = $3 and refreshed_at is null and replaced_at is null";
const ISSUED: &str = "select count(*) from oauth_tokens
    where user_id = $1 and grant_id = $2 and follows = $3";
const REPLACE: &str = "update oauth_tokens set replaced_at = $4 where user_id = $1
    and grant_id = $2 and follows = $3 and used_at is null and refreshed_at is null
    and replaced_at is null";

pub(super) const STATEMENTS: &[&str] =
    &[INSERT, GRANT_KEY, LOCK, BY_REFRESH, MARK_USED, ISSUED, REPLACE];
