//! Passkeys (WebAuthn), used in place of a password or as the second step after it.

mod public_key;
mod relying_party;
mod response;

use base::{PasskeyId, Timestamp, UserId};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use db::params;
use serde_json::{Value, json};

use crate::access::{sessions, users};
use crate::platform::audit::{self, Note};
use crate::platform::mail_queue::{self, MailKind};
use crate::{App, Caller, Error, Result, Tx};
use public_key::{ALGORITHMS, PublicKey};
use response::{Assertion, ClientData, Registration};
use wire::v1::Code;

pub use relying_party::RelyingParty;

/// How long a challenge is valid.
const LIFE_SECONDS: i64 = 300;
const OWNED_MAX: i64 = 20;

base::words!(
    /// The purpose of a challenge. A response for one purpose is not accepted for another.
    Purpose {
        Register => "register",
        SignIn => "sign_in",
        SecondStep => "second_step",
        /// To prove one's identity again while signed in.
        Prove => "prove",
        /// To approve a proposal.
        Approve => "approve",
    }
);

#[derive(Debug, Clone)]
pub struct Passkey {
    pub id: PasskeyId,
    pub name: String,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
}

/// A challenge for an authenticator, and the person whose response is accepted.
#[derive(Debug, Clone, Copy)]
pub struct ChallengeRequest {
    pub purpose: Purpose,
    /// The person who must respond; `None` if the response itself identifies the person.
    pub user: Option<UserId>,
    /// The challenge, if it is derived from what is to be signed; `None` for a random one.
    pub challenge: Option<[u8; 32]>,
}

impl ChallengeRequest {
    pub fn new(purpose: Purpose, user: Option<UserId>) -> ChallengeRequest {
        ChallengeRequest { purpose, user, challenge: None }
    }
}

/// The options for `navigator.credentials.create`. This takes a recent proof of identity, because a new passkey outlives
/// the session that added it.
pub async fn start_registration(app: &App, caller: &Caller, party: &RelyingParty) -> Result<Value> {
    caller.require_owner("passkey")?;
    sessions::require_proof(app, caller).await?;
    let user = users::get_by_id(app, caller.user).await?;
    let challenge =
        store_challenge(app, ChallengeRequest::new(Purpose::Register, Some(user.id))).await?;
    let known = credential_ids(app, user.id).await?;
    let kinds = ALGORITHMS.map(|it| json!({ "type": "public-key", "alg": it }));
    Ok(json!({
        "rp": { "id": party.id, "name": "Evenkeel" },
        "user": {
            "id": encode(user.id.as_bytes()),
            "name": user.email,
            "displayName": user.preferred_name.as_ref().unwrap_or(&user.email),
        },
        "challenge": encode(&challenge),
        "pubKeyCredParams": kinds,
        "timeout": LIFE_SECONDS * 1_000,
        "excludeCredentials": descriptors(&known),
        "authenticatorSelection": {
            "residentKey": "required",
            "requireResidentKey": true,
            "userVerification": "required",
        },
        "attestation": "none",
    }))
}

/// Stores the passkey that the browser created.
pub async fn finish_registration(
    app: &App,
    caller: &Caller,
    party: &RelyingParty,
    response: &str,
    name: &str,
) -> Result<Passkey> {
    caller.require_owner("passkey")?;
    let name = validate_name(name)?;
    let response: Registration = response::parse(response)?;
    let request = ChallengeRequest::new(Purpose::Register, Some(caller.user));
    let challenge = consume_challenge(app, request, &response.response.client_data).await?;
    let verified = response.verify(&challenge, party)?;
    let now = app.clock.now();
    let passkey = Passkey { id: app.ids.make(), name, created_at: now, last_used_at: None };
    let (made, caller, mine) = (passkey.clone(), caller.clone(), app.clone());
    app.db
        .write(move |tx| {
            users::lock(tx, caller.user)?;
            if count(tx, caller.user)? >= OWNED_MAX {
                let message = "you have reached the maximum number of passkeys; remove one first";
                return Err(conflict(message));
            }
            let inserted = tx.execute(
                INSERT,
                params![
                    caller.user,
                    made.id,
                    &response.id.0,
                    verified.key.bytes(),
                    verified.counter,
                    &made.name,
                    now
                ],
            );
            match inserted {
                Ok(_) => {}
                Err(db::Error::Unique) => {
                    return Err(conflict("this passkey is already registered"));
                }
                Err(error) => return Err(error.into()),
            }
            mail_queue::notify(tx, &mine, caller.user, MailKind::PasskeyAdded)?;
            let details = format!("Added the passkey {}", made.name);
            audit::note(
                tx,
                caller.user,
                now,
                Note::new(&caller, "passkey.create", details).about(made.id),
            )
        })
        .await?;
    Ok(passkey)
}

