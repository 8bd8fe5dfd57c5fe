//! Tokens come in pairs: one to ask the API with for a quarter of an hour, one to turn in for the next pair, once.

use base::{CLOCK_SKEW_MICROSECONDS, ClientId, GrantId, PairId, Timestamp, UserId};
use db::params;

use super::clients::Client;
use super::{
    DAY, Fault, Outcome, Refusal, SECOND, grants, is_within, requests, resource, stored_scopes,
};
use crate::access::tokens;
use crate::{App, Result, Scopes, Tx};

pub(super) const ACCESS_PREFIX: &str = "eka_";
pub(super) const REFRESH_PREFIX: &str = "ekr_";
pub const ACCESS_SECONDS: i64 = 15 * 60;
/// A grant ends when nothing was asked of it for this long.
const IDLE_DAYS: i64 = 30;
/// How long, and how often, a pair whose answer was lost on the way can be had anew.
const LOST_SECONDS: i64 = 60;
const LOST_MAX: i64 = 10;

/// A new pair, as only the app will ever see it.
#[derive(Debug, Clone)]
pub struct Issued {
    pub access: String,
    pub refresh: String,
    pub scopes: Scopes,
}

/// Whose tokens they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) user: UserId,
    pub(super) grant: GrantId,
}

pub(super) fn issue(
    tx: &mut Tx<'_>,
    app: &App,
    holder: Holder,
    scopes: Scopes,
    follows: Option<PairId>,
) -> Result<Issued> {
    let now = app.clock.now().as_microsecond();
    let access = tokens::make(ACCESS_PREFIX, &app.entropy);
    let refresh = tokens::make(REFRESH_PREFIX, &app.entropy);
    tx.execute(
        INSERT,
        params![
            holder.user,
            holder.grant,
            app.ids.make::<base::kinds::Pair>(),
            follows,
            &scopes.to_words(),
            &tokens::hash(&access)[..],
            now + ACCESS_SECONDS * SECOND,
            &tokens::hash(&refresh)[..],
            now + IDLE_DAYS * DAY
        ],
    )?;
    Ok(Issued { access, refresh, scopes })
}

/// What an app sends to get the next pair.
#[derive(Debug, Clone, Default)]
pub struct Renewal {
    pub token: String,
    /// Fewer scopes for the new access token, if it wants so.
    pub scope: Option<String>,
    pub resource: Option<String>,
}

/// Turns a refresh token in for a new pair. A refresh token that comes back ends the whole grant, unless the answer to
/// its first use may have been lost: it comes back within a minute, and neither token of the pair it was turned into was
/// used. Then that pair ends and another takes its place, so that a refresh token never leads to two live pairs.
pub async fn refresh(
    app: &App,
    issuer: &str,
    client: &Client,
    renewal: Renewal,
) -> Outcome<Issued> {
    if let Some(asked) = &renewal.resource {
        resource(issuer, asked)?;
    }
    let scopes = renewal.scope.as_deref().map(requests::scopes).transpose()?;
    if !tokens::is_well_formed(REFRESH_PREFIX, &renewal.token) {
        return Err(refused("the refresh token is malformed").into());
    }
    let (hash, mine, client) = (tokens::hash(&renewal.token), app.clone(), client.id);
    let renewed = app.db.write(move |tx| refresh_in(tx, &mine, client, &hash, scopes)).await?;
    // A pair may have been replaced, or the grant ended.
    app.access_cache.forget_all();
    Ok(renewed?)
}

fn refused(message: &str) -> Refusal {
    Refusal::new(Fault::InvalidGrant, message)
}

