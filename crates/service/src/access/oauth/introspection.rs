//! Token introspection and revocation by the client that owns the token.

use base::{GrantId, Timestamp, UserId};
use db::params;

use super::clients::Client;
use super::token_pairs::{ACCESS_PREFIX, ACCESS_SECONDS, REFRESH_PREFIX};
use super::{SECOND, grants};
use crate::access::scopes::read_scopes;
use crate::access::tokens;
use crate::{App, Result, Scopes, Tx};

/// The details of a valid token.
#[derive(Debug, Clone)]
pub struct TokenDetails {
    pub user: UserId,
    pub scopes: Scopes,
    pub resource: Option<String>,
    pub issued_at: Timestamp,
    pub expires_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    Access,
    Refresh,
}

impl TokenKind {
    fn detect(token: &str) -> Option<TokenKind> {
        if tokens::is_well_formed(ACCESS_PREFIX, token) {
            Some(TokenKind::Access)
        } else if tokens::is_well_formed(REFRESH_PREFIX, token) {
            Some(TokenKind::Refresh)
        } else {
            None
        }
    }
}

/// The details of a token of this client, if it is valid. The client evidently received the token, so the pair counts as
/// used: it cannot be one whose response was lost.
pub async fn introspect(app: &App, client: &Client, token: &str) -> Result<Option<TokenDetails>> {
    let (live, used) = match TokenKind::detect(token) {
        Some(TokenKind::Access) => (LIVE_ACCESS, USED_ACCESS),
        Some(TokenKind::Refresh) => (LIVE_REFRESH, USED_REFRESH),
        None => return Ok(None),
    };
    let (hash, client, now) = (tokens::hash(token), client.id, app.clock.now());
    let with_use = |row: &db::Row<'_>| Ok((read(row)?, row.get::<Option<Timestamp>>(5)?));
    let found = app.db.first(live, params![&hash[..], client, now], with_use).await?;
    match found {
        None => Ok(None),
        Some((details, Some(_))) => Ok(Some(details)),
        Some((_, None)) => {
            let write = move |tx: &mut Tx<'_>| {
                tx.execute(used, params![&hash[..], now])?;
                // Another pair may have replaced it at this moment.
                Ok(tx.first(live, params![&hash[..], client, now], read)?)
            };
            app.db.write(write).await
        }
    }
}

/// Revokes the grant that an access or refresh token of this client belongs to. An unknown token, or one of another
/// client, is ignored.
pub async fn revoke(app: &App, client: &Client, token: &str) -> Result<()> {
    let statement = match TokenKind::detect(token) {
        Some(TokenKind::Access) => GRANT_OF_ACCESS,
        Some(TokenKind::Refresh) => GRANT_OF_REFRESH,
        None => return Ok(()),
    };
    let (hash, mine, client) = (tokens::hash(token), app.clone(), client.id);
    let write = move |tx: &mut Tx<'_>| {
        let read = |row: &db::Row<'_>| Ok((row.get::<UserId>(0)?, row.get::<GrantId>(1)?));
        match tx.first(statement, params![&hash[..], client], read)? {
            Some((user, grant)) => grants::revoke_by_app(tx, &mine, user, grant),
            None => Ok(()),
        }
    };
    app.db.write(write).await?;
    app.access_cache.clear();
    Ok(())
}

fn read(row: &db::Row<'_>) -> db::Result<TokenDetails> {
    let invalid = |error: jiff::Error| db::Error::Decode { column: 4, reason: error.to_string() };
    let access_expires_at: i64 = row.get(4)?;
    let issued_at = Timestamp::from_microsecond(access_expires_at - ACCESS_SECONDS * SECOND);
    Ok(TokenDetails {
        user: row.get(0)?,
        scopes: read_scopes(row, 1)?,
        resource: row.get(2)?,
        expires_at: row.get(3)?,
        issued_at: issued_at.map_err(invalid)?,
    })
}

const LIVE_ACCESS: &str = "select t.user_id, t.scopes, g.resource, t.access_expires_at,
    t.access_expires_at, t.used_at from oauth_tokens t
    join oauth_grants g on g.user_id = t.user_id and g.id = t.grant_id
    where t.access_hash = $1 and g.client_id = $2 and t.access_expires_at > $3
    and g.revoked_at is null and t.replaced_at is null";
const LIVE_REFRESH: &str = "select t.user_id, g.scopes, g.resource, t.refresh_expires_at,
    t.access_expires_at, t.used_at from oauth_tokens t
    join oauth_grants g on g.user_id = t.user_id and g.id = t.grant_id
    where t.refresh_hash = $1 and g.client_id = $2 and t.refresh_expires_at > $3
    and g.revoked_at is null and t.replaced_at is null and t.refreshed_at is null";
const USED_ACCESS: &str = "update oauth_tokens set used_at = $2
    where access_hash = $1 and used_at is null and replaced_at is null";
const USED_REFRESH: &str = "update oauth_tokens set used_at = $2
    where refresh_hash = $1 and used_at is null and replaced_at is null";
const GRANT_OF_ACCESS: &str = "select t.user_id, t.grant_id from oauth_tokens t
    join oauth_grants g on g.user_id = t.user_id and g.id = t.grant_id
    where t.access_hash = $1 and g.client_id = $2";
const GRANT_OF_REFRESH: &str = "select t.user_id, t.grant_id from oauth_tokens t
    join oauth_grants g on g.user_id = t.user_id and g.id = t.grant_id
    where t.refresh_hash = $1 and g.client_id = $2";

pub(super) const STATEMENTS: &[&str] =
    &[LIVE_ACCESS, LIVE_REFRESH, USED_ACCESS, USED_REFRESH, GRANT_OF_ACCESS, GRANT_OF_REFRESH];
