//! Grants: the access that a person has given to apps.

use base::{ClientId, GrantId, Timestamp, UserId};
use db::params;

use super::redirects::Redirect;
use crate::access::scopes::read_scopes;
use crate::platform::audit::{self, Actor, ActorKind, Note};
use crate::{App, Caller, Error, Result, Scopes, Tx};

/// One app's access.
#[derive(Debug, Clone)]
pub struct Grant {
    pub id: GrantId,
    pub client_name: String,
    /// The host of the redirect address that the code was sent to.
    pub host: String,
    pub scopes: Scopes,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
    pub last_used_address: Option<String>,
}

/// Lists the grants with a valid refresh token, newest first.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<Grant>> {
    caller.require_owner("app")?;
    Ok(app.db.all(LIST, params![caller.user, app.clock.now()], read).await?)
}

/// Whether the person has an active grant for this app with the same redirect host.
pub async fn is_granted(
    app: &App,
    caller: &Caller,
    client: ClientId,
    redirect: &Redirect,
) -> Result<bool> {
    caller.require_owner("app")?;
    let values = params![caller.user, client, redirect.host()];
    Ok(app.db.first(GRANTED, values, |row| row.get::<GrantId>(0)).await?.is_some())
}

/// Revokes a grant: immediately in this process, and within a second in every other.
pub async fn revoke(app: &App, caller: &Caller, id: GrantId) -> Result<()> {
    caller.require_owner("app")?;
    let (caller, now) = (caller.clone(), app.clock.now());
    let write = move |tx: &mut Tx<'_>| {
        let name = name(tx, caller.user, id)?;
        if !mark_revoked(tx, caller.user, id, now)? {
            return Err(Error::NotFound("app"));
        }
        let details = format!("Revoked the access of {name}");
        audit::note(tx, caller.user, now, Note::new(&caller, "app.revoke", details).about(id))
    };
    app.db.write(write).await?;
    app.access_cache.clear();
    Ok(())
}

/// Revokes a grant at the app's own request.
pub(super) fn revoke_by_app(tx: &mut Tx<'_>, app: &App, user: UserId, id: GrantId) -> Result<()> {
    revoke_and_note(tx, app, (user, id), "app.leave", "gave up its access")
}

/// Revokes a grant whose code or refresh token was used twice, because somebody else has it too.
pub(super) fn revoke_for_reuse(
    tx: &mut Tx<'_>,
    app: &App,
    user: UserId,
    id: GrantId,
    why: &str,
) -> Result<()> {
    revoke_and_note(tx, app, (user, id), "app.reuse", &format!("lost its access. {why}"))
}

fn revoke_and_note(
    tx: &mut Tx<'_>,
    app: &App,
    (user, id): (UserId, GrantId),
    action: &'static str,
    happened: &str,
) -> Result<()> {
    let (name, now) = (name(tx, user, id)?, app.clock.now());
    if mark_revoked(tx, user, id, now)? {
        let actor = Actor {
            kind: ActorKind::App,
            id: Some(id.to_string()),
            label: Some(name.clone()),
            address: None,
        };
        audit::note(
            tx,
            user,
            now,
            Note::new(actor, action, format!("{name} {happened}")).about(id),
        )?;
    }
    Ok(())
}

/// Returns whether the grant was active.
fn mark_revoked(tx: &mut Tx<'_>, user: UserId, id: GrantId, now: Timestamp) -> Result<bool> {
    Ok(tx.execute(REVOKE, params![user, id, now])? > 0)
}

fn name(tx: &mut Tx<'_>, user: UserId, id: GrantId) -> Result<String> {
    Ok(tx.first(NAME, params![user, id], |row| row.get(0))?.unwrap_or_default())
}

fn read(row: &db::Row<'_>) -> db::Result<Grant> {
    Ok(Grant {
        id: row.get(0)?,
        client_name: row.get(1)?,
        host: row.get(2)?,
        scopes: read_scopes(row, 3)?,
        created_at: row.get(4)?,
        last_used_at: row.get(5)?,
        last_used_address: row.get(6)?,
    })
}

const LIST: &str = "select g.id, c.name, g.host, g.scopes, g.created_at, g.last_used_at,
    g.last_used_address from oauth_grants g join oauth_clients c on c.id = g.client_id
    where g.user_id = $1 and g.revoked_at is null and exists (select t.id from oauth_tokens t
        where t.user_id = g.user_id and t.grant_id = g.id and t.refresh_expires_at > $2
        and t.refreshed_at is null and t.replaced_at is null)
    order by g.id desc limit 200";
const GRANTED: &str = "select id from oauth_grants where user_id = $1 and client_id = $2
    and host = $3 and revoked_at is null limit 1";
const NAME: &str = "select c.name from oauth_grants g join oauth_clients c on c.id = g.client_id
    where g.user_id = $1 and g.id = $2";
const REVOKE: &str = "update oauth_grants set revoked_at = $3
    where user_id = $1 and id = $2 and revoked_at is null";

pub(super) const STATEMENTS: &[&str] = &[LIST, GRANTED, NAME, REVOKE];