/// The options for `navigator.credentials.get`.
pub async fn start(app: &App, party: &RelyingParty, request: ChallengeRequest) -> Result<Value> {
    let challenge = store_challenge(app, request).await?;
    let known = match request.user {
        Some(user) => credential_ids(app, user).await?,
        None => Vec::new(),
    };
    Ok(json!({
        "rpId": party.id,
        "challenge": encode(&challenge),
        "timeout": LIFE_SECONDS * 1_000,
        "userVerification": "required",
        "allowCredentials": descriptors(&known),
    }))
}

/// Verifies a response and returns the person. The challenge is used up even if the response is wrong.
pub async fn finish(
    app: &App,
    party: &RelyingParty,
    request: ChallengeRequest,
    response: &str,
) -> Result<UserId> {
    let response: Assertion = response::parse(response)?;
    let challenge = consume_challenge(app, request, &response.response.client_data).await?;
    let unknown = Error::Unauthenticated("this passkey is not registered here");
    let read = |row: &db::Row<'_>| {
        Ok((row.get::<UserId>(0)?, row.get::<PasskeyId>(1)?, row.get::<Vec<u8>>(2)?))
    };
    let found = app.db.first(BY_CREDENTIAL, params![&response.id.0], read).await?;
    let Some((user, id, key)) = found else { return Err(unknown) };
    let handle = response.response.user_handle.as_ref();
    let is_theirs = handle.is_none_or(|it| it.0 == user.as_bytes());
    if request.user.is_some_and(|it| it != user) || !is_theirs {
        return Err(unknown);
    }
    let counter = response.verify(&challenge, party, &PublicKey::parse(&key)?)?;
    let now = app.clock.now();
    let used = app
        .db
        .write(move |tx| Ok::<_, Error>(tx.execute(USED, params![user, id, counter, now])?))
        .await?;
    // A counter that does not increase means that somebody has a copy. Passkeys without a counter always report zero.
    if used == 0 {
        return Err(Error::Unauthenticated(
            "this passkey was used elsewhere in the meantime; it may have been copied",
        ));
    }
    Ok(user)
}

/// Lists the person's passkeys, newest first.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<Passkey>> {
    caller.require_owner("passkey")?;
    let read = |row: &db::Row<'_>| {
        Ok(Passkey {
            id: row.get(0)?,
            name: row.get(1)?,
            created_at: row.get(2)?,
            last_used_at: row.get(3)?,
        })
    };
    Ok(app.db.all(LIST, params![caller.user, OWNED_MAX], read).await?)
}

pub async fn rename(app: &App, caller: &Caller, id: PasskeyId, name: &str) -> Result<()> {
    caller.require_owner("passkey")?;
    let (caller, name, now) = (caller.clone(), validate_name(name)?, app.clock.now());
    app.db
        .write(move |tx| {
            if tx.execute(RENAME, params![caller.user, id, &name])? == 0 {
                return Err(Error::NotFound("passkey"));
            }
            let details = format!("Renamed a passkey to {name}");
            let note = Note::new(&caller, "passkey.rename", details).about(id);
            audit::note(tx, caller.user, now, note)
        })
        .await
}

/// Deletes a passkey, unless it is the last one and the person has no other way to sign in or uses it as the second step.
pub async fn remove(app: &App, caller: &Caller, id: PasskeyId) -> Result<()> {
    caller.require_owner("passkey")?;
    sessions::require_proof(app, caller).await?;
    let (caller, now) = (caller.clone(), app.clock.now());
    let takes_passwords = app.password_sign_in;
    let mine = app.clone();
    app.db
        .write(move |tx| {
            users::lock(tx, caller.user)?;
            if tx.execute(DELETE, params![caller.user, id])? == 0 {
                return Err(Error::NotFound("passkey"));
            }
            let options = users::sign_in_options(tx, caller.user)?;
            if !options.can_sign_in(takes_passwords) {
                let message = match takes_passwords {
                    true => "this passkey is your only way to sign in; set a password first",
                    false => "this passkey is your only way to sign in; add another one first",
                };
                return Err(conflict(message));
            }
            if options.passkeys == 0 && options.second_step {
                return Err(conflict(
                    "your second step needs this passkey; turn off the second step first",
                ));
            }
            mail_queue::notify(tx, &mine, caller.user, MailKind::PasskeyRemoved)?;
            let note = Note::new(&caller, "passkey.delete", "Removed a passkey").about(id);
            audit::note(tx, caller.user, now, note)
        })
        .await
}

