//! Passkeys (WebAuthn): made by a browser for this installation alone, and used in place of a password or behind it.

mod answer;
mod party;
mod public_key;

use base::{PasskeyId, Timestamp, UserId};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use db::params;
use serde_json::{Value, json};

use crate::access::{sessions, users};
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result, Tx};
use answer::{Assertion, ClientData, Registration};
use public_key::{ALGORITHMS, PublicKey};
use wire::v1::Code;

pub use party::Party;

/// How long a browser has to answer.
const LIFE_SECONDS: i64 = 300;
const OWNED_MAX: i64 = 20;

base::words!(
    /// What a challenge is for; an answer to one purpose is none to another.
    Purpose {
        Register => "register",
        SignIn => "sign_in",
        SecondStep => "second_step",
        /// To show again who one is, while signed in.
        Prove => "prove",
        /// To decide exactly what was shown.
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

/// What a browser is asked, and what its answer is held against.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    pub purpose: Purpose,
    /// Who must answer; nobody in particular where the answer itself says who it is.
    pub user: Option<UserId>,
    /// Where it follows from something that is to be signed; otherwise it is made up.
    pub challenge: Option<[u8; 32]>,
}

impl Question {
    pub fn new(purpose: Purpose, user: Option<UserId>) -> Question {
        Question { purpose, user, challenge: None }
    }
}

/// What `navigator.credentials.create` is to be called with. Only for somebody who showed lately who they are: a new
/// way in outlives the session that made it.
pub async fn start_registration(app: &App, caller: &Caller, party: &Party) -> Result<Value> {
    caller.require_owner("passkey")?;
    sessions::require_proof(app, caller).await?;
    let user = users::by_id(app, caller.user).await?;
    let challenge = remember(app, Question::new(Purpose::Register, Some(user.id))).await?;
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
        "excludeCredentials": described(&known),
        "authenticatorSelection": {
            "residentKey": "required",
            "requireResidentKey": true,
            "userVerification": "required",
        },
        "attestation": "none",
    }))
}

