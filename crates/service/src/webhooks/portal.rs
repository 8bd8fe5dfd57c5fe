//! The webhook portal: a one-time link to the pages of one key's webhooks, for the people who operate the receivers.

use base::{KeyId, TimeZone, Timestamp, UserId};
use db::params;
use wire::v1::{Code, Scope};

use super::owner;
use crate::access::tokens;
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Credential, Error, Result, Scopes, Tx};

/// Begins the token in a link, which can be redeemed once.
const LINK_PREFIX: &str = "ekl_";
/// Begins the token of a session, which a cookie holds.
const SESSION_PREFIX: &str = "ekp_";
const LINK_SECONDS: i64 = 600;
/// How long a session lasts after its link was redeemed.
pub const SESSION_SECONDS: i64 = 3_600;

/// A visitor of the portal.
#[derive(Debug, Clone)]
pub struct PortalSession {
    /// Acts for the key, with webhooks and nothing else.
    pub caller: Caller,
    pub key: KeyId,
    pub key_name: String,
    pub until: Timestamp,
}

/// Creates a link for the calling key, and returns its token, which is not shown again, and when it expires.
pub fn create_link(app: &App, tx: &mut Tx<'_>, caller: &Caller) -> Result<(String, Timestamp)> {
    let Some(key) = owner(caller)?.key else { return Err(Error::KeyRequired) };
    let (token, now) = (tokens::make(LINK_PREFIX, &app.entropy), app.clock.now());
    let until = after(now, LINK_SECONDS)?;
    tx.execute(INSERT, params![&tokens::hash(&token)[..], caller.user, key, "link", until])?;
    let note = Note::new(caller, "webhook.portal", "Created a link to the webhook portal");
    audit::note(tx, caller.user, now, note.about(key))?;
    Ok((token, until))
}

/// The path of a link on this installation.
pub fn link_path(token: &str) -> String {
    format!("/portal/{token}")
}

/// Whether a link can be redeemed now. Asking does not redeem it.
pub async fn is_link_valid(app: &App, token: &str) -> Result<bool> {
    Ok(find(app, LINK_PREFIX, "link", token).await?.is_some())
}

/// Redeems a link, and returns the token of the session that it starts.
pub async fn redeem_link(app: &App, token: &str) -> Result<String> {
    let used = || Error::Conflict {
        code: Code::Conflict,
        message: "this link was used or has expired; ask for a new one".to_owned(),
    };
    let link = find(app, LINK_PREFIX, "link", token).await?.ok_or_else(used)?;
    let (hash, session) = (tokens::hash(token), tokens::make(SESSION_PREFIX, &app.entropy));
    let (made, now) = (tokens::hash(&session), app.clock.now());
    let until = after(now, SESSION_SECONDS)?;
    let swap = move |tx: &mut Tx<'_>| {
        // If two visitors redeem the link at once, one of them gets the session.
        if tx.execute(DELETE, params![&hash[..], "link"])? == 0 {
            return Err(used());
        }
        let user = link.caller.user;
        tx.execute(INSERT, params![&made[..], user, link.key, "pass", until])?;
        let note = Note::new(&link.caller, "webhook.portal_open", "Opened the webhook portal");
        audit::note(tx, user, now, note.about(link.key))
    };
    app.db.write(swap).await?;
    Ok(session)
}

/// The session of a token; none when it has expired or the key has ended.
pub async fn find_session(app: &App, token: &str) -> Result<Option<PortalSession>> {
    find(app, SESSION_PREFIX, "pass", token).await
}

/// Ends a session before it expires.
pub async fn end_session(app: &App, token: &str) -> Result<()> {
    let hash = tokens::hash(token);
    let end =
        move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(DELETE, params![&hash[..], "pass"])?);
    app.db.write(end).await.map(|_| ())
}

async fn find(app: &App, prefix: &str, kind: &str, token: &str) -> Result<Option<PortalSession>> {
    if !tokens::is_well_formed(prefix, token) {
        return Ok(None);
    }
    let (hash, now) = (tokens::hash(token), app.clock.now());
    let found = app.db.first(FIND, params![&hash[..], kind, now], read).await?;
    let Some(((user, timezone), key, key_name, scopes, until)) = found else { return Ok(None) };
    let is_allowed = Scopes::parse(&scopes).is_ok_and(|it| it.has(Scope::WebhooksManage));
    let scopes = Scopes::from_iter([Scope::WebhooksManage]);
    let credential = Credential::Key { id: key, scopes, accounts: Some([].into()) };
    let caller = Caller { user, timezone, credential };
    let session = PortalSession { caller, key, key_name, until };
    Ok(is_allowed.then_some(session))
}

/// Deletes expired links and sessions.
pub(super) async fn delete_expired(app: &App) -> Result<usize> {
    let now = app.clock.now();
    let write = move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(DELETE_EXPIRED, params![now])?);
    Ok(app.db.write(write).await? as usize)
}

type FoundToken = ((UserId, TimeZone), KeyId, String, String, Timestamp);

fn read(row: &db::Row<'_>) -> db::Result<FoundToken> {
    Ok(((row.get(0)?, row.get(5)?), row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
}

fn after(now: Timestamp, seconds: i64) -> Result<Timestamp> {
    let at = Timestamp::from_microsecond(now.as_microsecond() + seconds * 1_000_000);
    at.map_err(|_| Error::internal("a moment beyond the calendar"))
}

const INSERT: &str = "insert into portal_tokens (token_hash, user_id, key_id, kind, ends_at)
    values ($1, $2, $3, $4, $5)";
const DELETE_EXPIRED: &str = "delete from portal_tokens where ends_at <= $1";
const DELETE: &str = "delete from portal_tokens where token_hash = $1 and kind = $2";
const FIND: &str = "select t.user_id, t.key_id, k.name, k.scopes, t.ends_at, u.timezone
    from portal_tokens t join api_keys k on k.user_id = t.user_id and k.id = t.key_id
    join users u on u.id = t.user_id
    where t.token_hash = $1 and t.kind = $2 and t.ends_at > $3 and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > $3)";

pub(crate) const STATEMENTS: &[&str] = &[INSERT, DELETE_EXPIRED, DELETE, FIND];
