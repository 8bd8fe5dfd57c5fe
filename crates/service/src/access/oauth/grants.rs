//! Grants: which apps a person has let in, since when, and how they are shown out.

use base::{ClientId, GrantId, Timestamp, UserId};
use db::params;

use super::redirects::Redirect;
use super::stored_scopes;
use crate::platform::audit::{self, Actor, ActorKind, Note};
use crate::{App, Caller, Error, Result, Scopes, Tx};

/// An app that is let in.
#[derive(Debug, Clone)]
pub struct Grant {
    pub id: GrantId,
    pub client_name: String,
    /// Where the person sent it its answer.
    pub host: String,
    pub scopes: Scopes,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
    pub last_used_address: Option<String>,
}

/// The apps that can come in now, the newest first.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<Grant>> {
    caller.require_owner("app")?;
    Ok(app.db.all(LIST, params![caller.user, app.clock.now()], read).await?)
}

/// Whether the person has let this app in before, with the answer going to the same place, and has not ended that.
pub async fn is_granted(
    app: &App,
    caller: &Caller,
    client: ClientId,
    redirect: &Redirect,
) -> Result<bool> {
    caller.require_owner("app")?;
    let of = params![caller.user, client, redirect.host()];
    Ok(app.db.first(GRANTED, of, |row| row.get::<GrantId>(0)).await?.is_some())
}

/// Shows an app out: at once here, and within a second in every other process.
pub async fn revoke(app: &App, caller: &Caller, id: GrantId) -> Result<()> {
    caller.require_owner("app")?;
    let (caller, now) = (caller.clone(), app.clock.now());
    let write = move |tx: &mut Tx<'_>| {
        let name = name(tx, caller.user, id)?;
        if !end(tx, caller.user, id, now)? {
            return Err(Error::NotFound("app"));
        }
        let details = format!("Ended the access of {name}");
        audit::note(tx, caller.user, now, Note::new(&caller, "app.revoke", details).about(id))
    };
    app.db.write(write).await?;
    app.access_cache.forget_all();
    Ok(())
}

/// The app leaves by itself.
pub(super) fn end_by_app(tx: &mut Tx<'_>, app: &App, user: UserId, id: GrantId) -> Result<()> {
    end_noted(tx, app, (user, id), "app.leave", "ended its own access")
}

/// A code or token that was used up has come back, so that two hold it and nobody knows which is the app.
pub(super) fn end_for_reuse(
    tx: &mut Tx<'_>,
    app: &App,
    user: UserId,
    id: GrantId,
    why: &str,
) -> Result<()> {
    end_noted(tx, app, (user, id), "app.reuse", &format!("lost its access. {why}"))
}

fn end_noted(
    tx: &mut Tx<'_>,
    app: &App,
    (user, id): (UserId, GrantId),
    action: &'static str,
    said: &str,
) -> Result<()> {
    let (name, now) = (name(tx, user, id)?, app.clock.now());
    if end(tx, user, id, now)? {
        let actor = Actor {
            kind: ActorKind::App,
            id: Some(id.to_string()),
            label: Some(name.clone()),
            address: None,
        };
        audit::note(tx, user, now, Note::new(actor, action, format!("{name} {said}")).about(id))?;
    }
    Ok(())
}

/// Whether there was something to end.
fn end(tx: &mut Tx<'_>, user: UserId, id: GrantId, now: Timestamp) -> Result<bool> {
    Ok(tx.execute(END, params![user, id, now])? > 0)
}

fn name(tx: &mut Tx<'_>, user: UserId, id: GrantId) -> Result<String> {
    Ok(tx.first(NAME, params![user, id], |row| row.get(0))?.unwrap_or_default())
}

fn read(row: &db::Row<'_>) -> db::Result<Grant> {
    Ok(Grant {
        id: row.get(0)?,
        client_name: row.get(1)?,
        host: row.get(2)?,
        scopes: stored_scopes(3, row.get(3)?)?,
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
const END: &str = "update oauth_grants set revoked_at = $3
    where user_id = $1 and id = $2 and revoked_at is null";

pub(super) const STATEMENTS: &[&str] = &[LIST, GRANTED, NAME, END];