/// Keeps the passkey that the browser made.
pub async fn finish_registration(
    app: &App,
    caller: &Caller,
    party: &Party,
    answer: &str,
    name: &str,
) -> Result<Passkey> {
    caller.require_owner("passkey")?;
    let name = checked_name(name)?;
    let answer: Registration = answer::parse(answer)?;
    let question = Question::new(Purpose::Register, Some(caller.user));
    let challenge = take(app, question, &answer.response.client_data).await?;
    let registered = answer.verify(&challenge, party)?;
    let now = app.clock.now();
    let passkey = Passkey { id: app.ids.make(), name, created_at: now, last_used_at: None };
    let (made, caller) = (passkey.clone(), caller.clone());
    app.db
        .write(move |tx| {
            users::lock(tx, caller.user)?;
            if count(tx, caller.user)? >= OWNED_MAX {
                let message = "you have as many passkeys as one person can; remove one first";
                return Err(conflict(message));
            }
            let inserted = tx.execute(
                INSERT,
                params![
                    caller.user,
                    made.id,
                    &answer.id.0,
                    registered.key.bytes(),
                    registered.counter,
                    &made.name,
                    now
                ],
            );
            match inserted {
                Ok(_) => {}
                Err(db::Error::Unique) => return Err(conflict("this passkey is known already")),
                Err(error) => return Err(error.into()),
            }
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

/// What `navigator.credentials.get` is to be called with.
pub async fn start(app: &App, party: &Party, question: Question) -> Result<Value> {
    let challenge = remember(app, question).await?;
    let known = match question.user {
        Some(user) => credential_ids(app, user).await?,
        None => Vec::new(),
    };
    Ok(json!({
        "rpId": party.id,
        "challenge": encode(&challenge),
        "timeout": LIFE_SECONDS * 1_000,
        "userVerification": "required",
        "allowCredentials": described(&known),
    }))
}

/// Who answered. The challenge is spent whether or not the answer is right.
pub async fn finish(app: &App, party: &Party, question: Question, answer: &str) -> Result<UserId> {
    let answer: Assertion = answer::parse(answer)?;
    let challenge = take(app, question, &answer.response.client_data).await?;
    let unknown = Error::Unauthenticated("this passkey is not known here");
    let read = |row: &db::Row<'_>| {
        Ok((row.get::<UserId>(0)?, row.get::<PasskeyId>(1)?, row.get::<Vec<u8>>(2)?))
    };
    let found = app.db.first(BY_CREDENTIAL, params![&answer.id.0], read).await?;
    let Some((user, id, key)) = found else { return Err(unknown) };
    let handle = answer.response.user_handle.as_ref();
    let is_theirs = handle.is_none_or(|it| it.0 == user.as_bytes());
    if question.user.is_some_and(|it| it != user) || !is_theirs {
        return Err(unknown);
    }
    let counter = answer.verify(&challenge, party, &PublicKey::parse(&key)?)?;
    let now = app.clock.now();
    let used = app
        .db
        .write(move |tx| Ok::<_, Error>(tx.execute(USED, params![user, id, counter, now])?))
        .await?;
    // A counter that does not rise means that somebody has a copy; one that never counts stays at zero.
    if used == 0 {
        return Err(Error::Unauthenticated(
            "this passkey was used elsewhere in the meantime; it may have been copied",
        ));
    }
    Ok(user)
}

/// The person's passkeys, the newest first.
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
    let (caller, name, now) = (caller.clone(), checked_name(name)?, app.clock.now());
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

/// Never the last way in: without a password one passkey stays, and so it does while it is asked for behind the password.
pub async fn remove(app: &App, caller: &Caller, id: PasskeyId) -> Result<()> {
    caller.require_owner("passkey")?;
    sessions::require_proof(app, caller).await?;
    let (caller, now) = (caller.clone(), app.clock.now());
    app.db
        .write(move |tx| {
            users::lock(tx, caller.user)?;
            if tx.execute(DELETE, params![caller.user, id])? == 0 {
                return Err(Error::NotFound("passkey"));
            }
            let standing = users::standing(tx, caller.user)?;
            if count(tx, caller.user)? == 0 {
                if !standing.has_password {
                    return Err(conflict("this passkey is your only way in; set a password first"));
                }
                if standing.second_step {
                    return Err(conflict(
                        "your second step needs this passkey; switch the second step off first",
                    ));
                }
            }
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

/// Writes down what is asked. Asking the same again only lengthens its life.
async fn remember(app: &App, question: Question) -> Result<[u8; 32]> {
    let challenge = question.challenge.unwrap_or_else(|| app.entropy.bytes());
    let ends_at = app.clock.now().as_microsecond() + LIFE_SECONDS * 1_000_000;
    let Question { purpose, user, .. } = question;
    let save = move |tx: &mut Tx<'_>| {
        tx.execute(REMEMBER, params![&challenge[..], user, purpose.as_str(), ends_at])?;
        Ok::<_, Error>(())
    };
    app.db.write(save).await?;
    Ok(challenge)
}

/// The challenge that is answered, which from then on is nobody's.
async fn take(app: &App, question: Question, client_data: &answer::Bytes) -> Result<Vec<u8>> {
    let given = ClientData::parse(client_data)?.challenge.0;
    let now = app.clock.now();
    let Question { purpose, user, challenge } = question;
    let taken = app
        .db
        .write(move |tx| {
            let params = params![&given, purpose.as_str(), user, now];
            Ok::<_, Error>(tx.first(TAKE, params, |row| row.get::<Vec<u8>>(0))?)
        })
        .await?;
    let stale = Error::Unauthenticated("this took too long or was answered already; try again");
    let taken = taken.ok_or(stale)?;
    Ok(challenge.map_or(taken, Vec::from))
}

/// Forgets what nobody answered; a background step.
pub async fn forget_once(app: &App) -> Result<usize> {
    let now = app.clock.now();
    let forget = move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(FORGET, params![now])?);
    Ok(app.db.write(forget).await? as usize)
}

fn described(ids: &[Vec<u8>]) -> Vec<Value> {
    ids.iter().map(|it| json!({ "type": "public-key", "id": encode(it) })).collect()
}

fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn conflict(message: &str) -> Error {
    Error::Conflict { code: Code::Conflict, message: message.to_owned() }
}

fn checked_name(name: &str) -> Result<String> {
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
const REMEMBER: &str =
    "insert into passkey_challenges (challenge, user_id, purpose, expires_at) values ($1, $2, $3, $4)
    on conflict (challenge) do update set expires_at = excluded.expires_at
    where passkey_challenges.purpose = excluded.purpose
    and passkey_challenges.user_id is not distinct from excluded.user_id";
const TAKE: &str = "delete from passkey_challenges where challenge = $1 and purpose = $2
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
    REMEMBER,
    TAKE,
    FORGET,
];
