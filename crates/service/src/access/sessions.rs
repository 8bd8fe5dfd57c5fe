//! Sessions of signed-in people. A session ends when the person revokes it, when it times out, or when the password
//! changes.

use std::sync::Arc;

use base::{SessionId, TimeZone, Timestamp, UserId};
use db::params;

use crate::access::users::User;
use crate::access::{devices, tokens};
use crate::platform::audit::{self, Actor, Note};
use crate::{App, Caller, Credential, Error, Result, Tx};

const PREFIX: &str = "eks_";
/// A session ends after this long without use.
const IDLE_DAYS: i64 = 14;
/// A session ends after this long in any case.
const LIFE_DAYS: i64 = 90;
/// How long a proof of identity is accepted for sensitive changes.
const PROOF_MINUTES: i64 = 10;
/// The time of last use is written at most this often, so that most requests cost no write.
const SEEN_SECONDS: i64 = 60;
const AGENT_MAX: usize = 200;
const MINUTE: i64 = 60_000_000;
const DAY: i64 = 86_400_000_000;

base::words!(
    /// How the person signed in.
    Method {
        Password => "password",
        Passkey => "passkey",
        PasswordAndPasskey => "password_and_passkey",
        PasswordAndRecoveryCode => "password_and_recovery_code",
        SetupCode => "setup_code",
        Invitation => "invitation",
        SignUp => "sign_up",
        SingleSignOn => "single_sign_on",
        SingleSignOnAndPasskey => "single_sign_on_and_passkey",
        SingleSignOnAndRecoveryCode => "single_sign_on_and_recovery_code",
    }
);
db::word_columns!(Method);

#[derive(Debug, Clone)]
pub struct Session {
    pub id: SessionId,
    pub user: UserId,
    pub method: Method,
    pub agent: Option<String>,
    pub address: Option<String>,
    pub created_at: Timestamp,
    pub seen_at: Timestamp,
    pub proved_at: Timestamp,
}

impl Session {
    /// Whether the person proved their identity within the last minutes, which sensitive changes require. A proof with
    /// a time in the future was made before the clock was set back, and does not count.
    pub fn proved_lately(&self, now: Timestamp) -> bool {
        is_recent(self.proved_at, now)
    }
}

/// Whether a proof of identity at that moment still counts.
pub(crate) fn is_recent(proved_at: Timestamp, now: Timestamp) -> bool {
    let age = now.as_microsecond() - proved_at.as_microsecond();
    (0..PROOF_MINUTES * MINUTE).contains(&age)
}

/// The browser and the address that a sign-in comes from.
#[derive(Debug, Clone, Default)]
pub struct Visit {
    pub agent: Option<String>,
    pub address: Option<String>,
    /// The browser's device token, if it has one (`devices`).
    pub device: Option<String>,
}

/// Creates a session and returns its token. The token is always new, so that one that was planted in the browser before
/// is useless.
pub async fn create(app: &App, user: &User, method: Method, from: Visit) -> Result<String> {
    let (mine, user) = (app.clone(), user.id);
    app.db.write(move |tx| create_in(tx, &mine, user, method, from)).await
}

/// Creates a session in a transaction of the caller.
pub(crate) fn create_in(
    tx: &mut Tx<'_>,
    app: &App,
    user: UserId,
    method: Method,
    from: Visit,
) -> Result<String> {
    create_proved_in(tx, app, user, (method, app.clock.now()), from)
}

/// Creates a session for a person who last proved their identity at another moment than now.
pub(crate) fn create_proved_in(
    tx: &mut Tx<'_>,
    app: &App,
    user: UserId,
    (method, proved_at): (Method, Timestamp),
    from: Visit,
) -> Result<String> {
    let (token, now) = (tokens::make(PREFIX, &app.entropy), app.clock.now());
    let id: SessionId = app.ids.make();
    let agent = from.agent.map(|it| it.chars().take(AGENT_MAX).collect::<String>());
    let ends_at = now.as_microsecond() + LIFE_DAYS * DAY;
    tx.execute(
        INSERT,
        params![
            user,
            id,
            &tokens::hash(&token)[..],
            method.as_str(),
            &agent,
            &from.address,
            now,
            ends_at,
            proved_at
        ],
    )?;
    let actor = Actor {
        kind: audit::ActorKind::Person,
        id: Some(id.to_string()),
        label: None,
        address: from.address,
    };
    let note = Note::new(actor, "session.create", "Signed in").about(id).by(method.as_str());
    audit::note(tx, user, now, note)?;
    Ok(token)
}