/// The inner result is the answer to the app; both are committed, because a refusal may have ended something.
fn refresh_in(
    tx: &mut Tx<'_>,
    app: &App,
    client: ClientId,
    hash: &[u8; 32],
    asked: Option<Scopes>,
) -> Result<Result<Issued, Refusal>> {
    let whose = |row: &db::Row<'_>| {
        Ok((Holder { user: row.get(0)?, grant: row.get(1)? }, row.get::<ClientId>(2)?))
    };
    let found = tx.first(HOLDER, params![&hash[..]], whose)?;
    let Some((holder, _)) = found.filter(|(_, theirs)| *theirs == client) else {
        return Ok(Err(refused("the refresh token is unknown")));
    };
    // Two that come at once wait here for each other, and what follows is true for both.
    if tx.execute(LOCK, params![holder.user, holder.grant])? == 0 {
        return Ok(Err(refused("the access that this token stood for was ended")));
    }
    let Some(pair) = tx.first(BY_REFRESH, params![&hash[..]], read)? else {
        return Ok(Err(refused("the refresh token is unknown")));
    };
    let now = app.clock.now();
    if pair.refreshed_at.is_none() && pair.replaced_at.is_none() && pair.expires_at <= now {
        return Ok(Err(refused("the refresh token has expired")));
    }
    let scopes = asked.unwrap_or(pair.granted);
    if !is_within(scopes, pair.granted) {
        let message = "scope asks for more than was granted";
        return Ok(Err(Refusal::new(Fault::InvalidScope, message)));
    }
    let fresh = tx.execute(SPEND, params![holder.user, holder.grant, pair.id, now])? > 0;
    if fresh || was_lost(tx, holder, &pair, now)? {
        return Ok(Ok(issue(tx, app, holder, scopes, Some(pair.id))?));
    }
    let why = "A refresh token was used a second time, so that somebody else may have it.";
    grants::end_for_reuse(tx, app, holder.user, holder.grant, why)?;
    Ok(Err(refused("the refresh token was used before; ask the person again")))
}

/// Ends the pair that this one was turned into, if it may never have reached the app; says whether it did.
fn was_lost(tx: &mut Tx<'_>, holder: Holder, pair: &Pair, now: Timestamp) -> Result<bool> {
    let age = |at: Timestamp| now.as_microsecond() - at.as_microsecond();
    // A use in the future was before the clock was set back: nobody knows how long ago.
    let soon = -CLOCK_SKEW_MICROSECONDS..LOST_SECONDS * SECOND;
    let is_soon = pair.refreshed_at.is_some_and(|at| soon.contains(&age(at)));
    if !is_soon || pair.replaced_at.is_some() {
        return Ok(false);
    }
    let successors = params![holder.user, holder.grant, pair.id];
    let issued = tx.first(ISSUED, successors, |row| row.get::<i64>(0))?.unwrap_or_default();
    if issued > LOST_MAX {
        return Ok(false);
    }
    Ok(tx.execute(REPLACE, params![holder.user, holder.grant, pair.id, now])? > 0)
}

struct Pair {
    id: PairId,
    granted: Scopes,
    expires_at: Timestamp,
    refreshed_at: Option<Timestamp>,
    replaced_at: Option<Timestamp>,
}

fn read(row: &db::Row<'_>) -> db::Result<Pair> {
    Ok(Pair {
        id: row.get(0)?,
        granted: stored_scopes(1, row.get(1)?)?,
        expires_at: row.get(2)?,
        refreshed_at: row.get(3)?,
        replaced_at: row.get(4)?,
    })
}

const INSERT: &str = "insert into oauth_tokens (user_id, grant_id, id, follows, scopes,
    access_hash, access_expires_at, refresh_hash, refresh_expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const HOLDER: &str = "select t.user_id, t.grant_id, g.client_id from oauth_tokens t
    join oauth_grants g on g.user_id = t.user_id and g.id = t.grant_id
    where t.refresh_hash = $1";
const LOCK: &str = "update oauth_grants set created_at = created_at
    where user_id = $1 and id = $2 and revoked_at is null";
const BY_REFRESH: &str =
    "select t.id, g.scopes, t.refresh_expires_at, t.refreshed_at, t.replaced_at
    from oauth_tokens t join oauth_grants g on g.user_id = t.user_id and g.id = t.grant_id
    where t.refresh_hash = $1";
const SPEND: &str = "update oauth_tokens set refreshed_at = $4 where user_id = $1
    and grant_id = $2 and id = $3 and refreshed_at is null and replaced_at is null";
const ISSUED: &str = "select count(*) from oauth_tokens
    where user_id = $1 and grant_id = $2 and follows = $3";
const REPLACE: &str = "update oauth_tokens set replaced_at = $4 where user_id = $1
    and grant_id = $2 and follows = $3 and used_at is null and refreshed_at is null
    and replaced_at is null";

pub(super) const STATEMENTS: &[&str] = &[INSERT, HOLDER, LOCK, BY_REFRESH, SPEND, ISSUED, REPLACE];
