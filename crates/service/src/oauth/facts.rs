//! What a client may know of its own tokens, and how it gives them back.

use base::{GrantId, Timestamp, UserId};
use db::params;

use super::clients::Client;
use super::pairs::{ACCESS_PREFIX, ACCESS_SECONDS, REFRESH_PREFIX};
use super::{SECOND, grants, stored_scopes};
use crate::{App, Result, Scopes, Tx, tokens};

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

/// What there is to know of a token of this client, if it is good right now.
pub async fn introspect(app: &App, client: &Client, token: &str) -> Result<Option<Facts>> {
    let (hash, now) = (tokens::hash(token), app.clock.now());
    let known = match Side::of(token) {
        Some(Side::Access) => {
            app.db.first(LIVE_ACCESS, params![&hash[..], client.id, now], read).await?
        }
        Some(Side::Refresh) => {
            app.db.first(LIVE_REFRESH, params![&hash[..], client.id, now], read).await?
        }
        None => None,
    };
    Ok(known)
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
    t.access_expires_at from oauth_tokens t
    join oauth_grants g on g.user_id = t.user_id and g.id = t.grant_id
    where t.access_hash = $1 and g.client_id = $2 and t.access_expires_at > $3
    and g.revoked_at is null and t.replaced_at is null";
const LIVE_REFRESH: &str = "select t.user_id, g.scopes, g.resource, t.refresh_expires_at,
    t.access_expires_at from oauth_tokens t
    join oauth_grants g on g.user_id = t.user_id and g.id = t.grant_id
    where t.refresh_hash = $1 and g.client_id = $2 and t.refresh_expires_at > $3
    and g.revoked_at is null and t.replaced_at is null and t.refreshed_at is null";
const GRANT_OF_ACCESS: &str = "select t.user_id, t.grant_id from oauth_tokens t
    join oauth_grants g on g.user_id = t.user_id and g.id = t.grant_id
    where t.access_hash = $1 and g.client_id = $2";
const GRANT_OF_REFRESH: &str = "select t.user_id, t.grant_id from oauth_tokens t
    join oauth_grants g on g.user_id = t.user_id and g.id = t.grant_id
    where t.refresh_hash = $1 and g.client_id = $2";

pub(super) const STATEMENTS: &[&str] =
    &[LIVE_ACCESS, LIVE_REFRESH, GRANT_OF_ACCESS, GRANT_OF_REFRESH];