/// Finds the session of a token, and the caller that it stands for.
pub async fn find(
    app: &App,
    token: &str,
    address: Option<&str>,
) -> Result<Option<(Session, Caller)>> {
    if !tokens::is_well_formed(PREFIX, token) {
        return Ok(None);
    }
    let now = app.clock.now();
    let idle_since = now.as_microsecond() - IDLE_DAYS * DAY;
    let hash = tokens::hash(token);
    let with_timezone = |row: &db::Row<'_>| Ok((read(row)?, row.get::<TimeZone>(8)?));
    let found = app.db.first(BY_TOKEN, params![&hash[..], now, idle_since], with_timezone).await?;
    let Some((session, timezone)) = found else { return Ok(None) };
    if now.as_second() - session.seen_at.as_second() >= SEEN_SECONDS {
        let (user, id, address) = (session.user, session.id, address.map(str::to_owned));
        app.db
            .write(move |tx| Ok::<_, Error>(tx.execute(SEEN, params![user, id, now, &address])?))
            .await?;
    }
    let credential = Credential::Session { id: session.id, address: address.map(Arc::from) };
    let caller = Caller { user: session.user, timezone, credential };
    Ok(Some((session, caller)))
}

/// Lists the person's active sessions, most recently used first.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<Session>> {
    caller.require_owner("session")?;
    let now = app.clock.now();
    let idle_since = now.as_microsecond() - IDLE_DAYS * DAY;
    Ok(app.db.all(LIST, params![caller.user, now, idle_since], read).await?)
}

/// Ends one session. Ending the caller's own session signs out, and the browser stays known. Ending another session also
/// forgets its browser.
pub async fn revoke(app: &App, caller: &Caller, id: SessionId) -> Result<()> {
    caller.require_owner("session")?;
    let (caller, now) = (caller.clone(), app.clock.now());
    app.db
        .write(move |tx| {
            if tx.execute(DELETE, params![caller.user, id])? == 0 {
                return Err(Error::NotFound("session"));
            }
            if caller.session() != Some(id) {
                devices::forget(tx, caller.user, id)?;
            }
            let note = Note::new(&caller, "session.revoke", "Ended a session").about(id);
            audit::note(tx, caller.user, now, note)
        })
        .await
}

/// Ends all sessions except the caller's own.
pub async fn revoke_others(app: &App, caller: &Caller) -> Result<()> {
    caller.require_owner("session")?;
    let (caller, now) = (caller.clone(), app.clock.now());
    app.db
        .write(move |tx| {
            delete_others(tx, &caller)?;
            let note = Note::new(&caller, "session.revoke_others", "Ended all other sessions");
            audit::note(tx, caller.user, now, note)
        })
        .await
}

/// Deletes all sessions except the caller's own, and forgets their browsers.
pub(crate) fn delete_others(tx: &mut Tx<'_>, caller: &Caller) -> Result<u64> {
    // Without a session nothing is kept: no session has this id.
    let kept = caller.session().unwrap_or(SessionId::from_bytes([0; 16]));
    devices::forget_others(tx, caller.user, kept)?;
    Ok(tx.execute(DELETE_OTHERS, params![caller.user, kept])?)
}

/// Records that the person just proved their identity.
pub async fn prove(app: &App, caller: &Caller) -> Result<()> {
    let Credential::Session { id, .. } = caller.credential else {
        return Err(Error::NotFound("session"));
    };
    let (user, now) = (caller.user, app.clock.now());
    let updated =
        app.db.write(move |tx| Ok::<_, Error>(tx.execute(PROVE, params![user, id, now])?)).await?;
    if updated == 0 { Err(Error::NotFound("session")) } else { Ok(()) }
}

