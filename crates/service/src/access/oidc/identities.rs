//! Identities: which account here belongs to which issuer and subject. A person has at most one identity of each issuer.

use base::{Timestamp, UserId};
use db::params;
use wire::v1::Code;

use crate::access::{sessions, users};
use crate::platform::audit::{self, Actor, Note};
use crate::{App, Caller, Error, Result, Tx};

/// The most identities that a page lists. A person has one for each provider that the installation ever had.
const LISTED_MAX: i64 = 50;
const EMAIL_MAX: usize = 254;

/// An identity of the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedIdentity {
    pub issuer: String,
    /// The email that the provider last gave, which only helps to tell identities apart.
    pub email: Option<String>,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
}

/// A person's identity at a provider.
pub(super) struct Identity {
    pub(super) issuer: String,
    pub(super) subject: String,
    pub(super) email: Option<String>,
}

impl Identity {
    pub(super) fn new(issuer: &str, subject: &str, email: Option<&str>) -> Identity {
        let email = email.filter(|it| it.len() <= EMAIL_MAX).map(str::to_owned);
        Identity { issuer: issuer.to_owned(), subject: subject.to_owned(), email }
    }
}

/// The person to whom an identity belongs.
pub(super) fn find(tx: &mut Tx<'_>, identity: &Identity) -> Result<Option<UserId>> {
    let params = params![&identity.issuer, &identity.subject];
    Ok(tx.first(FIND, params, |row| row.get(0))?)
}

/// Records that an identity was used, with the email that it has now.
pub(super) fn note_use(
    tx: &mut Tx<'_>,
    user: UserId,
    identity: &Identity,
    now: Timestamp,
) -> Result<()> {
    tx.execute(USED, params![user, &identity.issuer, &identity.email, now])?;
    Ok(())
}

/// Links an identity to a person, and records it in the audit trail.
pub(super) fn link(
    tx: &mut Tx<'_>,
    (user, actor): (UserId, Actor),
    identity: &Identity,
    label: &str,
    now: Timestamp,
) -> Result<()> {
    users::lock(tx, user)?;
    match find(tx, identity)? {
        Some(owner) if owner == user => return Ok(()),
        Some(_) => {
            let message = format!("this {label} sign-in is already linked to another account here");
            return Err(conflict(message));
        }
        None => {}
    }
    let Identity { issuer, subject, email } = identity;
    match tx.execute(INSERT, params![user, issuer, subject, email, now]) {
        Ok(_) => {}
        Err(db::Error::Unique) => {
            let message = format!("another {label} sign-in is linked already; unlink it first");
            return Err(conflict(message));
        }
        Err(error) => return Err(error.into()),
    }
    let details = match email {
        Some(email) => format!("Linked the {label} sign-in of {email}"),
        None => format!("Linked a {label} sign-in"),
    };
    audit::note(tx, user, now, Note::new(actor, "identity.link", details))
}

/// Lists the caller's identities by issuer.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<LinkedIdentity>> {
    caller.require_owner("identity")?;
    let read = |row: &db::Row<'_>| {
        Ok(LinkedIdentity {
            issuer: row.get(0)?,
            email: row.get(1)?,
            created_at: row.get(2)?,
            last_used_at: row.get(3)?,
        })
    };
    Ok(app.db.all(LIST, params![caller.user, LISTED_MAX], read).await?)
}

/// Unlinks the caller's identity of an issuer, unless the person could not sign in anymore.
pub async fn unlink(app: &App, caller: &Caller, issuer: &str) -> Result<()> {
    caller.require_owner("identity")?;
    sessions::require_proof(app, caller).await?;
    let (caller, issuer, now) = (caller.clone(), issuer.to_owned(), app.clock.now());
    let takes_passwords = app.password_sign_in;
    app.db
        .write(move |tx| {
            users::lock(tx, caller.user)?;
            if tx.execute(DELETE, params![caller.user, &issuer])? == 0 {
                return Err(Error::NotFound("identity"));
            }
            let options = users::sign_in_options(tx, caller.user)?;
            if !options.can_sign_in(takes_passwords) {
                let message =
                    "this is your only way to sign in; add a passkey or set a password first";
                return Err(conflict(message.to_owned()));
            }
            let details = format!("Unlinked the sign-in at {issuer}");
            audit::note(tx, caller.user, now, Note::new(&caller, "identity.unlink", details))
        })
        .await
}

fn conflict(message: String) -> Error {
    Error::Conflict { code: Code::Conflict, message }
}

const FIND: &str = "select user_id from identities where issuer = $1 and subject = $2";
const INSERT: &str = "insert into identities (user_id, issuer, subject, email, created_at)
    values ($1, $2, $3, $4, $5)";
const USED: &str = "update identities set email = $3, last_used_at = $4
    where user_id = $1 and issuer = $2";
const LIST: &str = "select issuer, email, created_at, last_used_at from identities
    where user_id = $1 order by issuer limit $2";
const DELETE: &str = "delete from identities where user_id = $1 and issuer = $2";

pub(super) const STATEMENTS: &[&str] = &[FIND, INSERT, USED, LIST, DELETE];