pub(crate) fn count(tx: &mut Tx<'_>, user: UserId) -> Result<i64> {
    Ok(tx.first(COUNT, params![user], |row| row.get(0))?.unwrap_or(0))
}

async fn credential_ids(app: &App, user: UserId) -> Result<Vec<Vec<u8>>> {
    Ok(app.db.all(CREDENTIALS, params![user, OWNED_MAX], |row| row.get(0)).await?)
}

/// Stores a challenge. Storing the same challenge again only extends its life.
async fn store_challenge(app: &App, request: ChallengeRequest) -> Result<[u8; 32]> {
    let challenge = request.challenge.unwrap_or_else(|| app.entropy.bytes());
    let ends_at = app.clock.now().as_microsecond() + LIFE_SECONDS * 1_000_000;
    let ChallengeRequest { purpose, user, .. } = request;
    let save = move |tx: &mut Tx<'_>| {
        tx.execute(STORE, params![&challenge[..], user, purpose.as_str(), ends_at])?;
        Ok::<_, Error>(())
    };
    app.db.write(save).await?;
    Ok(challenge)
}

/// Deletes and returns the challenge that a response was made for.
async fn consume_challenge(
    app: &App,
    request: ChallengeRequest,
    client_data: &response::Bytes,
) -> Result<Vec<u8>> {
    let given = ClientData::parse(client_data)?.challenge.0;
    let now = app.clock.now();
    let ChallengeRequest { purpose, user, challenge } = request;
    let consumed = app
        .db
        .write(move |tx| {
            let params = params![&given, purpose.as_str(), user, now];
            Ok::<_, Error>(tx.first(CONSUME, params, |row| row.get::<Vec<u8>>(0))?)
        })
        .await?;
    let stale = Error::Unauthenticated("this took too long or was already used; try again");
    let consumed = consumed.ok_or(stale)?;
    Ok(challenge.map_or(consumed, Vec::from))
}

/// Background step: deletes expired challenges.
pub async fn forget_once(app: &App) -> Result<usize> {
    let now = app.clock.now();
    let forget = move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(FORGET, params![now])?);
    Ok(app.db.write(forget).await? as usize)
}

fn descriptors(ids: &[Vec<u8>]) -> Vec<Value> {
    ids.iter().map(|it| json!({ "type": "public-key", "id": encode(it) })).collect()
}

fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn conflict(message: &str) -> Error {
    Error::Conflict { code: Code::Conflict, message: message.to_owned() }
}

fn validate_name(name: &str) -> Result<String> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > 80 || name.contains(char::is_control) {
        return Err(Error::invalid("name", "name must have 1 to 80 characters on one line"));
    }
    Ok(name.to_owned())
}

const INSERT: &str = "insert into passkeys
    (user_id, id, credential_id, public_key, sign_count, name, created_at)
    values ($1, $2, $3, $4, $5, $6, $7)";
const LIST: &str = "select id, name, created_at, last_used_at from passkeys
    where user_id = $1 order by id desc limit $2";
const CREDENTIALS: &str =
    "select credential_id from passkeys where user_id = $1 order by id limit $2";
const BY_CREDENTIAL: &str = "select user_id, id, public_key from passkeys where credential_id = $1";
const USED: &str = "update passkeys set sign_count = $3, last_used_at = $4
    where user_id = $1 and id = $2 and (sign_count < $3 or (sign_count = 0 and $3 = 0))";
const RENAME: &str = "update passkeys set name = $3 where user_id = $1 and id = $2";
const DELETE: &str = "delete from passkeys where user_id = $1 and id = $2";
const COUNT: &str = "select count(*) from passkeys where user_id = $1";
const STORE: &str =
    "insert into passkey_challenges (challenge, user_id, purpose, expires_at) values ($1, $2, $3, $4)
    on conflict (challenge) do update set expires_at = excluded.expires_at
    where passkey_challenges.purpose = excluded.purpose
    and passkey_challenges.user_id is not distinct from excluded.user_id";
const CONSUME: &str = "delete from passkey_challenges where challenge = $1 and purpose = $2
    and user_id is not distinct from $3 and expires_at > $4 returning challenge";
const FORGET: &str = "delete from passkey_challenges where expires_at <= $1";

pub(crate) const STATEMENTS: &[&str] = &[
    INSERT,
    LIST,
    CREDENTIALS,
    BY_CREDENTIAL,
    USED,
    RENAME,
    DELETE,
    COUNT,
    STORE,
    CONSUME,
    FORGET,
];