/// Requires a recent proof of identity for a sensitive change, because an open session is not enough. The operator at the
/// machine needs no proof, and keys and apps have no session.
pub(crate) async fn require_proof(app: &App, caller: &Caller) -> Result<()> {
    let Credential::Session { id, .. } = caller.credential else { return Ok(()) };
    let now = app.clock.now();
    let since = now.as_microsecond() - PROOF_MINUTES * MINUTE;
    let proved_at = |row: &db::Row<'_>| row.get::<i64>(0);
    let found = app.db.first(PROVED, params![caller.user, id, since, now], proved_at).await?;
    found.map(|_| ()).ok_or_else(unproved)
}

/// Requires a recent proof of identity, as `require_proof` does, in a transaction of the caller.
pub(crate) fn require_proof_in(tx: &mut Tx<'_>, app: &App, caller: &Caller) -> Result<()> {
    let Credential::Session { id, .. } = caller.credential else { return Ok(()) };
    let now = app.clock.now();
    let since = now.as_microsecond() - PROOF_MINUTES * MINUTE;
    let proved_at = |row: &db::Row<'_>| row.get::<i64>(0);
    let found = tx.first(PROVED, params![caller.user, id, since, now], proved_at)?;
    found.map(|_| ()).ok_or_else(unproved)
}

fn unproved() -> Error {
    Error::invalid("proof", "confirm that it is you, then try again")
}

/// Background step: deletes sessions that timed out.
pub async fn forget_once(app: &App) -> Result<usize> {
    let now = app.clock.now();
    let idle_since = now.as_microsecond() - IDLE_DAYS * DAY;
    let forget =
        move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(FORGET, params![now, idle_since])?);
    Ok(app.db.write(forget).await? as usize)
}

/// The token that protects this visitor's forms against forgery by other sites. It is derived from the installation key
/// and the cookie, so that another site cannot compute it.
pub fn form_token(app: &App, cookie: &str) -> String {
    let purpose = format!("form {}", hex(&tokens::hash(cookie)));
    hex(&app.installation_key.derive(&purpose)[..16])
}

/// Checks a form's token. Hashes are compared, so that the time taken reveals nothing about the right token.
pub fn is_form_token(app: &App, cookie: &str, given: &str) -> bool {
    tokens::hash(&form_token(app, cookie)) == tokens::hash(given)
}

/// A cookie value for a visitor who is not signed in, which their form tokens are derived from.
pub fn visit_token(app: &App) -> String {
    tokens::make("ekv_", &app.entropy)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(row: &db::Row<'_>) -> db::Result<Session> {
    Ok(Session {
        user: row.get(0)?,
        id: row.get(1)?,
        method: row.get(2)?,
        agent: row.get(3)?,
        address: row.get(4)?,
        created_at: row.get(5)?,
        seen_at: row.get(6)?,
        proved_at: row.get(7)?,
    })
}

const INSERT: &str = "insert into sessions (user_id, id, token_hash, method, agent, address,
    created_at, seen_at, proved_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7, $7, $9, $8)";
const BY_TOKEN: &str = "select s.user_id, s.id, s.method, s.agent, s.address, s.created_at,
    s.seen_at, s.proved_at, u.timezone from sessions s join users u on u.id = s.user_id
    where s.token_hash = $1 and s.expires_at > $2 and s.seen_at > $3";
const LIST: &str = "select user_id, id, method, agent, address, created_at, seen_at, proved_at
    from sessions where user_id = $1 and expires_at > $2 and seen_at > $3
    order by seen_at desc, id desc limit 200";
const SEEN: &str = "update sessions set seen_at = $3, address = $4 where user_id = $1 and id = $2";
const PROVE: &str = "update sessions set proved_at = $3 where user_id = $1 and id = $2";
const PROVED: &str = "select proved_at from sessions
    where user_id = $1 and id = $2 and proved_at > $3 and proved_at <= $4";
const DELETE: &str = "delete from sessions where user_id = $1 and id = $2";
const DELETE_OTHERS: &str = "delete from sessions where user_id = $1 and id <> $2";
const FORGET: &str = "delete from sessions where expires_at <= $1 or seen_at <= $2";

pub(crate) const STATEMENTS: &[&str] =
    &[INSERT, BY_TOKEN, LIST, SEEN, PROVE, PROVED, DELETE, DELETE_OTHERS, FORGET];
