//! Sessions: who is signed in, where, since when; ended by the person, by time, or by a new password.

use std::sync::Arc;

use base::{SessionId, Timestamp, UserId};
use db::params;

use crate::access::users::User;
use crate::access::{devices, tokens};
use crate::platform::audit::{self, Actor, Note};
use crate::{App, Caller, Credential, Error, Result, Tx};

const PREFIX: &str = "eks_";
/// A session ends when it was not used for this long.
const IDLE_DAYS: i64 = 14;
/// And after this long in any case.
const LIFE_DAYS: i64 = 90;
/// How long a proof of who one is holds in its session, for sensitive changes.
const PROOF_MINUTES: i64 = 10;
/// Seen is kept to the minute, so that looking around costs no write each time.
const SEEN_SECONDS: i64 = 60;
const AGENT_MAX: usize = 200;
const MINUTE: i64 = 60_000_000;
const DAY: i64 = 86_400_000_000;

base::words!(
    /// How somebody showed who they are.
    Method {
        Password => "password",
        Passkey => "passkey",
        PasswordAndPasskey => "password_and_passkey",
        PasswordAndRecoveryCode => "password_and_recovery_code",
        SetupCode => "setup_code",
        Invitation => "invitation",
        SignUp => "sign_up",
    }
);

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
    /// Whether the person proved who they are within the last minutes, as sensitive changes ask. A proof from the
    /// future was made before the clock moved back, and counts for nothing.
    pub fn proved_lately(&self, now: Timestamp) -> bool {
        let age = now.as_microsecond() - self.proved_at.as_microsecond();
        (0..PROOF_MINUTES * MINUTE).contains(&age)
    }
}

/// Where a sign-in comes from.
#[derive(Debug, Clone, Default)]
pub struct Visit {
    pub agent: Option<String>,
    pub address: Option<String>,
    /// The token by which the browser is known, if it has one (`devices`).
    pub device: Option<String>,
}

/// Opens a session and returns its token, which is new every time: one that was planted before signing in is worth
/// nothing afterwards.
pub async fn create(app: &App, user: &User, method: Method, from: Visit) -> Result<String> {
    let (mine, user) = (app.clone(), user.id);
    app.db.write(move |tx| open(tx, &mine, user, method, from)).await
}

pub(crate) fn open(
    tx: &mut Tx<'_>,
    app: &App,
    user: UserId,
    method: Method,
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
            ends_at
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

/// Whose session a token is, if it is one; and who the caller is then.
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
    let found = app.db.first(BY_TOKEN, params![&hash[..], now, idle_since], read).await?;
    let Some(session) = found else { return Ok(None) };
    if now.as_second() - session.seen_at.as_second() >= SEEN_SECONDS {
        let (user, id, address) = (session.user, session.id, address.map(str::to_owned));
        app.db
            .write(move |tx| Ok::<_, Error>(tx.execute(SEEN, params![user, id, now, &address])?))
            .await?;
    }
    let credential = Credential::Session { id: session.id, address: address.map(Arc::from) };
    let caller = Caller { user: session.user, credential };
    Ok(Some((session, caller)))
}

/// The person's open sessions, last seen first.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<Session>> {
    caller.require_owner("session")?;
    let now = app.clock.now();
    let idle_since = now.as_microsecond() - IDLE_DAYS * DAY;
    Ok(app.db.all(LIST, params![caller.user, now, idle_since], read).await?)
}

/// Ends one session: this one when signing out, another when it is not known. The browser of another one is forgotten,
/// this one stays known.
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

/// Ends all sessions but the one that asks.
pub async fn revoke_others(app: &App, caller: &Caller) -> Result<()> {
    caller.require_owner("session")?;
    let (caller, now) = (caller.clone(), app.clock.now());
    app.db
        .write(move |tx| {
            end_others(tx, &caller)?;
            let note = Note::new(&caller, "session.revoke_others", "Ended all other sessions");
            audit::note(tx, caller.user, now, note)
        })
        .await
}

/// What a new password does: whoever had the old one is out, and their browsers are no longer known.
pub(crate) fn end_others(tx: &mut Tx<'_>, caller: &Caller) -> Result<u64> {
    // No session has this id.
    let kept = caller.session().unwrap_or(SessionId::from_bytes([0; 16]));
    devices::forget_others(tx, caller.user, kept)?;
    Ok(tx.execute(DELETE_OTHERS, params![caller.user, kept])?)
}

/// Notes that the person just showed who they are.
pub async fn prove(app: &App, caller: &Caller) -> Result<()> {
    let Credential::Session { id, .. } = caller.credential else {
        return Err(Error::NotFound("session"));
    };
    let (user, now) = (caller.user, app.clock.now());
    let touched =
        app.db.write(move |tx| Ok::<_, Error>(tx.execute(PROVE, params![user, id, now])?)).await?;
    if touched == 0 { Err(Error::NotFound("session")) } else { Ok(()) }
}

/// Sensitive changes ask that the person proved lately who they are; a session left open is not enough. The operator at
/// the machine needs no proof, and keys and apps have no session.
pub(crate) async fn require_proof(app: &App, caller: &Caller) -> Result<()> {
    let Credential::Session { id, .. } = caller.credential else { return Ok(()) };
    let now = app.clock.now();
    let since = now.as_microsecond() - PROOF_MINUTES * MINUTE;
    let proved_at = |row: &db::Row<'_>| row.get::<i64>(0);
    let found = app.db.first(PROVED, params![caller.user, id, since, now], proved_at).await?;
    found.map(|_| ()).ok_or_else(unproved)
}

/// The same inside a transaction.
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

/// Forgets sessions that have ended by themselves; a background step.
pub async fn forget_once(app: &App) -> Result<usize> {
    let now = app.clock.now();
    let idle_since = now.as_microsecond() - IDLE_DAYS * DAY;
    let forget =
        move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(FORGET, params![now, idle_since])?);
    Ok(app.db.write(forget).await? as usize)
}

/// What a form of this visitor must carry: it depends on a secret of ours and on the cookie, so that no other site can
/// make it up.
pub fn form_token(app: &App, cookie: &str) -> String {
    let purpose = format!("form {}", hex(&tokens::hash(cookie)));
    hex(&app.installation_key.derive(&purpose)[..16])
}

/// Whether a form carries what it must. Compared by hash, so that the time taken says nothing about how close it was.
pub fn form_token_fits(app: &App, cookie: &str, given: &str) -> bool {
    tokens::hash(&form_token(app, cookie)) == tokens::hash(given)
}

/// For a visitor who is nobody yet, so that the forms at the door are theirs alone too.
pub fn visit_token(app: &App) -> String {
    tokens::make("ekv_", &app.entropy)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(row: &db::Row<'_>) -> db::Result<Session> {
    let unknown = || db::Error::Decode { column: 2, reason: "an unknown method".to_owned() };
    Ok(Session {
        user: row.get(0)?,
        id: row.get(1)?,
        method: Method::parse(row.get(2)?).ok_or_else(unknown)?,
        agent: row.get(3)?,
        address: row.get(4)?,
        created_at: row.get(5)?,
        seen_at: row.get(6)?,
        proved_at: row.get(7)?,
    })
}

const INSERT: &str = "insert into sessions (user_id, id, token_hash, method, agent, address,
    created_at, seen_at, proved_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7, $7, $7, $8)";
const BY_TOKEN: &str = "select user_id, id, method, agent, address, created_at, seen_at, proved_at
    from sessions where token_hash = $1 and expires_at > $2 and seen_at > $3";
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
