//! What a client may know of its own tokens, and how it gives them back.

use base::{GrantId, Timestamp, UserId};
use db::params;

use super::clients::Client;
use super::pairs::{ACCESS_PREFIX, ACCESS_SECONDS, REFRESH_PREFIX};
use super::{SECOND, grants, stored_scopes};
use crate::access::tokens;
use crate::{App, Result, Scopes, Tx};

/// A token that is good right now.
#[derive(Debug, Clone)]
pub struct Facts {
    pub user: UserId,
    pub scopes: Scopes,
    pub resource: Option<String>,
    pub issued_at: Timestamp,
    pub expires_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Access,
    Refresh,
}

impl Side {
    fn of(token: &str) -> Option<Side> {
        if tokens::is_well_formed(ACCESS_PREFIX, token) {
            Some(Side::Access)
        } else if tokens::is_well_formed(REFRESH_PREFIX, token) {
            Some(Side::Refresh)
        } else {
            None
        }
    }
}

/// What there is to know of a token of this client, if it is good right now. Whoever asks about a token has it, so the
/// pair counts as used: it can no longer be taken for one whose answer was lost.
pub async fn introspect(app: &App, client: &Client, token: &str) -> Result<Option<Facts>> {
    let (live, used) = match Side::of(token) {
        Some(Side::Access) => (LIVE_ACCESS, USED_ACCESS),
        Some(Side::Refresh) => (LIVE_REFRESH, USED_REFRESH),
        None => return Ok(None),
    };
    let (hash, client, now) = (tokens::hash(token), client.id, app.clock.now());
    let with_use = |row: &db::Row<'_>| Ok((read(row)?, row.get::<Option<Timestamp>>(5)?));
    let found = app.db.first(live, params![&hash[..], client, now], with_use).await?;
    match found {
        None => Ok(None),
        Some((facts, Some(_))) => Ok(Some(facts)),
        Some((_, None)) => {
            let write = move |tx: &mut Tx<'_>| {
                tx.execute(used, params![&hash[..], now])?;
                // Another pair may have taken its place at this moment.
                Ok(tx.first(live, params![&hash[..], client, now], read)?)
            };
            app.db.write(write).await
        }
    }
}

/// Ends the grant that a token of this client belongs to, whichever of the two it is. What is unknown, or another's, is
/// left alone without a word.
pub async fn revoke(app: &App, client: &Client, token: &str) -> Result<()> {
    let statement = match Side::of(token) {
        Some(Side::Access) => GRANT_OF_ACCESS,
        Some(Side::Refresh) => GRANT_OF_REFRESH,
        None => return Ok(()),
    };
    let (hash, mine, client) = (tokens::hash(token), app.clone(), client.id);
    let write = move |tx: &mut Tx<'_>| {
        let whose = |row: &db::Row<'_>| Ok((row.get::<UserId>(0)?, row.get::<GrantId>(1)?));
        match tx.first(statement, params![&hash[..], client], whose)? {
            Some((user, grant)) => grants::end_by_app(tx, &mine, user, grant),
            None => Ok(()),
        }
    };
    app.db.write(write).await?;
    app.access_cache.forget_all();
    Ok(())
}

fn read(row: &db::Row<'_>) -> db::Result<Facts> {
    let wrong = |error: jiff::Error| db::Error::Decode { column: 4, reason: error.to_string() };
    let access_expires_at: i64 = row.get(4)?;
    let issued_at = Timestamp::from_microsecond(access_expires_at - ACCESS_SECONDS * SECOND);
    Ok(Facts {
        user: row.get(0)?,
        scopes: stored_scopes(1, row.get(1)?)?,
        resource: row.get(2)?,
        expires_at: row.get(3)?,
        issued_at: issued_at.map_err(wrong)?,
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
